// Pointers that go round a loop in a branch: lanes hold them at their own places, and store there (C33).
// run: run - --target sm_80 --interleavings 3 --seed 1 --arg=[512] --arg=[4096] --arg=[8192] --arg=0 --arg=30 --arg=200
// run: run - --target sm_80 --interleavings 3 --seed 1 --arg=[512] --arg=[4096] --arg=[8192] --arg=9 --arg=30 --arg=200
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[512] --arg=[4096] --arg=[8192] --arg=0 --arg=30 --arg=200
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[512] --arg=[4096] --arg=[8192] --arg=9 --arg=30 --arg=200
// clean
module {
  tt.func public @cleared(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg3: i32, %arg4: i32, %arg5: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c127_i32 = arith.constant 127 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<32x128xbf16>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<16x128xbf16>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<32x16xbf16>
    %c1_i32 = arith.constant 1 : i32
    %cst_2 = arith.constant dense<128> : tensor<16x128xi32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<32x128xf32>
    %cst_4 = arith.constant dense<16> : tensor<32x1xi32>
    %cst_5 = arith.constant dense<128> : tensor<32x128xi32>
    %c128_i32 = arith.constant 128 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %3 = tt.expand_dims %0 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %4 = tt.splat %arg5 : i32 -> tensor<32x1xi32>
    %5 = arith.muli %3, %4 : tensor<32x1xi32>
    %6 = tt.splat %arg2 : !tt.ptr<bf16> -> tensor<32x1x!tt.ptr<bf16>>
    %7 = tt.addptr %6, %5 : tensor<32x1x!tt.ptr<bf16>>, tensor<32x1xi32>
    %8 = tt.expand_dims %1 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %9 = tt.broadcast %7 : tensor<32x1x!tt.ptr<bf16>> -> tensor<32x128x!tt.ptr<bf16>>
    %10 = tt.broadcast %8 : tensor<1x128xi32> -> tensor<32x128xi32>
    %11 = tt.addptr %9, %10 : tensor<32x128x!tt.ptr<bf16>>, tensor<32x128xi32>
    %12 = arith.cmpi eq, %arg3, %c0_i32 : i32
    scf.if %12 {
      %13 = arith.addi %arg5, %c127_i32 : i32
      %14 = arith.divsi %13, %c128_i32 : i32
      %15 = scf.for %arg6 = %c0_i32 to %14 step %c1_i32 iter_args(%arg7 = %11) -> (tensor<32x128x!tt.ptr<bf16>>)  : i32 {
        %16 = tt.splat %arg4 : i32 -> tensor<32x1xi32>
        %17 = arith.cmpi slt, %3, %16 : tensor<32x1xi32>
        %18 = arith.muli %arg6, %c128_i32 : i32
        %19 = arith.subi %arg5, %18 : i32
        %20 = tt.splat %19 : i32 -> tensor<1x128xi32>
        %21 = arith.cmpi slt, %8, %20 : tensor<1x128xi32>
        %22 = tt.broadcast %17 : tensor<32x1xi1> -> tensor<32x128xi1>
        %23 = tt.broadcast %21 : tensor<1x128xi1> -> tensor<32x128xi1>
        %24 = arith.andi %22, %23 : tensor<32x128xi1>
        tt.store %arg7, %cst, %24 : tensor<32x128x!tt.ptr<bf16>>
        %25 = tt.addptr %arg7, %cst_5 : tensor<32x128x!tt.ptr<bf16>>, tensor<32x128xi32>
        scf.yield %25 : tensor<32x128x!tt.ptr<bf16>>
      }
    } else {
      %13 = tt.expand_dims %2 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
      %14 = tt.splat %arg3 : i32 -> tensor<1x16xi32>
      %15 = arith.cmpi slt, %13, %14 : tensor<1x16xi32>
      %16 = arith.muli %3, %cst_4 : tensor<32x1xi32>
      %17 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<32x1x!tt.ptr<bf16>>
      %18 = tt.addptr %17, %16 : tensor<32x1x!tt.ptr<bf16>>, tensor<32x1xi32>
      %19 = tt.broadcast %18 : tensor<32x1x!tt.ptr<bf16>> -> tensor<32x16x!tt.ptr<bf16>>
      %20 = tt.broadcast %13 : tensor<1x16xi32> -> tensor<32x16xi32>
      %21 = tt.addptr %19, %20 : tensor<32x16x!tt.ptr<bf16>>, tensor<32x16xi32>
      %22 = tt.broadcast %15 : tensor<1x16xi1> -> tensor<32x16xi1>
      %23 = tt.load %21, %22, %cst_1 : tensor<32x16x!tt.ptr<bf16>>
      %24 = tt.expand_dims %2 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %25 = tt.splat %arg5 : i32 -> tensor<16x1xi32>
      %26 = arith.muli %24, %25 : tensor<16x1xi32>
      %27 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<16x1x!tt.ptr<bf16>>
      %28 = tt.addptr %27, %26 : tensor<16x1x!tt.ptr<bf16>>, tensor<16x1xi32>
      %29 = tt.broadcast %28 : tensor<16x1x!tt.ptr<bf16>> -> tensor<16x128x!tt.ptr<bf16>>
      %30 = tt.broadcast %8 : tensor<1x128xi32> -> tensor<16x128xi32>
      %31 = tt.addptr %29, %30 : tensor<16x128x!tt.ptr<bf16>>, tensor<16x128xi32>
      %32 = arith.addi %arg5, %c127_i32 : i32
      %33 = arith.divsi %32, %c128_i32 : i32
      %34:2 = scf.for %arg6 = %c0_i32 to %33 step %c1_i32 iter_args(%arg7 = %11, %arg8 = %31) -> (tensor<32x128x!tt.ptr<bf16>>, tensor<16x128x!tt.ptr<bf16>>)  : i32 {
        %35 = arith.muli %arg6, %c128_i32 : i32
        %36 = arith.subi %arg5, %35 : i32
        %37 = tt.splat %36 : i32 -> tensor<1x128xi32>
        %38 = arith.cmpi slt, %8, %37 : tensor<1x128xi32>
        %39 = tt.splat %arg3 : i32 -> tensor<16x1xi32>
        %40 = arith.cmpi slt, %24, %39 : tensor<16x1xi32>
        %41 = tt.broadcast %40 : tensor<16x1xi1> -> tensor<16x128xi1>
        %42 = tt.broadcast %38 : tensor<1x128xi1> -> tensor<16x128xi1>
        %43 = arith.andi %41, %42 : tensor<16x128xi1>
        %44 = tt.load %arg8, %43, %cst_0 : tensor<16x128x!tt.ptr<bf16>>
        %45 = tt.dot %23, %44, %cst_3, inputPrecision = tf32 : tensor<32x16xbf16> * tensor<16x128xbf16> -> tensor<32x128xf32>
        %46 = "tt.reduce"(%45) <{axis = 1 : i32}> ({
        ^bb0(%arg9: f32, %arg10: f32):
          %58 = arith.maxnumf %arg9, %arg10 : f32
          tt.reduce.return %58 : f32
        }) : (tensor<32x128xf32>) -> tensor<32xf32>
        %47 = tt.expand_dims %46 {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
        %48 = tt.broadcast %47 : tensor<32x1xf32> -> tensor<32x128xf32>
        %49 = arith.addf %45, %48 : tensor<32x128xf32>
        %50 = tt.splat %arg4 : i32 -> tensor<32x1xi32>
        %51 = arith.cmpi slt, %3, %50 : tensor<32x1xi32>
        %52 = tt.broadcast %51 : tensor<32x1xi1> -> tensor<32x128xi1>
        %53 = tt.broadcast %38 : tensor<1x128xi1> -> tensor<32x128xi1>
        %54 = arith.andi %52, %53 : tensor<32x128xi1>
        %55 = arith.truncf %49 : tensor<32x128xf32> to tensor<32x128xbf16>
        tt.store %arg7, %55, %54 : tensor<32x128x!tt.ptr<bf16>>
        %56 = tt.addptr %arg8, %cst_2 : tensor<16x128x!tt.ptr<bf16>>, tensor<16x128xi32>
        %57 = tt.addptr %arg7, %cst_5 : tensor<32x128x!tt.ptr<bf16>>, tensor<32x128xi32>
        scf.yield %57, %56 : tensor<32x128x!tt.ptr<bf16>>, tensor<16x128x!tt.ptr<bf16>>
      }
    }
    tt.return
  }
}
