// Rows modulo their number and scales for so many columns: divisions that a loop does not change, one of them in a branch that
// is not taken where it would divide by 0.
// run: run - --target sm_80 --interleavings 3 --seed 1 --grid 2 --arg=[24576] --arg=[12288] --arg=[64] --arg=[8192] --arg=192 --arg=48 --arg=5
// run: run - --target sm_80 --interleavings 3 --seed 1 --grid 2 --arg=[24576] --arg=[12288] --arg=[64] --arg=[8192] --arg=192 --arg=48 --arg=0
// run: run - --target sm_90a --interleavings 3 --seed 1 --grid 2 --arg=[24576] --arg=[12288] --arg=[64] --arg=[8192] --arg=192 --arg=48 --arg=5
// run: run - --target sm_90a --interleavings 3 --seed 1 --grid 2 --arg=[24576] --arg=[12288] --arg=[64] --arg=[8192] --arg=192 --arg=48 --arg=0
// run: run - --target sm_100a --interleavings 3 --seed 1 --grid 2 --arg=[24576] --arg=[12288] --arg=[64] --arg=[8192] --arg=192 --arg=48 --arg=5
// run: run - --target sm_100a --interleavings 3 --seed 1 --grid 2 --arg=[24576] --arg=[12288] --arg=[64] --arg=[8192] --arg=192 --arg=48 --arg=0
// clean
module {
  tt.func public @divided(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32, %arg6: i32) attributes {noinline = false} {
    %cst = arith.constant dense<1.000000e+00> : tensor<64xf32>
    %cst_0 = arith.constant dense<64> : tensor<64x1xi32>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c64_i32 : i32
    %2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %3 = tt.splat %1 : i32 -> tensor<64xi32>
    %4 = arith.addi %3, %2 : tensor<64xi32>
    %5 = scf.for %arg7 = %c0_i32 to %arg4 step %c64_i32 iter_args(%arg8 = %cst_1) -> (tensor<64x64xf32>)  : i32 {
      %14 = tt.splat %arg7 : i32 -> tensor<64xi32>
      %15 = arith.addi %14, %2 : tensor<64xi32>
      %16 = tt.splat %arg5 : i32 -> tensor<64xi32>
      %17 = arith.remsi %4, %16 : tensor<64xi32>
      %18 = tt.expand_dims %17 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %19 = tt.splat %arg4 : i32 -> tensor<64x1xi32>
      %20 = arith.muli %18, %19 : tensor<64x1xi32>
      %21 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
      %22 = tt.addptr %21, %20 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
      %23 = tt.expand_dims %15 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %24 = tt.broadcast %22 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
      %25 = tt.broadcast %23 : tensor<1x64xi32> -> tensor<64x64xi32>
      %26 = tt.addptr %24, %25 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
      %27 = tt.load %26 : tensor<64x64x!tt.ptr<bf16>>
      %28 = tt.expand_dims %15 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %29 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
      %30 = tt.addptr %29, %28 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
      %31 = tt.expand_dims %2 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %32 = tt.splat %arg4 : i32 -> tensor<1x64xi32>
      %33 = arith.muli %31, %32 : tensor<1x64xi32>
      %34 = tt.broadcast %30 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
      %35 = tt.broadcast %33 : tensor<1x64xi32> -> tensor<64x64xi32>
      %36 = tt.addptr %34, %35 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
      %37 = tt.load %36 : tensor<64x64x!tt.ptr<bf16>>
      %38 = arith.cmpi sgt, %arg6, %c0_i32 : i32
      %39 = scf.if %38 -> (tensor<64xf32>) {
        %45 = tt.splat %arg6 : i32 -> tensor<64xi32>
        %46 = arith.divsi %2, %45 : tensor<64xi32>
        %47 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
        %48 = tt.addptr %47, %46 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
        %49 = tt.load %48 : tensor<64x!tt.ptr<f32>>
        scf.yield %49 : tensor<64xf32>
      } else {
        scf.yield %cst : tensor<64xf32>
      }
      %40 = tt.dot %27, %37, %cst_1, inputPrecision = tf32 : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
      %41 = tt.expand_dims %39 {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
      %42 = tt.broadcast %41 : tensor<1x64xf32> -> tensor<64x64xf32>
      %43 = arith.mulf %40, %42 : tensor<64x64xf32>
      %44 = arith.addf %arg8, %43 : tensor<64x64xf32>
      scf.yield %44 : tensor<64x64xf32>
    }
    %6 = tt.expand_dims %4 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %7 = arith.muli %6, %cst_0 : tensor<64x1xi32>
    %8 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %9 = tt.addptr %8, %7 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %10 = tt.expand_dims %2 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %11 = tt.broadcast %9 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %12 = tt.broadcast %10 : tensor<1x64xi32> -> tensor<64x64xi32>
    %13 = tt.addptr %11, %12 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %13, %5 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
