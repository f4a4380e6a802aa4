// Tiles that both sides of a branch load from the same places, the last trip under a mask: one load, which is pipelined in
// front of an asynchronous product (C8, Q12). The last of four trips has four columns.
// run: run - --target sm_80 --grid 1 --interleavings 3 --seed 1 --arg=[8192] --arg=[8192] --arg=[4096] --arg=100
// run: run - --target sm_90a --grid 1 --interleavings 3 --seed 1 --arg=[8192] --arg=[8192] --arg=[4096] --arg=100
// run: run - --target sm_100a --grid 1 --interleavings 3 --seed 1 --arg=[8192] --arg=[8192] --arg=[4096] --arg=100
// clean
module {
  tt.func public @same_places(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32) {
    %zero = arith.constant 0 : i32
    %step = arith.constant 32 : i32
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %empty = arith.constant dense<0.0> : tensor<64x32xbf16>
    %void = arith.constant dense<0.0> : tensor<32x64xbf16>
    %wide = arith.constant dense<128> : tensor<64x1xi32>
    %tall = arith.constant dense<64> : tensor<32x1xi32>
    %long = arith.constant dense<64> : tensor<64x1xi32>
    %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %m = tt.expand_dims %r64 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %n = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %am = arith.muli %m, %wide : tensor<64x1xi32>
    %am2 = tt.broadcast %am : tensor<64x1xi32> -> tensor<64x32xi32>
    %n2 = tt.broadcast %n : tensor<1x64xi32> -> tensor<32x64xi32>
    %all = scf.for %i = %zero to %k step %step iter_args(%sum = %none) -> (tensor<64x64xf32>) : i32 {
      %is = tt.splat %i : i32 -> tensor<32xi32>
      %ks = arith.addi %is, %r32 : tensor<32xi32>
      %ka = tt.expand_dims %ks {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %kb = tt.expand_dims %ks {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %ka2 = tt.broadcast %ka : tensor<1x32xi32> -> tensor<64x32xi32>
      %ao = arith.addi %am2, %ka2 : tensor<64x32xi32>
      %bk = arith.muli %kb, %tall : tensor<32x1xi32>
      %bk2 = tt.broadcast %bk : tensor<32x1xi32> -> tensor<32x64xi32>
      %bo = arith.addi %bk2, %n2 : tensor<32x64xi32>
      %end = arith.addi %i, %step : i32
      %last = arith.cmpi sgt, %end, %k : i32
      %x, %y = scf.if %last -> (tensor<64x32xbf16>, tensor<32x64xbf16>) {
        %kk = tt.splat %k : i32 -> tensor<1x32xi32>
        %in = arith.cmpi slt, %ka, %kk : tensor<1x32xi32>
        %in2 = tt.broadcast %in : tensor<1x32xi1> -> tensor<64x32xi1>
        %kl = tt.splat %k : i32 -> tensor<32x1xi32>
        %jn = arith.cmpi slt, %kb, %kl : tensor<32x1xi32>
        %jn2 = tt.broadcast %jn : tensor<32x1xi1> -> tensor<32x64xi1>
        %as = tt.splat %a : !tt.ptr<bf16> -> tensor<64x32x!tt.ptr<bf16>>
        %ap = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
        %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<32x64x!tt.ptr<bf16>>
        %bp = tt.addptr %bs, %bo : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
        %xl = tt.load %ap, %in2, %empty : tensor<64x32x!tt.ptr<bf16>>
        %yl = tt.load %bp, %jn2, %void : tensor<32x64x!tt.ptr<bf16>>
        scf.yield %xl, %yl : tensor<64x32xbf16>, tensor<32x64xbf16>
      } else {
        %as = tt.splat %a : !tt.ptr<bf16> -> tensor<64x32x!tt.ptr<bf16>>
        %ap = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
        %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<32x64x!tt.ptr<bf16>>
        %bp = tt.addptr %bs, %bo : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
        %xf = tt.load %ap : tensor<64x32x!tt.ptr<bf16>>
        %yf = tt.load %bp : tensor<32x64x!tt.ptr<bf16>>
        scf.yield %xf, %yf : tensor<64x32xbf16>, tensor<32x64xbf16>
      }
      %d = tt.dot %x, %y, %sum, inputPrecision = tf32 : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %cm = arith.muli %m, %long : tensor<64x1xi32>
    %cm2 = tt.broadcast %cm : tensor<64x1xi32> -> tensor<64x64xi32>
    %cn2 = tt.broadcast %n : tensor<1x64xi32> -> tensor<64x64xi32>
    %co = arith.addi %cm2, %cn2 : tensor<64x64xi32>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %cp = tt.addptr %cs, %co : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %cp, %all : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// The same kernel: what the branch gave comes by copies, and the product is wgmma.
// run: explain - --target sm_90a
// check: @main ... wgmma
// check: @p0: ... cp.async in groups
module {
  tt.func public @same_places(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32) {
    %zero = arith.constant 0 : i32
    %step = arith.constant 32 : i32
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %empty = arith.constant dense<0.0> : tensor<64x32xbf16>
    %void = arith.constant dense<0.0> : tensor<32x64xbf16>
    %wide = arith.constant dense<128> : tensor<64x1xi32>
    %tall = arith.constant dense<64> : tensor<32x1xi32>
    %long = arith.constant dense<64> : tensor<64x1xi32>
    %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %m = tt.expand_dims %r64 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %n = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %am = arith.muli %m, %wide : tensor<64x1xi32>
    %am2 = tt.broadcast %am : tensor<64x1xi32> -> tensor<64x32xi32>
    %n2 = tt.broadcast %n : tensor<1x64xi32> -> tensor<32x64xi32>
    %all = scf.for %i = %zero to %k step %step iter_args(%sum = %none) -> (tensor<64x64xf32>) : i32 {
      %is = tt.splat %i : i32 -> tensor<32xi32>
      %ks = arith.addi %is, %r32 : tensor<32xi32>
      %ka = tt.expand_dims %ks {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %kb = tt.expand_dims %ks {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %ka2 = tt.broadcast %ka : tensor<1x32xi32> -> tensor<64x32xi32>
      %ao = arith.addi %am2, %ka2 : tensor<64x32xi32>
      %bk = arith.muli %kb, %tall : tensor<32x1xi32>
      %bk2 = tt.broadcast %bk : tensor<32x1xi32> -> tensor<32x64xi32>
      %bo = arith.addi %bk2, %n2 : tensor<32x64xi32>
      %end = arith.addi %i, %step : i32
      %last = arith.cmpi sgt, %end, %k : i32
      %x, %y = scf.if %last -> (tensor<64x32xbf16>, tensor<32x64xbf16>) {
        %kk = tt.splat %k : i32 -> tensor<1x32xi32>
        %in = arith.cmpi slt, %ka, %kk : tensor<1x32xi32>
        %in2 = tt.broadcast %in : tensor<1x32xi1> -> tensor<64x32xi1>
        %kl = tt.splat %k : i32 -> tensor<32x1xi32>
        %jn = arith.cmpi slt, %kb, %kl : tensor<32x1xi32>
        %jn2 = tt.broadcast %jn : tensor<32x1xi1> -> tensor<32x64xi1>
        %as = tt.splat %a : !tt.ptr<bf16> -> tensor<64x32x!tt.ptr<bf16>>
        %ap = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
        %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<32x64x!tt.ptr<bf16>>
        %bp = tt.addptr %bs, %bo : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
        %xl = tt.load %ap, %in2, %empty : tensor<64x32x!tt.ptr<bf16>>
        %yl = tt.load %bp, %jn2, %void : tensor<32x64x!tt.ptr<bf16>>
        scf.yield %xl, %yl : tensor<64x32xbf16>, tensor<32x64xbf16>
      } else {
        %as = tt.splat %a : !tt.ptr<bf16> -> tensor<64x32x!tt.ptr<bf16>>
        %ap = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
        %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<32x64x!tt.ptr<bf16>>
        %bp = tt.addptr %bs, %bo : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
        %xf = tt.load %ap : tensor<64x32x!tt.ptr<bf16>>
        %yf = tt.load %bp : tensor<32x64x!tt.ptr<bf16>>
        scf.yield %xf, %yf : tensor<64x32xbf16>, tensor<32x64xbf16>
      }
      %d = tt.dot %x, %y, %sum, inputPrecision = tf32 : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %cm = arith.muli %m, %long : tensor<64x1xi32>
    %cm2 = tt.broadcast %cm : tensor<64x1xi32> -> tensor<64x64xi32>
    %cn2 = tt.broadcast %n : tensor<1x64xi32> -> tensor<64x64xi32>
    %co = arith.addi %cm2, %cn2 : tensor<64x64xi32>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %cp = tt.addptr %cs, %co : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %cp, %all : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// The other side reads another buffer: the branch stays.
// run: run - --target sm_80 --grid 1 --interleavings 3 --seed 1 --arg=[8192] --arg=[8192] --arg=[4096] --arg=100
// run: run - --target sm_90a --grid 1 --interleavings 3 --seed 1 --arg=[8192] --arg=[8192] --arg=[4096] --arg=100
// run: run - --target sm_100a --grid 1 --interleavings 3 --seed 1 --arg=[8192] --arg=[8192] --arg=[4096] --arg=100
// clean
module {
  tt.func public @other_places(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32) {
    %zero = arith.constant 0 : i32
    %step = arith.constant 32 : i32
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %empty = arith.constant dense<0.0> : tensor<64x32xbf16>
    %void = arith.constant dense<0.0> : tensor<32x64xbf16>
    %wide = arith.constant dense<128> : tensor<64x1xi32>
    %tall = arith.constant dense<64> : tensor<32x1xi32>
    %long = arith.constant dense<64> : tensor<64x1xi32>
    %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %m = tt.expand_dims %r64 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %n = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %am = arith.muli %m, %wide : tensor<64x1xi32>
    %am2 = tt.broadcast %am : tensor<64x1xi32> -> tensor<64x32xi32>
    %n2 = tt.broadcast %n : tensor<1x64xi32> -> tensor<32x64xi32>
    %all = scf.for %i = %zero to %k step %step iter_args(%sum = %none) -> (tensor<64x64xf32>) : i32 {
      %is = tt.splat %i : i32 -> tensor<32xi32>
      %ks = arith.addi %is, %r32 : tensor<32xi32>
      %ka = tt.expand_dims %ks {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %kb = tt.expand_dims %ks {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %ka2 = tt.broadcast %ka : tensor<1x32xi32> -> tensor<64x32xi32>
      %ao = arith.addi %am2, %ka2 : tensor<64x32xi32>
      %bk = arith.muli %kb, %tall : tensor<32x1xi32>
      %bk2 = tt.broadcast %bk : tensor<32x1xi32> -> tensor<32x64xi32>
      %bo = arith.addi %bk2, %n2 : tensor<32x64xi32>
      %end = arith.addi %i, %step : i32
      %last = arith.cmpi sgt, %end, %k : i32
      %x, %y = scf.if %last -> (tensor<64x32xbf16>, tensor<32x64xbf16>) {
        %kk = tt.splat %k : i32 -> tensor<1x32xi32>
        %in = arith.cmpi slt, %ka, %kk : tensor<1x32xi32>
        %in2 = tt.broadcast %in : tensor<1x32xi1> -> tensor<64x32xi1>
        %kl = tt.splat %k : i32 -> tensor<32x1xi32>
        %jn = arith.cmpi slt, %kb, %kl : tensor<32x1xi32>
        %jn2 = tt.broadcast %jn : tensor<32x1xi1> -> tensor<32x64xi1>
        %as = tt.splat %a : !tt.ptr<bf16> -> tensor<64x32x!tt.ptr<bf16>>
        %ap = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
        %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<32x64x!tt.ptr<bf16>>
        %bp = tt.addptr %bs, %bo : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
        %xl = tt.load %ap, %in2, %empty : tensor<64x32x!tt.ptr<bf16>>
        %yl = tt.load %bp, %jn2, %void : tensor<32x64x!tt.ptr<bf16>>
        scf.yield %xl, %yl : tensor<64x32xbf16>, tensor<32x64xbf16>
      } else {
        %as = tt.splat %b : !tt.ptr<bf16> -> tensor<64x32x!tt.ptr<bf16>>
        %ap = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
        %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<32x64x!tt.ptr<bf16>>
        %bp = tt.addptr %bs, %bo : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
        %xf = tt.load %ap : tensor<64x32x!tt.ptr<bf16>>
        %yf = tt.load %bp : tensor<32x64x!tt.ptr<bf16>>
        scf.yield %xf, %yf : tensor<64x32xbf16>, tensor<32x64xbf16>
      }
      %d = tt.dot %x, %y, %sum, inputPrecision = tf32 : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %cm = arith.muli %m, %long : tensor<64x1xi32>
    %cm2 = tt.broadcast %cm : tensor<64x1xi32> -> tensor<64x64xi32>
    %cn2 = tt.broadcast %n : tensor<1x64xi32> -> tensor<64x64xi32>
    %co = arith.addi %cm2, %cn2 : tensor<64x64xi32>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %cp = tt.addptr %cs, %co : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %cp, %all : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
