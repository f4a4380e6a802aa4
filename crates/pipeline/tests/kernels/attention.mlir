// Attention forward over one head, written by hand for the tests: blocks before `split` plain, those behind it under a
// mask, so that two loops share their rings; the second loop most often takes one trip.
module {
  tt.func public @attention(%Q: !tt.tensordesc<128x64xbf16>, %q0: i32, %q1: i32, %q2: i64, %q3: i64, %K: !tt.tensordesc<64x64xbf16>, %k0: i32, %k1: i32, %k2: i64, %k3: i64, %V: !tt.tensordesc<64x64xbf16>, %v0: i32, %v1: i32, %v2: i64, %v3: i64, %O: !tt.tensordesc<128x64xbf16>, %o0: i32, %o1: i32, %o2: i64, %o3: i64, %lse: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %split: i32, %length: i32) {
    %zero = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
    %none = arith.constant dense<0.000000e+00> : tensor<128xf32>
    %least = arith.constant dense<0xFF800000> : tensor<128xf32>
    %never = arith.constant dense<0xFF800000> : tensor<128x64xf32>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %p = tt.get_program_id x : i32
    %row = arith.muli %p, %c128 : i32
    %q = tt.descriptor_load %Q[%row, %c0] : !tt.tensordesc<128x64xbf16> -> tensor<128x64xbf16>
    %a:3 = scf.for %i = %c0 to %split step %c64 iter_args(%acc = %zero, %sum = %none, %top = %least) -> (tensor<128x64xf32>, tensor<128xf32>, tensor<128xf32>)  : i32 {
      %k = tt.descriptor_load %K[%i, %c0] : !tt.tensordesc<64x64xbf16> -> tensor<64x64xbf16>
      %kt = tt.trans %k {order = array<i32: 1, 0>} : tensor<64x64xbf16> -> tensor<64x64xbf16>
      %s = tt.dot %q, %kt, %zero, inputPrecision = tf32 : tensor<128x64xbf16> * tensor<64x64xbf16> -> tensor<128x64xf32>
      %m = "tt.reduce"(%s) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.maxnumf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<128x64xf32>) -> tensor<128xf32>
      %new = arith.maxnumf %top, %m : tensor<128xf32>
      %nc = tt.expand_dims %new {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
      %nb = tt.broadcast %nc : tensor<128x1xf32> -> tensor<128x64xf32>
      %d = arith.subf %s, %nb : tensor<128x64xf32>
      %e = math.exp2 %d : tensor<128x64xf32>
      %f = arith.subf %top, %new : tensor<128xf32>
      %decay = math.exp2 %f : tensor<128xf32>
      %g = arith.mulf %sum, %decay : tensor<128xf32>
      %h = "tt.reduce"(%e) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<128x64xf32>) -> tensor<128xf32>
      %total = arith.addf %g, %h : tensor<128xf32>
      %w = arith.truncf %e : tensor<128x64xf32> to tensor<128x64xbf16>
      %v = tt.descriptor_load %V[%i, %c0] : !tt.tensordesc<64x64xbf16> -> tensor<64x64xbf16>
      %dc = tt.expand_dims %decay {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
      %db = tt.broadcast %dc : tensor<128x1xf32> -> tensor<128x64xf32>
      %scaled = arith.mulf %acc, %db : tensor<128x64xf32>
      %next = tt.dot %w, %v, %scaled, inputPrecision = tf32 : tensor<128x64xbf16> * tensor<64x64xbf16> -> tensor<128x64xf32>
      scf.yield %next, %total, %new : tensor<128x64xf32>, tensor<128xf32>, tensor<128xf32>
    }
    %b:3 = scf.for %i = %split to %length step %c64 iter_args(%acc = %a#0, %sum = %a#1, %top = %a#2) -> (tensor<128x64xf32>, tensor<128xf32>, tensor<128xf32>)  : i32 {
      %k = tt.descriptor_load %K[%i, %c0] : !tt.tensordesc<64x64xbf16> -> tensor<64x64xbf16>
      %kt = tt.trans %k {order = array<i32: 1, 0>} : tensor<64x64xbf16> -> tensor<64x64xbf16>
      %all = tt.dot %q, %kt, %zero, inputPrecision = tf32 : tensor<128x64xbf16> * tensor<64x64xbf16> -> tensor<128x64xf32>
      %lane = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %first = tt.splat %i : i32 -> tensor<64xi32>
      %column = arith.addi %first, %lane : tensor<64xi32>
      %end = tt.splat %length : i32 -> tensor<64xi32>
      %inside = arith.cmpi slt, %column, %end : tensor<64xi32>
      %ic = tt.expand_dims %inside {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1>
      %ib = tt.broadcast %ic : tensor<1x64xi1> -> tensor<128x64xi1>
      %s = arith.select %ib, %all, %never : tensor<128x64xi1>, tensor<128x64xf32>
      %m = "tt.reduce"(%s) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.maxnumf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<128x64xf32>) -> tensor<128xf32>
      %new = arith.maxnumf %top, %m : tensor<128xf32>
      %nc = tt.expand_dims %new {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
      %nb = tt.broadcast %nc : tensor<128x1xf32> -> tensor<128x64xf32>
      %d = arith.subf %s, %nb : tensor<128x64xf32>
      %e = math.exp2 %d : tensor<128x64xf32>
      %f = arith.subf %top, %new : tensor<128xf32>
      %decay = math.exp2 %f : tensor<128xf32>
      %g = arith.mulf %sum, %decay : tensor<128xf32>
      %h = "tt.reduce"(%e) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<128x64xf32>) -> tensor<128xf32>
      %total = arith.addf %g, %h : tensor<128xf32>
      %w = arith.truncf %e : tensor<128x64xf32> to tensor<128x64xbf16>
      %v = tt.descriptor_load %V[%i, %c0] : !tt.tensordesc<64x64xbf16> -> tensor<64x64xbf16>
      %dc = tt.expand_dims %decay {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
      %db = tt.broadcast %dc : tensor<128x1xf32> -> tensor<128x64xf32>
      %scaled = arith.mulf %acc, %db : tensor<128x64xf32>
      %next = tt.dot %w, %v, %scaled, inputPrecision = tf32 : tensor<128x64xbf16> * tensor<64x64xbf16> -> tensor<128x64xf32>
      scf.yield %next, %total, %new : tensor<128x64xf32>, tensor<128xf32>, tensor<128xf32>
    }
    %tc = tt.expand_dims %b#1 {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
    %tb = tt.broadcast %tc : tensor<128x1xf32> -> tensor<128x64xf32>
    %quotient = arith.divf %b#0, %tb : tensor<128x64xf32>
    %out = arith.truncf %quotient : tensor<128x64xf32> to tensor<128x64xbf16>
    tt.descriptor_store %O[%row, %c0], %out : !tt.tensordesc<128x64xbf16>, tensor<128x64xbf16>
    %at = tt.addptr %lse, %row : !tt.ptr<f32>, i32
    %as = tt.splat %at : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %to = tt.addptr %as, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %log = math.log2 %b#1 : tensor<128xf32>
    %l = arith.addf %b#2, %log : tensor<128xf32>
    tt.store %to, %l : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
