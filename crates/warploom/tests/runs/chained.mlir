// Products that go on with each other in one trip add up in tensor memory (C66): two of loaded tiles, before a third one of what
// lanes computed and stored in between; and scores of two products, beside sums of 512 columns, whose columns they share.
// source: crates/warploom/tests/runs/.three.mlir
// run: run - --target sm_90a --interleavings 3 --arg=[12288] --arg=[12288] --arg=[12288] --arg=[12288] --arg=[4096] --arg=0
// run: run - --target sm_90a --interleavings 3 --arg=[12288] --arg=[12288] --arg=[12288] --arg=[12288] --arg=[4096] --arg=1
// run: run - --target sm_90a --interleavings 3 --arg=[12288] --arg=[12288] --arg=[12288] --arg=[12288] --arg=[4096] --arg=3
// run: run - --target sm_100a --interleavings 3 --arg=[12288] --arg=[12288] --arg=[12288] --arg=[12288] --arg=[4096] --arg=0
// run: run - --target sm_100a --interleavings 3 --arg=[12288] --arg=[12288] --arg=[12288] --arg=[12288] --arg=[4096] --arg=1
// run: run - --target sm_100a --interleavings 3 --arg=[12288] --arg=[12288] --arg=[12288] --arg=[12288] --arg=[4096] --arg=3
// run: run - --target sm_103a --interleavings 3 --arg=[12288] --arg=[12288] --arg=[12288] --arg=[12288] --arg=[4096] --arg=0
// run: run - --target sm_103a --interleavings 3 --arg=[12288] --arg=[12288] --arg=[12288] --arg=[12288] --arg=[4096] --arg=1
// run: run - --target sm_103a --interleavings 3 --arg=[12288] --arg=[12288] --arg=[12288] --arg=[12288] --arg=[4096] --arg=3
// clean
// -----
// source: crates/warploom/tests/runs/.three.mlir
// run: compile - --target sm_100a
// check: tcgen05.mma
// clean
// -----
// source: crates/warploom/tests/runs/.latent.mlir
// run: run - --target sm_90a --grid 2 --interleavings 2 --arg=[51200] --arg=[6400] --arg=[38400] --arg=[4800] --arg=[51200] --arg=100 --arg=75 --arg=0.125
// run: run - --target sm_100a --grid 2 --interleavings 2 --arg=[51200] --arg=[6400] --arg=[38400] --arg=[4800] --arg=[51200] --arg=100 --arg=75 --arg=0.125
// clean
// -----
// source: crates/warploom/tests/runs/.latent.mlir
// run: compile - --target sm_100a
// check: tcgen05.mma
// clean
