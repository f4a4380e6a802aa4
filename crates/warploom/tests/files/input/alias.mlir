// run: alias -
// run: alias - --emit json
// error @none: nothing was laid out: no storage-alias spec and no buffer [input, A16]
// -----
// A text without storage has no map.
// run: alias - --emit map
// error @none: nothing was laid out [input, A16]
module {
}
// -----
// No MLIR.
// run: alias -
int main() { return 0; } // error: expected an operation, found `int` [A16, column-1]
// -----
// Cut off.
// run: alias -
module {
  %0 = tlx.storage_alias_spec storage = smem
// error @below: the text ends where `:` is expected [A16, column-1]
// -----
// A size beyond all, and one that is missing.
// run: alias -
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @f() {
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem> // error: the size of the storage does not fit 64 bits [A7, column-10]
    %1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<99999999999x99999999999x9xf32, #shared, #smem, mutable>
    tt.return
  }
}
// -----
// A leaf that nobody made.
// run: alias -
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @f() {
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    %2 = "tlx.reuse_group"(%1, %9) <{group_kind = #tlx.reuse_group_kind<distinct>, group_size = 1 : i64}> : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<distinct> // error: %9 [A16]
    tt.return
  }
}
