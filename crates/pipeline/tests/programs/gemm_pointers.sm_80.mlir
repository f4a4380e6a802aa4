module attributes {warploom.form = "program", warploom.target = "sm_80"} {
  tt.func public @matmul_pointers(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false, warploom.warps = 4 : i32, warploom.max_registers = 256 : i32, warploom.shared = 49152 : i32, warploom.descriptors = []} {
    warploom.pipeline @p0 {depth = 3 : i32, handshake = "cp_async", payload = ["a", "b"], tile = [tensor<128x32xf16>, tensor<32x128xf16>], swizzle = array<i32: 64, 128>, offset = array<i64: 0, 24576>, stride = array<i64: 8192, 8192>, bytes = 0 : i32, full = -1 : i32, empty = -1 : i32, arrive_full = 0 : i32, arrive_empty = 0 : i32}
    warploom.named_barrier @all {id = 1 : i32, threads = 128 : i32}
    warploom.partition @main {warp = 0 : i32, warps = 4 : i32, registers = 256 : i32, layout = "mma_sync", tiling = array<i32: 2, 2>} {
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
      %61 = arith.constant 32 : i32
      %62 = arith.subi %arg5, %c0_i32 : i32
      %63 = arith.cmpi ugt, %62, %61 : i32
      %64 = arith.addi %c0_i32, %61 : i32
      %65 = arith.andi %31, %63 : i1
      %66 = tt.splat %58 : i32 -> tensor<128x32xi32>
      %67 = tt.addptr %18, %66 : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
      %68 = tt.splat %59 : i32 -> tensor<32x128xi32>
      %69 = tt.addptr %27, %68 : tensor<32x128x!tt.ptr<f16>>, tensor<32x128xi32>
      %70 = arith.subi %arg5, %64 : i32
      %71 = tt.splat %70 : i32 -> tensor<32xi32>
      %72 = arith.cmpi slt, %9, %71 : tensor<32xi32>
      %73 = tt.splat %arg3 : i32 -> tensor<128x1xi32>
      %74 = arith.cmpi slt, %10, %73 : tensor<128x1xi32>
      %75 = tt.expand_dims %72 {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
      %76 = tt.broadcast %74 : tensor<128x1xi1> -> tensor<128x32xi1>
      %77 = tt.broadcast %75 : tensor<1x32xi1> -> tensor<128x32xi1>
      %78 = arith.andi %76, %77 : tensor<128x32xi1>
      %79 = tt.expand_dims %72 {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
      %80 = tt.splat %arg4 : i32 -> tensor<1x128xi32>
      %81 = arith.cmpi slt, %24, %80 : tensor<1x128xi32>
      %82 = tt.broadcast %79 : tensor<32x1xi1> -> tensor<32x128xi1>
      %83 = tt.broadcast %81 : tensor<1x128xi1> -> tensor<32x128xi1>
      %84 = arith.andi %82, %83 : tensor<32x128xi1>
      %85 = tt.splat %65 : i1 -> tensor<128x32xi1>
      %86 = arith.andi %78, %85 : tensor<128x32xi1>
      warploom.async_copy @p0[%60#0] {payload = 0 : i32} %67, %86, %cst_1 : tensor<128x32x!tt.ptr<f16>>
      %87 = tt.splat %65 : i1 -> tensor<32x128xi1>
      %88 = arith.andi %84, %87 : tensor<32x128xi1>
      warploom.async_copy @p0[%60#0] {payload = 1 : i32} %69, %88, %cst_0 : tensor<32x128x!tt.ptr<f16>>
      warploom.async_commit
      %89 = arith.addi %58, %29 : i32
      %90 = arith.addi %59, %28 : i32
      %91:2 = warploom.advance @p0[%60#0, %60#1]
      %92:7 = scf.for %arg9 = %c0_i32 to %arg5 step %c32_i32 iter_args(%arg0_0 = %cst, %arg1_1 = %89, %arg2_2 = %90, %arg3_3 = %30, %arg4_4 = %30, %arg5_5 = %91#0, %arg6_6 = %91#1) -> (tensor<128x128xf32>, i32, i32, i32, i32, i32, i32)  : i32 {
        warploom.async_wait {pending = 1 : i32}
        warploom.barrier_sync @all
        %108 = arith.constant 64 : i32
        %109 = arith.subi %arg5, %arg9 : i32
        %110 = arith.cmpi ugt, %109, %108 : i32
        %111 = arith.addi %arg9, %108 : i32
        %112 = tt.splat %arg1_1 : i32 -> tensor<128x32xi32>
        %113 = tt.addptr %18, %112 : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
        %114 = tt.splat %arg2_2 : i32 -> tensor<32x128xi32>
        %115 = tt.addptr %27, %114 : tensor<32x128x!tt.ptr<f16>>, tensor<32x128xi32>
        %116 = arith.subi %arg5, %111 : i32
        %117 = tt.splat %116 : i32 -> tensor<32xi32>
        %118 = arith.cmpi slt, %9, %117 : tensor<32xi32>
        %119 = tt.splat %arg3 : i32 -> tensor<128x1xi32>
        %120 = arith.cmpi slt, %10, %119 : tensor<128x1xi32>
        %121 = tt.expand_dims %118 {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
        %122 = tt.broadcast %120 : tensor<128x1xi1> -> tensor<128x32xi1>
        %123 = tt.broadcast %121 : tensor<1x32xi1> -> tensor<128x32xi1>
        %124 = arith.andi %122, %123 : tensor<128x32xi1>
        %125 = tt.expand_dims %118 {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
        %126 = tt.splat %arg4 : i32 -> tensor<1x128xi32>
        %127 = arith.cmpi slt, %24, %126 : tensor<1x128xi32>
        %128 = tt.broadcast %125 : tensor<32x1xi1> -> tensor<32x128xi1>
        %129 = tt.broadcast %127 : tensor<1x128xi1> -> tensor<32x128xi1>
        %130 = arith.andi %128, %129 : tensor<32x128xi1>
        %131 = tt.splat %110 : i1 -> tensor<128x32xi1>
        %132 = arith.andi %124, %131 : tensor<128x32xi1>
        warploom.async_copy @p0[%arg5_5] {payload = 0 : i32} %113, %132, %cst_1 : tensor<128x32x!tt.ptr<f16>>
        %133 = tt.splat %110 : i1 -> tensor<32x128xi1>
        %134 = arith.andi %130, %133 : tensor<32x128xi1>
        warploom.async_copy @p0[%arg5_5] {payload = 1 : i32} %115, %134, %cst_0 : tensor<32x128x!tt.ptr<f16>>
        warploom.async_commit
        %135 = arith.addi %arg1_1, %29 : i32
        %136 = arith.addi %arg2_2, %28 : i32
        %137 = warploom.slot @p0[%arg3_3] {payload = 0 : i32} : tensor<128x32xf16>
        %138 = warploom.slot @p0[%arg3_3] {payload = 1 : i32} : tensor<32x128xf16>
        %139 = tt.dot %137, %138, %arg0_0, inputPrecision = tf32 : tensor<128x32xf16> * tensor<32x128xf16> -> tensor<128x128xf32>
        %140:2 = warploom.advance @p0[%arg3_3, %arg4_4]
        %141:2 = warploom.advance @p0[%arg5_5, %arg6_6]
        scf.yield %139, %135, %136, %140#0, %140#1, %141#0, %141#1 : tensor<128x128xf32>, i32, i32, i32, i32, i32, i32
      }
      warploom.async_wait {pending = 0 : i32}
      warploom.barrier_sync @all
      %93 = tt.splat %arg3 : i32 -> tensor<128x1xi32>
      %94 = arith.cmpi slt, %10, %93 : tensor<128x1xi32>
      %95 = tt.splat %arg4 : i32 -> tensor<1x128xi32>
      %96 = arith.cmpi slt, %24, %95 : tensor<1x128xi32>
      %97 = tt.broadcast %94 : tensor<128x1xi1> -> tensor<128x128xi1>
      %98 = tt.broadcast %96 : tensor<1x128xi1> -> tensor<128x128xi1>
      %99 = arith.andi %97, %98 : tensor<128x128xi1>
      %100 = tt.splat %arg8 : i32 -> tensor<128x1xi32>
      %101 = arith.muli %10, %100 : tensor<128x1xi32>
      %102 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
      %103 = tt.addptr %102, %101 : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
      %104 = tt.broadcast %103 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x128x!tt.ptr<f16>>
      %105 = tt.broadcast %24 : tensor<1x128xi32> -> tensor<128x128xi32>
      %106 = tt.addptr %104, %105 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
      %107 = arith.truncf %92#0 : tensor<128x128xf32> to tensor<128x128xf16>
      tt.store %106, %107, %99 : tensor<128x128x!tt.ptr<f16>>
    }
    tt.return
  }
}
