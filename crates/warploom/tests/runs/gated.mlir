// Three results of two sums of partitions of their own: what tensor memory brought for one is read again for the next (C66).
// source: crates/warploom/tests/runs/.gated.mlir
// run: run - --target sm_100a --interleavings 3 --seed 1 --arg=128x64 --arg=128x64 --arg=128x64 --arg=128x128 --arg=128x128 --arg=128x128 --arg=64
// run: run - --target sm_100a --interleavings 2 --seed 2 --arg=128x64 --arg=128x64 --arg=128x64 --arg=128x128 --arg=128x128 --arg=128x128 --arg=0
// clean
// -----
// source: crates/warploom/tests/runs/.gated.mlir
// run: compile - --target sm_100a
// check: tcgen05.ld
// check: cp.async.bulk.tensor.2d.global.shared
// check: tcgen05.ld
// check: cp.async.bulk.tensor.2d.global.shared
// check: tcgen05.ld
