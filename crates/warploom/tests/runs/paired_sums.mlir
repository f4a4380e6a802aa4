// Two products of loaded tiles add to one sum in each trip (C66).
// source: crates/warploom/tests/runs/.paired_sums.mlir
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[16384] --arg=[8192] --arg=[16384] --arg=[8192] --arg=[8192] --arg=128
// run: run - --target sm_100a --interleavings 3 --seed 1 --arg=[16384] --arg=[8192] --arg=[16384] --arg=[8192] --arg=[8192] --arg=128
// run: run - --target sm_100a --interleavings 2 --seed 2 --arg=[16384] --arg=[8192] --arg=[16384] --arg=[8192] --arg=[8192] --arg=32
// clean
// -----
// source: crates/warploom/tests/runs/.paired_sums.mlir
// run: compile - --target sm_100a --emit program
// check: scf.for
// check-not: arith.addf
// check: scf.yield
