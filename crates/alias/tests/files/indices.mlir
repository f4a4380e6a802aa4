// run: indices
// The variable is 1 + 3 j: j counts iterations; everything is modulo the 2 buffers (A44).
// remark @`%rest`: the index of %qk is not affine in the induction variable; the value holds all 2 buffers [A44]
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @k(%n: i32) {
  %s = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
  %qk = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  scf.for %j = %c1 to %n step %c3 : i32 {
    %i0 = arith.addi %j, %c2 : i32
    %ahead = ttg.memdesc_index %qk[%i0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %i1 = arith.muli %j, %c2 : i32
    %double = ttg.memdesc_index %qk[%i1] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %i2 = arith.addi %c1, %c2 : i32
    %constant = ttg.memdesc_index %qk[%i2] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %i3 = arith.remsi %j, %c2 : i32
    %rest = ttg.memdesc_index %qk[%i3] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  }
  tt.return
}
// =====
%ahead = qk[1 j + 1]
%double = qk[0 j + 0]
%constant = qk[0 j + 1]
%rest = qk[any]
