// Tiles by TMA in one partition, and the same kernels through pointers where there is none; trip counts below 0, of 0, 1,
// as many as slots and more (C28), extents that no tile divides.
// source: crates/warploom/tests/runs/.product.mlir
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 1 --arg=104x16 --arg=16x104 --arg=104x104 --arg=-7
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 2 --arg=104x16 --arg=16x104 --arg=104x104 --arg=0
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 3 --arg=104x16 --arg=16x104 --arg=104x104 --arg=16
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 4 --arg=104x32 --arg=32x104 --arg=104x104 --arg=32
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 5 --arg=104x64 --arg=64x104 --arg=104x104 --arg=64
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 6 --arg=104x112 --arg=112x104 --arg=104x104 --arg=104
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 7 --arg=104x224 --arg=224x104 --arg=104x104 --arg=224
// replace: `{M}` -> `64`
// replace: `{N}` -> `64`
// replace: `{K}` -> `32`
// replace: `{T}` -> `bf16`
// replace: `{STEP}` -> ``
// replace: `{BY}` -> `%ck`
// clean
// -----
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 1 --arg=104x16 --arg=16x104 --arg=104x104 --arg=-7 --arg=32
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 2 --arg=104x16 --arg=16x104 --arg=104x104 --arg=0 --arg=32
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 3 --arg=104x16 --arg=16x104 --arg=104x104 --arg=16 --arg=32
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 4 --arg=104x32 --arg=32x104 --arg=104x104 --arg=32 --arg=32
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 5 --arg=104x64 --arg=64x104 --arg=104x104 --arg=64 --arg=32
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 6 --arg=104x112 --arg=112x104 --arg=104x104 --arg=104 --arg=32
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 7 --arg=104x224 --arg=224x104 --arg=104x104 --arg=224 --arg=32
// replace: `{M}` -> `64`
// replace: `{N}` -> `64`
// replace: `{K}` -> `32`
// replace: `{T}` -> `f16`
// replace: `{STEP}` -> `, %step: i32`
// replace: `{BY}` -> `%step`
// clean
// -----
// run: run - --target sm_90a --grid 2,2 --interleavings 1 --seed 1 --arg=56x16 --arg=16x200 --arg=56x200 --arg=-7
// run: run - --target sm_90a --grid 2,2 --interleavings 1 --seed 2 --arg=56x16 --arg=16x200 --arg=56x200 --arg=0
// run: run - --target sm_90a --grid 2,2 --interleavings 1 --seed 3 --arg=56x16 --arg=16x200 --arg=56x200 --arg=8
// run: run - --target sm_90a --grid 2,2 --interleavings 1 --seed 4 --arg=56x16 --arg=16x200 --arg=56x200 --arg=16
// run: run - --target sm_90a --grid 2,2 --interleavings 1 --seed 5 --arg=56x32 --arg=32x200 --arg=56x200 --arg=32
// run: run - --target sm_90a --grid 2,2 --interleavings 1 --seed 6 --arg=56x64 --arg=64x200 --arg=56x200 --arg=56
// run: run - --target sm_90a --grid 2,2 --interleavings 1 --seed 7 --arg=56x112 --arg=112x200 --arg=56x200 --arg=112
// replace: `{M}` -> `32`
// replace: `{N}` -> `128`
// replace: `{K}` -> `16`
// replace: `{T}` -> `f16`
// replace: `{STEP}` -> ``
// replace: `{BY}` -> `%ck`
// clean
// -----
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 1 --arg=32x16 --arg=16x104 --arg=32x104 --arg=-7 --arg=64
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 2 --arg=32x16 --arg=16x104 --arg=32x104 --arg=0 --arg=64
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 3 --arg=32x32 --arg=32x104 --arg=32x104 --arg=32 --arg=64
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 4 --arg=32x64 --arg=64x104 --arg=32x104 --arg=64 --arg=64
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 5 --arg=32x128 --arg=128x104 --arg=32x104 --arg=128 --arg=64
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 6 --arg=32x208 --arg=208x104 --arg=32x104 --arg=200 --arg=64
// run: run - --target sm_120a --grid 2,2 --interleavings 1 --seed 7 --arg=32x448 --arg=448x104 --arg=32x104 --arg=448 --arg=64
// replace: `{M}` -> `16`
// replace: `{N}` -> `64`
// replace: `{K}` -> `64`
// replace: `{T}` -> `bf16`
// replace: `{STEP}` -> `, %step: i32`
// replace: `{BY}` -> `%step`
// clean
// -----
// run: run - --target sm_80 --grid 2,2 --interleavings 1 --seed 1 --arg=104x16 --arg=16x104 --arg=104x104 --arg=-7 --arg=32
// run: run - --target sm_80 --grid 2,2 --interleavings 1 --seed 2 --arg=104x16 --arg=16x104 --arg=104x104 --arg=0 --arg=32
// run: run - --target sm_80 --grid 2,2 --interleavings 1 --seed 3 --arg=104x16 --arg=16x104 --arg=104x104 --arg=16 --arg=32
// run: run - --target sm_80 --grid 2,2 --interleavings 1 --seed 4 --arg=104x32 --arg=32x104 --arg=104x104 --arg=32 --arg=32
// run: run - --target sm_80 --grid 2,2 --interleavings 1 --seed 5 --arg=104x64 --arg=64x104 --arg=104x104 --arg=64 --arg=32
// run: run - --target sm_80 --grid 2,2 --interleavings 1 --seed 6 --arg=104x112 --arg=112x104 --arg=104x104 --arg=104 --arg=32
// run: run - --target sm_80 --grid 2,2 --interleavings 1 --seed 7 --arg=104x224 --arg=224x104 --arg=104x104 --arg=224 --arg=32
// replace: `{M}` -> `64`
// replace: `{N}` -> `64`
// replace: `{K}` -> `32`
// replace: `{T}` -> `bf16`
// replace: `{STEP}` -> `, %step: i32`
// replace: `{BY}` -> `%step`
// clean
