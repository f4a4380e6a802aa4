// Products of one partition by the asynchronous instruction of the chip, whose tiles come through pointers with masks:
// two that follow each other in a `scf.while`, one operand transposed, one computed from the product before, a sum that
// a branch adds to; for no trip, one and several.
// source: crates/warploom/tests/runs/.asynchronous.mlir
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[8192] --arg=[16384] --arg=[16384] --arg=[8192] --arg=0 --arg=50
// run: run - --target sm_90a --interleavings 3 --seed 2 --arg=[8192] --arg=[16384] --arg=[16384] --arg=[8192] --arg=40 --arg=50
// run: run - --target sm_90a --interleavings 3 --seed 3 --arg=[8192] --arg=[16384] --arg=[16384] --arg=[8192] --arg=200 --arg=50
// run: run - --target sm_100a --interleavings 3 --seed 1 --arg=[8192] --arg=[16384] --arg=[16384] --arg=[8192] --arg=0 --arg=50
// run: run - --target sm_100a --interleavings 3 --seed 2 --arg=[8192] --arg=[16384] --arg=[16384] --arg=[8192] --arg=40 --arg=50
// run: run - --target sm_100a --interleavings 3 --seed 3 --arg=[8192] --arg=[16384] --arg=[16384] --arg=[8192] --arg=200 --arg=50
// replace: `{M}` -> `64`
// clean
// -----
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[8192] --arg=[16384] --arg=[16384] --arg=[8192] --arg=0 --arg=50
// run: run - --target sm_90a --interleavings 3 --seed 2 --arg=[8192] --arg=[16384] --arg=[16384] --arg=[8192] --arg=40 --arg=50
// run: run - --target sm_90a --interleavings 3 --seed 3 --arg=[8192] --arg=[16384] --arg=[16384] --arg=[8192] --arg=200 --arg=50
// run: run - --target sm_103a --interleavings 3 --seed 1 --arg=[8192] --arg=[16384] --arg=[16384] --arg=[8192] --arg=0 --arg=50
// run: run - --target sm_103a --interleavings 3 --seed 2 --arg=[8192] --arg=[16384] --arg=[16384] --arg=[8192] --arg=40 --arg=50
// run: run - --target sm_103a --interleavings 3 --seed 3 --arg=[8192] --arg=[16384] --arg=[16384] --arg=[8192] --arg=200 --arg=50
// replace: `{M}` -> `128`
// clean
