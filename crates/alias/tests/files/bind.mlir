// run: bind
// source: crates/alias/tests/texts/bound.mlir
// A44 to A46: slice 1 of every iteration is indices 1 and 3; the scores of iteration j lie where p's of j lie.
// clean
// =====
%a = qk[1 j + 0]
%b = p[2 j + 1]
%s: 16384 bytes, aligned 128
  %a: 8192 bytes at 0, strides [8192], radices []; indices [0, 1] at [0, 8192]
  %b: 4096 bytes at 0, strides [4096], radices []; indices [1, 3] at [4096, 12288]
edge %a -> %a, distance 2
edge %a -> %b, distance 0
edge %b -> %a, distance 2
edge %b -> %b, distance 2
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @k(%n: i32, %pa: tensor<64x64x!tt.ptr<f16>>, %pb: tensor<64x32x!tt.ptr<f16>>) {






  %a = tt.load %pa {warploom.buffer = #warploom.buffer<"qk">} : tensor<64x64x!tt.ptr<f16>>
  %b = tt.load %pb {warploom.buffer = #warploom.buffer<"p", mul = 2, add = 1>} : tensor<64x32x!tt.ptr<f16>>
  tt.return
}
// -----
// No declarations: the text stays what it is (A44).
// run: bind
// clean
tt.func @k() {
  tt.return
}
// =====
no declarations
// -----
// replace: `#warploom.buffer<"p", mul = 2, add = 1>` -> `#warploom.buffer<"q">`
// error @`%b = tt.load`: warploom.buffer names "q", which is no allocation of a storage_alias_spec [A44]
// -----
// replace: `#warploom.buffer<"p", mul = 2, add = 1>` -> `#warploom.buffer<p>`
// error @`%b = tt.load`: #warploom.buffer<p> is no binding [A44]
// -----
// replace: `#warploom.buffer<"p", mul = 2, add = 1>` -> `#warploom.buffer<"p", mul = -1>`
// error @`%b = tt.load`: #warploom.buffer<"p", mul = -1> is no binding [A44]
// -----
// replace: `tt.return` -> `"test.use"(%qk) : (!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>) -> ()\ntt.return`
// error @`"test.use"`: 'test.use' uses an allocation of a storage_alias_spec directly [A44]
