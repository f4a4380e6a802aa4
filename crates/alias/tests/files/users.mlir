// Users that cannot follow are exact by default (D14).
// run: lower
// source: crates/alias/tests/texts/pair.mlir
// replace: `tt.return` -> `%4 = ttg.memdesc_trans %2 {order = array<i32: 0, 2, 1>} : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>\ntt.return`
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
    %3 = ttg.memdesc_trans %2 {order = array<i32: 0, 2, 1>} : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
    tt.return
  }
}
// -----
// replace: `tt.return` -> `"test.use"(%2) : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>) -> ()\ntt.return`
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
    "test.use"(%2) : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>) -> ()
    tt.return
  }
}
// -----
// TLX refuses them.
// run: lower --compat
// replace: `tt.return` -> `%4 = ttg.memdesc_trans %2 {order = array<i32: 0, 2, 1>} : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>\ntt.return`
// error @`%4`: %2 is used by ttg.memdesc_trans; its index cannot be rewritten [A35]
// -----
// run: lower --compat
// replace: `tt.return` -> `"test.use"(%2) : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>) -> ()\ntt.return`
// error @`"test.use"`: %2 is used by test.use; its index cannot be rewritten [A35]
