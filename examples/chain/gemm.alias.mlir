#nvmma = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
// Slot by slot, the operands of one turn lie side by side.
module {
  tt.func public @gemm() {
    %spec = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %a = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<5x128x64xf16, #nvmma, #smem, mutable>
    %b = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<5x128x64xf16, #nvmma, #smem, mutable>
    %ring = "tlx.reuse_group"(%a, %b) <{group_kind = #tlx.reuse_group_kind<distinct>, group_size = 1 : i64}> : (!ttg.memdesc<5x128x64xf16, #nvmma, #smem, mutable>, !ttg.memdesc<5x128x64xf16, #nvmma, #smem, mutable>) -> !tlx.reuse_group<distinct>
    tlx.set_buffer_overlap(%spec, %ring) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
    tt.return
  }
}
