module attributes {warploom.form = "program", warploom.target = "sm_90a"} {
  tt.func public @matmul_pointers(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false, warploom.warps = 8 : i32, warploom.max_registers = 256 : i32, warploom.shared = 49152 : i32, warploom.descriptors = []} {
    warploom.pipeline @p0 {depth = 3 : i32, handshake = "cp_async", payload = ["a", "b"], tile = [tensor<128x32xf16>, tensor<32x128xf16>], swizzle = array<i32: 64, 128>, offset = array<i64: 0, 24576>, stride = array<i64: 8192, 8192>, bytes = 0 : i32, full = -1 : i32, empty = -1 : i32, arrive_full = 0 : i32, arrive_empty = 0 : i32}
    warploom.named_barrier @all {id = 1 : i32, threads = 256 : i32}
    warploom.partition @main {warp = 0 : i32, warps = 8 : i32, registers = 256 : i32, layout = "wgmma"} {
      %cst = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
      %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x128xf16>
      %cst_1 = arith.constant dense<0.000000e+00> : tensor<128x32xf16>
      %c0_i32 = arith.constant 0 : i32
      %cst_2 = arith.constant dense<32> : tensor<128x32xi32>
      %c32_i32 = arith.constant 32 : i32
      %c128_i32 = arith.constant 128 : i32
      %0 = tt.get_program_id x : i32
      %1 = arith.muli %0, %c128_i32 : i32
      %2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
      %3 = tt.splat %1 : i32 -> tensor<128xi32>
      %4 = arith.addi %3, %2 : tensor<128xi32>
      %5 = tt.get_program_id y : i32
      %6 = arith.muli %5, %c128_i32 : i32
      %7 = tt.splat %6 : i32 -> tensor<128xi32>
      %8 = arith.addi %7, %2 : tensor<128xi32>
      %9 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
      %10 = tt.expand_dims %4 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %11 = tt.splat %arg6 : i32 -> tensor<128x1xi32>
      %12 = arith.muli %10, %11 : tensor<128x1xi32>
      %13 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
      %14 = tt.addptr %13, %12 : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
      %15 = tt.expand_dims %9 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %16 = tt.broadcast %14 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x32x!tt.ptr<f16>>
      %17 = tt.broadcast %15 : tensor<1x32xi32> -> tensor<128x32xi32>
      %18 = tt.addptr %16, %17 : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
      %19 = tt.expand_dims %9 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %20 = tt.splat %arg7 : i32 -> tensor<32x1xi32>
      %21 = arith.muli %19, %20 : tensor<32x1xi32>
      %22 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
      %23 = tt.addptr %22, %21 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
      %24 = tt.expand_dims %8 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
      %25 = tt.broadcast %23 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x128x!tt.ptr<f16>>
      %26 = tt.broadcast %24 : tensor<1x128xi32> -> tensor<32x128xi32>
      %27 = tt.addptr %25, %26 : tensor<32x128x!tt.ptr<f16>>, tensor<32x128xi32>
      %28 = arith.muli %arg7, %c32_i32 : i32
      %29 = arith.constant 32 : i32
      %30 = arith.constant 0 : i32
      %31 = arith.cmpi slt, %c0_i32, %arg5 : i32
      %32 = arith.constant 0 : i32
      %33 = arith.constant 0 : i32
      %34 = arith.constant 1 : i32
      %35 = tt.splat %32 : i32 -> tensor<128x32xi32>
      %36 = tt.addptr %18, %35 : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
      %37 = tt.splat %33 : i32 -> tensor<32x128xi32>
      %38 = tt.addptr %27, %37 : tensor<32x128x!tt.ptr<f16>>, tensor<32x128xi32>
      %39 = arith.subi %arg5, %c0_i32 : i32
      %40 = tt.splat %39 : i32 -> tensor<32xi32>
      %41 = arith.cmpi slt, %9, %40 : tensor<32xi32>
      %42 = tt.splat %arg3 : i32 -> tensor<128x1xi32>
      %43 = arith.cmpi slt, %10, %42 : tensor<128x1xi32>
      %44 = tt.expand_dims %41 {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
      %45 = tt.broadcast %43 : tensor<128x1xi1> -> tensor<128x32xi1>
      %46 = tt.broadcast %44 : tensor<1x32xi1> -> tensor<128x32xi1>
      %47 = arith.andi %45, %46 : tensor<128x32xi1>
      %48 = tt.expand_dims %41 {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
      %49 = tt.splat %arg4 : i32 -> tensor<1x128xi32>
      %50 = arith.cmpi slt, %24, %49 : tensor<1x128xi32>
      %51 = tt.broadcast %48 : tensor<32x1xi1> -> tensor<32x128xi1>
      %52 = tt.broadcast %50 : tensor<1x128xi1> -> tensor<32x128xi1>
      %53 = arith.andi %51, %52 : tensor<32x128xi1>
      %54 = tt.splat %31 : i1 -> tensor<128x32xi1>
      %55 = arith.andi %47, %54 : tensor<128x32xi1>
      warploom.async_copy @p0[%30] {payload = 0 : i32} %36, %55, %cst_1 : tensor<128x32x!tt.ptr<f16>>
      %56 = tt.splat %31 : i1 -> tensor<32x128xi1>
      %57 = arith.andi %53, %56 : tensor<32x128xi1>
      warploom.async_copy @p0[%30] {payload = 1 : i32} %38, %57, %cst_0 : tensor<32x128x!tt.ptr<f16>>
      warploom.async_commit
      %58 = arith.addi %32, %29 : i32
      %59 = arith.addi %33, %28 : i32
      %60:2 = warploom.advance @p0[%30, %30]
      %61:7 = scf.for %arg9 = %c0_i32 to %arg5 step %c32_i32 iter_args(%arg0_0 = %cst, %arg1_1 = %58, %arg2_2 = %59, %arg3_3 = %30, %arg4_4 = %30, %arg5_5 = %60#0, %arg6_6 = %60#1) -> (tensor<128x128xf32>, i32, i32, i32, i32, i32, i32)  : i32 {
        warploom.async_wait {pending = 0 : i32}
        warploom.proxy_fence
        warploom.barrier_sync @all
        %78 = arith.constant 32 : i32
        %79 = arith.subi %arg5, %arg9 : i32
        %80 = arith.cmpi ugt, %79, %78 : i32
        %81 = arith.addi %arg9, %78 : i32
        %82 = tt.splat %arg1_1 : i32 -> tensor<128x32xi32>
        %83 = tt.addptr %18, %82 : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
        %84 = tt.splat %arg2_2 : i32 -> tensor<32x128xi32>
        %85 = tt.addptr %27, %84 : tensor<32x128x!tt.ptr<f16>>, tensor<32x128xi32>
        %86 = arith.subi %arg5, %81 : i32
        %87 = tt.splat %86 : i32 -> tensor<32xi32>
        %88 = arith.cmpi slt, %9, %87 : tensor<32xi32>
        %89 = tt.splat %arg3 : i32 -> tensor<128x1xi32>
        %90 = arith.cmpi slt, %10, %89 : tensor<128x1xi32>
        %91 = tt.expand_dims %88 {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
        %92 = tt.broadcast %90 : tensor<128x1xi1> -> tensor<128x32xi1>
        %93 = tt.broadcast %91 : tensor<1x32xi1> -> tensor<128x32xi1>
        %94 = arith.andi %92, %93 : tensor<128x32xi1>
        %95 = tt.expand_dims %88 {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
        %96 = tt.splat %arg4 : i32 -> tensor<1x128xi32>
        %97 = arith.cmpi slt, %24, %96 : tensor<1x128xi32>
        %98 = tt.broadcast %95 : tensor<32x1xi1> -> tensor<32x128xi1>
        %99 = tt.broadcast %97 : tensor<1x128xi1> -> tensor<32x128xi1>
        %100 = arith.andi %98, %99 : tensor<32x128xi1>
        %101 = tt.splat %80 : i1 -> tensor<128x32xi1>
        %102 = arith.andi %94, %101 : tensor<128x32xi1>
        warploom.async_copy @p0[%arg5_5] {payload = 0 : i32} %83, %102, %cst_1 : tensor<128x32x!tt.ptr<f16>>
        %103 = tt.splat %80 : i1 -> tensor<32x128xi1>
        %104 = arith.andi %100, %103 : tensor<32x128xi1>
        warploom.async_copy @p0[%arg5_5] {payload = 1 : i32} %85, %104, %cst_0 : tensor<32x128x!tt.ptr<f16>>
        warploom.async_commit
        %105 = arith.addi %arg1_1, %29 : i32
        %106 = arith.addi %arg2_2, %28 : i32
        %107 = warploom.slot @p0[%arg3_3] {payload = 0 : i32} : tensor<128x32xf16>
        %108 = warploom.slot @p0[%arg3_3] {payload = 1 : i32} : tensor<32x128xf16>
        %109 = tt.dot %107, %108, %arg0_0, inputPrecision = tf32 : tensor<128x32xf16> * tensor<32x128xf16> -> tensor<128x128xf32>
        %110 = warploom.mma_wait %109 {pending = 1 : i32} : tensor<128x128xf32>
        %111:2 = warploom.advance @p0[%arg3_3, %arg4_4]
        %112:2 = warploom.advance @p0[%arg5_5, %arg6_6]
        scf.yield %110, %105, %106, %111#0, %111#1, %112#0, %112#1 : tensor<128x128xf32>, i32, i32, i32, i32, i32, i32
      }
      %62 = warploom.mma_wait %61#0 {pending = 0 : i32} : tensor<128x128xf32>
      warploom.async_wait {pending = 0 : i32}
      warploom.proxy_fence
      warploom.barrier_sync @all
      %63 = tt.splat %arg3 : i32 -> tensor<128x1xi32>
      %64 = arith.cmpi slt, %10, %63 : tensor<128x1xi32>
      %65 = tt.splat %arg4 : i32 -> tensor<1x128xi32>
      %66 = arith.cmpi slt, %24, %65 : tensor<1x128xi32>
      %67 = tt.broadcast %64 : tensor<128x1xi1> -> tensor<128x128xi1>
      %68 = tt.broadcast %66 : tensor<1x128xi1> -> tensor<128x128xi1>
      %69 = arith.andi %67, %68 : tensor<128x128xi1>
      %70 = tt.splat %arg8 : i32 -> tensor<128x1xi32>
      %71 = arith.muli %10, %70 : tensor<128x1xi32>
      %72 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
      %73 = tt.addptr %72, %71 : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
      %74 = tt.broadcast %73 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x128x!tt.ptr<f16>>
      %75 = tt.broadcast %24 : tensor<1x128xi32> -> tensor<128x128xi32>
      %76 = tt.addptr %74, %75 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
      %77 = arith.truncf %62 : tensor<128x128xf32> to tensor<128x128xf16>
      tt.store %76, %77, %69 : tensor<128x128x!tt.ptr<f16>>
    }
    tt.return
  }
}
