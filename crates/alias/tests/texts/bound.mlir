#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @k(%n: i32, %pa: tensor<64x64x!tt.ptr<f16>>, %pb: tensor<64x32x!tt.ptr<f16>>) {
  %s = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
  %qk = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
  %p = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<4x64x32xf16, #shared, #smem, mutable>
  %g0 = tlx.reuse_group(%p) group_kind = shared, group_size = 2 : (!ttg.memdesc<4x64x32xf16, #shared, #smem, mutable>) -> !tlx.reuse_group<shared>
  %g1 = tlx.reuse_group(%qk, %g0) group_kind = shared : (!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, !tlx.reuse_group<shared>) -> !tlx.reuse_group<shared>
  tlx.set_buffer_overlap(%s, %g1) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()
  %a = tt.load %pa {warploom.buffer = #warploom.buffer<"qk">} : tensor<64x64x!tt.ptr<f16>>
  %b = tt.load %pb {warploom.buffer = #warploom.buffer<"p", mul = 2, add = 1>} : tensor<64x32x!tt.ptr<f16>>
  tt.return
}
