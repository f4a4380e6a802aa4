// Descriptors that the kernel makes (C16). Groups of products, one after the other: descriptors are made anew for each,
// the tiles of a group are taken in turn while there are any.
// run: run - --target sm_90a --interleavings 4 --seed 1 --grid 2 --arg=[49152] --arg=[49152] --arg=[49152] --arg=3 --arg=100
// run: run - --target sm_90a --interleavings 4 --seed 2 --grid 2 --arg=[49152] --arg=[49152] --arg=[49152] --arg=2 --arg=128
// run: run - --target sm_100a --interleavings 4 --seed 1 --grid 2 --arg=[49152] --arg=[49152] --arg=[49152] --arg=3 --arg=100
// run: run - --target sm_120a --interleavings 4 --seed 1 --grid 2 --arg=[49152] --arg=[49152] --arg=[49152] --arg=3 --arg=100
// run: run - --target sm_80 --interleavings 2 --seed 1 --grid 2 --arg=[49152] --arg=[49152] --arg=[49152] --arg=3 --arg=100
// clean
module {
  tt.func public @groups(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %groups: i32, %rows: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %side = arith.constant 64 : i32
    %wide = arith.constant 128 : i32
    %pitch = arith.constant 128 : i64
    %unit = arith.constant 1 : i64
    %size = arith.constant 16384 : i32
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %first = tt.get_program_id x : i32
    scf.for %g = %zero to %groups step %one  : i32 {
      %at = arith.muli %g, %size : i32
      %pa = tt.addptr %a, %at : !tt.ptr<f16>, i32
      %pb = tt.addptr %b, %at : !tt.ptr<f16>, i32
      %pc = tt.addptr %c, %at : !tt.ptr<f16>, i32
      %da = tt.make_tensor_descriptor %pa, [%rows, %wide], [%pitch, %unit] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
      %db = tt.make_tensor_descriptor %pb, [%wide, %wide], [%pitch, %unit] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
      %dc = tt.make_tensor_descriptor %pc, [%rows, %wide], [%pitch, %unit] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
      %last = scf.while (%tile = %first) : (i32) -> i32 {
        %more = arith.cmpi slt, %tile, %side : i32
        %four = arith.shli %two, %one : i32
        %some = arith.cmpi slt, %tile, %four : i32
        %go = arith.andi %more, %some : i1
        scf.condition(%go) %tile : i32
      } do {
      ^bb0(%tile: i32):
        %m = arith.divsi %tile, %two : i32
        %n = arith.remsi %tile, %two : i32
        %row = arith.muli %m, %side : i32
        %col = arith.muli %n, %side : i32
        %sum = scf.for %k = %zero to %wide step %side iter_args(%acc = %none) -> (tensor<64x64xf32>)  : i32 {
          %x = tt.descriptor_load %da[%row, %k] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
          %y = tt.descriptor_load %db[%k, %col] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
          %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
          scf.yield %d : tensor<64x64xf32>
        }
        %out = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
        tt.descriptor_store %dc[%row, %col], %out : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
        %next = arith.addi %tile, %two : i32
        scf.yield %next : i32
      }
    }
    tt.return
  }
}
// -----
// One operand is loaded in front of each inner loop, which a branch may leave out; what lies outside is NaN, and counted.
// run: run - --target sm_90a --interleavings 4 --seed 1 --arg=[16384] --arg=[16384] --arg=[24576] --arg=3 --arg=100
// run: run - --target sm_90a --interleavings 4 --seed 2 --arg=[16384] --arg=[16384] --arg=[24576] --arg=0 --arg=128
// run: run - --target sm_100a --interleavings 4 --seed 1 --arg=[16384] --arg=[16384] --arg=[24576] --arg=3 --arg=100
// run: run - --target sm_120a --interleavings 4 --seed 1 --arg=[16384] --arg=[16384] --arg=[24576] --arg=3 --arg=100
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[16384] --arg=[16384] --arg=[24576] --arg=3 --arg=100
// clean
module {
  tt.func public @again(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %tiles: i32, %rows: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %side = arith.constant 64 : i32
    %wide = arith.constant 128 : i32
    %pitch = arith.constant 128 : i64
    %unit = arith.constant 1 : i64
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %ones = arith.constant dense<1.0> : tensor<64x64xf32>
    %da = tt.make_tensor_descriptor %a, [%rows, %wide], [%pitch, %unit] {padding = 2 : i32} : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
    %db = tt.make_tensor_descriptor %b, [%wide, %wide], [%pitch, %unit] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %down = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %along = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %s = tt.splat %side : i32 -> tensor<64x1xi32>
    %r = arith.muli %down, %s : tensor<64x1xi32>
    %rb = tt.broadcast %r : tensor<64x1xi32> -> tensor<64x64xi32>
    %cb = tt.broadcast %along : tensor<1x64xi32> -> tensor<64x64xi32>
    %place = arith.addi %rb, %cb : tensor<64x64xi32>
    scf.for %t = %zero to %tiles step %one  : i32 {
      %row = arith.muli %t, %side : i32
      %even = arith.cmpi ne, %t, %one : i32
      %res = scf.if %even -> (tensor<64x64xf32>) {
        %x = tt.descriptor_load %da[%row, %zero] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
        %nan = arith.cmpf une, %x, %x : tensor<64x64xf16>
        %nil = arith.constant dense<0.0> : tensor<64x64xf16>
        %clear = arith.select %nan, %nil, %x : tensor<64x64xi1>, tensor<64x64xf16>
        %outside = arith.select %nan, %ones, %none : tensor<64x64xi1>, tensor<64x64xf32>
        %sum = scf.for %k = %zero to %wide step %side iter_args(%acc = %outside) -> (tensor<64x64xf32>)  : i32 {
          %y = tt.descriptor_load %db[%k, %zero] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
          %d = tt.dot %clear, %y, %acc, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
          scf.yield %d : tensor<64x64xf32>
        }
        scf.yield %sum : tensor<64x64xf32>
      } else {
        scf.yield %ones : tensor<64x64xf32>
      }
      %o = arith.constant 4096 : i32
      %start = arith.muli %t, %o : i32
      %pc = tt.addptr %c, %start : !tt.ptr<f32>, i32
      %base = tt.splat %pc : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
      %to = tt.addptr %base, %place : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      tt.store %to, %res : tensor<64x64x!tt.ptr<f32>>
    }
    tt.return
  }
}
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
