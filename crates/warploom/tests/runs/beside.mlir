// Tiles of 32 and 16 rows that are summed beside a product of 64: no warpgroup has rows for them, and lanes hold them in turn; and
// a vector along the columns that goes round the loop (Q21, G2).
// source: crates/warploom/tests/runs/.beside.mlir
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[8320] --arg=[8320] --arg=[4096] --arg=[64] --arg=[1024] --arg=130
// run: run - --target sm_100a --interleavings 3 --seed 1 --arg=[8320] --arg=[8320] --arg=[4096] --arg=[64] --arg=[1024] --arg=130
// run: run - --target sm_100a --interleavings 2 --seed 2 --arg=[8320] --arg=[8320] --arg=[4096] --arg=[64] --arg=[1024] --arg=0
// clean
// -----
// source: crates/warploom/tests/runs/.beside.mlir
// run: explain - --target sm_90a
// check: taken    one partition by wgmma
// -----
// source: crates/warploom/tests/runs/.beside.mlir
// run: explain - --target sm_100a
// check: taken    one partition by tcgen05.mma
