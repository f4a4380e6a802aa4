// What one lane writes others have read before, in the order of the text (C7): a number that every lane reads.
// run: run - --target sm_80 --interleavings 4 --seed 1 --arg=[4096]
// run: run - --target sm_90a --interleavings 4 --seed 1 --arg=[4096]
// run: run - --target sm_100a --interleavings 4 --seed 1 --arg=[4096]
// clean
module {
  tt.func public @bump(%p: !tt.ptr<i32>) {
    %one = arith.constant 1 : i32
    %x = tt.load %p : !tt.ptr<i32>
    %y = arith.addi %x, %one : i32
    tt.store %p, %y : !tt.ptr<i32>
    tt.return
  }
}
// -----
// The same in every trip of a loop.
// run: run - --target sm_80 --interleavings 4 --seed 1 --arg=[4096] --arg=5
// run: run - --target sm_90a --interleavings 4 --seed 1 --arg=[4096] --arg=5
// run: run - --target sm_100a --interleavings 4 --seed 1 --arg=[4096] --arg=5
// clean
module {
  tt.func public @count(%p: !tt.ptr<i32>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    scf.for %i = %zero to %n step %one  : i32 {
      %x = tt.load %p : !tt.ptr<i32>
      %y = arith.addi %x, %i : i32
      tt.store %p, %y : !tt.ptr<i32>
    }
    tt.return
  }
}
// -----
// A tile turned where it lies: lanes write what others read.
// run: run - --target sm_80 --interleavings 4 --seed 1 --arg=[4096]
// run: run - --target sm_90a --interleavings 4 --seed 1 --arg=[4096]
// run: run - --target sm_100a --interleavings 4 --seed 1 --arg=[4096]
// clean
module {
  tt.func public @turn(%p: !tt.ptr<f32>) {
    %c64 = arith.constant dense<64> : tensor<64x1xi32>
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %i = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %j = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %row = arith.muli %i, %c64 : tensor<64x1xi32>
    %a = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
    %b = tt.broadcast %j : tensor<1x64xi32> -> tensor<64x64xi32>
    %o = arith.addi %a, %b : tensor<64x64xi32>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %ptr = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %x = tt.load %ptr : tensor<64x64x!tt.ptr<f32>>
    %y = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
    tt.store %ptr, %y : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
