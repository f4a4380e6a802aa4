// Integers of few bits as f16, two at once: bytes with a sign and without, two of four bits to a byte, four bits of 32 (C68).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[6144] --arg=[6144] --arg=[6144] --arg=[3072] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_90a --interleavings 2 --seed 2 --arg=[6144] --arg=[6144] --arg=[6144] --arg=[3072] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_100a --interleavings 2 --seed 3 --arg=[6144] --arg=[6144] --arg=[6144] --arg=[3072] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_120a --interleavings 2 --seed 4 --arg=[6144] --arg=[6144] --arg=[6144] --arg=[3072] --arg=[6144] --arg=[4096] --arg=96
// clean
module {
  tt.func public @narrow(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg5: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<64> : tensor<64x1xi32>
    %cst_1 = arith.constant dense<5.000000e-01> : tensor<32x64xf16>
    %cst_2 = arith.constant dense<3.000000e+00> : tensor<32x64xf16>
    %cst_3 = arith.constant dense<15> : tensor<32x64xi32>
    %cst_4 = arith.constant dense<3> : tensor<32x64xi32>
    %cst_5 = arith.constant dense<4> : tensor<32x32xi8>
    %cst_6 = arith.constant dense<32> : tensor<32x1xi32>
    %cst_7 = arith.constant dense<64> : tensor<32x1xi32>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %2 = scf.for %arg7 = %c0_i32 to %arg6 step %c32_i32 iter_args(%arg8 = %cst) -> (tensor<64x64xf32>)  : i32 {
      %11 = tt.splat %arg7 : i32 -> tensor<32xi32>
      %12 = arith.addi %11, %1 : tensor<32xi32>
      %13 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %14 = tt.splat %arg6 : i32 -> tensor<64x1xi32>
      %15 = arith.muli %13, %14 : tensor<64x1xi32>
      %16 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
      %17 = tt.addptr %16, %15 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
      %18 = tt.expand_dims %12 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %19 = tt.broadcast %17 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
      %20 = tt.broadcast %18 : tensor<1x32xi32> -> tensor<64x32xi32>
      %21 = tt.addptr %19, %20 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %22 = tt.load %21 : tensor<64x32x!tt.ptr<f16>>
      %23 = tt.expand_dims %12 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %24 = arith.muli %23, %cst_7 : tensor<32x1xi32>
      %25 = tt.splat %arg1 : !tt.ptr<i8> -> tensor<32x1x!tt.ptr<i8>>
      %26 = tt.addptr %25, %24 : tensor<32x1x!tt.ptr<i8>>, tensor<32x1xi32>
      %27 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %28 = tt.broadcast %26 : tensor<32x1x!tt.ptr<i8>> -> tensor<32x64x!tt.ptr<i8>>
      %29 = tt.broadcast %27 : tensor<1x64xi32> -> tensor<32x64xi32>
      %30 = tt.addptr %28, %29 : tensor<32x64x!tt.ptr<i8>>, tensor<32x64xi32>
      %31 = tt.load %30 : tensor<32x64x!tt.ptr<i8>>
      %32 = tt.splat %arg2 : !tt.ptr<i8> -> tensor<32x1x!tt.ptr<i8>>
      %33 = tt.addptr %32, %24 : tensor<32x1x!tt.ptr<i8>>, tensor<32x1xi32>
      %34 = tt.broadcast %33 : tensor<32x1x!tt.ptr<i8>> -> tensor<32x64x!tt.ptr<i8>>
      %35 = tt.addptr %34, %29 : tensor<32x64x!tt.ptr<i8>>, tensor<32x64xi32>
      %36 = tt.load %35 : tensor<32x64x!tt.ptr<i8>>
      %37 = arith.muli %23, %cst_6 : tensor<32x1xi32>
      %38 = tt.splat %arg3 : !tt.ptr<i8> -> tensor<32x1x!tt.ptr<i8>>
      %39 = tt.addptr %38, %37 : tensor<32x1x!tt.ptr<i8>>, tensor<32x1xi32>
      %40 = tt.expand_dims %1 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %41 = tt.broadcast %39 : tensor<32x1x!tt.ptr<i8>> -> tensor<32x32x!tt.ptr<i8>>
      %42 = tt.broadcast %40 : tensor<1x32xi32> -> tensor<32x32xi32>
      %43 = tt.addptr %41, %42 : tensor<32x32x!tt.ptr<i8>>, tensor<32x32xi32>
      %44 = tt.load %43 : tensor<32x32x!tt.ptr<i8>>
      %45 = arith.shli %44, %cst_5 : tensor<32x32xi8>
      %46 = arith.shrsi %45, %cst_5 : tensor<32x32xi8>
      %47 = arith.shrsi %44, %cst_5 : tensor<32x32xi8>
      %48 = tt.join %46, %47 : tensor<32x32xi8> -> tensor<32x32x2xi8>
      %49 = tt.reshape %48 : tensor<32x32x2xi8> -> tensor<32x64xi8>
      %50 = tt.splat %arg4 : !tt.ptr<i32> -> tensor<32x1x!tt.ptr<i32>>
      %51 = tt.addptr %50, %24 : tensor<32x1x!tt.ptr<i32>>, tensor<32x1xi32>
      %52 = tt.broadcast %51 : tensor<32x1x!tt.ptr<i32>> -> tensor<32x64x!tt.ptr<i32>>
      %53 = tt.addptr %52, %29 : tensor<32x64x!tt.ptr<i32>>, tensor<32x64xi32>
      %54 = tt.load %53 : tensor<32x64x!tt.ptr<i32>>
      %55 = arith.shrsi %54, %cst_4 : tensor<32x64xi32>
      %56 = arith.andi %55, %cst_3 : tensor<32x64xi32>
      %57 = arith.sitofp %31 : tensor<32x64xi8> to tensor<32x64xf16>
      %58 = arith.subf %57, %cst_2 : tensor<32x64xf16>
      %59 = tt.dot %22, %58, %arg8, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %60 = arith.uitofp %36 : tensor<32x64xi8> to tensor<32x64xf16>
      %61 = arith.mulf %60, %cst_1 : tensor<32x64xf16>
      %62 = tt.dot %22, %61, %59, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %63 = arith.sitofp %49 : tensor<32x64xi8> to tensor<32x64xf16>
      %64 = tt.dot %22, %63, %62, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %65 = arith.sitofp %56 : tensor<32x64xi32> to tensor<32x64xf16>
      %66 = tt.dot %22, %65, %64, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %66 : tensor<64x64xf32>
    }
    %3 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %4 = arith.muli %3, %cst_0 : tensor<64x1xi32>
    %5 = tt.splat %arg5 : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %6 = tt.addptr %5, %4 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %7 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %8 = tt.broadcast %6 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %9 = tt.broadcast %7 : tensor<1x64xi32> -> tensor<64x64xi32>
    %10 = tt.addptr %8, %9 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %10, %2 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
