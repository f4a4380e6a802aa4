#!/bin/sh
# The demo: one GEMM that Triton wrote, from its IR to assembled Hopper code, with every step on the screen.
set -eu
cd "$(dirname "$0")/.."
warploom=$1
target=$2
kernel=examples/kernels/gemm.ttir
mkdir -p out

echo "== $kernel, as Triton wrote it"
cat $kernel
echo
echo "== what Warploom makes of it for $target: schedule, partitions, memory"
"$warploom" explain $kernel --target "$target"
echo
echo "== PTX, assembled"
"$warploom" compile $kernel --target "$target" --emit ptx -o out/gemm.ptx
"$warploom" compile $kernel --target "$target" --emit cubin -o out/gemm.cubin
wc -c out/gemm.ptx out/gemm.cubin
echo
echo "== the PTX on the emulator, a ragged product against the reference interpreter, under six interleavings"
"$warploom" run "$kernel" --target "$target" --grid 2,2 --arg 200x328 --arg 440x328 --arg 200x440 --arg 328
