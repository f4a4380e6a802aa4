// Two sums of what lanes make of loaded tiles; two products of a trip add to the second (C66).
// source: crates/warploom/tests/runs/.split_sums.mlir
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[16384] --arg=[8192] --arg=[8192] --arg=128
// run: run - --target sm_100a --interleavings 3 --seed 1 --arg=[16384] --arg=[8192] --arg=[8192] --arg=128
// run: run - --target sm_100a --interleavings 2 --seed 2 --arg=[16384] --arg=[8192] --arg=[8192] --arg=0
// clean
// -----
// source: crates/warploom/tests/runs/.split_sums.mlir
// run: compile - --target sm_100a --emit program
// check: scf.for
// check-not: arith.addf
// check: scf.yield
