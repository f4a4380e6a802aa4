// Sums that fit no number of warpgroups one below the other: two stand side by side, with half of the columns each (C61).
// Two products of 64 x 256 with trip counts of 0, 1 and more, and attention of 64 rows with 512 columns of V, whose rows are
// reduced across warpgroups; ragged in every direction.
// source: crates/warploom/tests/runs/.gated_wide.mlir
// run: run - --target sm_90a --grid 2,2 --interleavings 2 --seed 1 --arg=[1600] --arg=[512] --arg=[512] --arg=[51200] --arg=100 --arg=512 --arg=0 --arg=16 --arg=512
// run: run - --target sm_90a --grid 2,2 --interleavings 2 --seed 2 --arg=[1600] --arg=[512] --arg=[512] --arg=[51200] --arg=100 --arg=512 --arg=1 --arg=16 --arg=512
// run: run - --target sm_90a --grid 2,2 --interleavings 2 --seed 3 --arg=[3200] --arg=[16384] --arg=[16384] --arg=[51200] --arg=100 --arg=512 --arg=32 --arg=32 --arg=512
// run: run - --target sm_90a --grid 2,2 --interleavings 2 --seed 4 --arg=[11200] --arg=[51200] --arg=[51200] --arg=[49600] --arg=100 --arg=496 --arg=100 --arg=112 --arg=512
// run: run - --target sm_90a --grid 2,2 --interleavings 2 --seed 5 --arg=[25600] --arg=[131072] --arg=[131072] --arg=[51200] --arg=100 --arg=512 --arg=256 --arg=256 --arg=512
// clean
// -----
// source: crates/warploom/tests/runs/.gated_wide.mlir
// run: compile - --target sm_90a
// check: wgmma.mma_async.sync.aligned.m64n128k16
// clean
// -----
// source: crates/warploom/tests/runs/.attention_wide.mlir
// run: run - --target sm_90a --grid 2 --interleavings 2 --seed 1 --arg=[4096] --arg=[2048] --arg=[16384] --arg=[32768] --arg=[64] --arg=64 --arg=32 --arg=0.125
// run: run - --target sm_90a --grid 2 --interleavings 2 --seed 2 --arg=[6400] --arg=[9600] --arg=[76800] --arg=[51200] --arg=[100] --arg=100 --arg=150 --arg=0.125
// run: run - --target sm_90a --grid 2 --interleavings 2 --seed 3 --arg=[8192] --arg=[16384] --arg=[131072] --arg=[65536] --arg=[128] --arg=128 --arg=256 --arg=0.125
// clean
// -----
// source: crates/warploom/tests/runs/.attention_wide.mlir
// run: compile - --target sm_90a
// check: wgmma.mma_async.sync.aligned.m64n256k16
// clean
