// Weights of four bits whose scale and zero stay the same along K: the operand is computed with K inside, and what is the same
// is loaded once (G20).
// run: run - --target sm_80 --interleavings 3 --seed 1 --grid 2 --arg=[24576] --arg=[6144] --arg=[256] --arg=[256] --arg=[8192] --arg=192 --arg=3
// run: run - --target sm_90a --interleavings 3 --seed 1 --grid 2 --arg=[24576] --arg=[6144] --arg=[256] --arg=[256] --arg=[8192] --arg=192 --arg=3
// run: run - --target sm_100a --interleavings 3 --seed 1 --grid 2 --arg=[24576] --arg=[6144] --arg=[256] --arg=[256] --arg=[8192] --arg=192 --arg=3
// clean
module {
  tt.func public @grouped(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<64> : tensor<64x1xi32>
    %cst_1 = arith.constant dense<15> : tensor<64x64xi32>
    %cst_2 = arith.constant dense<4> : tensor<64x1xi32>
    %cst_3 = arith.constant dense<2> : tensor<64x1xi32>
    %c2_i32 = arith.constant 2 : i32
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c64_i32 : i32
    %2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %3 = tt.splat %1 : i32 -> tensor<64xi32>
    %4 = arith.addi %3, %2 : tensor<64xi32>
    %5 = scf.for %arg7 = %c0_i32 to %arg5 step %c64_i32 iter_args(%arg8 = %cst) -> (tensor<64x64xf32>)  : i32 {
      %14 = tt.splat %arg7 : i32 -> tensor<64xi32>
      %15 = arith.addi %14, %2 : tensor<64xi32>
      %16 = tt.expand_dims %4 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %17 = tt.splat %arg5 : i32 -> tensor<64x1xi32>
      %18 = arith.muli %16, %17 : tensor<64x1xi32>
      %19 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
      %20 = tt.addptr %19, %18 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
      %21 = tt.expand_dims %15 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %22 = tt.broadcast %20 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
      %23 = tt.broadcast %21 : tensor<1x64xi32> -> tensor<64x64xi32>
      %24 = tt.addptr %22, %23 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
      %25 = tt.load %24 : tensor<64x64x!tt.ptr<bf16>>
      %26 = tt.expand_dims %2 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %27 = arith.divsi %arg5, %c2_i32 : i32
      %28 = tt.splat %27 : i32 -> tensor<1x64xi32>
      %29 = arith.muli %26, %28 : tensor<1x64xi32>
      %30 = tt.splat %arg1 : !tt.ptr<i8> -> tensor<1x64x!tt.ptr<i8>>
      %31 = tt.addptr %30, %29 : tensor<1x64x!tt.ptr<i8>>, tensor<1x64xi32>
      %32 = tt.expand_dims %15 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %33 = arith.divsi %32, %cst_3 : tensor<64x1xi32>
      %34 = tt.broadcast %31 : tensor<1x64x!tt.ptr<i8>> -> tensor<64x64x!tt.ptr<i8>>
      %35 = tt.broadcast %33 : tensor<64x1xi32> -> tensor<64x64xi32>
      %36 = tt.addptr %34, %35 : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
      %37 = tt.load %36 : tensor<64x64x!tt.ptr<i8>>
      %38 = arith.remsi %32, %cst_3 : tensor<64x1xi32>
      %39 = arith.muli %38, %cst_2 : tensor<64x1xi32>
      %40 = arith.extsi %37 : tensor<64x64xi8> to tensor<64x64xi32>
      %41 = tt.broadcast %39 : tensor<64x1xi32> -> tensor<64x64xi32>
      %42 = arith.shrsi %40, %41 : tensor<64x64xi32>
      %43 = arith.andi %42, %cst_1 : tensor<64x64xi32>
      %44 = tt.splat %arg6 : i32 -> tensor<1x64xi32>
      %45 = arith.muli %26, %44 : tensor<1x64xi32>
      %46 = tt.splat %arg2 : !tt.ptr<bf16> -> tensor<1x64x!tt.ptr<bf16>>
      %47 = tt.addptr %46, %45 : tensor<1x64x!tt.ptr<bf16>>, tensor<1x64xi32>
      %48 = arith.divsi %32, %cst_0 : tensor<64x1xi32>
      %49 = tt.broadcast %47 : tensor<1x64x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
      %50 = tt.broadcast %48 : tensor<64x1xi32> -> tensor<64x64xi32>
      %51 = tt.addptr %49, %50 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
      %52 = tt.load %51 : tensor<64x64x!tt.ptr<bf16>>
      %53 = tt.splat %arg3 : !tt.ptr<i8> -> tensor<1x64x!tt.ptr<i8>>
      %54 = tt.addptr %53, %45 : tensor<1x64x!tt.ptr<i8>>, tensor<1x64xi32>
      %55 = tt.broadcast %54 : tensor<1x64x!tt.ptr<i8>> -> tensor<64x64x!tt.ptr<i8>>
      %56 = tt.addptr %55, %50 : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
      %57 = tt.load %56 : tensor<64x64x!tt.ptr<i8>>
      %58 = arith.sitofp %43 : tensor<64x64xi32> to tensor<64x64xf32>
      %59 = arith.sitofp %57 : tensor<64x64xi8> to tensor<64x64xf32>
      %60 = arith.subf %58, %59 : tensor<64x64xf32>
      %61 = arith.extf %52 : tensor<64x64xbf16> to tensor<64x64xf32>
      %62 = arith.mulf %60, %61 : tensor<64x64xf32>
      %63 = arith.truncf %62 : tensor<64x64xf32> to tensor<64x64xbf16>
      %64 = tt.dot %25, %63, %arg8, inputPrecision = tf32 : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
      scf.yield %64 : tensor<64x64xf32>
    }
    %6 = tt.expand_dims %4 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %7 = arith.muli %6, %cst_0 : tensor<64x1xi32>
    %8 = tt.splat %arg4 : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %9 = tt.addptr %8, %7 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %10 = tt.expand_dims %2 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %11 = tt.broadcast %9 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %12 = tt.broadcast %10 : tensor<1x64xi32> -> tensor<64x64xi32>
    %13 = tt.addptr %11, %12 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %13, %5 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
