// Products of 8-bit elements through pointers, with K inside and with N inside; for no trip, one, several.
// source: crates/warploom/tests/runs/.bytes.mlir
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[28000] --arg=[28000] --arg=[8192] --arg=0
// run: run - --target sm_90a --interleavings 2 --seed 2 --arg=[28000] --arg=[28000] --arg=[8192] --arg=48
// run: run - --target sm_90a --interleavings 2 --seed 3 --arg=[28000] --arg=[28000] --arg=[8192] --arg=208
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[28000] --arg=[28000] --arg=[8192] --arg=0
// run: run - --target sm_100a --interleavings 2 --seed 2 --arg=[28000] --arg=[28000] --arg=[8192] --arg=48
// run: run - --target sm_100a --interleavings 2 --seed 3 --arg=[28000] --arg=[28000] --arg=[8192] --arg=208
// replace: `{T}` -> `i8`
// replace: `{S}` -> `i32`
// replace: `{ZERO}` -> `0`
// replace: `{BN}` -> `nn`
// replace: `{BK}` -> `one`
// replace: `{STEP}` -> `c64`
// clean
// -----
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[28000] --arg=[28000] --arg=[8192] --arg=0
// run: run - --target sm_90a --interleavings 2 --seed 2 --arg=[28000] --arg=[28000] --arg=[8192] --arg=48
// run: run - --target sm_90a --interleavings 2 --seed 3 --arg=[28000] --arg=[28000] --arg=[8192] --arg=208
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[28000] --arg=[28000] --arg=[8192] --arg=0
// run: run - --target sm_100a --interleavings 2 --seed 2 --arg=[28000] --arg=[28000] --arg=[8192] --arg=48
// run: run - --target sm_100a --interleavings 2 --seed 3 --arg=[28000] --arg=[28000] --arg=[8192] --arg=208
// replace: `{T}` -> `i8`
// replace: `{S}` -> `i32`
// replace: `{ZERO}` -> `0`
// replace: `{BN}` -> `ones`
// replace: `{BK}` -> `wide`
// replace: `{STEP}` -> `c4096`
// clean
// -----
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[28000] --arg=[28000] --arg=[8192] --arg=0
// run: run - --target sm_90a --interleavings 2 --seed 2 --arg=[28000] --arg=[28000] --arg=[8192] --arg=48
// run: run - --target sm_90a --interleavings 2 --seed 3 --arg=[28000] --arg=[28000] --arg=[8192] --arg=208
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[28000] --arg=[28000] --arg=[8192] --arg=0
// run: run - --target sm_100a --interleavings 2 --seed 2 --arg=[28000] --arg=[28000] --arg=[8192] --arg=48
// run: run - --target sm_100a --interleavings 2 --seed 3 --arg=[28000] --arg=[28000] --arg=[8192] --arg=208
// replace: `{T}` -> `f8E4M3FN`
// replace: `{S}` -> `f32`
// replace: `{ZERO}` -> `0.0`
// replace: `{BN}` -> `nn`
// replace: `{BK}` -> `one`
// replace: `{STEP}` -> `c64`
// clean
// -----
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[28000] --arg=[28000] --arg=[8192] --arg=0
// run: run - --target sm_90a --interleavings 2 --seed 2 --arg=[28000] --arg=[28000] --arg=[8192] --arg=48
// run: run - --target sm_90a --interleavings 2 --seed 3 --arg=[28000] --arg=[28000] --arg=[8192] --arg=208
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[28000] --arg=[28000] --arg=[8192] --arg=0
// run: run - --target sm_100a --interleavings 2 --seed 2 --arg=[28000] --arg=[28000] --arg=[8192] --arg=48
// run: run - --target sm_100a --interleavings 2 --seed 3 --arg=[28000] --arg=[28000] --arg=[8192] --arg=208
// replace: `{T}` -> `f8E4M3FN`
// replace: `{S}` -> `f32`
// replace: `{ZERO}` -> `0.0`
// replace: `{BN}` -> `ones`
// replace: `{BK}` -> `wide`
// replace: `{STEP}` -> `c4096`
// clean
