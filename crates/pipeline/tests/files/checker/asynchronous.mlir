// Asynchronous products of the partition that copies, broken (C26, C30).
// source: crates/pipeline/tests/programs/gemm_pointers.sm_90a.mlir
// run: check --target sm_90a
// clean
// -----
// Copies that the asynchronous proxy does not know of.
// run: check --target sm_90a
// replace: `warploom.proxy_fence\n        warploom.barrier_sync @all` -> `warploom.barrier_sync @all`
// error @none: warp 0 at @main tt.dot: a product reads what warp 0 copied, without a proxy fence of its behind the wait [1 trips (numbers 1, program 0), First warps, Eager copies, seed 0] [Fence, C26]
// -----
// A fence behind the meeting.
// run: check --target sm_90a
// replace: `warploom.proxy_fence\n        warploom.barrier_sync @all` -> `warploom.barrier_sync @all\n        warploom.proxy_fence`
// error @none: warp 0 at @main tt.dot: a product reads what warp 0 copied, without a proxy fence of its behind the wait [1 trips (numbers 1, program 0), First warps, Eager copies, seed 0] [Fence, C26]
// -----
// Slots filled while a product of the trip before reads them.
// run: check --target sm_90a
// replace: `{pending = 1 : i32} : tensor` -> `{pending = 2 : i32} : tensor`
// error @none: warp 0 at @main warploom.async_copy @p0: overwrites what a product of warp 0 still reads [3 trips (numbers 96, program 0), First warps, Eager copies, seed 0] [Overwrite, C35]
// -----
// The accumulator read before it is there.
// run: check --target sm_90a
// replace: `{pending = 0 : i32} : tensor` -> `{pending = 1 : i32} : tensor`
// error @none: warp 0 at @main arith.truncf: reads the result of a product that is under way [1 trips (numbers 1, program 0), First warps, Eager copies, seed 0] [Unfinished, C30]
