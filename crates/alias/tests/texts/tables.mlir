#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK-LABEL: @shared_basic
  // TLX-LABEL: @shared_basic
  tt.func @shared_basic(%arg0: i32) {
    // CHECK: %[[B:.*]] = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<32768xi8, #shared1, #smem, mutable>
    // TLX: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<32768xi8, #shared1, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [16384] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [16384] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    // CHECK-NOT: reuse_group
    // CHECK-NOT: set_buffer_overlap
    // TLX-NOT: reuse_group
    // TLX-NOT: set_buffer_overlap
    // CHECK: tt.return
    // TLX: tt.return
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %l0 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %l1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %g0 = tlx.reuse_group(%l0, %l1) group_kind = shared : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>) -> !tlx.reuse_group<shared>
    tlx.set_buffer_overlap(%0, %g0) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()
    %i0 = ttg.memdesc_index %l0[%arg0] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    %i1 = ttg.memdesc_index %l1[%arg0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return
  }
}
// -----
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK-LABEL: @distinct_basic
  // TLX-LABEL: @distinct_basic
  tt.func @distinct_basic(%arg0: i32) {
    // CHECK: %[[B:.*]] = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<65536xi8, #shared1, #smem, mutable>
    // TLX: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<65536xi8, #shared1, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [32768] : !ttg.memdesc<65536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<65536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<3x64x64xf32, #shared, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 16384, strides = [32768] : !ttg.memdesc<65536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<65536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<4x64x64xf32, #shared, #smem, mutable>
    // CHECK-NOT: reuse_group
    // CHECK-NOT: set_buffer_overlap
    // TLX-NOT: reuse_group
    // TLX-NOT: set_buffer_overlap
    // CHECK: tt.return
    // TLX: tt.return
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %l0 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %l1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %g0 = tlx.reuse_group(%l0, %l1) group_kind = distinct : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<distinct>
    tlx.set_buffer_overlap(%0, %g0) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
    %i0 = ttg.memdesc_index %l0[%arg0] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    %i1 = ttg.memdesc_index %l1[%arg0] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    tt.return
  }
}
// -----
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK-LABEL: @nested_shared_distinct
  // TLX-LABEL: @nested_shared_distinct
  tt.func @nested_shared_distinct(%arg0: i32) {
    // CHECK: %[[B:.*]] = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<32768xi8, #shared1, #smem, mutable>
    // TLX: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<32768xi8, #shared1, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [16384] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [16384] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 8192, strides = [16384] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64xf32, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<97x64xf32, #shared, #smem, mutable>
    // CHECK-NOT: reuse_group
    // CHECK-NOT: set_buffer_overlap
    // TLX-NOT: reuse_group
    // TLX-NOT: set_buffer_overlap
    // CHECK: tt.return
    // TLX: tt.return
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %l0 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %l1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %l2 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64xf32, #shared, #smem, mutable>
    %g0 = tlx.reuse_group(%l1, %l2) group_kind = distinct : (!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<2x64xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<distinct>
    %g1 = tlx.reuse_group(%l0, %g0) group_kind = shared : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, !tlx.reuse_group<distinct>) -> !tlx.reuse_group<shared>
    tlx.set_buffer_overlap(%0, %g1) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()
    %i0 = ttg.memdesc_index %l0[%arg0] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    %i1 = ttg.memdesc_index %l1[%arg0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %i2 = ttg.memdesc_index %l2[%arg0] : !ttg.memdesc<2x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64xf32, #shared, #smem, mutable>
    tt.return
  }
}
// -----
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK-LABEL: @nested_distinct_shared
  // TLX-LABEL: @nested_distinct_shared
  tt.func @nested_distinct_shared(%arg0: i32) {
    // CHECK: %[[B:.*]] = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<16384xi8, #shared1, #smem, mutable>
    // TLX: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<16384xi8, #shared1, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [8192] : !ttg.memdesc<16384xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<16384xi8, #shared1, #smem, mutable> -> !ttg.memdesc<3x32x32xf32, #shared, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 4096, strides = [8192] : !ttg.memdesc<16384xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<16384xi8, #shared1, #smem, mutable> -> !ttg.memdesc<4x32x32xf32, #shared, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 4096, strides = [8192] : !ttg.memdesc<16384xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<16384xi8, #shared1, #smem, mutable> -> !ttg.memdesc<7x32x32xf16, #shared, #smem, mutable>
    // CHECK-NOT: reuse_group
    // CHECK-NOT: set_buffer_overlap
    // TLX-NOT: reuse_group
    // TLX-NOT: set_buffer_overlap
    // CHECK: tt.return
    // TLX: tt.return
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %l0 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>
    %l1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>
    %l2 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable>
    %g0 = tlx.reuse_group(%l1, %l2) group_kind = shared : (!ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>, !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable>) -> !tlx.reuse_group<shared>
    %g1 = tlx.reuse_group(%l0, %g0) group_kind = distinct : (!ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>, !tlx.reuse_group<shared>) -> !tlx.reuse_group<distinct>
    tlx.set_buffer_overlap(%0, %g1) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
    %i0 = ttg.memdesc_index %l0[%arg0] : !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %i1 = ttg.memdesc_index %l1[%arg0] : !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %i2 = ttg.memdesc_index %l2[%arg0] : !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    tt.return
  }
}
// -----
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK-LABEL: @three_shared
  // TLX-LABEL: @three_shared
  tt.func @three_shared(%arg0: i32) {
    // CHECK: %[[B:.*]] = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<32768xi8, #shared1, #smem, mutable>
    // TLX: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<32768xi8, #shared1, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [16384] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [16384] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<5x32x32xf32, #shared, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [16384] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x16x16xf32, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<17x16x16xf32, #shared, #smem, mutable>
    // CHECK-NOT: reuse_group
    // CHECK-NOT: set_buffer_overlap
    // TLX-NOT: reuse_group
    // TLX-NOT: set_buffer_overlap
    // CHECK: tt.return
    // TLX: tt.return
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %l0 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %l1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>
    %l2 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x16x16xf32, #shared, #smem, mutable>
    %g0 = tlx.reuse_group(%l0, %l1, %l2) group_kind = shared : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>, !ttg.memdesc<2x16x16xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<shared>
    tlx.set_buffer_overlap(%0, %g0) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()
    %i0 = ttg.memdesc_index %l0[%arg0] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    %i1 = ttg.memdesc_index %l1[%arg0] : !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %i2 = ttg.memdesc_index %l2[%arg0] : !ttg.memdesc<2x16x16xf32, #shared, #smem, mutable> -> !ttg.memdesc<16x16xf32, #shared, #smem, mutable>
    tt.return
  }
}
// -----
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK-LABEL: @no_overlap
  // TLX-LABEL: @no_overlap
  tt.func @no_overlap(%arg0: i32) {
    // CHECK: %[[B:.*]] = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<32768xi8, #shared1, #smem, mutable>
    // TLX: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<32768xi8, #shared1, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [16384] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    // CHECK-NOT: reuse_group
    // CHECK-NOT: set_buffer_overlap
    // TLX-NOT: reuse_group
    // TLX-NOT: set_buffer_overlap
    // TLX-NOT: arith.muli
    // TLX-NOT: arith.addi
    // CHECK: tt.return
    // TLX: tt.return
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %l0 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %i0 = ttg.memdesc_index %l0[%arg0] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    tt.return
  }
}
// -----
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK-LABEL: @alignment
  // TLX-LABEL: @alignment
  tt.func @alignment(%arg0: i32) {
    // CHECK: %[[B:.*]] = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<1536xi8, #shared1, #smem, mutable>
    // TLX: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1536xi8, #shared1, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [384] : !ttg.memdesc<1536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<4x2xf32, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<1536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<145x2xf32, #shared, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [384] : !ttg.memdesc<1536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<4x2xf32, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<1536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<145x2xf32, #shared, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 128, strides = [384] : !ttg.memdesc<1536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<1x1xbf16, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<1536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<65x1xbf16, #shared, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 256, strides = [384] : !ttg.memdesc<1536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<4x2xf32, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<1536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<177x2xf32, #shared, #smem, mutable>
    // CHECK-NOT: reuse_group
    // CHECK-NOT: set_buffer_overlap
    // TLX-NOT: reuse_group
    // TLX-NOT: set_buffer_overlap
    // CHECK: tt.return
    // TLX: tt.return
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %l0 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<4x2xf32, #shared, #smem, mutable>
    %l1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<4x2xf32, #shared, #smem, mutable>
    %l2 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<1x1xbf16, #shared, #smem, mutable>
    %l3 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<4x2xf32, #shared, #smem, mutable>
    %g0 = tlx.reuse_group(%l1, %l2) group_kind = distinct : (!ttg.memdesc<4x2xf32, #shared, #smem, mutable>, !ttg.memdesc<1x1xbf16, #shared, #smem, mutable>) -> !tlx.reuse_group<distinct>
    %g1 = tlx.reuse_group(%l0, %g0) group_kind = shared : (!ttg.memdesc<4x2xf32, #shared, #smem, mutable>, !tlx.reuse_group<distinct>) -> !tlx.reuse_group<shared>
    %g2 = tlx.reuse_group(%g1, %l3) group_kind = distinct : (!tlx.reuse_group<shared>, !ttg.memdesc<4x2xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<distinct>
    tlx.set_buffer_overlap(%0, %g2) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
    %i0 = ttg.memdesc_index %l0[%arg0] : !ttg.memdesc<4x2xf32, #shared, #smem, mutable> -> !ttg.memdesc<2xf32, #shared, #smem, mutable>
    %i1 = ttg.memdesc_index %l1[%arg0] : !ttg.memdesc<4x2xf32, #shared, #smem, mutable> -> !ttg.memdesc<2xf32, #shared, #smem, mutable>
    %i2 = ttg.memdesc_index %l2[%arg0] : !ttg.memdesc<1x1xbf16, #shared, #smem, mutable> -> !ttg.memdesc<1xbf16, #shared, #smem, mutable>
    %i3 = ttg.memdesc_index %l3[%arg0] : !ttg.memdesc<4x2xf32, #shared, #smem, mutable> -> !ttg.memdesc<2xf32, #shared, #smem, mutable>
    tt.return
  }
}
// -----
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK-LABEL: @bare_f16
  // TLX-LABEL: @bare_f16
  tt.func @bare_f16(%arg0: i32) {
    // CHECK: %[[B:.*]] = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<16384xi8, #shared1, #smem, mutable>
    // TLX: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<16384xi8, #shared1, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [8192] : !ttg.memdesc<16384xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<16384xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    // CHECK-NOT: reuse_group
    // CHECK-NOT: set_buffer_overlap
    // TLX-NOT: reuse_group
    // TLX-NOT: set_buffer_overlap
    // TLX-NOT: arith.muli
    // TLX-NOT: arith.addi
    // CHECK: tt.return
    // TLX: tt.return
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %l0 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %i0 = ttg.memdesc_index %l0[%arg0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return
  }
}
// -----
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK-LABEL: @bare_bf16
  // TLX-LABEL: @bare_bf16
  tt.func @bare_bf16(%arg0: i32) {
    // CHECK: %[[B:.*]] = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<32768xi8, #shared1, #smem, mutable>
    // TLX: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<32768xi8, #shared1, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [8192] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<4x128x32xbf16, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<32768xi8, #shared1, #smem, mutable> -> !ttg.memdesc<4x128x32xbf16, #shared, #smem, mutable>
    // CHECK-NOT: reuse_group
    // CHECK-NOT: set_buffer_overlap
    // TLX-NOT: reuse_group
    // TLX-NOT: set_buffer_overlap
    // TLX-NOT: arith.muli
    // TLX-NOT: arith.addi
    // CHECK: tt.return
    // TLX: tt.return
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %l0 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<4x128x32xbf16, #shared, #smem, mutable>
    %i0 = ttg.memdesc_index %l0[%arg0] : !ttg.memdesc<4x128x32xbf16, #shared, #smem, mutable> -> !ttg.memdesc<128x32xbf16, #shared, #smem, mutable>
    tt.return
  }
}
// -----
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK-LABEL: @bare_i8
  // TLX-LABEL: @bare_i8
  tt.func @bare_i8(%arg0: i32) {
    // CHECK: %[[B:.*]] = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<2048xi8, #shared1, #smem, mutable>
    // TLX: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2048xi8, #shared1, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [256] : !ttg.memdesc<2048xi8, #shared1, #smem, mutable> -> !ttg.memdesc<8x16x16xi8, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<2048xi8, #shared1, #smem, mutable> -> !ttg.memdesc<8x16x16xi8, #shared, #smem, mutable>
    // CHECK-NOT: reuse_group
    // CHECK-NOT: set_buffer_overlap
    // TLX-NOT: reuse_group
    // TLX-NOT: set_buffer_overlap
    // TLX-NOT: arith.muli
    // TLX-NOT: arith.addi
    // CHECK: tt.return
    // TLX: tt.return
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %l0 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<8x16x16xi8, #shared, #smem, mutable>
    %i0 = ttg.memdesc_index %l0[%arg0] : !ttg.memdesc<8x16x16xi8, #shared, #smem, mutable> -> !ttg.memdesc<16x16xi8, #shared, #smem, mutable>
    tt.return
  }
}
// -----
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK-LABEL: @bare_ptr
  // TLX-LABEL: @bare_ptr
  tt.func @bare_ptr(%arg0: i32) {
    // CHECK: %[[B:.*]] = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<1024xi8, #shared1, #smem, mutable>
    // TLX: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1024xi8, #shared1, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [512] : !ttg.memdesc<1024xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x8x8x!tt.ptr<f32>, #shared, #smem, mutable>
    // TLX-NEXT: tlx.local_alias %[[B]] : !ttg.memdesc<1024xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x8x8x!tt.ptr<f32>, #shared, #smem, mutable>
    // CHECK-NOT: reuse_group
    // CHECK-NOT: set_buffer_overlap
    // TLX-NOT: reuse_group
    // TLX-NOT: set_buffer_overlap
    // TLX-NOT: arith.muli
    // TLX-NOT: arith.addi
    // CHECK: tt.return
    // TLX: tt.return
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %l0 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x8x8x!tt.ptr<f32>, #shared, #smem, mutable>
    %i0 = ttg.memdesc_index %l0[%arg0] : !ttg.memdesc<2x8x8x!tt.ptr<f32>, #shared, #smem, mutable> -> !ttg.memdesc<8x8x!tt.ptr<f32>, #shared, #smem, mutable>
    tt.return
  }
}
// -----
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK-LABEL: @explicit_size
  // TLX-LABEL: @explicit_size
  // CHECK: !ttg.memdesc<65536xi8
  // TLX: !ttg.memdesc<65536xi8
  tt.func @explicit_size() {
    %0 = tlx.storage_alias_spec storage = smem, size = 65536 : !tlx.storage_alias_spec<smem, 65536>
    %1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem, 65536> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    tt.return
  }
}
// -----
#tmem128 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem64 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#tmem1 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1, colStride = 1>
module {
  // CHECK-LABEL: @attention_2
  // TLX-LABEL: @attention_2
  tt.func @attention_2(%arg0: i32) {
    // CHECK: %[[B:.*]] = ttng.tmem_alloc : () -> !ttg.memdesc<128x256xi32
    // TLX: %[[B:.*]] = ttng.tmem_alloc : () -> !ttg.memdesc<128x256xi32
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [128] :
    // TLX-NEXT: tlx.local_alias %[[B]] : {{.*}} -> !ttg.memdesc<2x128x128xf32
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [128, 32], radices = [2] :
    // TLX-NEXT: tlx.local_alias %[[B]] : {{.*}} -> !ttg.memdesc<6x128x64xbf16
    // CHECK-NEXT: warploom.view %[[B]] base = 64, strides = [128] :
    // TLX-NEXT: tlx.local_alias %[[B]] : {{.*}} -> !ttg.memdesc<193x128x1xf32
    // CHECK-NEXT: warploom.view %[[B]] base = 65, strides = [128] :
    // TLX-NEXT: tlx.local_alias %[[B]] : {{.*}} -> !ttg.memdesc<194x128x1xf32
    // CHECK-NEXT: warploom.view %[[B]] base = 66, strides = [128] :
    // TLX-NEXT: tlx.local_alias %[[B]] : {{.*}} -> !ttg.memdesc<195x128x1xf32
    // TLX: %[[K:.*]] = arith.constant 2 : i32
    // TLX-NEXT: %[[D:.*]] = arith.remsi %arg0, %[[K]] : i32
    // TLX-NEXT: %[[Q:.*]] = arith.divsi %arg0, %[[K]] : i32
    // TLX-NEXT: %[[C4:.*]] = arith.constant 4 : i32
    // TLX-NEXT: %[[T:.*]] = arith.muli %[[Q]], %[[C4]] : i32
    // TLX-NEXT: %[[S:.*]] = arith.addi %[[T]], %[[D]] : i32
    // TLX-NEXT: ttg.memdesc_index %{{.*}}[%[[S]]]
    %s = tlx.storage_alias_spec storage = tmem : !tlx.storage_alias_spec<tmem>
    %qk = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<2x128x128xf32, #tmem128, #ttng.tensor_memory, mutable>
    %p = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<4x128x64xbf16, #tmem64, #ttng.tensor_memory, mutable>
    %alpha = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<2x128x1xf32, #tmem1, #ttng.tensor_memory, mutable>
    %l = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<2x128x1xf32, #tmem1, #ttng.tensor_memory, mutable>
    %m = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<2x128x1xf32, #tmem1, #ttng.tensor_memory, mutable>
    %g0 = tlx.reuse_group(%p) group_kind = shared, group_size = 2 : (!ttg.memdesc<4x128x64xbf16, #tmem64, #ttng.tensor_memory, mutable>) -> !tlx.reuse_group<shared>
    %g1 = tlx.reuse_group(%g0, %alpha, %l, %m) group_kind = distinct : (!tlx.reuse_group<shared>, !ttg.memdesc<2x128x1xf32, #tmem1, #ttng.tensor_memory, mutable>, !ttg.memdesc<2x128x1xf32, #tmem1, #ttng.tensor_memory, mutable>, !ttg.memdesc<2x128x1xf32, #tmem1, #ttng.tensor_memory, mutable>) -> !tlx.reuse_group<distinct>
    %g2 = tlx.reuse_group(%qk, %g1) group_kind = shared : (!ttg.memdesc<2x128x128xf32, #tmem128, #ttng.tensor_memory, mutable>, !tlx.reuse_group<distinct>) -> !tlx.reuse_group<shared>
    tlx.set_buffer_overlap(%s, %g2) : (!tlx.storage_alias_spec<tmem>, !tlx.reuse_group<shared>) -> ()
    %i = ttg.memdesc_index %p[%arg0] : !ttg.memdesc<4x128x64xbf16, #tmem64, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x64xbf16, #tmem64, #ttng.tensor_memory, mutable>
    "test.use"(%i) : (!ttg.memdesc<128x64xbf16, #tmem64, #ttng.tensor_memory, mutable>) -> ()
    tt.return
  }
}
// -----
#tmem128 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem32 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
#tmem1 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1, colStride = 1>
module {
  // CHECK-LABEL: @attention_4
  // TLX-LABEL: @attention_4
  tt.func @attention_4(%arg0: i32) {
    // CHECK: %[[B:.*]] = ttng.tmem_alloc : () -> !ttg.memdesc<128x256xi32
    // TLX: %[[B:.*]] = ttng.tmem_alloc : () -> !ttg.memdesc<128x256xi32
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [128] :
    // TLX-NEXT: tlx.local_alias %[[B]] : {{.*}} -> !ttg.memdesc<2x128x128xf32
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [128, 16], radices = [4] :
    // TLX-NEXT: tlx.local_alias %[[B]] : {{.*}} -> !ttg.memdesc<12x128x32xbf16
    // CHECK-NEXT: warploom.view %[[B]] base = 64, strides = [128] :
    // TLX-NEXT: tlx.local_alias %[[B]] : {{.*}} -> !ttg.memdesc<193x128x1xf32
    // CHECK-NEXT: warploom.view %[[B]] base = 65, strides = [128] :
    // TLX-NEXT: tlx.local_alias %[[B]] : {{.*}} -> !ttg.memdesc<194x128x1xf32
    // CHECK-NEXT: warploom.view %[[B]] base = 66, strides = [128] :
    // TLX-NEXT: tlx.local_alias %[[B]] : {{.*}} -> !ttg.memdesc<195x128x1xf32
    %s = tlx.storage_alias_spec storage = tmem : !tlx.storage_alias_spec<tmem>
    %qk = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<2x128x128xf32, #tmem128, #ttng.tensor_memory, mutable>
    %p = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<8x128x32xbf16, #tmem32, #ttng.tensor_memory, mutable>
    %alpha = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<2x128x1xf32, #tmem1, #ttng.tensor_memory, mutable>
    %l = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<2x128x1xf32, #tmem1, #ttng.tensor_memory, mutable>
    %m = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<2x128x1xf32, #tmem1, #ttng.tensor_memory, mutable>
    %g0 = tlx.reuse_group(%p) group_kind = shared, group_size = 4 : (!ttg.memdesc<8x128x32xbf16, #tmem32, #ttng.tensor_memory, mutable>) -> !tlx.reuse_group<shared>
    %g1 = tlx.reuse_group(%g0, %alpha, %l, %m) group_kind = distinct : (!tlx.reuse_group<shared>, !ttg.memdesc<2x128x1xf32, #tmem1, #ttng.tensor_memory, mutable>, !ttg.memdesc<2x128x1xf32, #tmem1, #ttng.tensor_memory, mutable>, !ttg.memdesc<2x128x1xf32, #tmem1, #ttng.tensor_memory, mutable>) -> !tlx.reuse_group<distinct>
    %g2 = tlx.reuse_group(%qk, %g1) group_kind = shared : (!ttg.memdesc<2x128x128xf32, #tmem128, #ttng.tensor_memory, mutable>, !tlx.reuse_group<distinct>) -> !tlx.reuse_group<shared>
    tlx.set_buffer_overlap(%s, %g2) : (!tlx.storage_alias_spec<tmem>, !tlx.reuse_group<shared>) -> ()
    %i = ttg.memdesc_index %p[%arg0] : !ttg.memdesc<8x128x32xbf16, #tmem32, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x32xbf16, #tmem32, #ttng.tensor_memory, mutable>
    "test.use"(%i) : (!ttg.memdesc<128x32xbf16, #tmem32, #ttng.tensor_memory, mutable>) -> ()
    tt.return
  }
}
