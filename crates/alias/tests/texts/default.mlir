#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#nvmma = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module {
  // CHECK-LABEL: @d8_sizes_that_do_not_divide
  tt.func @d8_sizes_that_do_not_divide(%arg0: i32) {
    // CHECK: %[[B:.*]] = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<49152xi8, #shared1, #smem, mutable>
    // CHECK-NEXT: %[[X:.*]] = warploom.view %[[B]] base = 0, strides = [24576] : !ttg.memdesc<49152xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    // CHECK-NEXT: warploom.view %[[B]] base = 16384, strides = [24576] : {{.*}} -> !ttg.memdesc<2x64x32xf32, #shared, #smem, mutable>
    // CHECK-NEXT: ttg.memdesc_index %[[X]][%arg0]
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %2 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x32xf32, #shared, #smem, mutable>
    %3 = "tlx.reuse_group"(%1, %2) <{group_kind = #tlx.reuse_group_kind<distinct>, group_size = 1 : i64}> : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<2x64x32xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<distinct>
    tlx.set_buffer_overlap(%0, %3) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
    %4 = ttg.memdesc_index %1[%arg0] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    %5 = ttg.memdesc_trans %2 {order = array<i32: 0, 2, 1>} : !ttg.memdesc<2x64x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<2x32x64xf32, #shared, #smem, mutable>
    tt.return
  }
  // CHECK-LABEL: @d13_alignment
  tt.func @d13_alignment() {
    // CHECK: ttg.local_alloc {alignment = 1024 : i32} : () -> !ttg.memdesc<16384xi8
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #nvmma, #smem, mutable>
    tt.return
  }
  // CHECK-LABEL: @legacy_reuse
  tt.func @legacy_reuse() {
    // CHECK: %[[B:.*]] = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<32768xi8
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [8192]
    // CHECK-NEXT: warploom.view %[[B]] base = 0, strides = [16384]
    %0 = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %1 = tlx.local_alias %0 : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    tt.return
  }
}

// -----

#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
#tmem1 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
module {
  // CHECK-LABEL: @attention_four_slices_inferred
  tt.func @attention_four_slices_inferred() {
    // CHECK: ttng.tmem_alloc : () -> !ttg.memdesc<128x256xi32, #tmem2, #ttng.tensor_memory, mutable>
    // CHECK-NEXT: warploom.view %{{.*}} base = 0, strides = [128] :
    // CHECK-NEXT: warploom.view %{{.*}} base = 0, strides = [128, 16], radices = [4] :
    // CHECK-NEXT: tt.return
    %s = tlx.storage_alias_spec storage = tmem : !tlx.storage_alias_spec<tmem>
    %qk = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<2x128x128xf32, #tmem1, #ttng.tensor_memory, mutable>
    %p = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<8x128x32xbf16, #tmem, #ttng.tensor_memory, mutable>
    %g0 = tlx.reuse_group(%p) group_kind = shared, group_size = 4 : (!ttg.memdesc<8x128x32xbf16, #tmem, #ttng.tensor_memory, mutable>) -> !tlx.reuse_group<shared>
    %g1 = tlx.reuse_group(%qk, %g0) group_kind = shared : (!ttg.memdesc<2x128x128xf32, #tmem1, #ttng.tensor_memory, mutable>, !tlx.reuse_group<shared>) -> !tlx.reuse_group<shared>
    tt.return
  }
}
