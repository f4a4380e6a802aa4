// What does not change in a loop is loaded in front of it, if the loop runs (C8): masked, and none of it where there are no trips.
// run: run - --target sm_80 --interleavings 1 --arg=[2048] --arg=[256] --arg=[256] --arg=8 --arg=200
// run: run - --target sm_90a --interleavings 1 --arg=[2048] --arg=[256] --arg=[256] --arg=1 --arg=256
// run: run - --target sm_100a --interleavings 1 --arg=[2048] --arg=[200] --arg=[256] --arg=3 --arg=200
// run: run - --target sm_90a --interleavings 1 --arg=[2048] --arg=[1] --arg=[256] --arg=0 --arg=0
// clean
module {
  tt.func public @weighted(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %w: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %len: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c256 = arith.constant 256 : i32
    %one = arith.constant dense<1.000000e+00> : tensor<256xf32>
    %zero = arith.constant dense<0.000000e+00> : tensor<256xf32>
    %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %lens = tt.splat %len : i32 -> tensor<256xi32>
    %keep = arith.cmpi slt, %r, %lens : tensor<256xi32>
    %ws = tt.splat %w : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %wp = tt.addptr %ws, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %wv = tt.load %wp, %keep, %one : tensor<256x!tt.ptr<f32>>
    %root = math.sqrt %wv : tensor<256xf32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<256xf32>) : i32 {
      %row = arith.muli %i, %c256 : i32
      %xr = tt.addptr %x, %row : !tt.ptr<f32>, i32
      %xs = tt.splat %xr : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
      %xp = tt.addptr %xs, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
      %v = tt.load %xp : tensor<256x!tt.ptr<f32>>
      %p = arith.divf %v, %root : tensor<256xf32>
      %even = arith.andi %i, %c1 : i32
      %odd = arith.cmpi ne, %even, %c0 : i32
      %b = scf.if %odd -> (tensor<256xf32>) {
        %q = arith.mulf %p, %wv : tensor<256xf32>
        scf.yield %q : tensor<256xf32>
      } else {
        scf.yield %p : tensor<256xf32>
      }
      %s = arith.addf %a, %b : tensor<256xf32>
      scf.yield %s : tensor<256xf32>
    }
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %out = arith.addf %sum, %wv : tensor<256xf32>
    tt.store %yp, %out, %keep : tensor<256x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// A loop in a loop, and one that goes on until a bound that it looks up: what is loaded outside both, and in between.
// run: run - --target sm_80 --interleavings 1 --arg=[1024] --arg=[128] --arg=[128] --arg=3 --arg=2
// run: run - --target sm_90a --interleavings 1 --arg=[1024] --arg=[128] --arg=[128] --arg=2 --arg=4
// run: run - --target sm_100a --interleavings 1 --arg=[1024] --arg=[128] --arg=[128] --arg=0 --arg=4
// run: run - --target sm_90a --interleavings 1 --arg=[1024] --arg=[128] --arg=[128] --arg=2 --arg=0
// clean
module {
  tt.func public @nested(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %w: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %m: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<128xf32>
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %ws = tt.splat %w : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %wp = tt.addptr %ws, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %wv = tt.load %wp : tensor<128x!tt.ptr<f32>>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128xf32>) : i32 {
      %place = arith.muli %i, %c128 : i32
      %xr = tt.addptr %x, %place : !tt.ptr<f32>, i32
      %xs = tt.splat %xr : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
      %xp = tt.addptr %xs, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
      %v = tt.load %xp : tensor<128x!tt.ptr<f32>>
      %inner = scf.for %j = %c0 to %m step %c1 iter_args(%b = %a) -> (tensor<128xf32>) : i32 {
        %p = arith.mulf %v, %wv : tensor<128xf32>
        %k = arith.sitofp %j : i32 to f32
        %ks = tt.splat %k : f32 -> tensor<128xf32>
        %q = arith.addf %p, %ks : tensor<128xf32>
        %s = arith.addf %b, %q : tensor<128xf32>
        scf.yield %s : tensor<128xf32>
      }
      %t = arith.addf %inner, %wv : tensor<128xf32>
      scf.yield %t : tensor<128xf32>
    }
    %last:2 = scf.while (%j = %c0, %b = %sum) : (i32, tensor<128xf32>) -> (i32, tensor<128xf32>) {
      %more = arith.cmpi slt, %j, %m : i32
      scf.condition(%more) %j, %b : i32, tensor<128xf32>
    } do {
    ^bb0(%j: i32, %b: tensor<128xf32>):
      %s = arith.subf %b, %wv : tensor<128xf32>
      %next = arith.addi %j, %c1 : i32
      scf.yield %next, %s : i32, tensor<128xf32>
    }
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %out = arith.addf %last#1, %wv : tensor<128xf32>
    tt.store %yp, %out : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// Stores keep their order: what is loaded before one of them is not loaded behind it, nor what stands behind it in front.
// run: run - --target sm_80 --interleavings 1 --arg=[1024] --arg=[128] --arg=5
// run: run - --target sm_90a --interleavings 1 --arg=[1024] --arg=[128] --arg=3
// run: run - --target sm_100a --interleavings 1 --arg=[1024] --arg=[128] --arg=1
// clean
module {
  tt.func public @ordered(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %w: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<128xf32>
    %two = arith.constant dense<2.000000e+00> : tensor<128xf32>
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %ws = tt.splat %w : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %wp = tt.addptr %ws, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %before = tt.load %wp : tensor<128x!tt.ptr<f32>>
    tt.store %wp, %two : tensor<128x!tt.ptr<f32>>
    %after = tt.load %wp : tensor<128x!tt.ptr<f32>>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128xf32>) : i32 {
      %place = arith.muli %i, %c128 : i32
      %xr = tt.addptr %x, %place : !tt.ptr<f32>, i32
      %xs = tt.splat %xr : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
      %xp = tt.addptr %xs, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
      %v = tt.load %xp : tensor<128x!tt.ptr<f32>>
      %p = arith.mulf %v, %before : tensor<128xf32>
      %q = arith.mulf %p, %after : tensor<128xf32>
      %s = arith.addf %a, %q : tensor<128xf32>
      scf.yield %s : tensor<128xf32>
    }
    %own = tt.load %wp : tensor<128x!tt.ptr<f32>>
    %twice = scf.for %i = %c0 to %n step %c1 iter_args(%a = %sum) -> (tensor<128xf32>) : i32 {
      %s = arith.addf %a, %own : tensor<128xf32>
      tt.store %wp, %s : tensor<128x!tt.ptr<f32>>
      scf.yield %s : tensor<128xf32>
    }
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    tt.store %xp, %twice : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// A tile for which there are no registers is made of what is loaded in front in every trip again.
// run: run - --target sm_80 --interleavings 1 --arg=[12288] --arg=[32] --arg=[128] --arg=[4096] --arg=3
// run: run - --target sm_90a --interleavings 1 --arg=[4096] --arg=[32] --arg=[128] --arg=[4096] --arg=1
// run: run - --target sm_100a --interleavings 1 --arg=[8192] --arg=[32] --arg=[128] --arg=[4096] --arg=2
// clean
module {
  tt.func public @outer(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4096 = arith.constant 4096 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<32x128xf32>
    %width = arith.constant dense<128> : tensor<32x1xi32>
    %rows = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %cols = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
    %ap = tt.addptr %as, %rows : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    %av = tt.load %ap : tensor<32x!tt.ptr<f32>>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<128x!tt.ptr<f16>>
    %bp = tt.addptr %bs, %cols : tensor<128x!tt.ptr<f16>>, tensor<128xi32>
    %bv = tt.load %bp : tensor<128x!tt.ptr<f16>>
    %be = tt.expand_dims %bv {axis = 0 : i32} : tensor<128xf16> -> tensor<1x128xf16>
    %bb = tt.broadcast %be : tensor<1x128xf16> -> tensor<32x128xf16>
    %bw = arith.extf %bb : tensor<32x128xf16> to tensor<32x128xf32>
    %ae = tt.expand_dims %av {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
    %ab = tt.broadcast %ae : tensor<32x1xf32> -> tensor<32x128xf32>
    %d = arith.subf %ab, %bw : tensor<32x128xf32>
    %e = math.exp %d : tensor<32x128xf32>
    %r1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %r2 = arith.muli %r1, %width : tensor<32x1xi32>
    %r3 = tt.broadcast %r2 : tensor<32x1xi32> -> tensor<32x128xi32>
    %c2 = tt.expand_dims %cols {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %c3 = tt.broadcast %c2 : tensor<1x128xi32> -> tensor<32x128xi32>
    %o = arith.addi %r3, %c3 : tensor<32x128xi32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x128xf32>) : i32 {
      %first = arith.muli %i, %c4096 : i32
      %xr = tt.addptr %x, %first : !tt.ptr<f32>, i32
      %xs = tt.splat %xr : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>>
      %xp = tt.addptr %xs, %o : tensor<32x128x!tt.ptr<f32>>, tensor<32x128xi32>
      %v = tt.load %xp : tensor<32x128x!tt.ptr<f32>>
      %p = arith.mulf %v, %e : tensor<32x128xf32>
      %s = arith.addf %acc, %p : tensor<32x128xf32>
      scf.yield %s : tensor<32x128xf32>
    }
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %o : tensor<32x128x!tt.ptr<f32>>, tensor<32x128xi32>
    tt.store %yp, %sum : tensor<32x128x!tt.ptr<f32>>
    tt.return
  }
}
