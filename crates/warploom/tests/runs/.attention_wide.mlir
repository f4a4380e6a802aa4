module {
  tt.func public @attention(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg5: i32, %arg6: i32, %arg7: f32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x512xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<32x512xf16>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<64x32xf16>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
    %cst_4 = arith.constant dense<512> : tensor<64x1xi32>
    %cst_5 = arith.constant dense<512> : tensor<32x1xi32>
    %cst_6 = arith.constant dense<0xFF800000> : tensor<64x32xf32>
    %cst_7 = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
    %cst_8 = arith.constant dense<64> : tensor<1x32xi32>
    %cst_9 = arith.constant dense<0xFF800000> : tensor<64xf32>
    %cst_10 = arith.constant dense<64> : tensor<64x1xi32>
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
    %9 = arith.muli %6, %cst_10 : tensor<64x1xi32>
    %10 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %11 = tt.addptr %10, %9 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %12 = tt.expand_dims %2 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %13 = tt.broadcast %11 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
    %14 = tt.broadcast %12 : tensor<1x64xi32> -> tensor<64x64xi32>
    %15 = tt.addptr %13, %14 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %16 = tt.broadcast %8 : tensor<64x1xi1> -> tensor<64x64xi1>
    %17 = tt.load %15, %16, %cst_3 : tensor<64x64x!tt.ptr<f16>>
    %18:3 = scf.for %arg8 = %c0_i32 to %arg6 step %c32_i32 iter_args(%arg9 = %cst_9, %arg10 = %cst_0, %arg11 = %cst) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x512xf32>)  : i32 {
      %37 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
      %38 = tt.splat %arg8 : i32 -> tensor<32xi32>
      %39 = arith.addi %38, %37 : tensor<32xi32>
      %40 = tt.expand_dims %39 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %41 = tt.splat %arg6 : i32 -> tensor<1x32xi32>
      %42 = arith.cmpi slt, %40, %41 : tensor<1x32xi32>
      %43 = arith.muli %40, %cst_8 : tensor<1x32xi32>
      %44 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<1x32x!tt.ptr<f16>>
      %45 = tt.addptr %44, %43 : tensor<1x32x!tt.ptr<f16>>, tensor<1x32xi32>
      %46 = tt.expand_dims %2 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %47 = tt.broadcast %45 : tensor<1x32x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
      %48 = tt.broadcast %46 : tensor<64x1xi32> -> tensor<64x32xi32>
      %49 = tt.addptr %47, %48 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %50 = tt.broadcast %42 : tensor<1x32xi1> -> tensor<64x32xi1>
      %51 = tt.load %49, %50, %cst_2 : tensor<64x32x!tt.ptr<f16>>
      %52 = tt.dot %17, %51, %cst_7, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x32xf16> -> tensor<64x32xf32>
      %53 = tt.splat %arg7 : f32 -> tensor<64x32xf32>
      %54 = arith.mulf %52, %53 : tensor<64x32xf32>
      %55 = arith.select %50, %54, %cst_6 : tensor<64x32xi1>, tensor<64x32xf32>
      %56 = "tt.reduce"(%55) <{axis = 1 : i32}> ({
      ^bb0(%arg12: f32, %arg13: f32):
        %84 = arith.maxnumf %arg12, %arg13 : f32
        tt.reduce.return %84 : f32
      }) : (tensor<64x32xf32>) -> tensor<64xf32>
      %57 = arith.maxnumf %arg9, %56 : tensor<64xf32>
      %58 = arith.subf %arg9, %57 : tensor<64xf32>
      %59 = math.exp2 %58 : tensor<64xf32>
      %60 = tt.expand_dims %57 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %61 = tt.broadcast %60 : tensor<64x1xf32> -> tensor<64x32xf32>
      %62 = arith.subf %55, %61 : tensor<64x32xf32>
      %63 = math.exp2 %62 : tensor<64x32xf32>
      %64 = arith.mulf %arg10, %59 : tensor<64xf32>
      %65 = "tt.reduce"(%63) <{axis = 1 : i32}> ({
      ^bb0(%arg12: f32, %arg13: f32):
        %84 = arith.addf %arg12, %arg13 : f32
        tt.reduce.return %84 : f32
      }) : (tensor<64x32xf32>) -> tensor<64xf32>
      %66 = arith.addf %64, %65 : tensor<64xf32>
      %67 = tt.expand_dims %39 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %68 = tt.splat %arg6 : i32 -> tensor<32x1xi32>
      %69 = arith.cmpi slt, %67, %68 : tensor<32x1xi32>
      %70 = arith.muli %67, %cst_5 : tensor<32x1xi32>
      %71 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
      %72 = tt.addptr %71, %70 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
      %73 = tt.expand_dims %5 {axis = 0 : i32} : tensor<512xi32> -> tensor<1x512xi32>
      %74 = tt.broadcast %72 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x512x!tt.ptr<f16>>
      %75 = tt.broadcast %73 : tensor<1x512xi32> -> tensor<32x512xi32>
      %76 = tt.addptr %74, %75 : tensor<32x512x!tt.ptr<f16>>, tensor<32x512xi32>
      %77 = tt.broadcast %69 : tensor<32x1xi1> -> tensor<32x512xi1>
      %78 = tt.load %76, %77, %cst_1 : tensor<32x512x!tt.ptr<f16>>
      %79 = arith.truncf %63 : tensor<64x32xf32> to tensor<64x32xf16>
      %80 = tt.expand_dims %59 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %81 = tt.broadcast %80 : tensor<64x1xf32> -> tensor<64x512xf32>
      %82 = arith.mulf %arg11, %81 : tensor<64x512xf32>
      %83 = tt.dot %79, %78, %82, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x512xf16> -> tensor<64x512xf32>
      scf.yield %57, %66, %83 : tensor<64xf32>, tensor<64xf32>, tensor<64x512xf32>
    }
    %19 = arith.muli %6, %cst_4 : tensor<64x1xi32>
    %20 = tt.splat %arg3 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %21 = tt.addptr %20, %19 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %22 = tt.expand_dims %5 {axis = 0 : i32} : tensor<512xi32> -> tensor<1x512xi32>
    %23 = tt.broadcast %21 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x512x!tt.ptr<f16>>
    %24 = tt.broadcast %22 : tensor<1x512xi32> -> tensor<64x512xi32>
    %25 = tt.addptr %23, %24 : tensor<64x512x!tt.ptr<f16>>, tensor<64x512xi32>
    %26 = tt.expand_dims %18#1 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %27 = tt.broadcast %26 : tensor<64x1xf32> -> tensor<64x512xf32>
    %28 = arith.divf %18#2, %27 : tensor<64x512xf32>
    %29 = arith.truncf %28 : tensor<64x512xf32> to tensor<64x512xf16>
    %30 = tt.broadcast %8 : tensor<64x1xi1> -> tensor<64x512xi1>
    tt.store %25, %29, %30 : tensor<64x512x!tt.ptr<f16>>
    %31 = tt.splat %arg5 : i32 -> tensor<64xi32>
    %32 = arith.cmpi slt, %4, %31 : tensor<64xi32>
    %33 = tt.splat %arg4 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %34 = tt.addptr %33, %4 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %35 = math.log2 %18#1 : tensor<64xf32>
    %36 = arith.addf %18#0, %35 : tensor<64xf32>
    tt.store %34, %36, %32 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
