// A product of 32 rows beside two of 128, on all chips with asynchronous products; what it gives goes to memory by
// `stmatrix.trans` (Q25, G12).
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[16640] --arg=[16640] --arg=[8320] --arg=[16640] --arg=[8320] --arg=[8192] --arg=130
// run: run - --target sm_100a --interleavings 3 --seed 1 --arg=[16640] --arg=[16640] --arg=[8320] --arg=[16640] --arg=[8320] --arg=[8192] --arg=130
// clean
module {
  tt.func public @summed(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg5: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg6: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x64xbf16>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<32x128xbf16>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_2 = arith.constant dense<64> : tensor<128x1xi32>
    %cst_3 = arith.constant dense<5.000000e-01> : tensor<128x64xf32>
    %cst_4 = arith.constant dense<64> : tensor<32x1xi32>
    %cst_5 = arith.constant dense<128> : tensor<32x1xi32>
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %2 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %3 = scf.for %arg7 = %c0_i32 to %arg6 step %c32_i32 iter_args(%arg8 = %cst) -> (tensor<128x64xf32>)  : i32 {
      %12 = tt.splat %arg7 : i32 -> tensor<32xi32>
      %13 = arith.addi %12, %2 : tensor<32xi32>
      %14 = tt.splat %arg6 : i32 -> tensor<32xi32>
      %15 = arith.cmpi slt, %13, %14 : tensor<32xi32>
      %16 = tt.expand_dims %13 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %17 = arith.muli %16, %cst_5 : tensor<32x1xi32>
      %18 = tt.expand_dims %0 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
      %19 = tt.broadcast %17 : tensor<32x1xi32> -> tensor<32x128xi32>
      %20 = tt.broadcast %18 : tensor<1x128xi32> -> tensor<32x128xi32>
      %21 = arith.addi %19, %20 : tensor<32x128xi32>
      %22 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<32x128x!tt.ptr<bf16>>
      %23 = tt.addptr %22, %21 : tensor<32x128x!tt.ptr<bf16>>, tensor<32x128xi32>
      %24 = tt.expand_dims %15 {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
      %25 = tt.broadcast %24 : tensor<32x1xi1> -> tensor<32x128xi1>
      %26 = tt.load %23, %25, %cst_1 : tensor<32x128x!tt.ptr<bf16>>
      %27 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<32x128x!tt.ptr<bf16>>
      %28 = tt.addptr %27, %21 : tensor<32x128x!tt.ptr<bf16>>, tensor<32x128xi32>
      %29 = tt.load %28, %25, %cst_1 : tensor<32x128x!tt.ptr<bf16>>
      %30 = tt.splat %arg3 : !tt.ptr<bf16> -> tensor<32x128x!tt.ptr<bf16>>
      %31 = tt.addptr %30, %21 : tensor<32x128x!tt.ptr<bf16>>, tensor<32x128xi32>
      %32 = tt.load %31, %25, %cst_1 : tensor<32x128x!tt.ptr<bf16>>
      %33 = arith.muli %16, %cst_4 : tensor<32x1xi32>
      %34 = tt.splat %arg2 : !tt.ptr<bf16> -> tensor<32x1x!tt.ptr<bf16>>
      %35 = tt.addptr %34, %33 : tensor<32x1x!tt.ptr<bf16>>, tensor<32x1xi32>
      %36 = tt.expand_dims %1 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %37 = tt.broadcast %35 : tensor<32x1x!tt.ptr<bf16>> -> tensor<32x64x!tt.ptr<bf16>>
      %38 = tt.broadcast %36 : tensor<1x64xi32> -> tensor<32x64xi32>
      %39 = tt.addptr %37, %38 : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
      %40 = tt.broadcast %24 : tensor<32x1xi1> -> tensor<32x64xi1>
      %41 = tt.load %39, %40, %cst_0 : tensor<32x64x!tt.ptr<bf16>>
      %42 = arith.truncf %arg8 : tensor<128x64xf32> to tensor<128x64xbf16>
      %43 = arith.extf %41 : tensor<32x64xbf16> to tensor<32x64xf32>
      %44 = tt.dot %32, %42, %43, inputPrecision = tf32 : tensor<32x128xbf16> * tensor<128x64xbf16> -> tensor<32x64xf32>
      %45 = arith.truncf %44 : tensor<32x64xf32> to tensor<32x64xbf16>
      %46 = tt.splat %arg4 : !tt.ptr<bf16> -> tensor<32x1x!tt.ptr<bf16>>
      %47 = tt.addptr %46, %33 : tensor<32x1x!tt.ptr<bf16>>, tensor<32x1xi32>
      %48 = tt.broadcast %47 : tensor<32x1x!tt.ptr<bf16>> -> tensor<32x64x!tt.ptr<bf16>>
      %49 = tt.addptr %48, %38 : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
      tt.store %49, %45, %40 : tensor<32x64x!tt.ptr<bf16>>
      %50 = arith.mulf %arg8, %cst_3 : tensor<128x64xf32>
      %51 = tt.trans %29 {order = array<i32: 1, 0>} : tensor<32x128xbf16> -> tensor<128x32xbf16>
      %52 = tt.dot %51, %41, %50, inputPrecision = tf32 : tensor<128x32xbf16> * tensor<32x64xbf16> -> tensor<128x64xf32>
      %53 = tt.trans %26 {order = array<i32: 1, 0>} : tensor<32x128xbf16> -> tensor<128x32xbf16>
      %54 = tt.dot %53, %45, %52, inputPrecision = tf32 : tensor<128x32xbf16> * tensor<32x64xbf16> -> tensor<128x64xf32>
      scf.yield %54 : tensor<128x64xf32>
    }
    %4 = tt.expand_dims %0 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %5 = arith.muli %4, %cst_2 : tensor<128x1xi32>
    %6 = tt.splat %arg5 : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>>
    %7 = tt.addptr %6, %5 : tensor<128x1x!tt.ptr<f32>>, tensor<128x1xi32>
    %8 = tt.expand_dims %1 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %9 = tt.broadcast %7 : tensor<128x1x!tt.ptr<f32>> -> tensor<128x64x!tt.ptr<f32>>
    %10 = tt.broadcast %8 : tensor<1x64xi32> -> tensor<128x64xi32>
    %11 = tt.addptr %9, %10 : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
    tt.store %11, %3 : tensor<128x64x!tt.ptr<f32>>
    tt.return
  }
}
