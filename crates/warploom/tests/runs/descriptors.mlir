// Descriptors that the kernel makes (C16). Groups of products, one after the other: descriptors are made anew for each,
// the tiles of a group are taken in turn while there are any.
// source: crates/pipeline/tests/kernels/groups.mlir
// run: run - --target sm_90a --interleavings 4 --seed 1 --grid 2 --arg=[49152] --arg=[49152] --arg=[49152] --arg=3 --arg=100
// run: run - --target sm_90a --interleavings 4 --seed 2 --grid 2 --arg=[49152] --arg=[49152] --arg=[49152] --arg=2 --arg=128
// run: run - --target sm_100a --interleavings 4 --seed 1 --grid 2 --arg=[49152] --arg=[49152] --arg=[49152] --arg=3 --arg=100
// run: run - --target sm_120a --interleavings 4 --seed 1 --grid 2 --arg=[49152] --arg=[49152] --arg=[49152] --arg=3 --arg=100
// run: run - --target sm_80 --interleavings 2 --seed 1 --grid 2 --arg=[49152] --arg=[49152] --arg=[49152] --arg=3 --arg=100
// clean
// -----
// One operand is loaded in front of each inner loop, which a branch may leave out; what lies outside is NaN, and counted.
// source: crates/pipeline/tests/kernels/again.mlir
// run: run - --target sm_90a --interleavings 4 --seed 1 --arg=[16384] --arg=[16384] --arg=[24576] --arg=3 --arg=100
// run: run - --target sm_90a --interleavings 4 --seed 2 --arg=[16384] --arg=[16384] --arg=[24576] --arg=0 --arg=128
// run: run - --target sm_100a --interleavings 4 --seed 1 --arg=[16384] --arg=[16384] --arg=[24576] --arg=3 --arg=100
// run: run - --target sm_120a --interleavings 4 --seed 1 --arg=[16384] --arg=[16384] --arg=[24576] --arg=3 --arg=100
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[16384] --arg=[16384] --arg=[24576] --arg=3 --arg=100
// clean
// -----
// Integers have no NaN: what lies outside is zero, whatever the descriptor says.
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[2048] --arg=[512] --arg=40
// run: run - --target sm_100a --interleavings 3 --seed 1 --arg=[2048] --arg=[512] --arg=40
// run: run - --target sm_120a --interleavings 3 --seed 1 --arg=[2048] --arg=[512] --arg=40
// run: run - --target sm_80 --interleavings 3 --seed 1 --arg=[2048] --arg=[512] --arg=40
// clean
module {
  tt.func public @ints(%a: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %c: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %rows: i32) {
    %zero = arith.constant 0 : i32
    %side = arith.constant 16 : i32
    %wide = arith.constant 64 : i32
    %pitch = arith.constant 32 : i64
    %unit = arith.constant 1 : i64
    %none = arith.constant dense<0> : tensor<16x32xi32>
    %da = tt.make_tensor_descriptor %a, [%rows, %side], [%pitch, %unit] {padding = 2 : i32} : !tt.ptr<i32>, !tt.tensordesc<16x32xi32>
    %sum = scf.for %k = %zero to %wide step %side iter_args(%acc = %none) -> (tensor<16x32xi32>)  : i32 {
      %x = tt.descriptor_load %da[%k, %zero] : !tt.tensordesc<16x32xi32> -> tensor<16x32xi32>
      %d = arith.addi %acc, %x : tensor<16x32xi32>
      scf.yield %d : tensor<16x32xi32>
    }
    %range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %across = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %down = tt.expand_dims %range {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %along = tt.expand_dims %across {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %step = arith.constant dense<32> : tensor<16x1xi32>
    %r = arith.muli %down, %step : tensor<16x1xi32>
    %rb = tt.broadcast %r : tensor<16x1xi32> -> tensor<16x32xi32>
    %cb = tt.broadcast %along : tensor<1x32xi32> -> tensor<16x32xi32>
    %place = arith.addi %rb, %cb : tensor<16x32xi32>
    %base = tt.splat %c : !tt.ptr<i32> -> tensor<16x32x!tt.ptr<i32>>
    %to = tt.addptr %base, %place : tensor<16x32x!tt.ptr<i32>>, tensor<16x32xi32>
    tt.store %to, %sum : tensor<16x32x!tt.ptr<i32>>
    tt.return
  }
}
// -----
// A loop carries its descriptor, and a branch makes it anew for every third tile.
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[8192] --arg=[8192] --arg=5 --arg=60
// run: run - --target sm_100a --interleavings 3 --seed 2 --arg=[8192] --arg=[8192] --arg=5 --arg=64
// run: run - --target sm_120a --interleavings 3 --seed 3 --arg=[8192] --arg=[8192] --arg=5 --arg=60
// run: run - --target sm_80 --interleavings 3 --seed 4 --arg=[8192] --arg=[8192] --arg=5 --arg=60
// clean
module {
  tt.func public @carried(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %tiles: i32, %rows: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %unit = arith.constant 1 : i64
    %line = arith.constant 128 : i64
    %one = arith.constant dense<1.000000e+00> : tensor<8x128xf32>
    %first = tt.make_tensor_descriptor %x, [%rows, %c128], [%line, %unit] : <f32>, <8x128xf32>
    %out = tt.make_tensor_descriptor %y, [%rows, %c128], [%line, %unit] : <f32>, <8x128xf32>
    %last = scf.for %i = %c0 to %tiles step %c1 iter_args(%d = %first) -> (!tt.tensordesc<8x128xf32>) : i32 {
      %rest = arith.remsi %i, %c3 : i32
      %anew = arith.cmpi eq, %rest, %c1 : i32
      %now = scf.if %anew -> (!tt.tensordesc<8x128xf32>) {
        %by = arith.muli %i, %c128 : i32
        %moved = tt.addptr %x, %by : !tt.ptr<f32>, i32
        %fewer = arith.subi %rows, %i : i32
        %made = tt.make_tensor_descriptor %moved, [%fewer, %c128], [%line, %unit] : <f32>, <8x128xf32>
        scf.yield %made : !tt.tensordesc<8x128xf32>
      } else {
        scf.yield %d : !tt.tensordesc<8x128xf32>
      }
      %at = arith.muli %i, %c3 : i32
      %tile = tt.descriptor_load %now[%at, %c0] : !tt.tensordesc<8x128xf32> -> tensor<8x128xf32>
      %more = arith.addf %tile, %one : tensor<8x128xf32>
      %to = arith.shli %i, %c3 : i32
      tt.descriptor_store %out[%to, %c0], %more : !tt.tensordesc<8x128xf32>, tensor<8x128xf32>
      scf.yield %now : !tt.tensordesc<8x128xf32>
    }
    tt.return
  }
}
