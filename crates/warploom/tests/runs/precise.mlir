// Products of f32 by tensor cores with more bits than tf32 has: sums of products of parts (C7). Numbers that are infinite, or
// none, beside exact ones, zeros among them, are what one product gives.
// source: crates/warploom/tests/runs/.precise.mlir
// run: run - --target sm_80 --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_90a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_100a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_120a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// replace: `{P}` -> `tf32x3`
// replace: `{X}` -> `%x`
// replace: `{Y}` -> `%whole`
// replace: `{AT}` -> `0`
// replace: `{VALUE}` -> `0.0`
// clean
// -----
// run: run - --target sm_80 --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_90a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// replace: `{P}` -> `tf32x3`
// replace: `{X}` -> `%marked`
// replace: `{Y}` -> `%exact`
// replace: `{AT}` -> `2917`
// replace: `{VALUE}` -> `0x7F800000`
// clean
// -----
// run: run - --target sm_90a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// replace: `{P}` -> `tf32x3`
// replace: `{X}` -> `%marked`
// replace: `{Y}` -> `%exact`
// replace: `{AT}` -> `100`
// replace: `{VALUE}` -> `0xFF800000`
// clean
// -----
// run: run - --target sm_90a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// replace: `{P}` -> `tf32x3`
// replace: `{X}` -> `%marked`
// replace: `{Y}` -> `%whole`
// replace: `{AT}` -> `4000`
// replace: `{VALUE}` -> `0x7F800001`
// clean
// -----
// run: run - --target sm_80 --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_90a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_100a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// replace: `{P}` -> `bf16x3`
// replace: `{X}` -> `%x`
// replace: `{Y}` -> `%whole`
// replace: `{AT}` -> `0`
// replace: `{VALUE}` -> `0.0`
// clean
// -----
// run: run - --target sm_80 --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_90a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// replace: `{P}` -> `bf16x3`
// replace: `{X}` -> `%marked`
// replace: `{Y}` -> `%exact`
// replace: `{AT}` -> `2917`
// replace: `{VALUE}` -> `0x7F800000`
// clean
// -----
// run: run - --target sm_90a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// replace: `{P}` -> `bf16x3`
// replace: `{X}` -> `%marked`
// replace: `{Y}` -> `%exact`
// replace: `{AT}` -> `100`
// replace: `{VALUE}` -> `0xFF800000`
// clean
// -----
// run: run - --target sm_90a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// replace: `{P}` -> `bf16x3`
// replace: `{X}` -> `%marked`
// replace: `{Y}` -> `%whole`
// replace: `{AT}` -> `4000`
// replace: `{VALUE}` -> `0x7F800001`
// clean
// -----
// run: run - --target sm_89 --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_90a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_100a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// replace: `{P}` -> `bf16x6`
// replace: `{X}` -> `%x`
// replace: `{Y}` -> `%whole`
// replace: `{AT}` -> `0`
// replace: `{VALUE}` -> `0.0`
// clean
// -----
// run: run - --target sm_89 --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_90a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// replace: `{P}` -> `bf16x6`
// replace: `{X}` -> `%marked`
// replace: `{Y}` -> `%exact`
// replace: `{AT}` -> `2917`
// replace: `{VALUE}` -> `0x7F800000`
// clean
// -----
// run: run - --target sm_90a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// replace: `{P}` -> `bf16x6`
// replace: `{X}` -> `%marked`
// replace: `{Y}` -> `%exact`
// replace: `{AT}` -> `100`
// replace: `{VALUE}` -> `0xFF800000`
// clean
// -----
// run: run - --target sm_90a --interleavings 1 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// replace: `{P}` -> `bf16x6`
// replace: `{X}` -> `%marked`
// replace: `{Y}` -> `%whole`
// replace: `{AT}` -> `4000`
// replace: `{VALUE}` -> `0x7F800001`
// clean
