#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#linear = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CTAsPerCGA = [1], CTASplitNum = [1], CTAOrder = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
module attributes {"ttg.cluster-dim-x" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @helper(i32) -> i32
  // CHECK-LABEL: tt.func public @kernel(
  // CHECK-SAME: %arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}
  // CHECK-SAME: %arg1: !tt.tensordesc<tensor<128x64xf16, #shared>>
  // CHECK-SAME: attributes {noinline = false}
  tt.func public @kernel(%in: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %desc: !tt.tensordesc<tensor<128x64xf16, #shared>>, %n: i32, %c: i1) attributes {noinline = false} {
    // CHECK: %cst = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #blocked>
    // CHECK-NEXT: %c0_i32 = arith.constant 0 : i32
    // CHECK-NEXT: %true = arith.constant true
    %zeros = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #blocked>
    %zero = arith.constant 0 : i32
    %yes = arith.constant true
    // CHECK-NEXT: %[[S:.*]] = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %spec = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    // CHECK-NEXT: %[[A:.*]] = tlx.storage_alias_local_alloc %[[S]] : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>
    %a = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>
    // CHECK-NEXT: %{{.*}} = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    %bars = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    // CHECK-NEXT: %result, %token = ttng.tmem_alloc %cst : (tensor<128x128xf32, #blocked>) -> (!ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.async.token)
    %acc, %tok = ttng.tmem_alloc %zeros : (tensor<128x128xf32, #blocked>) -> (!ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.async.token)
    // CHECK-NEXT: %result_0 = ttng.tmem_alloc : () -> !ttg.memdesc<1x128x128xf32, #tmem, #ttng.tensor_memory, mutable>
    %more = ttng.tmem_alloc : () -> !ttg.memdesc<1x128x128xf32, #tmem, #ttng.tensor_memory, mutable>
    // CHECK-NEXT: %[[X:.*]] = tt.call @helper(%arg2) : (i32) -> i32
    %called = tt.call @helper(%n) : (i32) -> i32
    // CHECK-NEXT: %[[L:.*]]:2 = scf.for %arg4 = %c0_i32 to %arg2 step %[[X]] iter_args(%arg5 = %token, %arg6 = %c0_i32) -> (!ttg.async.token, i32) : i32 {
    %loop:2 = scf.for %j = %zero to %n step %called iter_args(%t = %tok, %k = %zero) -> (!ttg.async.token, i32)  : i32 {
      // CHECK-NEXT: ttg.memdesc_index %[[A]][%arg6] : !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      %v = ttg.memdesc_index %a[%k] : !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      // CHECK: ttng.async_tma_copy_global_to_local %arg1[%arg6, %c0_i32] %{{.*}}, %{{.*}}, %true :
      %bar = ttg.memdesc_index %bars[%zero] : !ttg.memdesc<2xi64, #shared1, #smem, mutable> -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
      ttng.async_tma_copy_global_to_local %desc[%k, %zero] %v, %bar, %yes : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      %next = scf.if %c -> (i32) {
        %sum = arith.addi %k, %called : i32
        scf.yield %sum : i32
      } else {
        scf.yield %k : i32
      }
      %loaded, %tok2 = ttng.tmem_load %acc[%t] : !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x128xf32, #linear>
      scf.yield %tok2, %next : !ttg.async.token, i32
    } {tt.warp_specialize, tt.num_stages = 2 : i32}
    cf.cond_br %c, ^bb1, ^bb2(%loop#1 : i32)
  // CHECK: ^bb1:
  ^bb1:  // pred: ^bb0
    // CHECK-NEXT: cf.br ^bb2(%[[L]]#1 : i32)
    cf.br ^bb2(%loop#1 : i32)
  // CHECK: ^bb2(%[[B:.*]]: i32):
  ^bb2(%last: i32):  // 2 preds: ^bb0, ^bb1
    // CHECK-NEXT: ttg.warp_specialize(%[[A]], %[[B]]) attributes {requestedRegisters = array<i32: 24>}
    ttg.warp_specialize(%a, %last) attributes {requestedRegisters = array<i32: 24>}
    // CHECK-NEXT: default {
    default {
      gpu.barrier
      ttg.warp_yield
    }
    // CHECK: partition0(%arg4: !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>, %arg5: i32) num_warps(4) {
    partition0(%x: !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>, %y: i32) num_warps(4) {
      ttg.warp_return
    } : (!ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>, i32) -> ()
    // CHECK: "test.op"() <{a = 1 : i32}> ({
    "test.op"() <{a = 1 : i32}> ({
      "test.inner"() : () -> ()
    }) {b} : () -> ()
    // CHECK: tt.return
    tt.return
  }
}
