// Tiles that are loaded turned, multiplied, and folded along their rows: wgmma's and mma.sync's lanes read them by
// `ldmatrix.trans`, the lanes of a warp deal out what they fold, pairs with the place of the greatest too (C64, C65).
// run: run - --target sm_80 --interleavings 3 --seed 1 --arg=[12288] --arg=[12288] --arg=[12288] --arg=[4096] --arg=[192] --arg=[192] --arg=[192] --arg=192
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[12288] --arg=[12288] --arg=[12288] --arg=[4096] --arg=[192] --arg=[192] --arg=[192] --arg=192
// run: run - --target sm_100a --interleavings 3 --seed 1 --arg=[12288] --arg=[12288] --arg=[12288] --arg=[4096] --arg=[192] --arg=[192] --arg=[192] --arg=192
// clean
module {
  tt.func public @columns(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg5: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg6: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c64_i32 = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<64> : tensor<64x1xi32>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = scf.for %arg8 = %c0_i32 to %arg7 step %c64_i32 iter_args(%arg9 = %cst) -> (tensor<64x64xf32>)  : i32 {
      %10 = tt.splat %arg8 : i32 -> tensor<64xi32>
      %11 = arith.addi %10, %0 : tensor<64xi32>
      %12 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %13 = tt.splat %arg7 : i32 -> tensor<64x1xi32>
      %14 = arith.muli %12, %13 : tensor<64x1xi32>
      %15 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
      %16 = tt.addptr %15, %14 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
      %17 = tt.expand_dims %11 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %18 = tt.broadcast %16 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
      %19 = tt.broadcast %17 : tensor<1x64xi32> -> tensor<64x64xi32>
      %20 = tt.addptr %18, %19 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
      %21 = tt.load %20 : tensor<64x64x!tt.ptr<bf16>>
      %22 = tt.expand_dims %11 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %23 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
      %24 = tt.addptr %23, %22 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
      %25 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %26 = tt.splat %arg7 : i32 -> tensor<1x64xi32>
      %27 = arith.muli %25, %26 : tensor<1x64xi32>
      %28 = tt.broadcast %24 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
      %29 = tt.broadcast %27 : tensor<1x64xi32> -> tensor<64x64xi32>
      %30 = tt.addptr %28, %29 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
      %31 = tt.load %30 : tensor<64x64x!tt.ptr<bf16>>
      %32 = tt.splat %arg2 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
      %33 = tt.addptr %32, %22 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
      %34 = tt.broadcast %33 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
      %35 = tt.addptr %34, %29 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
      %36 = tt.load %35 : tensor<64x64x!tt.ptr<bf16>>
      %37 = tt.dot %21, %31, %arg9, inputPrecision = tf32 : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
      %38 = tt.dot %21, %36, %37, inputPrecision = tf32 : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
      %39 = tt.trans %31 {order = array<i32: 1, 0>} : tensor<64x64xbf16> -> tensor<64x64xbf16>
      %40 = tt.trans %36 {order = array<i32: 1, 0>} : tensor<64x64xbf16> -> tensor<64x64xbf16>
      %41 = arith.mulf %39, %40 : tensor<64x64xbf16>
      %42 = "tt.reduce"(%41) <{axis = 0 : i32}> ({
      ^bb0(%arg10: bf16, %arg11: bf16):
        %52 = arith.addf %arg10, %arg11 : bf16
        tt.reduce.return %52 : bf16
      }) : (tensor<64x64xbf16>) -> tensor<64xbf16>
      %43 = tt.splat %arg4 : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
      %44 = tt.addptr %43, %11 : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
      tt.store %44, %42 : tensor<64x!tt.ptr<bf16>>
      %45 = arith.extf %39 : tensor<64x64xbf16> to tensor<64x64xf32>
      %46 = tt.broadcast %12 : tensor<64x1xi32> -> tensor<64x64xi32>
      %47:2 = "tt.reduce"(%45, %46) <{axis = 0 : i32}> ({
      ^bb0(%arg10: f32, %arg11: i32, %arg12: f32, %arg13: i32):
        %52 = arith.cmpf oeq, %arg10, %arg12 : f32
        %53 = arith.cmpi slt, %arg11, %arg13 : i32
        %54 = arith.andi %52, %53 : i1
        %55 = arith.cmpf ogt, %arg10, %arg12 : f32
        %56 = arith.ori %55, %54 : i1
        %57 = arith.select %56, %arg10, %arg12 : f32
        %58 = arith.select %56, %arg11, %arg13 : i32
        tt.reduce.return %57, %58 : f32, i32
      }) : (tensor<64x64xf32>, tensor<64x64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
      %48 = tt.splat %arg5 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %49 = tt.addptr %48, %11 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      tt.store %49, %47#0 : tensor<64x!tt.ptr<f32>>
      %50 = tt.splat %arg6 : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
      %51 = tt.addptr %50, %11 : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
      tt.store %51, %47#1 : tensor<64x!tt.ptr<i32>>
      scf.yield %38 : tensor<64x64xf32>
    }
    %2 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %3 = arith.muli %2, %cst_0 : tensor<64x1xi32>
    %4 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %5 = tt.addptr %4, %3 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %6 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %7 = tt.broadcast %5 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %8 = tt.broadcast %6 : tensor<1x64xi32> -> tensor<64x64xi32>
    %9 = tt.addptr %7, %8 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %9, %1 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
