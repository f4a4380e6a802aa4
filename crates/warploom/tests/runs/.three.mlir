module {
  tt.func public @three(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg5: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c4096_i32 = arith.constant 4096 : i32
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<5.000000e-01> : tensor<64x64xf32>
    %cst_1 = arith.constant dense<64> : tensor<64x1xi32>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = scf.for %arg6 = %c0_i32 to %arg5 step %c1_i32 iter_args(%arg7 = %cst) -> (tensor<64x64xf32>)  : i32 {
      %11 = arith.muli %arg6, %c4096_i32 : i32
      %12 = tt.addptr %arg0, %11 : !tt.ptr<f16>, i32
      %13 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %14 = arith.muli %13, %cst_1 : tensor<64x1xi32>
      %15 = tt.splat %12 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
      %16 = tt.addptr %15, %14 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
      %17 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %18 = tt.broadcast %16 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
      %19 = tt.broadcast %17 : tensor<1x64xi32> -> tensor<64x64xi32>
      %20 = tt.addptr %18, %19 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %21 = tt.load %20 : tensor<64x64x!tt.ptr<f16>>
      %22 = tt.addptr %arg1, %11 : !tt.ptr<f16>, i32
      %23 = tt.splat %22 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
      %24 = tt.addptr %23, %14 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
      %25 = tt.broadcast %24 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
      %26 = tt.addptr %25, %19 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %27 = tt.load %26 : tensor<64x64x!tt.ptr<f16>>
      %28 = tt.addptr %arg2, %11 : !tt.ptr<f16>, i32
      %29 = tt.splat %28 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
      %30 = tt.addptr %29, %14 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
      %31 = tt.broadcast %30 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
      %32 = tt.addptr %31, %19 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %33 = tt.load %32 : tensor<64x64x!tt.ptr<f16>>
      %34 = tt.addptr %arg3, %11 : !tt.ptr<f16>, i32
      %35 = tt.splat %34 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
      %36 = tt.addptr %35, %14 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
      %37 = tt.broadcast %36 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
      %38 = tt.addptr %37, %19 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %39 = tt.load %38 : tensor<64x64x!tt.ptr<f16>>
      %40 = arith.mulf %arg7, %cst_0 : tensor<64x64xf32>
      %41 = tt.dot %21, %27, %40, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %42 = tt.dot %39, %33, %41, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %43 = arith.mulf %21, %39 : tensor<64x64xf16>
      %44 = tt.dot %43, %27, %42, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %44 : tensor<64x64xf32>
    }
    %2 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %3 = arith.muli %2, %cst_1 : tensor<64x1xi32>
    %4 = tt.splat %arg4 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %5 = tt.addptr %4, %3 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %6 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %7 = tt.broadcast %5 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
    %8 = tt.broadcast %6 : tensor<1x64xi32> -> tensor<64x64xi32>
    %9 = tt.addptr %7, %8 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %10 = arith.truncf %1 : tensor<64x64xf32> to tensor<64x64xf16>
    tt.store %9, %10 : tensor<64x64x!tt.ptr<f16>>
    tt.return
  }
}
