#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK: #[[$BYTES:shared1]] = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
  // CHECK-LABEL: @distinct_basic
  tt.func @distinct_basic(%arg0: i32) {
    // CHECK: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<65536xi8, #[[$BYTES]], #smem, mutable>
    // CHECK-NEXT: %[[X:.*]] = tlx.local_alias %[[B]] : !ttg.memdesc<65536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<3x64x64xf32, #shared, #smem, mutable>
    // CHECK-NEXT: %[[Y:.*]] = tlx.local_alias %[[B]] : {{.*}} -> !ttg.memdesc<4x64x64xf32
    // CHECK-NOT: tlx.reuse_group
    // CHECK: %[[C2:.*]] = arith.constant 2 : i32
    // CHECK-NEXT: %[[M:.*]] = arith.muli %arg0, %[[C2]] : i32
    // CHECK-NEXT: ttg.memdesc_index %[[X]][%[[M]]]
    // CHECK-NEXT: %[[D2:.*]] = arith.constant 2 : i32
    // CHECK-NEXT: %[[N:.*]] = arith.muli %arg0, %[[D2]] : i32
    // CHECK-NEXT: %[[C1:.*]] = arith.constant 1 : i32
    // CHECK-NEXT: %[[A:.*]] = arith.addi %[[N]], %[[C1]] : i32
    // CHECK-NEXT: ttg.memdesc_index %[[Y]][%[[A]]] : !ttg.memdesc<4x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32
    // CHECK-NOT: set_buffer_overlap
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %2 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %3 = tlx.reuse_group(%1, %2) group_kind = distinct : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<distinct>
    tlx.set_buffer_overlap(%0, %3) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
    %4 = ttg.memdesc_index %1[%arg0] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    %5 = ttg.memdesc_index %2[%arg0] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    "test.use"(%4, %5) : (!ttg.memdesc<64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<64x64xf32, #shared, #smem, mutable>) -> ()
    tt.return
  }
  // CHECK-LABEL: @through_captures_and_loops
  tt.func @through_captures_and_loops(%arg0: i32, %lb: i32, %ub: i32) {
    // CHECK: %[[Y:.*]] = tlx.local_alias %{{.*}} -> !ttg.memdesc<4x64x64xf32
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %2 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %3 = tlx.reuse_group(%1, %2) group_kind = distinct : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<distinct>
    tlx.set_buffer_overlap(%0, %3) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
    // CHECK: ttg.warp_specialize(%[[Y]], %arg0)
    // CHECK-NEXT: default {
    // CHECK: partition0(%[[P:.*]]: !ttg.memdesc<4x64x64xf32, #shared, #smem, mutable>, %[[I:.*]]: i32) num_warps(4) {
    // CHECK: muli %[[I]]
    // CHECK: addi
    // CHECK: ttg.memdesc_index %[[P]]
    // CHECK: } : (!ttg.memdesc<4x64x64xf32, #shared, #smem, mutable>, i32) -> ()
    ttg.warp_specialize(%2, %arg0)
    default {
      ttg.warp_yield
    }
    partition0(%arg1: !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, %arg2: i32) num_warps(4) {
      %9 = ttg.memdesc_index %arg1[%arg2] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
      "test.use"(%9) : (!ttg.memdesc<64x64xf32, #shared, #smem, mutable>) -> ()
      ttg.warp_return
    } : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, i32) -> ()
    // CHECK: scf.for %[[J:.*]] = %arg1 to %arg2 step %arg0 iter_args(%[[L:.*]] = %[[Y]]) -> (!ttg.memdesc<4x64x64xf32, #shared, #smem, mutable>) : i32 {
    // CHECK: ttg.memdesc_index %[[L]]
    // CHECK: scf.yield %[[L]] : !ttg.memdesc<4x64x64xf32
    %7 = scf.for %i = %lb to %ub step %arg0 iter_args(%b = %2) -> (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>)  : i32 {
      %10 = ttg.memdesc_index %b[%i] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
      "test.use"(%10) : (!ttg.memdesc<64x64xf32, #shared, #smem, mutable>) -> ()
      scf.yield %b : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    }
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#tmem1 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
module {
  // CHECK-LABEL: @attention_two_slices
  tt.func @attention_two_slices(%arg0: i32) {
    // CHECK: %[[R:.*]] = ttng.tmem_alloc : () -> !ttg.memdesc<128x256xi32, #{{.*}}, #ttng.tensor_memory, mutable>
    // CHECK: tlx.local_alias %[[R]] : {{.*}} -> !ttg.memdesc<2x128x128xf32
    // CHECK: %[[P:.*]] = tlx.local_alias %[[R]] : {{.*}} -> !ttg.memdesc<6x128x64xbf16
    // CHECK: %[[K:.*]] = arith.constant 2 : i32
    // CHECK-NEXT: %[[D:.*]] = arith.remsi %arg0, %[[K]] : i32
    // CHECK-NEXT: %[[Q:.*]] = arith.divsi %arg0, %[[K]] : i32
    // CHECK-NEXT: %[[C4:.*]] = arith.constant 4 : i32
    // CHECK-NEXT: %[[T:.*]] = arith.muli %[[Q]], %[[C4]] : i32
    // CHECK-NEXT: %[[S:.*]] = arith.addi %[[T]], %[[D]] : i32
    // CHECK-NEXT: ttg.memdesc_index %[[P]][%[[S]]]
    %s = tlx.storage_alias_spec storage = tmem : !tlx.storage_alias_spec<tmem>
    %qk = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<2x128x128xf32, #tmem1, #ttng.tensor_memory, mutable>
    %p = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<4x128x64xbf16, #tmem, #ttng.tensor_memory, mutable>
    %g0 = tlx.reuse_group(%p) group_kind = shared, group_size = 2 : (!ttg.memdesc<4x128x64xbf16, #tmem, #ttng.tensor_memory, mutable>) -> !tlx.reuse_group<shared>
    %g1 = tlx.reuse_group(%qk, %g0) group_kind = shared : (!ttg.memdesc<2x128x128xf32, #tmem1, #ttng.tensor_memory, mutable>, !tlx.reuse_group<shared>) -> !tlx.reuse_group<shared>
    tlx.set_buffer_overlap(%s, %g1) : (!tlx.storage_alias_spec<tmem>, !tlx.reuse_group<shared>) -> ()
    %i = ttg.memdesc_index %p[%arg0] : !ttg.memdesc<4x128x64xbf16, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x64xbf16, #tmem, #ttng.tensor_memory, mutable>
    "test.use"(%i) : (!ttg.memdesc<128x64xbf16, #tmem, #ttng.tensor_memory, mutable>) -> ()
    tt.return
  }
}

// -----

module {
  // CHECK-LABEL: @unused
  // CHECK-NEXT: tt.return
  tt.func @unused() {
    %0 = tlx.storage_alias_spec storage = smem, size = 16384 : !tlx.storage_alias_spec<smem, 16384>
    tt.return
  }
}
