// Columns folded over warps as numbers of 8, 16, 32 and 64 bits (C65).
// run: run - --target sm_80 --interleavings 3 --seed 1 --arg=[8192] --arg=[64] --arg=[64] --arg=[64] --arg=[128]
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[8192] --arg=[64] --arg=[64] --arg=[64] --arg=[128]
// run: run - --target sm_100a --interleavings 3 --seed 1 --arg=[8192] --arg=[64] --arg=[64] --arg=[64] --arg=[128]
// clean
module {
  tt.func public @folds(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f64> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<f16> {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst_0 = arith.constant dense<128> : tensor<64x1xi32>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %2 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %3 = arith.muli %2, %cst_0 : tensor<64x1xi32>
    %4 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %5 = tt.addptr %4, %3 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %6 = tt.expand_dims %1 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %7 = tt.broadcast %5 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x128x!tt.ptr<f16>>
    %8 = tt.broadcast %6 : tensor<1x128xi32> -> tensor<64x128xi32>
    %9 = tt.addptr %7, %8 : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
    %10 = tt.load %9 : tensor<64x128x!tt.ptr<f16>>
    %11 = tt.trans %10 {order = array<i32: 1, 0>} : tensor<64x128xf16> -> tensor<128x64xf16>
    %12 = tt.dot %10, %11, %cst, inputPrecision = tf32 : tensor<64x128xf16> * tensor<128x64xf16> -> tensor<64x64xf32>
    %13 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %14 = tt.addptr %13, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %15 = "tt.reduce"(%12) <{axis = 0 : i32}> ({
    ^bb0(%arg5: f32, %arg6: f32):
      %31 = arith.addf %arg5, %arg6 : f32
      tt.reduce.return %31 : f32
    }) : (tensor<64x64xf32>) -> tensor<64xf32>
    tt.store %14, %15 : tensor<64x!tt.ptr<f32>>
    %16 = tt.splat %arg2 : !tt.ptr<f64> -> tensor<64x!tt.ptr<f64>>
    %17 = tt.addptr %16, %0 : tensor<64x!tt.ptr<f64>>, tensor<64xi32>
    %18 = arith.extf %12 : tensor<64x64xf32> to tensor<64x64xf64>
    %19 = "tt.reduce"(%18) <{axis = 0 : i32}> ({
    ^bb0(%arg5: f64, %arg6: f64):
      %31 = arith.addf %arg5, %arg6 : f64
      tt.reduce.return %31 : f64
    }) : (tensor<64x64xf64>) -> tensor<64xf64>
    tt.store %17, %19 : tensor<64x!tt.ptr<f64>>
    %20 = tt.splat %arg3 : !tt.ptr<i8> -> tensor<64x!tt.ptr<i8>>
    %21 = tt.addptr %20, %0 : tensor<64x!tt.ptr<i8>>, tensor<64xi32>
    %22 = arith.cmpf ogt, %12, %cst : tensor<64x64xf32>
    %23 = arith.extui %22 : tensor<64x64xi1> to tensor<64x64xi32>
    %24 = "tt.reduce"(%23) <{axis = 0 : i32}> ({
    ^bb0(%arg5: i32, %arg6: i32):
      %31 = arith.maxsi %arg5, %arg6 : i32
      tt.reduce.return %31 : i32
    }) : (tensor<64x64xi32>) -> tensor<64xi32>
    %25 = arith.trunci %24 : tensor<64xi32> to tensor<64xi8>
    tt.store %21, %25 : tensor<64x!tt.ptr<i8>>
    %26 = tt.splat %arg4 : !tt.ptr<f16> -> tensor<128x!tt.ptr<f16>>
    %27 = tt.addptr %26, %1 : tensor<128x!tt.ptr<f16>>, tensor<128xi32>
    %28 = arith.extf %10 : tensor<64x128xf16> to tensor<64x128xf32>
    %29 = "tt.reduce"(%28) <{axis = 0 : i32}> ({
    ^bb0(%arg5: f32, %arg6: f32):
      %31 = arith.maxnumf %arg5, %arg6 : f32
      tt.reduce.return %31 : f32
    }) : (tensor<64x128xf32>) -> tensor<128xf32>
    %30 = arith.truncf %29 : tensor<128xf32> to tensor<128xf16>
    tt.store %27, %30 : tensor<128x!tt.ptr<f16>>
    tt.return
  }
}
