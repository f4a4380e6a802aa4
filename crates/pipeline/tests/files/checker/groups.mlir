// Groups of copies of one partition, broken (C24, C35).
// source: crates/pipeline/tests/programs/gemm_pointers.sm_80.mlir
// run: check --target sm_80
// clean
// -----
// Waits for too little.
// run: check --target sm_80
// replace: `warploom.async_wait {pending = 1 : i32}` -> `warploom.async_wait {pending = 2 : i32}`
// error @none: warp 0 at @main tt.dot: reads copy 0 of the ring and finds copy 0, under way in the part of warp 0 [1 trips (numbers 1, program 0), First warps, Eager copies, seed 0] [Read, C35]
// -----
// Waits for enough, only later than need be.
// run: check --target sm_80
// replace: `warploom.async_wait {pending = 1 : i32}` -> `warploom.async_wait {pending = 0 : i32}`
// clean
// -----
// Nobody waits for the others.
// run: check --target sm_80
// replace: `warploom.async_wait {pending = 1 : i32}\n        warploom.barrier_sync @all` -> `warploom.async_wait {pending = 1 : i32}`
// error @none: warp 0 at @main tt.dot: reads copy 0 of the ring and finds nothing in the part of warp 1 [1 trips (numbers 1, program 0), First warps, Eager copies, seed 0] [Read, C35]
// -----
// Copies left under way.
// run: check --target sm_80
// replace: `warploom.async_wait {pending = 0 : i32}` -> ``
// error @none: end: warp 0 has copies of its own under way [0 trips (numbers 0, program 0), First warps, Eager copies, seed 0] [Drain, C35]
// error @none: end: warp 1 has copies of its own under way [0 trips (numbers 0, program 0), First warps, Eager copies, seed 0] [Drain, C35]
// error @none: end: warp 2 has copies of its own under way [0 trips (numbers 0, program 0), First warps, Eager copies, seed 0] [Drain, C35]
// error @none: end: warp 3 has copies of its own under way [0 trips (numbers 0, program 0), First warps, Eager copies, seed 0] [Drain, C35]
// -----
// One slot less than the loads are ahead of their use.
// run: check --target sm_80
// replace: `depth = 3 : i32` -> `depth = 2 : i32`
// error @none: warp 0 at @main tt.dot: reads copy 0 of the ring and finds copy 18446744073709551615, under way in the part of warp 0 [1 trips (numbers 1, program 0), First warps, Eager copies, seed 0] [Read, C35]
// -----
// A ring of groups has no barriers.
// run: check --target sm_80
// replace: `full = -1 : i32` -> `full = 0 : i32`
// error @none: @p0 full barrier 0: bytes 0..8 also belong to @p0 payload 0 slot 0 [Overlap, C20]
// error @none: @p0 payload 0 slot 0: bytes 8..16 also belong to @p0 full barrier 1 [Overlap, C20]
// error @none: @p0 payload 0 slot 0: bytes 16..24 also belong to @p0 full barrier 2 [Overlap, C20]
// error @none: @p0: copies by all lanes have groups, not barriers [Form, C35]
// error @none: @p0: arrive_full 0: one lane commits [Arrivals, C24]
// error @none: @p0: bytes 0: its tiles have 16384 [Bytes, C24]
// -----
// Another handshake than its copies.
// run: check --target sm_80
// replace: `handshake = "cp_async"` -> `handshake = "none"`
// error @none: warp 0 at @main warploom.async_copy @p0: copies by all lanes into a ring of another handshake [0 trips (numbers 0, program 0), First warps, Eager copies, seed 0] [Form, C35]
// -----
// A barrier for fewer warps than come.
// run: check --target sm_80
// replace: `threads = 128 : i32` -> `threads = 96 : i32`
// error @none: @all: 96 threads: 128 come [NamedBarrier, C32]
