// Tiles of three dimensions that are loaded, beside a table of two that is loaded for all of the first: kept for two stores,
// they are loaded in one layout, without a conversion (G5).
// run: run - --target sm_80 --grid 2 --interleavings 1 --arg=[3328] --arg=[832] --arg=[832] --arg=[3328] --arg=13
// run: run - --target sm_90a --grid 2 --interleavings 1 --arg=[3328] --arg=[832] --arg=[832] --arg=[3328] --arg=13
// run: run - --target sm_100a --grid 2 --interleavings 1 --arg=[3328] --arg=[832] --arg=[832] --arg=[3328] --arg=13
// run: run - --target sm_120a --grid 2 --interleavings 1 --arg=[3328] --arg=[832] --arg=[832] --arg=[3328] --arg=13
// clean
module {
  tt.func public @turn(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg4: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<2x8x64xbf16>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<8x64xbf16>
    %cst_1 = arith.constant dense<64> : tensor<2x8x64xi32>
    %cst_2 = arith.constant dense<64> : tensor<8x1xi32>
    %cst_3 = arith.constant dense<64> : tensor<1x8x1xi32>
    %cst_4 = arith.constant dense<2> : tensor<1x8x1xi32>
    %cst_5 = arith.constant dense<64> : tensor<2x1x1xi32>
    %cst_6 = arith.constant dense<2> : tensor<2x1x1xi32>
    %c8_i32 = arith.constant 8 : i32
    %0 = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
    %2 = tt.expand_dims %1 {axis = 2 : i32} : tensor<2x1xi32> -> tensor<2x1x1xi32>
    %3 = tt.get_program_id x : i32
    %4 = arith.muli %3, %c8_i32 : i32
    %5 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %6 = tt.splat %4 : i32 -> tensor<8xi32>
    %7 = arith.addi %6, %5 : tensor<8xi32>
    %8 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %9 = tt.splat %arg4 : i32 -> tensor<2x1x1xi32>
    %10 = arith.muli %2, %9 : tensor<2x1x1xi32>
    %11 = arith.muli %10, %cst_6 : tensor<2x1x1xi32>
    %12 = arith.muli %11, %cst_5 : tensor<2x1x1xi32>
    %13 = tt.expand_dims %7 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %14 = tt.expand_dims %13 {axis = 2 : i32} : tensor<1x8xi32> -> tensor<1x8x1xi32>
    %15 = arith.muli %14, %cst_4 : tensor<1x8x1xi32>
    %16 = arith.muli %15, %cst_3 : tensor<1x8x1xi32>
    %17 = tt.broadcast %12 : tensor<2x1x1xi32> -> tensor<2x8x1xi32>
    %18 = tt.broadcast %16 : tensor<1x8x1xi32> -> tensor<2x8x1xi32>
    %19 = arith.addi %17, %18 : tensor<2x8x1xi32>
    %20 = tt.expand_dims %8 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %21 = tt.expand_dims %20 {axis = 1 : i32} : tensor<1x64xi32> -> tensor<1x1x64xi32>
    %22 = tt.broadcast %19 : tensor<2x8x1xi32> -> tensor<2x8x64xi32>
    %23 = tt.broadcast %21 : tensor<1x1x64xi32> -> tensor<2x8x64xi32>
    %24 = arith.addi %22, %23 : tensor<2x8x64xi32>
    %25 = tt.splat %arg4 : i32 -> tensor<8xi32>
    %26 = arith.cmpi slt, %7, %25 : tensor<8xi32>
    %27 = tt.expand_dims %26 {axis = 0 : i32} : tensor<8xi1> -> tensor<1x8xi1>
    %28 = tt.expand_dims %27 {axis = 2 : i32} : tensor<1x8xi1> -> tensor<1x8x1xi1>
    %29 = tt.expand_dims %7 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %30 = arith.muli %29, %cst_2 : tensor<8x1xi32>
    %31 = tt.broadcast %30 : tensor<8x1xi32> -> tensor<8x64xi32>
    %32 = tt.broadcast %20 : tensor<1x64xi32> -> tensor<8x64xi32>
    %33 = arith.addi %31, %32 : tensor<8x64xi32>
    %34 = tt.expand_dims %26 {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
    %35 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<8x64x!tt.ptr<bf16>>
    %36 = tt.addptr %35, %33 : tensor<8x64x!tt.ptr<bf16>>, tensor<8x64xi32>
    %37 = tt.broadcast %34 : tensor<8x1xi1> -> tensor<8x64xi1>
    %38 = tt.load %36, %37, %cst_0 : tensor<8x64x!tt.ptr<bf16>>
    %39 = arith.extf %38 : tensor<8x64xbf16> to tensor<8x64xf32>
    %40 = tt.splat %arg2 : !tt.ptr<bf16> -> tensor<8x64x!tt.ptr<bf16>>
    %41 = tt.addptr %40, %33 : tensor<8x64x!tt.ptr<bf16>>, tensor<8x64xi32>
    %42 = tt.load %41, %37, %cst_0 : tensor<8x64x!tt.ptr<bf16>>
    %43 = arith.extf %42 : tensor<8x64xbf16> to tensor<8x64xf32>
    %44 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<2x8x64x!tt.ptr<bf16>>
    %45 = tt.addptr %44, %24 : tensor<2x8x64x!tt.ptr<bf16>>, tensor<2x8x64xi32>
    %46 = tt.broadcast %28 : tensor<1x8x1xi1> -> tensor<2x8x64xi1>
    %47 = tt.load %45, %46, %cst : tensor<2x8x64x!tt.ptr<bf16>>
    %48 = arith.extf %47 : tensor<2x8x64xbf16> to tensor<2x8x64xf32>
    %49 = tt.addptr %45, %cst_1 : tensor<2x8x64x!tt.ptr<bf16>>, tensor<2x8x64xi32>
    %50 = tt.load %49, %46, %cst : tensor<2x8x64x!tt.ptr<bf16>>
    %51 = arith.extf %50 : tensor<2x8x64xbf16> to tensor<2x8x64xf32>
    %52 = tt.splat %arg3 : !tt.ptr<bf16> -> tensor<2x8x64x!tt.ptr<bf16>>
    %53 = tt.addptr %52, %24 : tensor<2x8x64x!tt.ptr<bf16>>, tensor<2x8x64xi32>
    %54 = tt.expand_dims %39 {axis = 0 : i32} : tensor<8x64xf32> -> tensor<1x8x64xf32>
    %55 = tt.broadcast %54 : tensor<1x8x64xf32> -> tensor<2x8x64xf32>
    %56 = arith.mulf %48, %55 : tensor<2x8x64xf32>
    %57 = tt.expand_dims %43 {axis = 0 : i32} : tensor<8x64xf32> -> tensor<1x8x64xf32>
    %58 = tt.broadcast %57 : tensor<1x8x64xf32> -> tensor<2x8x64xf32>
    %59 = arith.mulf %51, %58 : tensor<2x8x64xf32>
    %60 = arith.subf %56, %59 : tensor<2x8x64xf32>
    %61 = arith.truncf %60 : tensor<2x8x64xf32> to tensor<2x8x64xbf16>
    tt.store %53, %61, %46 : tensor<2x8x64x!tt.ptr<bf16>>
    %62 = tt.addptr %53, %cst_1 : tensor<2x8x64x!tt.ptr<bf16>>, tensor<2x8x64xi32>
    %63 = arith.mulf %48, %58 : tensor<2x8x64xf32>
    %64 = arith.mulf %51, %55 : tensor<2x8x64xf32>
    %65 = arith.addf %63, %64 : tensor<2x8x64xf32>
    %66 = arith.truncf %65 : tensor<2x8x64xf32> to tensor<2x8x64xbf16>
    tt.store %62, %66, %46 : tensor<2x8x64x!tt.ptr<bf16>>
    tt.return
  }
}
