// Head sizes that no instruction covers, or no memory holds: attention of head size 64 in other head sizes.
// source: kernels/attention_64.ttir
// run: compile - --target sm_90a --emit program
// replace: `128x64x` -> `128x512x`
// replace: `64x128x` -> `512x128x`
// error @`%42 = tt.dot %37, %38,`: tt.dot with N = 512 [shape, C63]
// note: up to 256
// -----
// run: compile - --target sm_100a --emit program
// replace: `128x64x` -> `128x512x`
// replace: `64x128x` -> `512x128x`
// error @`%42 = tt.dot %37, %38,`: tt.dot with N = 512 [shape, C63]
// note: up to 256
// -----
// run: compile - --target sm_90a --emit program
// replace: `128x64x` -> `128x256x`
// replace: `64x128x` -> `256x128x`
// error @`%42 = tt.dot %37, %38,`: 2 products need 256 registers per thread of 240 [registers, C31]
// note: partition @math
// -----
// run: compile - --target sm_80 --emit program
// replace: `128x64x` -> `128x512x`
// replace: `64x128x` -> `512x128x`
// error @`%42 = tt.dot %37, %38,`: accumulators take 160 registers per thread of 144 [registers, C31]
// note: partition @main, 327680 B in 16 warps
// -----
// run: compile - --target sm_80 --emit program
// replace: `128x64x` -> `128x256x`
// replace: `64x128x` -> `256x128x`
// error @`%9:3 = scf.for %arg23`: shared memory 237568 B of 166912 B [capacity, C92]
// note: a loop that loads 1/4 of it in a trip
