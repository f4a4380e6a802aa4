module {
  tt.func public @gated(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg4: i32, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<1.000000e+00> : tensor<64x256xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x256xf32>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<32x256xf16>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<64x32xf16>
    %c0_i32 = arith.constant 0 : i32
    %cst_3 = arith.constant dense<32> : tensor<64x32xi32>
    %c32_i32 = arith.constant 32 : i32
    %c256_i32 = arith.constant 256 : i32
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c64_i32 : i32
    %2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %3 = tt.splat %1 : i32 -> tensor<64xi32>
    %4 = arith.addi %3, %2 : tensor<64xi32>
    %5 = tt.get_program_id y : i32
    %6 = arith.muli %5, %c256_i32 : i32
    %7 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %8 = tt.splat %6 : i32 -> tensor<256xi32>
    %9 = arith.addi %8, %7 : tensor<256xi32>
    %10 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %11 = tt.expand_dims %4 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %12 = tt.splat %arg7 : i32 -> tensor<64x1xi32>
    %13 = arith.muli %11, %12 : tensor<64x1xi32>
    %14 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %15 = tt.addptr %14, %13 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %16 = tt.expand_dims %10 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %17 = tt.broadcast %15 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
    %18 = tt.broadcast %16 : tensor<1x32xi32> -> tensor<64x32xi32>
    %19 = tt.addptr %17, %18 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %20 = tt.expand_dims %10 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %21 = tt.splat %arg8 : i32 -> tensor<32x1xi32>
    %22 = arith.muli %20, %21 : tensor<32x1xi32>
    %23 = tt.expand_dims %9 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
    %24 = tt.broadcast %22 : tensor<32x1xi32> -> tensor<32x256xi32>
    %25 = tt.broadcast %23 : tensor<1x256xi32> -> tensor<32x256xi32>
    %26 = arith.addi %24, %25 : tensor<32x256xi32>
    %27:4 = scf.for %arg9 = %c0_i32 to %arg6 step %c32_i32 iter_args(%arg10 = %19, %arg11 = %26, %arg12 = %cst_0, %arg13 = %cst_0) -> (tensor<64x32x!tt.ptr<f16>>, tensor<32x256xi32>, tensor<64x256xf32>, tensor<64x256xf32>)  : i32 {
      %49 = tt.splat %arg4 : i32 -> tensor<64x1xi32>
      %50 = arith.cmpi slt, %11, %49 : tensor<64x1xi32>
      %51 = arith.subi %arg6, %arg9 : i32
      %52 = tt.splat %51 : i32 -> tensor<1x32xi32>
      %53 = arith.cmpi slt, %16, %52 : tensor<1x32xi32>
      %54 = tt.broadcast %50 : tensor<64x1xi1> -> tensor<64x32xi1>
      %55 = tt.broadcast %53 : tensor<1x32xi1> -> tensor<64x32xi1>
      %56 = arith.andi %54, %55 : tensor<64x32xi1>
      %57 = tt.load %arg10, %56, %cst_2 : tensor<64x32x!tt.ptr<f16>>
      %58 = tt.splat %51 : i32 -> tensor<32x1xi32>
      %59 = arith.cmpi slt, %20, %58 : tensor<32x1xi32>
      %60 = tt.splat %arg5 : i32 -> tensor<1x256xi32>
      %61 = arith.cmpi slt, %23, %60 : tensor<1x256xi32>
      %62 = tt.broadcast %59 : tensor<32x1xi1> -> tensor<32x256xi1>
      %63 = tt.broadcast %61 : tensor<1x256xi1> -> tensor<32x256xi1>
      %64 = arith.andi %62, %63 : tensor<32x256xi1>
      %65 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<32x256x!tt.ptr<f16>>
      %66 = tt.addptr %65, %arg11 : tensor<32x256x!tt.ptr<f16>>, tensor<32x256xi32>
      %67 = tt.load %66, %64, %cst_1 : tensor<32x256x!tt.ptr<f16>>
      %68 = tt.dot %57, %67, %arg12, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x256xf16> -> tensor<64x256xf32>
      %69 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<32x256x!tt.ptr<f16>>
      %70 = tt.addptr %69, %arg11 : tensor<32x256x!tt.ptr<f16>>, tensor<32x256xi32>
      %71 = tt.load %70, %64, %cst_1 : tensor<32x256x!tt.ptr<f16>>
      %72 = tt.dot %57, %71, %arg13, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x256xf16> -> tensor<64x256xf32>
      %73 = tt.addptr %arg10, %cst_3 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %74 = arith.muli %arg8, %c32_i32 : i32
      %75 = tt.splat %74 : i32 -> tensor<32x256xi32>
      %76 = arith.addi %arg11, %75 : tensor<32x256xi32>
      scf.yield %73, %76, %68, %72 : tensor<64x32x!tt.ptr<f16>>, tensor<32x256xi32>, tensor<64x256xf32>, tensor<64x256xf32>
    }
    %28 = arith.negf %27#2 : tensor<64x256xf32>
    %29 = math.exp %28 : tensor<64x256xf32>
    %30 = arith.addf %29, %cst : tensor<64x256xf32>
    %31 = arith.divf %cst, %30 : tensor<64x256xf32>
    %32 = arith.mulf %27#2, %31 : tensor<64x256xf32>
    %33 = arith.mulf %32, %27#3 : tensor<64x256xf32>
    %34 = tt.splat %arg4 : i32 -> tensor<64x1xi32>
    %35 = arith.cmpi slt, %11, %34 : tensor<64x1xi32>
    %36 = tt.splat %arg5 : i32 -> tensor<1x256xi32>
    %37 = arith.cmpi slt, %23, %36 : tensor<1x256xi32>
    %38 = tt.broadcast %35 : tensor<64x1xi1> -> tensor<64x256xi1>
    %39 = tt.broadcast %37 : tensor<1x256xi1> -> tensor<64x256xi1>
    %40 = arith.andi %38, %39 : tensor<64x256xi1>
    %41 = tt.splat %arg5 : i32 -> tensor<64x1xi32>
    %42 = arith.muli %11, %41 : tensor<64x1xi32>
    %43 = tt.splat %arg3 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %44 = tt.addptr %43, %42 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %45 = tt.broadcast %44 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x256x!tt.ptr<f16>>
    %46 = tt.broadcast %23 : tensor<1x256xi32> -> tensor<64x256xi32>
    %47 = tt.addptr %45, %46 : tensor<64x256x!tt.ptr<f16>>, tensor<64x256xi32>
    %48 = arith.truncf %33 : tensor<64x256xf32> to tensor<64x256xf16>
    tt.store %47, %48, %40 : tensor<64x256x!tt.ptr<f16>>
    tt.return
  }
}
