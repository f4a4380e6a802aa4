module {
  tt.func public @latent(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg5: i32, %arg6: i32, %arg7: f32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x512xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x32xf16>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<512x32xf16>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
    %cst_4 = arith.constant dense<0.000000e+00> : tensor<64x512xf16>
    %cst_5 = arith.constant dense<0xFF800000> : tensor<64x32xf32>
    %cst_6 = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
    %cst_7 = arith.constant dense<64> : tensor<1x32xi32>
    %cst_8 = arith.constant dense<512> : tensor<1x32xi32>
    %cst_9 = arith.constant dense<0xFF800000> : tensor<64xf32>
    %cst_10 = arith.constant dense<64> : tensor<64x1xi32>
    %cst_11 = arith.constant dense<512> : tensor<64x1xi32>
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c64_i32 : i32
    %2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %3 = tt.splat %1 : i32 -> tensor<64xi32>
    %4 = arith.addi %3, %2 : tensor<64xi32>
    %5 = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %6 = tt.expand_dims %4 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %7 = tt.splat %arg5 : i32 -> tensor<64x1xi32>
    %8 = arith.cmpi slt, %6, %7 : tensor<64x1xi32>
    %9 = arith.muli %6, %cst_11 : tensor<64x1xi32>
    %10 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %11 = tt.addptr %10, %9 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %12 = tt.expand_dims %5 {axis = 0 : i32} : tensor<512xi32> -> tensor<1x512xi32>
    %13 = tt.broadcast %11 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x512x!tt.ptr<f16>>
    %14 = tt.broadcast %12 : tensor<1x512xi32> -> tensor<64x512xi32>
    %15 = tt.addptr %13, %14 : tensor<64x512x!tt.ptr<f16>>, tensor<64x512xi32>
    %16 = tt.broadcast %8 : tensor<64x1xi1> -> tensor<64x512xi1>
    %17 = tt.load %15, %16, %cst_4 : tensor<64x512x!tt.ptr<f16>>
    %18 = arith.muli %6, %cst_10 : tensor<64x1xi32>
    %19 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %20 = tt.addptr %19, %18 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %21 = tt.expand_dims %2 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %22 = tt.broadcast %20 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
    %23 = tt.broadcast %21 : tensor<1x64xi32> -> tensor<64x64xi32>
    %24 = tt.addptr %22, %23 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %25 = tt.broadcast %8 : tensor<64x1xi1> -> tensor<64x64xi1>
    %26 = tt.load %24, %25, %cst_3 : tensor<64x64x!tt.ptr<f16>>
    %27:3 = scf.for %arg8 = %c0_i32 to %arg6 step %c32_i32 iter_args(%arg9 = %cst_9, %arg10 = %cst_0, %arg11 = %cst) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x512xf32>)  : i32 {
      %36 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
      %37 = tt.splat %arg8 : i32 -> tensor<32xi32>
      %38 = arith.addi %37, %36 : tensor<32xi32>
      %39 = tt.expand_dims %38 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %40 = tt.splat %arg6 : i32 -> tensor<1x32xi32>
      %41 = arith.cmpi slt, %39, %40 : tensor<1x32xi32>
      %42 = arith.muli %39, %cst_8 : tensor<1x32xi32>
      %43 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<1x32x!tt.ptr<f16>>
      %44 = tt.addptr %43, %42 : tensor<1x32x!tt.ptr<f16>>, tensor<1x32xi32>
      %45 = tt.expand_dims %5 {axis = 1 : i32} : tensor<512xi32> -> tensor<512x1xi32>
      %46 = tt.broadcast %44 : tensor<1x32x!tt.ptr<f16>> -> tensor<512x32x!tt.ptr<f16>>
      %47 = tt.broadcast %45 : tensor<512x1xi32> -> tensor<512x32xi32>
      %48 = tt.addptr %46, %47 : tensor<512x32x!tt.ptr<f16>>, tensor<512x32xi32>
      %49 = tt.broadcast %41 : tensor<1x32xi1> -> tensor<512x32xi1>
      %50 = tt.load %48, %49, %cst_2 : tensor<512x32x!tt.ptr<f16>>
      %51 = arith.muli %39, %cst_7 : tensor<1x32xi32>
      %52 = tt.splat %arg3 : !tt.ptr<f16> -> tensor<1x32x!tt.ptr<f16>>
      %53 = tt.addptr %52, %51 : tensor<1x32x!tt.ptr<f16>>, tensor<1x32xi32>
      %54 = tt.expand_dims %2 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %55 = tt.broadcast %53 : tensor<1x32x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
      %56 = tt.broadcast %54 : tensor<64x1xi32> -> tensor<64x32xi32>
      %57 = tt.addptr %55, %56 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %58 = tt.broadcast %41 : tensor<1x32xi1> -> tensor<64x32xi1>
      %59 = tt.load %57, %58, %cst_1 : tensor<64x32x!tt.ptr<f16>>
      %60 = tt.dot %17, %50, %cst_6, inputPrecision = tf32 : tensor<64x512xf16> * tensor<512x32xf16> -> tensor<64x32xf32>
      %61 = tt.dot %26, %59, %60, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x32xf16> -> tensor<64x32xf32>
      %62 = tt.splat %arg7 : f32 -> tensor<64x32xf32>
      %63 = arith.mulf %61, %62 : tensor<64x32xf32>
      %64 = arith.select %58, %63, %cst_5 : tensor<64x32xi1>, tensor<64x32xf32>
      %65 = "tt.reduce"(%64) <{axis = 1 : i32}> ({
      ^bb0(%arg12: f32, %arg13: f32):
        %82 = arith.maxnumf %arg12, %arg13 : f32
        tt.reduce.return %82 : f32
      }) : (tensor<64x32xf32>) -> tensor<64xf32>
      %66 = arith.maxnumf %arg9, %65 : tensor<64xf32>
      %67 = arith.subf %arg9, %66 : tensor<64xf32>
      %68 = math.exp2 %67 : tensor<64xf32>
      %69 = tt.expand_dims %66 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %70 = tt.broadcast %69 : tensor<64x1xf32> -> tensor<64x32xf32>
      %71 = arith.subf %64, %70 : tensor<64x32xf32>
      %72 = math.exp2 %71 : tensor<64x32xf32>
      %73 = arith.mulf %arg10, %68 : tensor<64xf32>
      %74 = "tt.reduce"(%72) <{axis = 1 : i32}> ({
      ^bb0(%arg12: f32, %arg13: f32):
        %82 = arith.addf %arg12, %arg13 : f32
        tt.reduce.return %82 : f32
      }) : (tensor<64x32xf32>) -> tensor<64xf32>
      %75 = arith.addf %73, %74 : tensor<64xf32>
      %76 = arith.truncf %72 : tensor<64x32xf32> to tensor<64x32xf16>
      %77 = tt.trans %50 {order = array<i32: 1, 0>} : tensor<512x32xf16> -> tensor<32x512xf16>
      %78 = tt.expand_dims %68 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %79 = tt.broadcast %78 : tensor<64x1xf32> -> tensor<64x512xf32>
      %80 = arith.mulf %arg11, %79 : tensor<64x512xf32>
      %81 = tt.dot %76, %77, %80, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x512xf16> -> tensor<64x512xf32>
      scf.yield %66, %75, %81 : tensor<64xf32>, tensor<64xf32>, tensor<64x512xf32>
    }
    %28 = tt.splat %arg4 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %29 = tt.addptr %28, %9 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %30 = tt.broadcast %29 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x512x!tt.ptr<f16>>
    %31 = tt.addptr %30, %14 : tensor<64x512x!tt.ptr<f16>>, tensor<64x512xi32>
    %32 = tt.expand_dims %27#1 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %33 = tt.broadcast %32 : tensor<64x1xf32> -> tensor<64x512xf32>
    %34 = arith.divf %27#2, %33 : tensor<64x512xf32>
    %35 = arith.truncf %34 : tensor<64x512xf32> to tensor<64x512xf16>
    tt.store %31, %35, %16 : tensor<64x512x!tt.ptr<f16>>
    tt.return
  }
}
