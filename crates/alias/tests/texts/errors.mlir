module {
  tt.func @sizes() {
    // expected-error @+1 {{'tlx.storage_alias_spec' op buffer_size_bytes must be positive, got 0}}
    %0 = tlx.storage_alias_spec storage = smem, size = 0 : !tlx.storage_alias_spec<smem, 0>
    // expected-error @+1 {{storage_alias_spec size 16 doesn't match its type's size 32}}
    %1 = tlx.storage_alias_spec storage = smem, size = 16 : !tlx.storage_alias_spec<smem, 32>
    // expected-error @+1 {{smemCluster storage is not supported for storage_alias_spec}}
    %2 = tlx.storage_alias_spec storage = smemCluster : !tlx.storage_alias_spec<smemCluster>
    // expected-error @+1 {{buffer_size_bytes must be a compile-time constant}}
    %3 = tlx.storage_alias_spec storage = smem, size = n : !tlx.storage_alias_spec<smem>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#padded = #ttg.padded_shared<[128:+8] {order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @leaves(%c: i1) {
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %t = tlx.storage_alias_spec storage = tmem : !tlx.storage_alias_spec<tmem>
    %1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x8xf32, #shared, #smem, mutable>
    // expected-error @+1 {{storage_alias_spec has tmem storage but result is not in tensor memory}}
    %2 = tlx.storage_alias_local_alloc %t : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<2x8xf32, #shared, #smem, mutable>
    // expected-error @+1 {{storage_alias_spec has smem storage but result is not in shared memory}}
    %3 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x8x8xf32, #shared, #ttng.tensor_memory, mutable>
    // expected-error @+1 {{padded encodings are not supported in a storage_alias_spec}}
    %4 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x8xf32, #padded, #smem, mutable>
    // expected-error @+1 {{has a dynamic dimension}}
    %5 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<?x8xf32, #shared, #smem, mutable>
    // expected-error @+1 {{does not fit 64 bits}}
    %6 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x99999999999999999999xf32, #shared, #smem, mutable>
    // expected-error @+1 {{reuse_group requires at least one element}}
    %7 = tlx.reuse_group() group_kind = shared : () -> !tlx.reuse_group<shared>
    // expected-error @+1 {{group_size must be a positive integer, got 0}}
    %8 = tlx.reuse_group(%1) group_kind = shared, group_size = 0 : (!ttg.memdesc<2x8xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<shared>
    // expected-error @+1 {{group_kind attribute (shared) doesn't match result type group kind (distinct)}}
    %9 = tlx.reuse_group(%1) group_kind = shared : (!ttg.memdesc<2x8xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<distinct>
    // expected-error @+1 {{reuse_group elements must be buffered_tensor or reuse_group, got i1}}
    %10 = tlx.reuse_group(%c) group_kind = shared : (i1) -> !tlx.reuse_group<shared>
    %11 = tlx.reuse_group(%1) group_kind = shared : (!ttg.memdesc<2x8xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<shared>
    scf.if %c {
      // expected-error @+1 {{set_buffer_overlap must not depend on runtime control flow}}
      tlx.set_buffer_overlap(%0, %11) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()
    }
    // expected-error @+1 {{all allocations in the reuse_group must reference the same storage_alias_spec, but found an allocation that uses a different spec}}
    tlx.set_buffer_overlap(%t, %11) : (!tlx.storage_alias_spec<tmem>, !tlx.reuse_group<shared>) -> ()
    %12 = tlx.reuse_group(%1, %11) group_kind = distinct : (!ttg.memdesc<2x8xf32, #shared, #smem, mutable>, !tlx.reuse_group<shared>) -> !tlx.reuse_group<distinct>
    // expected-error @+1 {{reuse_group tree contains duplicate elements; each allocation can only appear once in the tree}}
    tlx.set_buffer_overlap(%0, %12) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
    tlx.set_buffer_overlap(%0, %11) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()
    // expected-error @+1 {{storage_alias_spec already has a set_buffer_overlap defined; each spec can only have one overlap definition}}
    tlx.set_buffer_overlap(%0, %11) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()
    %c7 = arith.constant 7 : i32
    // expected-error @+1 {{index 7 is out of range for %1, which has 2 buffers}}
    %13 = ttg.memdesc_index %1[%c7] : !ttg.memdesc<2x8xf32, #shared, #smem, mutable> -> !ttg.memdesc<8xf32, #shared, #smem, mutable>
    // expected-error @+1 {{storage_alias_spec is not a buffer and cannot be indexed}}
    %14 = ttg.memdesc_index %0[%c7] : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<8xf32, #shared, #smem, mutable>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @cycle() {
    // expected-error @+1 {{operand #0 does not dominate this use}}
    %0 = tlx.local_alias %1 : !ttg.memdesc<2x8xf32, #shared, #smem, mutable> -> !ttg.memdesc<2x8xf32, #shared, #smem, mutable>
    %1 = tlx.local_alias %0 : !ttg.memdesc<2x8xf32, #shared, #smem, mutable> -> !ttg.memdesc<2x8xf32, #shared, #smem, mutable>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @layouts() {
    // expected-error @+1 {{buffer_size_bytes 100 is too small for computed shape, requires at least 256 bytes}}
    %0 = tlx.storage_alias_spec storage = smem, size = 100 : !tlx.storage_alias_spec<smem, 100>
    %1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem, 100> -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @outside_of_the_tree(%i: i32) {
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %a = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    // expected-error @+1 {{allocation %x of this storage_alias_spec is not in its overlap tree}}
    %x = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    %g = tlx.reuse_group(%a) group_kind = shared : (!ttg.memdesc<2x32xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<shared>
    tlx.set_buffer_overlap(%0, %g) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @pins(%i: i32) {
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %a = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    // expected-error @+1 {{buffer_offset 512 of %b is not its place in the overlap tree, 128}}
    %b = tlx.storage_alias_local_alloc %0 {buffer_offset = 512 : i64} : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    %g = tlx.reuse_group(%a, %b) group_kind = distinct : (!ttg.memdesc<2x32xf32, #shared, #smem, mutable>, !ttg.memdesc<2x32xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<distinct>
    tlx.set_buffer_overlap(%0, %g) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @pitch(%i: i32) {
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %a = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    %b = tlx.storage_alias_local_alloc %0 {bytes_between_buffers = 128 : i64} : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    // expected-error @+1 {{not enough space for distinct allocations: need 256 bytes, have 128 bytes}}
    %g = tlx.reuse_group(%a, %b) group_kind = distinct : (!ttg.memdesc<2x32xf32, #shared, #smem, mutable>, !ttg.memdesc<2x32xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<distinct>
    tlx.set_buffer_overlap(%0, %g) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @alignments(%i: i32) {
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    // expected-error @+1 {{alignment 48 of %a is not a power of two}}
    %a = tlx.storage_alias_local_alloc %0 {warploom.align = 48} : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @unrelated_groups(%i: i32) {
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %a = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    %b = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    %g = tlx.reuse_group(%a) group_kind = shared : (!ttg.memdesc<2x32xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<shared>
    // expected-error @+1 {{storage_alias_spec has two unrelated reuse_groups, %g and %h, and no set_buffer_overlap; call it, or give each a warploom.phase}}
    %h = tlx.reuse_group(%b) group_kind = shared : (!ttg.memdesc<2x32xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<shared>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @anchors(%i: i32) {
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %a = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<1x32xf32, #shared, #smem, mutable>
    // expected-error @+1 {{leaf %x is placed at 128 in phase one and at 0 in phase two; pin it with buffer_offset}}
    %x = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<1x32xf32, #shared, #smem, mutable>
    %g = tlx.reuse_group(%a, %x) group_kind = distinct : (!ttg.memdesc<1x32xf32, #shared, #smem, mutable>, !ttg.memdesc<1x32xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<distinct>
    %h = tlx.reuse_group(%x) group_kind = shared : (!ttg.memdesc<1x32xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<shared>
    tlx.set_buffer_overlap(%0, %g) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> () {warploom.phase = "one"}
    tlx.set_buffer_overlap(%0, %h) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> () {warploom.phase = "two"}
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @counts(%i: i32) {
    %0 = tlx.storage_alias_spec storage = smem {warploom.counts = "equal"} : !tlx.storage_alias_spec<smem>
    %a = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    // expected-error @+1 {{%b fills 1 of 2 groups}}
    %b = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<1x32xf32, #shared, #smem, mutable>
    %g = tlx.reuse_group(%a, %b) group_kind = shared : (!ttg.memdesc<2x32xf32, #shared, #smem, mutable>, !ttg.memdesc<1x32xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<shared>
    tlx.set_buffer_overlap(%0, %g) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @overlap_of_no_group(%i: i32) {
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %a = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    // expected-error @+1 {{overlap_def must be a reuse_group, got !ttg.memdesc}}
    tlx.set_buffer_overlap(%0, %a) : (!tlx.storage_alias_spec<smem>, !ttg.memdesc<2x32xf32, #shared, #smem, mutable>) -> ()
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @sizes_that_overflow(%i: i32) {
    // expected-error @+1 {{does not fit 64 bits}}
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %a = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<4294967296x4294967296x4xf32, #shared, #smem, mutable>
    tt.return
  }
}

// -----

#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
module {
  tt.func @rank() {
    %0 = tlx.storage_alias_spec storage = tmem : !tlx.storage_alias_spec<tmem>
    // expected-error @+1 {{TMEM allocations must be at least 2D, got rank 1}}
    %1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<tmem> -> !ttg.memdesc<128xf32, #tmem, #ttng.tensor_memory, mutable>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @trees(%i: i32, %t: !tlx.reuse_group<shared>) {
    %0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %a = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    %own = ttg.local_alloc : () -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    // expected-error @+1 {{overlap_def must be a reuse_group, got i32}}
    tlx.set_buffer_overlap(%0, %i) : (!tlx.storage_alias_spec<smem>, i32) -> ()
    // expected-error @+1 {{overlap_def must be defined by a tlx.reuse_group op}}
    tlx.set_buffer_overlap(%0, %t) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()
    %g = tlx.reuse_group(%a, %own) group_kind = shared : (!ttg.memdesc<2x32xf32, #shared, #smem, mutable>, !ttg.memdesc<2x32xf32, #shared, #smem, mutable>) -> !tlx.reuse_group<shared>
    // expected-error @+1 {{all elements in the reuse_group tree must be allocated via tlx.storage_alias_local_alloc, but found an element that is not}}
    tlx.set_buffer_overlap(%0, %g) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()
    // expected-error @+1 {{reuse must be a buffered_tensor or storage_alias_spec, got i32}}
    %v = tlx.local_alias %i : i32 -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func @legacy(%i: i32) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<2x32xf32, #shared, #smem, mutable>
    // expected-warning @+1 {{reuse of a buffered tensor is deprecated; use a storage_alias_spec}}
    %b = tlx.local_alias %a : !ttg.memdesc<2x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<4x32xf16, #shared, #smem, mutable>
    tt.return
  }
}
