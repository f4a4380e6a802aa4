// Masks that are bounds of the column are one comparison with the least of them; right where sums and differences of 32 bits
// come to their ends, and where nothing is known of the first column.
// source: crates/warploom/tests/runs/.masked.mlir
// run: run - --target sm_80 --interleavings 1 --seed 1 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=0 --arg=20 --arg=0
// run: run - --target sm_80 --interleavings 1 --seed 2 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=64 --arg=90 --arg=70
// run: run - --target sm_80 --interleavings 1 --seed 3 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=-128 --arg=-70 --arg=-100
// run: run - --target sm_80 --interleavings 1 --seed 4 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=2147483584 --arg=2147483647 --arg=2147483607
// run: run - --target sm_80 --interleavings 1 --seed 5 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=2147483584 --arg=-2147483648 --arg=0
// run: run - --target sm_80 --interleavings 1 --seed 6 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=-2147483648 --arg=2147483647 --arg=-2147483648
// run: run - --target sm_80 --interleavings 1 --seed 7 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=-2147483648 --arg=-2147483643 --arg=0
// run: run - --target sm_80 --interleavings 1 --seed 8 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=-2147483648 --arg=2147483647 --arg=2147483584
// run: run - --target sm_120a --interleavings 1 --seed 1 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=0 --arg=20 --arg=0
// run: run - --target sm_120a --interleavings 1 --seed 2 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=64 --arg=90 --arg=70
// run: run - --target sm_120a --interleavings 1 --seed 3 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=-128 --arg=-70 --arg=-100
// run: run - --target sm_120a --interleavings 1 --seed 4 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=2147483584 --arg=2147483647 --arg=2147483607
// run: run - --target sm_120a --interleavings 1 --seed 5 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=2147483584 --arg=-2147483648 --arg=0
// run: run - --target sm_120a --interleavings 1 --seed 6 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=-2147483648 --arg=2147483647 --arg=-2147483648
// run: run - --target sm_120a --interleavings 1 --seed 7 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=-2147483648 --arg=-2147483643 --arg=0
// run: run - --target sm_120a --interleavings 1 --seed 8 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=-2147483648 --arg=2147483647 --arg=2147483584
// replace: `{STATED}` -> ` {tt.divisibility = 64 : i32}`
// clean
// -----
// Sums that wrap around: only where the first column is no multiple of as many columns as there are.
// run: run - --target sm_80 --interleavings 1 --seed 1 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=0 --arg=20 --arg=0
// run: run - --target sm_80 --interleavings 1 --seed 2 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=64 --arg=90 --arg=70
// run: run - --target sm_80 --interleavings 1 --seed 3 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=-128 --arg=-70 --arg=-100
// run: run - --target sm_80 --interleavings 1 --seed 4 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=2147483584 --arg=2147483647 --arg=2147483607
// run: run - --target sm_80 --interleavings 1 --seed 5 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=2147483584 --arg=-2147483648 --arg=0
// run: run - --target sm_80 --interleavings 1 --seed 6 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=-2147483648 --arg=2147483647 --arg=-2147483648
// run: run - --target sm_80 --interleavings 1 --seed 7 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=-2147483648 --arg=-2147483643 --arg=0
// run: run - --target sm_80 --interleavings 1 --seed 8 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=-2147483648 --arg=2147483647 --arg=2147483584
// run: run - --target sm_80 --interleavings 1 --seed 9 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=2147483627 --arg=100 --arg=50
// run: run - --target sm_80 --interleavings 1 --seed 10 --arg=64x32 --arg=32x64 --arg=64x64 --arg=32 --arg=2147483627 --arg=-2147483639 --arg=0
// replace: `{STATED}` -> ``
// clean
