// An unused spec is a warning, and the spec is gone (D12).
// run: lower
// run: lower --compat
tt.func @f() {
  %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem> // warning: storage_alias_spec has no referencing storage_alias_local_alloc operations [A14]
  tt.return
}
// =====
module {
  tt.func @f() {
    tt.return
  }
}
// -----
// Sizes on the specs, and no more; once more they are the same (A38).
// run: lower --sizes
// source: crates/alias/tests/texts/pair.mlir
// clean
// =====
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @f(%arg0: i32) {
    %0 = tlx.storage_alias_spec storage = smem, size = 65536 {buffer_shape = array<i64: 65536>} : !tlx.storage_alias_spec<smem>
    %1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %2 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %3 = tlx.reuse_group(%1, %2) group_kind = distinct : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<distinct>
    tlx.set_buffer_overlap(%0, %3) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
    tt.return
  }
}
// -----
// The first name is read and not printed (A3).
// run: lower --no-lower
// source: crates/alias/tests/texts/pair.mlir
// replace: `storage_alias_spec` -> `shared_buffer_def`
// replace: `storage_alias_local_alloc` -> `shared_buffer_local_alloc`
// warning @`%0 =`: 'tlx.shared_buffer_def' was renamed to 'tlx.storage_alias_spec' [A3]
// =====
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @f(%arg0: i32) {
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %2 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %3 = tlx.reuse_group(%1, %2) group_kind = distinct : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<distinct>
    tlx.set_buffer_overlap(%0, %3) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
    tt.return
  }
}
// -----
// Below it lowers as by its own name.
// run: lower
// source: crates/alias/tests/texts/pair.mlir
// replace: `storage_alias_spec` -> `shared_buffer_def`
// replace: `storage_alias_local_alloc` -> `shared_buffer_local_alloc`
// warning @`%0 =`: 'tlx.shared_buffer_def' was renamed to 'tlx.storage_alias_spec' [A3]
// =====
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module {
  tt.func @f(%arg0: i32) {
    %0 = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<65536xi8, #shared1, #smem, mutable>
    %1 = warploom.view %0 base = 0, strides = [32768] : !ttg.memdesc<65536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %2 = warploom.view %0 base = 16384, strides = [32768] : !ttg.memdesc<65536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    tt.return
  }
}
// -----
// run: lower
// source: crates/alias/tests/texts/pair.mlir
// clean
// =====
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module {
  tt.func @f(%arg0: i32) {
    %0 = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<65536xi8, #shared1, #smem, mutable>
    %1 = warploom.view %0 base = 0, strides = [32768] : !ttg.memdesc<65536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %2 = warploom.view %0 base = 16384, strides = [32768] : !ttg.memdesc<65536xi8, #shared1, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    tt.return
  }
}
// -----
// Verified and printed back (A19).
// run: lower --no-lower
// source: crates/alias/tests/texts/default.mlir
// check: tlx.set_buffer_overlap(%0, %3) : (!tlx.storage_alias_spec<smem>
// clean
// -----
// run: lower --no-lower
// source: crates/alias/tests/texts/compat.mlir
// check: tlx.set_buffer_overlap(%0, %3) : (!tlx.storage_alias_spec<smem>
// -----
// All that is said of TLX's own text is that a spec is unused (D12).
// run: lower --compat
// source: crates/alias/tests/texts/compat.mlir
// warning @`storage = smem, size = 16384`: storage_alias_spec has no referencing storage_alias_local_alloc operations [A14]
