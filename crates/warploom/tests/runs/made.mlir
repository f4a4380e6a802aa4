// A sum of products whose operands lanes make, both of them: on Blackwell it stays in tensor memory (C66). Behind the loop it is
// read twice, and the columns' sums go to memory by all lanes (C33).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[25600] --arg=[25600] --arg=[200] --arg=[16384] --arg=[128] --arg=200
// run: run - --target sm_90a --interleavings 3 --seed 2 --arg=[25600] --arg=[25600] --arg=[200] --arg=[16384] --arg=[128] --arg=200
// run: run - --target sm_100a --interleavings 6 --seed 3 --arg=[25600] --arg=[25600] --arg=[200] --arg=[16384] --arg=[128] --arg=200
// run: run - --target sm_100a --interleavings 2 --seed 4 --arg=[128] --arg=[128] --arg=[64] --arg=[16384] --arg=[128] --arg=0
// run: run - --target sm_120a --interleavings 2 --seed 5 --arg=[8192] --arg=[8192] --arg=[64] --arg=[16384] --arg=[128] --arg=64
// clean
module {
  tt.func public @made(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x128xbf16>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<128x64xbf16>
    %c64_i32 = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_2 = arith.constant dense<128> : tensor<128x1xi32>
    %cst_3 = arith.constant dense<true> : tensor<128xi1>
    %cst_4 = arith.constant dense<6.250000e-02> : tensor<128x128xf32>
    %cst_5 = arith.constant dense<2.000000e+00> : tensor<128x64xf32>
    %cst_6 = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %cst_7 = arith.constant dense<128> : tensor<64x1xi32>
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %1 = scf.for %arg6 = %c0_i32 to %arg5 step %c64_i32 iter_args(%arg7 = %cst) -> (tensor<128x128xf32>)  : i32 {
      %20 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %21 = tt.splat %arg6 : i32 -> tensor<64xi32>
      %22 = arith.addi %21, %20 : tensor<64xi32>
      %23 = tt.splat %arg5 : i32 -> tensor<64xi32>
      %24 = arith.cmpi slt, %22, %23 : tensor<64xi32>
      %25 = tt.expand_dims %24 {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1>
      %26 = tt.expand_dims %0 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %27 = tt.splat %arg5 : i32 -> tensor<128x1xi32>
      %28 = arith.muli %26, %27 : tensor<128x1xi32>
      %29 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
      %30 = tt.addptr %29, %28 : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
      %31 = tt.expand_dims %22 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %32 = tt.broadcast %30 : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x64x!tt.ptr<bf16>>
      %33 = tt.broadcast %31 : tensor<1x64xi32> -> tensor<128x64xi32>
      %34 = tt.addptr %32, %33 : tensor<128x64x!tt.ptr<bf16>>, tensor<128x64xi32>
      %35 = tt.broadcast %25 : tensor<1x64xi1> -> tensor<128x64xi1>
      %36 = tt.load %34, %35, %cst_1 : tensor<128x64x!tt.ptr<bf16>>
      %37 = tt.expand_dims %24 {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
      %38 = tt.expand_dims %22 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %39 = arith.muli %38, %cst_7 : tensor<64x1xi32>
      %40 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
      %41 = tt.addptr %40, %39 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
      %42 = tt.expand_dims %0 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
      %43 = tt.broadcast %41 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x128x!tt.ptr<bf16>>
      %44 = tt.broadcast %42 : tensor<1x128xi32> -> tensor<64x128xi32>
      %45 = tt.addptr %43, %44 : tensor<64x128x!tt.ptr<bf16>>, tensor<64x128xi32>
      %46 = tt.broadcast %37 : tensor<64x1xi1> -> tensor<64x128xi1>
      %47 = tt.load %45, %46, %cst_0 : tensor<64x128x!tt.ptr<bf16>>
      %48 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %49 = tt.addptr %48, %22 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %50 = tt.load %49, %24, %cst_6 : tensor<64x!tt.ptr<f32>>
      %51 = arith.extf %36 : tensor<128x64xbf16> to tensor<128x64xf32>
      %52 = arith.mulf %51, %cst_5 : tensor<128x64xf32>
      %53 = arith.truncf %52 : tensor<128x64xf32> to tensor<128x64xbf16>
      %54 = arith.extf %47 : tensor<64x128xbf16> to tensor<64x128xf32>
      %55 = tt.expand_dims %50 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %56 = tt.broadcast %55 : tensor<64x1xf32> -> tensor<64x128xf32>
      %57 = arith.mulf %54, %56 : tensor<64x128xf32>
      %58 = arith.truncf %57 : tensor<64x128xf32> to tensor<64x128xbf16>
      %59 = tt.dot %53, %58, %arg7, inputPrecision = tf32 : tensor<128x64xbf16> * tensor<64x128xbf16> -> tensor<128x128xf32>
      scf.yield %59 : tensor<128x128xf32>
    }
    %2 = "tt.reduce"(%1) <{axis = 1 : i32}> ({
    ^bb0(%arg6: f32, %arg7: f32):
      %20 = arith.maxnumf %arg6, %arg7 : f32
      tt.reduce.return %20 : f32
    }) : (tensor<128x128xf32>) -> tensor<128xf32>
    %3 = tt.expand_dims %2 {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
    %4 = tt.broadcast %3 : tensor<128x1xf32> -> tensor<128x128xf32>
    %5 = arith.subf %1, %4 : tensor<128x128xf32>
    %6 = arith.mulf %5, %cst_4 : tensor<128x128xf32>
    %7 = math.exp2 %6 : tensor<128x128xf32>
    %8 = tt.splat %arg4 : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %9 = tt.addptr %8, %0 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %10 = "tt.reduce"(%7) <{axis = 0 : i32}> ({
    ^bb0(%arg6: f32, %arg7: f32):
      %20 = arith.addf %arg6, %arg7 : f32
      tt.reduce.return %20 : f32
    }) : (tensor<128x128xf32>) -> tensor<128xf32>
    %11 = tt.atomic_rmw fadd, acq_rel, gpu, %9, %10, %cst_3 : (tensor<128x!tt.ptr<f32>>, tensor<128xf32>, tensor<128xi1>) -> tensor<128xf32>
    %12 = tt.expand_dims %0 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %13 = arith.muli %12, %cst_2 : tensor<128x1xi32>
    %14 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>>
    %15 = tt.addptr %14, %13 : tensor<128x1x!tt.ptr<f32>>, tensor<128x1xi32>
    %16 = tt.expand_dims %0 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %17 = tt.broadcast %15 : tensor<128x1x!tt.ptr<f32>> -> tensor<128x128x!tt.ptr<f32>>
    %18 = tt.broadcast %16 : tensor<1x128xi32> -> tensor<128x128xi32>
    %19 = tt.addptr %17, %18 : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
    tt.store %19, %1 : tensor<128x128x!tt.ptr<f32>>
    tt.return
  }
}
