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
// -----
// A vector that several lanes hold is read, changed and written in place, in a loop whose other tiles are copied ahead: all
// have read it before one writes (C7).
// run: run - --target sm_80 --grid 1 --interleavings 4 --seed 1 --arg=[512] --arg=[64] --arg=[512] --arg=4
// run: run - --target sm_90a --grid 1 --interleavings 4 --seed 1 --arg=[512] --arg=[64] --arg=[512] --arg=4
// run: run - --target sm_100a --grid 1 --interleavings 4 --seed 1 --arg=[512] --arg=[64] --arg=[512] --arg=4
// clean
module {
  tt.func public @in_place(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %v: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : tensor<64x8xf32>
    %eight = arith.constant dense<8> : tensor<64x1xi32>
    %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %cols = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %down = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %first = arith.muli %down, %eight : tensor<64x1xi32>
    %across = tt.expand_dims %cols {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %firsts = tt.broadcast %first : tensor<64x1xi32> -> tensor<64x8xi32>
    %seconds = tt.broadcast %across : tensor<1x8xi32> -> tensor<64x8xi32>
    %place = arith.addi %firsts, %seconds : tensor<64x8xi32>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<64x8x!tt.ptr<f32>>
    %at = tt.addptr %as, %place : tensor<64x8x!tt.ptr<f32>>, tensor<64x8xi32>
    %vs = tt.splat %v : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %own = tt.addptr %vs, %rows : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x8x!tt.ptr<f32>>
    %to = tt.addptr %outs, %place : tensor<64x8x!tt.ptr<f32>>, tensor<64x8xi32>
    %all = scf.for %i = %zero to %n step %one iter_args(%sum = %none) -> (tensor<64x8xf32>) : i32 {
      %x = tt.load %at : tensor<64x8x!tt.ptr<f32>>
      %y = arith.addf %x, %sum : tensor<64x8xf32>
      %line = "tt.reduce"(%y) <{axis = 1 : i32}> ({
      ^bb0(%p: f32, %q: f32):
        %r = arith.addf %p, %q : f32
        tt.reduce.return %r : f32
      }) : (tensor<64x8xf32>) -> tensor<64xf32>
      %before = tt.load %own : tensor<64x!tt.ptr<f32>>
      %after = arith.subf %before, %line : tensor<64xf32>
      tt.store %own, %after : tensor<64x!tt.ptr<f32>>
      %mean = tt.expand_dims %line {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %means = tt.broadcast %mean : tensor<64x1xf32> -> tensor<64x8xf32>
      %next = arith.addf %y, %means : tensor<64x8xf32>
      scf.yield %next : tensor<64x8xf32>
    }
    tt.store %to, %all : tensor<64x8x!tt.ptr<f32>>
    tt.return
  }
}
