// A product of 16 rows beside one of 64: its operands are swapped, and what is made of it is made as it lies: sums along rows
// and columns, what goes round the loop, stores of both kinds and the operand of the next product (Q25, G5).
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[8320] --arg=[64] --arg=[64] --arg=[8320] --arg=[8384] --arg=[8320] --arg=[130] --arg=130 --arg=0.5
// run: run - --target sm_100a --interleavings 3 --seed 1 --arg=[8320] --arg=[64] --arg=[64] --arg=[8320] --arg=[8384] --arg=[8320] --arg=[130] --arg=130 --arg=0.5
// clean
module {
  tt.func public @swapped(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg5: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg6: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg7: i32, %arg8: f32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1x64xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<16x64xbf16>
    %c16_i32 = arith.constant 16 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst_2 = arith.constant dense<1.250000e-01> : tensor<64xf32>
    %cst_3 = arith.constant dense<6.400000e+01> : tensor<16xf32>
    %cst_4 = arith.constant dense<64> : tensor<16x1xi32>
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %2 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %3 = tt.addptr %2, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %4 = tt.load %3 : tensor<64x!tt.ptr<f32>>
    %5 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %6 = tt.addptr %5, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %7 = tt.load %6 : tensor<64x!tt.ptr<f32>>
    %8:2 = scf.for %arg9 = %c0_i32 to %arg7 step %c16_i32 iter_args(%arg10 = %cst_1, %arg11 = %7) -> (tensor<64x64xf32>, tensor<64xf32>)  : i32 {
      %14 = tt.splat %arg9 : i32 -> tensor<16xi32>
      %15 = arith.addi %14, %1 : tensor<16xi32>
      %16 = tt.expand_dims %15 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %17 = arith.muli %16, %cst_4 : tensor<16x1xi32>
      %18 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %19 = tt.broadcast %17 : tensor<16x1xi32> -> tensor<16x64xi32>
      %20 = tt.broadcast %18 : tensor<1x64xi32> -> tensor<16x64xi32>
      %21 = arith.addi %19, %20 : tensor<16x64xi32>
      %22 = tt.splat %arg7 : i32 -> tensor<16x1xi32>
      %23 = arith.cmpi slt, %16, %22 : tensor<16x1xi32>
      %24 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<16x64x!tt.ptr<bf16>>
      %25 = tt.addptr %24, %21 : tensor<16x64x!tt.ptr<bf16>>, tensor<16x64xi32>
      %26 = tt.broadcast %23 : tensor<16x1xi1> -> tensor<16x64xi1>
      %27 = tt.load %25, %26, %cst_0 : tensor<16x64x!tt.ptr<bf16>>
      %28 = tt.splat %arg3 : !tt.ptr<bf16> -> tensor<16x64x!tt.ptr<bf16>>
      %29 = tt.addptr %28, %21 : tensor<16x64x!tt.ptr<bf16>>, tensor<16x64xi32>
      %30 = tt.load %29, %26, %cst_0 : tensor<16x64x!tt.ptr<bf16>>
      %31 = arith.truncf %arg10 : tensor<64x64xf32> to tensor<64x64xbf16>
      %32 = tt.expand_dims %arg11 {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
      %33 = arith.addf %32, %cst : tensor<1x64xf32>
      %34 = tt.broadcast %33 : tensor<1x64xf32> -> tensor<16x64xf32>
      %35 = tt.dot %27, %31, %34, inputPrecision = tf32 : tensor<16x64xbf16> * tensor<64x64xbf16> -> tensor<16x64xf32>
      %36 = "tt.reduce"(%35) <{axis = 1 : i32}> ({
      ^bb0(%arg12: f32, %arg13: f32):
        %76 = arith.addf %arg12, %arg13 : f32
        tt.reduce.return %76 : f32
      }) : (tensor<16x64xf32>) -> tensor<16xf32>
      %37 = arith.divf %36, %cst_3 : tensor<16xf32>
      %38 = tt.expand_dims %37 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
      %39 = tt.broadcast %38 : tensor<16x1xf32> -> tensor<16x64xf32>
      %40 = arith.subf %35, %39 : tensor<16x64xf32>
      %41 = arith.mulf %40, %40 : tensor<16x64xf32>
      %42 = "tt.reduce"(%41) <{axis = 1 : i32}> ({
      ^bb0(%arg12: f32, %arg13: f32):
        %76 = arith.addf %arg12, %arg13 : f32
        tt.reduce.return %76 : f32
      }) : (tensor<16x64xf32>) -> tensor<16xf32>
      %43 = arith.divf %42, %cst_3 : tensor<16xf32>
      %44 = tt.splat %arg8 : f32 -> tensor<16xf32>
      %45 = arith.addf %43, %44 : tensor<16xf32>
      %46 = math.sqrt %45 : tensor<16xf32>
      %47 = tt.expand_dims %46 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
      %48 = tt.broadcast %47 : tensor<16x1xf32> -> tensor<16x64xf32>
      %49 = arith.divf %40, %48 : tensor<16x64xf32>
      %50 = arith.extf %30 : tensor<16x64xbf16> to tensor<16x64xf32>
      %51 = arith.addf %49, %50 : tensor<16x64xf32>
      %52 = tt.splat %arg4 : !tt.ptr<bf16> -> tensor<16x64x!tt.ptr<bf16>>
      %53 = tt.addptr %52, %21 : tensor<16x64x!tt.ptr<bf16>>, tensor<16x64xi32>
      %54 = arith.truncf %51 : tensor<16x64xf32> to tensor<16x64xbf16>
      tt.store %53, %54, %26 : tensor<16x64x!tt.ptr<bf16>>
      %55 = tt.splat %arg5 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
      %56 = tt.addptr %55, %16 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
      %57 = tt.splat %arg7 : i32 -> tensor<1x64xi32>
      %58 = arith.muli %57, %18 : tensor<1x64xi32>
      %59 = tt.broadcast %56 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x64x!tt.ptr<f32>>
      %60 = tt.broadcast %58 : tensor<1x64xi32> -> tensor<16x64xi32>
      %61 = tt.addptr %59, %60 : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>
      tt.store %61, %51, %26 : tensor<16x64x!tt.ptr<f32>>
      %62 = tt.splat %arg6 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %63 = tt.addptr %62, %15 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %64 = "tt.reduce"(%51) <{axis = 1 : i32}> ({
      ^bb0(%arg12: f32, %arg13: f32):
        %76 = arith.maxnumf %arg12, %arg13 : f32
        tt.reduce.return %76 : f32
      }) : (tensor<16x64xf32>) -> tensor<16xf32>
      %65 = tt.splat %arg7 : i32 -> tensor<16xi32>
      %66 = arith.cmpi slt, %15, %65 : tensor<16xi32>
      tt.store %63, %64, %66 : tensor<16x!tt.ptr<f32>>
      %67 = "tt.reduce"(%51) <{axis = 0 : i32}> ({
      ^bb0(%arg12: f32, %arg13: f32):
        %76 = arith.addf %arg12, %arg13 : f32
        tt.reduce.return %76 : f32
      }) : (tensor<16x64xf32>) -> tensor<64xf32>
      %68 = arith.mulf %67, %cst_2 : tensor<64xf32>
      %69 = arith.addf %arg11, %68 : tensor<64xf32>
      %70 = tt.expand_dims %4 {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
      %71 = tt.broadcast %70 : tensor<1x64xf32> -> tensor<16x64xf32>
      %72 = arith.mulf %51, %71 : tensor<16x64xf32>
      %73 = arith.truncf %72 : tensor<16x64xf32> to tensor<16x64xbf16>
      %74 = tt.trans %27 {order = array<i32: 1, 0>} : tensor<16x64xbf16> -> tensor<64x16xbf16>
      %75 = tt.dot %74, %73, %arg10, inputPrecision = tf32 : tensor<64x16xbf16> * tensor<16x64xbf16> -> tensor<64x64xf32>
      scf.yield %75, %69 : tensor<64x64xf32>, tensor<64xf32>
    }
    %9 = arith.muli %arg7, %c64_i32 : i32
    %10 = tt.addptr %arg4, %9 : !tt.ptr<bf16>, i32
    %11 = tt.splat %10 : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %12 = tt.addptr %11, %0 : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %13 = arith.truncf %8#1 : tensor<64xf32> to tensor<64xbf16>
    tt.store %12, %13 : tensor<64x!tt.ptr<bf16>>
    tt.return
  }
}
