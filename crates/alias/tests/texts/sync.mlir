#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module {
  tt.func @shared(%i: i32, %n: i32, %phase: i32, %t: tensor<64x64xf16>) {
    %s = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %a = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %b = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %g = tlx.reuse_group(%a, %b) group_kind = shared : (!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>) -> !tlx.reuse_group<shared>
    tlx.set_buffer_overlap(%s, %g) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()
    %done = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %free = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttg.warp_specialize(%a, %b, %done, %free, %i, %n, %phase, %t)
    default {
      ttg.warp_yield
    }
    partition0(%a0: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %b0: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %done1: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %free1: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %i0: i32, %n0: i32, %phase1: i32, %t0: tensor<64x64xf16>) num_warps(4) {
      scf.for %j = %i0 to %n0 step %i0 : i32 {
        %x = ttg.memdesc_index %a0[%i0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
        ttg.local_store %t0, %x : tensor<64x64xf16> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
        // expected-warning @+1 {{nothing orders the last read of %a (ttg.local_load, partition partition0) before the first write of %b (ttg.local_store, partition partition1): missing edge %a -> %b, distance 0}}
        %y = ttg.local_load %x : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16>
        scf.yield
      }
      ttg.warp_return
    }
    partition1(%a0: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %b0: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %done1: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %free1: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %i0: i32, %n0: i32, %phase1: i32, %t0: tensor<64x64xf16>) num_warps(4) {
      scf.for %j = %i0 to %n0 step %i0 : i32 {
        %x = ttg.memdesc_index %b0[%i0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
        ttg.local_store %t0, %x : tensor<64x64xf16> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
        // expected-warning @+1 {{nothing orders the last read of %b (ttg.local_load, partition partition1) before the first write of %a one iteration later (ttg.local_store, partition partition0): missing edge %b -> %a, distance 1}}
        %y = ttg.local_load %x : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16>
        scf.yield
      }
      ttg.warp_return
    } : (!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>, i32, i32, i32, tensor<64x64xf16>) -> ()
    tt.return
  }
}
// -----
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module {
  tt.func @ordered(%i: i32, %n: i32, %phase: i32, %t: tensor<64x64xf16>) {
    %s = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %a = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %b = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %g = tlx.reuse_group(%a, %b) group_kind = shared : (!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>) -> !tlx.reuse_group<shared>
    tlx.set_buffer_overlap(%s, %g) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()
    %done = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %free = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttg.warp_specialize(%a, %b, %done, %free, %i, %n, %phase, %t)
    default {
      ttg.warp_yield
    }
    partition0(%a0: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %b0: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %done1: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %free1: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %i0: i32, %n0: i32, %phase1: i32, %t0: tensor<64x64xf16>) num_warps(4) {
      scf.for %j = %i0 to %n0 step %i0 : i32 {
        ttng.wait_barrier %free1, %phase1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
        %x = ttg.memdesc_index %a0[%i0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
        ttg.local_store %t0, %x : tensor<64x64xf16> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
        %y = ttg.local_load %x : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16>
        ttng.arrive_barrier %done1, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
        scf.yield
      }
      ttg.warp_return
    }
    partition1(%a0: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %b0: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %done1: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %free1: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %i0: i32, %n0: i32, %phase1: i32, %t0: tensor<64x64xf16>) num_warps(4) {
      scf.for %j = %i0 to %n0 step %i0 : i32 {
        ttng.wait_barrier %done1, %phase1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
        %x = ttg.memdesc_index %b0[%i0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
        ttg.local_store %t0, %x : tensor<64x64xf16> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
        %y = ttg.local_load %x : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16>
        ttng.arrive_barrier %free1, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
        scf.yield
      }
      ttg.warp_return
    } : (!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>, i32, i32, i32, tensor<64x64xf16>) -> ()
    tt.return
  }
}
// -----
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module {
  tt.func @distinct(%i: i32, %n: i32, %phase: i32, %t: tensor<64x64xf16>) {
    %s = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %a = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %b = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %g = tlx.reuse_group(%a, %b) group_kind = distinct : (!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>) -> !tlx.reuse_group<distinct>
    tlx.set_buffer_overlap(%s, %g) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
    %done = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %free = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttg.warp_specialize(%a, %b, %done, %free, %i, %n, %phase, %t)
    default {
      ttg.warp_yield
    }
    partition0(%a0: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %b0: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %done1: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %free1: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %i0: i32, %n0: i32, %phase1: i32, %t0: tensor<64x64xf16>) num_warps(4) {
      scf.for %j = %i0 to %n0 step %i0 : i32 {
        %x = ttg.memdesc_index %a0[%i0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
        ttg.local_store %t0, %x : tensor<64x64xf16> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
        %y = ttg.local_load %x : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16>
        scf.yield
      }
      ttg.warp_return
    }
    partition1(%a0: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %b0: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %done1: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %free1: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %i0: i32, %n0: i32, %phase1: i32, %t0: tensor<64x64xf16>) num_warps(4) {
      scf.for %j = %i0 to %n0 step %i0 : i32 {
        %x = ttg.memdesc_index %b0[%i0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
        ttg.local_store %t0, %x : tensor<64x64xf16> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
        %y = ttg.local_load %x : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16>
        scf.yield
      }
      ttg.warp_return
    } : (!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>, i32, i32, i32, tensor<64x64xf16>) -> ()
    tt.return
  }
}
