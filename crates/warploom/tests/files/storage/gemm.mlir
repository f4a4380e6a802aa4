// Where an author's buffers lie, in shared memory (A44-A51, B20).
// run: compile - --target sm_90a --emit program
// source: examples/storage/gemm.ttir
// A of slot i beside B of slot i, the staging tile over the whole ring.
// check: warploom.shared = 147504
// check: offset = array<i64: 0, 16384>, stride = array<i64: 49152, 49152>
// check: payload = ["out"]
// -----
// A leaf with few buffers raises the II and refuses nothing.
// replace: `3x128x64` -> `2x128x64`
// replace: `3x256x64` -> `2x256x64`
// replace: `group_size = 3` -> `group_size = 2`
// check: depth = 2
// remark @`%6 = tt.descriptor_load`: leaf %ring_a has 2 buffers: II rises from 1024 to 1462 [layout, A45]
// remark @`%7 = tt.descriptor_load`: leaf %ring_b has 2 buffers: II rises from 1024 to 1462 [layout, A45]
// -----
// More buffers than the law asks for are all used.
// replace: `3x128x64` -> `4x128x64`
// replace: `3x256x64` -> `4x256x64`
// replace: `group_size = 3` -> `group_size = 4`
// check: depth = 4
// remark @`%6 = tt.descriptor_load`: leaf %ring_a has 4 buffers, this schedule keeps 3 alive [layout, A45]
// remark @`%7 = tt.descriptor_load`: leaf %ring_b has 4 buffers, this schedule keeps 3 alive [layout, A45]
// -----
// Bytes that one product needs twice.
// replace: `group_kind = #tlx.reuse_group_kind<distinct>` -> `group_kind = #tlx.reuse_group_kind<shared>`
// replace: `!tlx.reuse_group<distinct>` -> `!tlx.reuse_group<shared>`
// error @`%7 = tt.descriptor_load`: leaves %ring_a and %ring_b share bytes 0 iterations apart, and one handshake frees both only after 3 [layout, A48]
// -----
// Bindings that name nothing.
// replace: `#warploom.buffer<"stage">` -> `#warploom.buffer<"staging">`
// error @`tt.descriptor_store %arg10[%1,`: warploom.buffer names "staging", which is no allocation of a storage_alias_spec [verify, A44]
// -----
// replace: `#warploom.buffer<"stage">` -> `#warploom.buffer<stage>`
// error @`tt.descriptor_store %arg10[%1,`: #warploom.buffer<stage> is no binding [verify, A44]
// -----
// replace: `#warploom.buffer<"ring_a">` -> `#warploom.buffer<"ring_a", mul = 3>`
// error @`%7 = tt.descriptor_load`: %ring_b gives 3 buffers to the loop, %ring_a gives 1; one handshake fills both [layout, A45]
// -----
// A leaf that is too small for its value.
// replace: `1x128x256xbf16` -> `1x64x256xbf16`
// error @`tt.descriptor_store %arg10[%1,`: fails to assign smem buffer: value 2 'out': its leaf has 32768 of the 65536 it needs [layout, B20]
// -----
// A tile of the epilogue is copied in while the loop reads the ring that its leaf shares bytes with: both lifetimes are named.
// replace: `    %5 = arith.truncf %4 :` -> `    %c0 = tt.descriptor_load %arg10[%1, %3] {warploom.buffer = #warploom.buffer<"stage">} : !tt.tensordesc<128x256xbf16> -> tensor<128x256xbf16>\n    %c1 = arith.extf %c0 : tensor<128x256xbf16> to tensor<128x256xf32>\n    %c2 = arith.addf %4, %c1 : tensor<128x256xf32>\n    %5 = arith.truncf %c2 :`
// error @`%c0 = tt.descriptor_load`: fails to resolve lifetime: value 2 'tile 2': the layout lets it share bytes with value 1 'b', but one is live in the other's region: (0, 0) to (0, 1484) against (0, 0) to (2, 472) [layout, B20]
// -----
// A declaration that names a leaf twice.
// replace: `(%stage, %ring)` -> `(%stage, %stage)`
// replace: `!tlx.reuse_group<distinct>) -> !tlx.reuse_group<shared>` -> `!ttg.memdesc<1x128x256xbf16, #nvmma, #smem, mutable>) -> !tlx.reuse_group<shared>`
// error @`tlx.set_buffer_overlap(%spec,`: 'tlx.set_buffer_overlap' op reuse_group tree contains duplicate elements; each allocation can only appear once in the tree [verify, A10]
// -----
// A leaf that something else uses.
// replace: `    tt.return\n` -> `    "test.use"(%stage) : (!ttg.memdesc<1x128x256xbf16, #nvmma, #smem, mutable>) -> ()\n    tt.return\n`
// error @`"test.use"(%stage) :`: 'test.use' uses an allocation of a storage_alias_spec directly [verify, A44]
// -----
// Copies fill no tensor memory.
// replace: `storage = smem` -> `storage = tmem`
// replace: `storage_alias_spec<smem>` -> `storage_alias_spec<tmem>`
// error @`%ring_a = tlx.storage_alias_local_alloc`: 'tlx.storage_alias_local_alloc' op storage_alias_spec has tmem storage but result is not in tensor memory [verify, A6]
// error @`%ring_b = tlx.storage_alias_local_alloc`: 'tlx.storage_alias_local_alloc' op storage_alias_spec has tmem storage but result is not in tensor memory [verify, A6]
// error @`%stage = tlx.storage_alias_local_alloc`: 'tlx.storage_alias_local_alloc' op storage_alias_spec has tmem storage but result is not in tensor memory [verify, A6]
// error @`%ring = "tlx.reuse_group"(%ring_a,`: 'tlx.reuse_group' op all elements in the reuse_group tree must be allocated via tlx.storage_alias_local_alloc, but found an element that is not [verify, A10]
// error @`%all = "tlx.reuse_group"(%stage,`: 'tlx.reuse_group' op reuse_group elements must be buffered_tensor or reuse_group, got !tlx.reuse_group<distinct> [verify, A8]
// error @`tlx.set_buffer_overlap(%spec,`: 'tlx.set_buffer_overlap' op overlap_def must be defined by a tlx.reuse_group op [verify, A10]
