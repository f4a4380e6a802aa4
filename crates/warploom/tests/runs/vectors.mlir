// Sums of rows and of columns used together, vectors wanted along both dimensions behind a store, and a computed tile that is
// an operand as it lies and transposed (G12, C67).
// run: run - --target sm_80 --interleavings 4 --seed 1 --arg=[16384] --arg=[16384] --arg=[64] --arg=[4096] --arg=[128] --arg=192
// run: run - --target sm_90a --interleavings 4 --seed 2 --arg=[16384] --arg=[16384] --arg=[64] --arg=[4096] --arg=[128] --arg=192
// run: run - --target sm_100a --interleavings 4 --seed 3 --arg=[16384] --arg=[16384] --arg=[64] --arg=[4096] --arg=[128] --arg=192
// run: run - --target sm_120a --interleavings 4 --seed 4 --arg=[16384] --arg=[16384] --arg=[64] --arg=[4096] --arg=[128] --arg=192
// clean
module {
  tt.func public @sums(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<64> : tensor<64x1xi32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = scf.for %arg6 = %c0_i32 to %arg5 step %c64_i32 iter_args(%arg7 = %cst_0) -> (tensor<64x64xf32>)  : i32 {
      %44 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %45 = tt.splat %arg5 : i32 -> tensor<64x1xi32>
      %46 = arith.muli %44, %45 : tensor<64x1xi32>
      %47 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
      %48 = tt.addptr %47, %46 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
      %49 = tt.splat %arg6 : i32 -> tensor<64x1xi32>
      %50 = tt.addptr %48, %49 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
      %51 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %52 = tt.broadcast %50 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
      %53 = tt.broadcast %51 : tensor<1x64xi32> -> tensor<64x64xi32>
      %54 = tt.addptr %52, %53 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
      %55 = tt.load %54 : tensor<64x64x!tt.ptr<bf16>>
      %56 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
      %57 = tt.addptr %56, %46 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
      %58 = tt.addptr %57, %49 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
      %59 = tt.broadcast %58 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
      %60 = tt.addptr %59, %53 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
      %61 = tt.load %60 : tensor<64x64x!tt.ptr<bf16>>
      %62 = tt.trans %61 {order = array<i32: 1, 0>} : tensor<64x64xbf16> -> tensor<64x64xbf16>
      %63 = tt.dot %55, %62, %arg7, inputPrecision = tf32 : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
      scf.yield %63 : tensor<64x64xf32>
    }
    %2 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %3 = tt.addptr %2, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %4 = tt.load %3 : tensor<64x!tt.ptr<f32>>
    %5 = tt.addptr %arg4, %c64_i32 : !tt.ptr<f32>, i32
    %6 = tt.splat %5 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %7 = tt.addptr %6, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %7, %4 : tensor<64x!tt.ptr<f32>>
    %8 = tt.expand_dims %4 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %9 = tt.expand_dims %4 {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
    %10 = tt.broadcast %8 : tensor<64x1xf32> -> tensor<64x64xf32>
    %11 = tt.broadcast %9 : tensor<1x64xf32> -> tensor<64x64xf32>
    %12 = arith.subf %10, %11 : tensor<64x64xf32>
    %13 = arith.mulf %1, %12 : tensor<64x64xf32>
    %14 = "tt.reduce"(%13) <{axis = 1 : i32}> ({
    ^bb0(%arg6: f32, %arg7: f32):
      %44 = arith.addf %arg6, %arg7 : f32
      tt.reduce.return %44 : f32
    }) : (tensor<64x64xf32>) -> tensor<64xf32>
    %15 = "tt.reduce"(%13) <{axis = 0 : i32}> ({
    ^bb0(%arg6: f32, %arg7: f32):
      %44 = arith.addf %arg6, %arg7 : f32
      tt.reduce.return %44 : f32
    }) : (tensor<64x64xf32>) -> tensor<64xf32>
    %16 = arith.subf %14, %15 : tensor<64xf32>
    %17 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %18 = tt.splat %arg5 : i32 -> tensor<64x1xi32>
    %19 = arith.muli %17, %18 : tensor<64x1xi32>
    %20 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %21 = tt.addptr %20, %19 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %22 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %23 = tt.broadcast %21 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
    %24 = tt.broadcast %22 : tensor<1x64xi32> -> tensor<64x64xi32>
    %25 = tt.addptr %23, %24 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %26 = tt.load %25 : tensor<64x64x!tt.ptr<bf16>>
    %27 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %28 = tt.addptr %27, %19 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %29 = tt.broadcast %28 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
    %30 = tt.addptr %29, %24 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %31 = tt.load %30 : tensor<64x64x!tt.ptr<bf16>>
    %32 = arith.truncf %13 : tensor<64x64xf32> to tensor<64x64xbf16>
    %33 = tt.dot %32, %31, %cst_0, inputPrecision = tf32 : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
    %34 = tt.trans %32 {order = array<i32: 1, 0>} : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %35 = tt.dot %34, %26, %33, inputPrecision = tf32 : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
    %36 = arith.muli %17, %cst : tensor<64x1xi32>
    %37 = tt.splat %arg3 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %38 = tt.addptr %37, %36 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %39 = tt.broadcast %38 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
    %40 = tt.addptr %39, %24 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %41 = arith.truncf %35 : tensor<64x64xf32> to tensor<64x64xbf16>
    tt.store %40, %41 : tensor<64x64x!tt.ptr<bf16>>
    %42 = tt.splat %arg4 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %43 = tt.addptr %42, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %43, %16 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// Numbers of columns that a loop carries are no bound of the column: other lanes hold the first one (G12).
// run: run - --target sm_80 --interleavings 4 --seed 1 --arg=[4096] --arg=[8192] --arg=[4096] --arg=100
// run: run - --target sm_90a --interleavings 4 --seed 2 --arg=[4096] --arg=[8192] --arg=[4096] --arg=100
// run: run - --target sm_100a --interleavings 4 --seed 3 --arg=[4096] --arg=[8192] --arg=[4096] --arg=100
// run: run - --target sm_120a --interleavings 4 --seed 4 --arg=[4096] --arg=[8192] --arg=[4096] --arg=100
// clean
module {
  tt.func public @decays(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x64xbf16>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant dense<32> : tensor<32xi32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
    %cst_3 = arith.constant dense<64> : tensor<32x1xi32>
    %cst_4 = arith.constant dense<64> : tensor<64x1xi32>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %2 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %3 = arith.muli %2, %cst_4 : tensor<64x1xi32>
    %4 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %5 = tt.addptr %4, %3 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %6 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %7 = tt.broadcast %5 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
    %8 = tt.broadcast %6 : tensor<1x64xi32> -> tensor<64x64xi32>
    %9 = tt.addptr %7, %8 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %10 = tt.load %9 : tensor<64x64x!tt.ptr<bf16>>
    %11:2 = scf.for %arg4 = %c0_i32 to %arg3 step %c32_i32 iter_args(%arg5 = %cst, %arg6 = %1) -> (tensor<64x64xf32>, tensor<32xi32>)  : i32 {
      %17 = tt.expand_dims %1 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %18 = tt.splat %arg4 : i32 -> tensor<32x1xi32>
      %19 = arith.addi %18, %17 : tensor<32x1xi32>
      %20 = tt.splat %arg3 : i32 -> tensor<32x1xi32>
      %21 = arith.cmpi slt, %19, %20 : tensor<32x1xi32>
      %22 = arith.muli %19, %cst_3 : tensor<32x1xi32>
      %23 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<32x1x!tt.ptr<bf16>>
      %24 = tt.addptr %23, %22 : tensor<32x1x!tt.ptr<bf16>>, tensor<32x1xi32>
      %25 = tt.broadcast %24 : tensor<32x1x!tt.ptr<bf16>> -> tensor<32x64x!tt.ptr<bf16>>
      %26 = tt.broadcast %6 : tensor<1x64xi32> -> tensor<32x64xi32>
      %27 = tt.addptr %25, %26 : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
      %28 = tt.broadcast %21 : tensor<32x1xi1> -> tensor<32x64xi1>
      %29 = tt.load %27, %28, %cst_0 : tensor<32x64x!tt.ptr<bf16>>
      %30 = tt.trans %29 {order = array<i32: 1, 0>} : tensor<32x64xbf16> -> tensor<64x32xbf16>
      %31 = tt.dot %10, %30, %cst_2, inputPrecision = tf32 : tensor<64x64xbf16> * tensor<64x32xbf16> -> tensor<64x32xf32>
      %32 = tt.expand_dims %arg6 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %33 = tt.broadcast %2 : tensor<64x1xi32> -> tensor<64x32xi32>
      %34 = tt.broadcast %32 : tensor<1x32xi32> -> tensor<64x32xi32>
      %35 = arith.cmpi sge, %33, %34 : tensor<64x32xi32>
      %36 = arith.subi %33, %34 : tensor<64x32xi32>
      %37 = arith.sitofp %36 : tensor<64x32xi32> to tensor<64x32xf32>
      %38 = arith.mulf %31, %37 : tensor<64x32xf32>
      %39 = arith.select %35, %38, %cst_2 : tensor<64x32xi1>, tensor<64x32xf32>
      %40 = arith.truncf %39 : tensor<64x32xf32> to tensor<64x32xbf16>
      %41 = tt.dot %40, %29, %arg5, inputPrecision = tf32 : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
      %42 = arith.addi %arg6, %cst_1 : tensor<32xi32>
      scf.yield %41, %42 : tensor<64x64xf32>, tensor<32xi32>
    }
    %12 = tt.splat %arg2 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %13 = tt.addptr %12, %3 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %14 = tt.broadcast %13 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
    %15 = tt.addptr %14, %8 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %16 = arith.truncf %11#0 : tensor<64x64xf32> to tensor<64x64xbf16>
    tt.store %15, %16 : tensor<64x64x!tt.ptr<bf16>>
    tt.return
  }
}
// -----
// A branch that stores and returns changes nothing for the rows that the other one gathers (C7, C9).
// run: run - --target sm_80 --grid 2 --interleavings 4 --seed 1 --arg=[8192] --arg=[8192] --arg=127,126,125,124,123,122,121,120,119,118,117,116,115,114,113,112,111,110,109,108,107,106,105,104,103,102,101,100,99,98,97,96,95,94,93,92,91,90,89,88,87,86,85,84,83,82,81,80,79,78,77,76,75,74,73,72,71,70,69,68,67,66,65,64,63,62,61,60,59,58,57,56,55,54,53,52,51,50,49,48,47,46,45,44,43,42,41,40,39,38,37,36,35,34,33,32,31,30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0 --arg=0,1 --arg=[8192] --arg=110 --arg=96
// run: run - --target sm_90a --grid 2 --interleavings 4 --seed 2 --arg=[8192] --arg=[8192] --arg=127,126,125,124,123,122,121,120,119,118,117,116,115,114,113,112,111,110,109,108,107,106,105,104,103,102,101,100,99,98,97,96,95,94,93,92,91,90,89,88,87,86,85,84,83,82,81,80,79,78,77,76,75,74,73,72,71,70,69,68,67,66,65,64,63,62,61,60,59,58,57,56,55,54,53,52,51,50,49,48,47,46,45,44,43,42,41,40,39,38,37,36,35,34,33,32,31,30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0 --arg=0,1 --arg=[8192] --arg=110 --arg=96
// run: run - --target sm_100a --grid 2 --interleavings 4 --seed 3 --arg=[8192] --arg=[8192] --arg=127,126,125,124,123,122,121,120,119,118,117,116,115,114,113,112,111,110,109,108,107,106,105,104,103,102,101,100,99,98,97,96,95,94,93,92,91,90,89,88,87,86,85,84,83,82,81,80,79,78,77,76,75,74,73,72,71,70,69,68,67,66,65,64,63,62,61,60,59,58,57,56,55,54,53,52,51,50,49,48,47,46,45,44,43,42,41,40,39,38,37,36,35,34,33,32,31,30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0 --arg=0,1 --arg=[8192] --arg=110 --arg=96
// run: run - --target sm_120a --grid 2 --interleavings 4 --seed 4 --arg=[8192] --arg=[8192] --arg=127,126,125,124,123,122,121,120,119,118,117,116,115,114,113,112,111,110,109,108,107,106,105,104,103,102,101,100,99,98,97,96,95,94,93,92,91,90,89,88,87,86,85,84,83,82,81,80,79,78,77,76,75,74,73,72,71,70,69,68,67,66,65,64,63,62,61,60,59,58,57,56,55,54,53,52,51,50,49,48,47,46,45,44,43,42,41,40,39,38,37,36,35,34,33,32,31,30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0 --arg=0,1 --arg=[8192] --arg=110 --arg=96
// clean
module {
  tt.func public @returns(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg5: i32, %arg6: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xbf16>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x32xbf16>
    %c32_i32 = arith.constant 32 : i32
    %cst_2 = arith.constant dense<64> : tensor<64x1xi32>
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c64_i32 : i32
    %2 = tt.addptr %arg2, %1 : !tt.ptr<i32>, i32
    %3 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %4 = tt.splat %2 : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %5 = tt.addptr %4, %3 : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %6 = tt.load %5 : tensor<64x!tt.ptr<i32>>
    %7 = tt.splat %arg5 : i32 -> tensor<64xi32>
    %8 = arith.cmpi slt, %6, %7 : tensor<64xi32>
    %9 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %10 = tt.addptr %arg3, %0 : !tt.ptr<i32>, i32
    %11 = tt.load %10 : !tt.ptr<i32>
    %12 = arith.cmpi eq, %11, %c0_i32 : i32
    cf.cond_br %12, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    %13 = tt.expand_dims %8 {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
    %14 = tt.expand_dims %6 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %15 = arith.muli %14, %cst_2 : tensor<64x1xi32>
    %16 = tt.splat %arg4 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %17 = tt.addptr %16, %15 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %18 = tt.expand_dims %3 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %19 = tt.broadcast %17 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
    %20 = tt.broadcast %18 : tensor<1x64xi32> -> tensor<64x64xi32>
    %21 = tt.addptr %19, %20 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %22 = tt.broadcast %13 : tensor<64x1xi1> -> tensor<64x64xi1>
    tt.store %21, %cst_0, %22 : tensor<64x64x!tt.ptr<bf16>>
    tt.return
  ^bb2:  // pred: ^bb0
    %23 = scf.for %arg7 = %c0_i32 to %arg6 step %c32_i32 iter_args(%arg8 = %cst) -> (tensor<64x64xf32>)  : i32 {
      %35 = tt.expand_dims %8 {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
      %36 = tt.expand_dims %6 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %37 = tt.splat %arg6 : i32 -> tensor<64x1xi32>
      %38 = arith.muli %36, %37 : tensor<64x1xi32>
      %39 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
      %40 = tt.addptr %39, %38 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
      %41 = tt.splat %arg7 : i32 -> tensor<64x1xi32>
      %42 = tt.addptr %40, %41 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
      %43 = tt.expand_dims %9 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %44 = tt.broadcast %42 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x32x!tt.ptr<bf16>>
      %45 = tt.broadcast %43 : tensor<1x32xi32> -> tensor<64x32xi32>
      %46 = tt.addptr %44, %45 : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
      %47 = tt.broadcast %35 : tensor<64x1xi1> -> tensor<64x32xi1>
      %48 = tt.load %46, %47, %cst_1 : tensor<64x32x!tt.ptr<bf16>>
      %49 = tt.expand_dims %3 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %50 = tt.splat %arg6 : i32 -> tensor<1x64xi32>
      %51 = arith.muli %49, %50 : tensor<1x64xi32>
      %52 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<1x64x!tt.ptr<bf16>>
      %53 = tt.addptr %52, %51 : tensor<1x64x!tt.ptr<bf16>>, tensor<1x64xi32>
      %54 = tt.splat %arg7 : i32 -> tensor<1x64xi32>
      %55 = tt.addptr %53, %54 : tensor<1x64x!tt.ptr<bf16>>, tensor<1x64xi32>
      %56 = tt.expand_dims %9 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %57 = tt.broadcast %55 : tensor<1x64x!tt.ptr<bf16>> -> tensor<32x64x!tt.ptr<bf16>>
      %58 = tt.broadcast %56 : tensor<32x1xi32> -> tensor<32x64xi32>
      %59 = tt.addptr %57, %58 : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
      %60 = tt.load %59 : tensor<32x64x!tt.ptr<bf16>>
      %61 = tt.dot %48, %60, %arg8, inputPrecision = tf32 : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
      scf.yield %61 : tensor<64x64xf32>
    }
    %24 = tt.expand_dims %8 {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
    %25 = tt.expand_dims %6 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %26 = arith.muli %25, %cst_2 : tensor<64x1xi32>
    %27 = tt.splat %arg4 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %28 = tt.addptr %27, %26 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %29 = tt.expand_dims %3 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %30 = tt.broadcast %28 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
    %31 = tt.broadcast %29 : tensor<1x64xi32> -> tensor<64x64xi32>
    %32 = tt.addptr %30, %31 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %33 = arith.truncf %23 : tensor<64x64xf32> to tensor<64x64xbf16>
    %34 = tt.broadcast %24 : tensor<64x1xi1> -> tensor<64x64xi1>
    tt.store %32, %33, %34 : tensor<64x64x!tt.ptr<bf16>>
    tt.return
  }
}
// -----
// Tiles of a ring that a loop carries on: they are read at the end of the trip (C35).
// run: run - --target sm_80 --interleavings 4 --seed 1 --arg=[2048] --arg=[768] --arg=[2048] --arg=7
// run: run - --target sm_90a --interleavings 4 --seed 2 --arg=[2048] --arg=[768] --arg=[2048] --arg=7
// run: run - --target sm_100a --interleavings 4 --seed 3 --arg=[2048] --arg=[768] --arg=[2048] --arg=7
// run: run - --target sm_120a --interleavings 4 --seed 4 --arg=[2048] --arg=[768] --arg=[2048] --arg=7
// clean
module {
  tt.func public @window(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<256xf32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %c512_i32 = arith.constant 512 : i32
    %c256_i32 = arith.constant 256 : i32
    %0 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %1 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %3 = tt.load %2 : tensor<256x!tt.ptr<f32>>
    %4 = tt.addptr %arg1, %c256_i32 : !tt.ptr<f32>, i32
    %5 = tt.splat %4 : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %6 = tt.addptr %5, %0 : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %7 = tt.load %6 : tensor<256x!tt.ptr<f32>>
    %8 = tt.addptr %arg1, %c512_i32 : !tt.ptr<f32>, i32
    %9 = tt.splat %8 : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %10 = tt.addptr %9, %0 : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %11 = tt.load %10 : tensor<256x!tt.ptr<f32>>
    %12:2 = scf.for %arg4 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg5 = %cst, %arg6 = %cst) -> (tensor<256xf32>, tensor<256xf32>)  : i32 {
      %13 = arith.muli %arg4, %c256_i32 : i32
      %14 = tt.addptr %arg0, %13 : !tt.ptr<f32>, i32
      %15 = tt.splat %14 : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
      %16 = tt.addptr %15, %0 : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
      %17 = tt.load %16 : tensor<256x!tt.ptr<f32>>
      %18 = tt.addptr %arg2, %13 : !tt.ptr<f32>, i32
      %19 = tt.splat %18 : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
      %20 = tt.addptr %19, %0 : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
      %21 = arith.mulf %arg6, %3 : tensor<256xf32>
      %22 = arith.mulf %arg5, %7 : tensor<256xf32>
      %23 = arith.addf %21, %22 : tensor<256xf32>
      %24 = arith.mulf %17, %11 : tensor<256xf32>
      %25 = arith.addf %23, %24 : tensor<256xf32>
      tt.store %20, %25 : tensor<256x!tt.ptr<f32>>
      scf.yield %17, %arg5 : tensor<256xf32>, tensor<256xf32>
    }
    tt.return
  }
}
// -----
// A branch that elements of a tile decide (C35).
// run: run - --target sm_80 --interleavings 4 --seed 1 --arg=[4096] --arg=[16384] --arg=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 --arg=[4096] --arg=192
// run: run - --target sm_90a --interleavings 4 --seed 2 --arg=[4096] --arg=[16384] --arg=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 --arg=[4096] --arg=192
// run: run - --target sm_100a --interleavings 4 --seed 3 --arg=[4096] --arg=[16384] --arg=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 --arg=[4096] --arg=192
// run: run - --target sm_120a --interleavings 4 --seed 4 --arg=[4096] --arg=[16384] --arg=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 --arg=[4096] --arg=192
// clean
module {
  tt.func public @skips(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg4: i32) attributes {noinline = false} {
    %c64_i32 = arith.constant 64 : i32
    %cst = arith.constant dense<0> : tensor<1x64xi32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant dense<64> : tensor<64x1xi32>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %2 = arith.muli %1, %cst_1 : tensor<64x1xi32>
    %3 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %4 = tt.addptr %3, %2 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %5 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %6 = tt.broadcast %4 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
    %7 = tt.broadcast %5 : tensor<1x64xi32> -> tensor<64x64xi32>
    %8 = tt.addptr %6, %7 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %9 = tt.load %8 : tensor<64x64x!tt.ptr<bf16>>
    %10 = scf.for %arg5 = %c0_i32 to %arg4 step %c64_i32 iter_args(%arg6 = %cst_0) -> (tensor<64x64xf32>)  : i32 {
      %16 = tt.addptr %arg2, %arg5 : !tt.ptr<i32>, i32
      %17 = tt.splat %16 : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
      %18 = tt.addptr %17, %0 : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
      %19 = tt.load %18 : tensor<64x!tt.ptr<i32>>
      %20 = "tt.reduce"(%19) <{axis = 0 : i32}> ({
      ^bb0(%arg7: i32, %arg8: i32):
        %23 = arith.maxsi %arg7, %arg8 : i32
        tt.reduce.return %23 : i32
      }) : (tensor<64xi32>) -> i32
      %21 = arith.cmpi sgt, %20, %c0_i32 : i32
      %22 = scf.if %21 -> (tensor<64x64xf32>) {
        %23 = tt.splat %arg5 : i32 -> tensor<64x1xi32>
        %24 = arith.addi %23, %1 : tensor<64x1xi32>
        %25 = arith.muli %24, %cst_1 : tensor<64x1xi32>
        %26 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
        %27 = tt.addptr %26, %25 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
        %28 = tt.broadcast %27 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
        %29 = tt.addptr %28, %7 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
        %30 = tt.load %29 : tensor<64x64x!tt.ptr<bf16>>
        %31 = tt.trans %30 {order = array<i32: 1, 0>} : tensor<64x64xbf16> -> tensor<64x64xbf16>
        %32 = tt.dot %9, %31, %cst_0, inputPrecision = tf32 : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
        %33 = tt.expand_dims %19 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
        %34 = arith.cmpi sgt, %33, %cst : tensor<1x64xi32>
        %35 = tt.broadcast %34 : tensor<1x64xi1> -> tensor<64x64xi1>
        %36 = arith.select %35, %32, %cst_0 : tensor<64x64xi1>, tensor<64x64xf32>
        %37 = arith.truncf %36 : tensor<64x64xf32> to tensor<64x64xbf16>
        %38 = tt.dot %37, %30, %arg6, inputPrecision = tf32 : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
        scf.yield %38 : tensor<64x64xf32>
      } else {
        scf.yield %arg6 : tensor<64x64xf32>
      }
      scf.yield %22 : tensor<64x64xf32>
    }
    %11 = tt.splat %arg3 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %12 = tt.addptr %11, %2 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %13 = tt.broadcast %12 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
    %14 = tt.addptr %13, %7 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %15 = arith.truncf %10 : tensor<64x64xf32> to tensor<64x64xbf16>
    tt.store %14, %15 : tensor<64x64x!tt.ptr<bf16>>
    tt.return
  }
}
// -----
// An operand of fewer rows than a warpgroup has is made where it is stored, whatever moves on from trip to trip (C8, C61).
// run: run - --target sm_80 --interleavings 4 --seed 1 --arg=[8192] --arg=[16384] --arg=[128] --arg=[8192] --arg=112
// run: run - --target sm_90a --interleavings 4 --seed 2 --arg=[8192] --arg=[16384] --arg=[128] --arg=[8192] --arg=112
// run: run - --target sm_100a --interleavings 4 --seed 3 --arg=[8192] --arg=[16384] --arg=[128] --arg=[8192] --arg=112
// run: run - --target sm_120a --interleavings 4 --seed 4 --arg=[8192] --arg=[16384] --arg=[128] --arg=[8192] --arg=112
// clean
module {
  tt.func public @weighed(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x128xbf16>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x32xbf16>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_2 = arith.constant dense<128> : tensor<64x1xi32>
    %cst_3 = arith.constant dense<32> : tensor<32xi32>
    %cst_4 = arith.constant dense<4096> : tensor<32x128xi32>
    %cst_5 = arith.constant dense<32> : tensor<64x32xi32>
    %cst_6 = arith.constant dense<0.000000e+00> : tensor<32xf32>
    %cst_7 = arith.constant dense<128> : tensor<32x1xi32>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %2 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %3 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %4 = tt.splat %arg4 : i32 -> tensor<64x1xi32>
    %5 = arith.muli %3, %4 : tensor<64x1xi32>
    %6 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %7 = tt.addptr %6, %5 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %8 = tt.expand_dims %2 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %9 = tt.broadcast %7 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x32x!tt.ptr<bf16>>
    %10 = tt.broadcast %8 : tensor<1x32xi32> -> tensor<64x32xi32>
    %11 = tt.addptr %9, %10 : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
    %12 = tt.expand_dims %2 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %13 = arith.muli %12, %cst_7 : tensor<32x1xi32>
    %14 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<32x1x!tt.ptr<bf16>>
    %15 = tt.addptr %14, %13 : tensor<32x1x!tt.ptr<bf16>>, tensor<32x1xi32>
    %16 = tt.expand_dims %1 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %17 = tt.broadcast %15 : tensor<32x1x!tt.ptr<bf16>> -> tensor<32x128x!tt.ptr<bf16>>
    %18 = tt.broadcast %16 : tensor<1x128xi32> -> tensor<32x128xi32>
    %19 = tt.addptr %17, %18 : tensor<32x128x!tt.ptr<bf16>>, tensor<32x128xi32>
    %20 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
    %21 = tt.addptr %20, %2 : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    %22:4 = scf.for %arg5 = %c0_i32 to %arg4 step %c32_i32 iter_args(%arg6 = %11, %arg7 = %19, %arg8 = %21, %arg9 = %cst) -> (tensor<64x32x!tt.ptr<bf16>>, tensor<32x128x!tt.ptr<bf16>>, tensor<32x!tt.ptr<f32>>, tensor<64x128xf32>)  : i32 {
      %30 = arith.subi %arg4, %arg5 : i32
      %31 = tt.splat %30 : i32 -> tensor<1x32xi32>
      %32 = arith.cmpi slt, %8, %31 : tensor<1x32xi32>
      %33 = tt.broadcast %32 : tensor<1x32xi1> -> tensor<64x32xi1>
      %34 = tt.load %arg6, %33, %cst_1 : tensor<64x32x!tt.ptr<bf16>>
      %35 = tt.splat %30 : i32 -> tensor<32xi32>
      %36 = arith.cmpi slt, %2, %35 : tensor<32xi32>
      %37 = tt.load %arg8, %36, %cst_6 : tensor<32x!tt.ptr<f32>>
      %38 = tt.splat %30 : i32 -> tensor<32x1xi32>
      %39 = arith.cmpi slt, %12, %38 : tensor<32x1xi32>
      %40 = tt.broadcast %39 : tensor<32x1xi1> -> tensor<32x128xi1>
      %41 = tt.load %arg7, %40, %cst_0 : tensor<32x128x!tt.ptr<bf16>>
      %42 = arith.extf %41 : tensor<32x128xbf16> to tensor<32x128xf32>
      %43 = math.exp %37 : tensor<32xf32>
      %44 = tt.expand_dims %43 {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
      %45 = tt.broadcast %44 : tensor<32x1xf32> -> tensor<32x128xf32>
      %46 = arith.mulf %42, %45 : tensor<32x128xf32>
      %47 = arith.truncf %46 : tensor<32x128xf32> to tensor<32x128xbf16>
      %48 = tt.dot %34, %47, %arg9, inputPrecision = tf32 : tensor<64x32xbf16> * tensor<32x128xbf16> -> tensor<64x128xf32>
      %49 = tt.addptr %arg6, %cst_5 : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
      %50 = tt.addptr %arg7, %cst_4 : tensor<32x128x!tt.ptr<bf16>>, tensor<32x128xi32>
      %51 = tt.addptr %arg8, %cst_3 : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
      scf.yield %49, %50, %51, %48 : tensor<64x32x!tt.ptr<bf16>>, tensor<32x128x!tt.ptr<bf16>>, tensor<32x!tt.ptr<f32>>, tensor<64x128xf32>
    }
    %23 = arith.muli %3, %cst_2 : tensor<64x1xi32>
    %24 = tt.splat %arg3 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %25 = tt.addptr %24, %23 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %26 = tt.broadcast %25 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x128x!tt.ptr<bf16>>
    %27 = tt.broadcast %16 : tensor<1x128xi32> -> tensor<64x128xi32>
    %28 = tt.addptr %26, %27 : tensor<64x128x!tt.ptr<bf16>>, tensor<64x128xi32>
    %29 = arith.truncf %22#3 : tensor<64x128xf32> to tensor<64x128xbf16>
    tt.store %28, %29 : tensor<64x128x!tt.ptr<bf16>>
    tt.return
  }
}
// -----
// So is the product asynchronous.
// run: compile - --target sm_90a
// check: wgmma.mma_async
module {
  tt.func public @weighed(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x128xbf16>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x32xbf16>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_2 = arith.constant dense<128> : tensor<64x1xi32>
    %cst_3 = arith.constant dense<32> : tensor<32xi32>
    %cst_4 = arith.constant dense<4096> : tensor<32x128xi32>
    %cst_5 = arith.constant dense<32> : tensor<64x32xi32>
    %cst_6 = arith.constant dense<0.000000e+00> : tensor<32xf32>
    %cst_7 = arith.constant dense<128> : tensor<32x1xi32>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %2 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %3 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %4 = tt.splat %arg4 : i32 -> tensor<64x1xi32>
    %5 = arith.muli %3, %4 : tensor<64x1xi32>
    %6 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %7 = tt.addptr %6, %5 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %8 = tt.expand_dims %2 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %9 = tt.broadcast %7 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x32x!tt.ptr<bf16>>
    %10 = tt.broadcast %8 : tensor<1x32xi32> -> tensor<64x32xi32>
    %11 = tt.addptr %9, %10 : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
    %12 = tt.expand_dims %2 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %13 = arith.muli %12, %cst_7 : tensor<32x1xi32>
    %14 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<32x1x!tt.ptr<bf16>>
    %15 = tt.addptr %14, %13 : tensor<32x1x!tt.ptr<bf16>>, tensor<32x1xi32>
    %16 = tt.expand_dims %1 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %17 = tt.broadcast %15 : tensor<32x1x!tt.ptr<bf16>> -> tensor<32x128x!tt.ptr<bf16>>
    %18 = tt.broadcast %16 : tensor<1x128xi32> -> tensor<32x128xi32>
    %19 = tt.addptr %17, %18 : tensor<32x128x!tt.ptr<bf16>>, tensor<32x128xi32>
    %20 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
    %21 = tt.addptr %20, %2 : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    %22:4 = scf.for %arg5 = %c0_i32 to %arg4 step %c32_i32 iter_args(%arg6 = %11, %arg7 = %19, %arg8 = %21, %arg9 = %cst) -> (tensor<64x32x!tt.ptr<bf16>>, tensor<32x128x!tt.ptr<bf16>>, tensor<32x!tt.ptr<f32>>, tensor<64x128xf32>)  : i32 {
      %30 = arith.subi %arg4, %arg5 : i32
      %31 = tt.splat %30 : i32 -> tensor<1x32xi32>
      %32 = arith.cmpi slt, %8, %31 : tensor<1x32xi32>
      %33 = tt.broadcast %32 : tensor<1x32xi1> -> tensor<64x32xi1>
      %34 = tt.load %arg6, %33, %cst_1 : tensor<64x32x!tt.ptr<bf16>>
      %35 = tt.splat %30 : i32 -> tensor<32xi32>
      %36 = arith.cmpi slt, %2, %35 : tensor<32xi32>
      %37 = tt.load %arg8, %36, %cst_6 : tensor<32x!tt.ptr<f32>>
      %38 = tt.splat %30 : i32 -> tensor<32x1xi32>
      %39 = arith.cmpi slt, %12, %38 : tensor<32x1xi32>
      %40 = tt.broadcast %39 : tensor<32x1xi1> -> tensor<32x128xi1>
      %41 = tt.load %arg7, %40, %cst_0 : tensor<32x128x!tt.ptr<bf16>>
      %42 = arith.extf %41 : tensor<32x128xbf16> to tensor<32x128xf32>
      %43 = math.exp %37 : tensor<32xf32>
      %44 = tt.expand_dims %43 {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
      %45 = tt.broadcast %44 : tensor<32x1xf32> -> tensor<32x128xf32>
      %46 = arith.mulf %42, %45 : tensor<32x128xf32>
      %47 = arith.truncf %46 : tensor<32x128xf32> to tensor<32x128xbf16>
      %48 = tt.dot %34, %47, %arg9, inputPrecision = tf32 : tensor<64x32xbf16> * tensor<32x128xbf16> -> tensor<64x128xf32>
      %49 = tt.addptr %arg6, %cst_5 : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
      %50 = tt.addptr %arg7, %cst_4 : tensor<32x128x!tt.ptr<bf16>>, tensor<32x128xi32>
      %51 = tt.addptr %arg8, %cst_3 : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
      scf.yield %49, %50, %51, %48 : tensor<64x32x!tt.ptr<bf16>>, tensor<32x128x!tt.ptr<bf16>>, tensor<32x!tt.ptr<f32>>, tensor<64x128xf32>
    }
    %23 = arith.muli %3, %cst_2 : tensor<64x1xi32>
    %24 = tt.splat %arg3 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %25 = tt.addptr %24, %23 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %26 = tt.broadcast %25 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x128x!tt.ptr<bf16>>
    %27 = tt.broadcast %16 : tensor<1x128xi32> -> tensor<64x128xi32>
    %28 = tt.addptr %26, %27 : tensor<64x128x!tt.ptr<bf16>>, tensor<64x128xi32>
    %29 = arith.truncf %22#3 : tensor<64x128xf32> to tensor<64x128xbf16>
    tt.store %28, %29 : tensor<64x128x!tt.ptr<bf16>>
    tt.return
  }
}
