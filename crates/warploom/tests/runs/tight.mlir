// Tiles that together are more than shared memory holds, and one after the other are not: those in front of two loops leave
// their bytes to the later ones (C92).
// run: run - --target sm_120a --interleavings 4 --seed 1 --arg=[65536] --arg=[8192] --arg=[4096] --arg=64
// run: run - --target sm_120a --interleavings 2 --seed 2 --arg=[65536] --arg=[8192] --arg=[4096] --arg=0
// run: run - --target sm_89 --interleavings 2 --seed 3 --arg=[65536] --arg=[8192] --arg=[4096] --arg=32
// clean
module {
  tt.func public @in_turn(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
    %zero = arith.constant 0 : i32
    %step = arith.constant 32 : i32
    %none = arith.constant dense<0.0> : tensor<32x128xf32>
    %pitch = arith.constant dense<128> : tensor<128x1xi32>
    %pitch32 = arith.constant dense<128> : tensor<32x1xi32>
    %rows = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %few = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %r = tt.expand_dims %rows {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %k = tt.expand_dims %rows {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %f = tt.expand_dims %few {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %ar = arith.muli %r, %pitch : tensor<128x1xi32>
    %ar2 = tt.broadcast %ar : tensor<128x1xi32> -> tensor<128x128xi32>
    %ak = tt.broadcast %k : tensor<1x128xi32> -> tensor<128x128xi32>
    %ao = arith.addi %ar2, %ak : tensor<128x128xi32>
    %bk = tt.broadcast %k : tensor<1x128xi32> -> tensor<32x128xi32>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<32x128x!tt.ptr<f16>>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
    %at0 = arith.constant dense<0> : tensor<128x128xi32>
    %ap0 = arith.addi %ao, %at0 : tensor<128x128xi32>
    %aq0 = tt.addptr %as, %ap0 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %x0 = tt.load %aq0 : tensor<128x128x!tt.ptr<f16>>
    %at1 = arith.constant dense<16384> : tensor<128x128xi32>
    %ap1 = arith.addi %ao, %at1 : tensor<128x128xi32>
    %aq1 = tt.addptr %as, %ap1 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %x1 = tt.load %aq1 : tensor<128x128x!tt.ptr<f16>>
    %sum0 = scf.for %i0 = %zero to %n step %step iter_args(%acc0 = %none) -> (tensor<32x128xf32>)  : i32 {
      %from0 = tt.splat %i0 : i32 -> tensor<32x1xi32>
      %row0 = arith.addi %from0, %f : tensor<32x1xi32>
      %line0 = arith.muli %row0, %pitch32 : tensor<32x1xi32>
      %line20 = tt.broadcast %line0 : tensor<32x1xi32> -> tensor<32x128xi32>
      %bo0 = arith.addi %line20, %bk : tensor<32x128xi32>
      %bp0 = tt.addptr %bs, %bo0 : tensor<32x128x!tt.ptr<f16>>, tensor<32x128xi32>
      %y0 = tt.load %bp0 : tensor<32x128x!tt.ptr<f16>>
      %d0 = tt.dot %y0, %x0, %acc0, inputPrecision = tf32 : tensor<32x128xf16> * tensor<128x128xf16> -> tensor<32x128xf32>
      %p0 = arith.truncf %d0 : tensor<32x128xf32> to tensor<32x128xf16>
      %e0 = tt.dot %p0, %x1, %none, inputPrecision = tf32 : tensor<32x128xf16> * tensor<128x128xf16> -> tensor<32x128xf32>
      scf.yield %e0 : tensor<32x128xf32>
    }
    %at2 = arith.constant dense<32768> : tensor<128x128xi32>
    %ap2 = arith.addi %ao, %at2 : tensor<128x128xi32>
    %aq2 = tt.addptr %as, %ap2 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %x2 = tt.load %aq2 : tensor<128x128x!tt.ptr<f16>>
    %at3 = arith.constant dense<49152> : tensor<128x128xi32>
    %ap3 = arith.addi %ao, %at3 : tensor<128x128xi32>
    %aq3 = tt.addptr %as, %ap3 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %x3 = tt.load %aq3 : tensor<128x128x!tt.ptr<f16>>
    %sum2 = scf.for %i2 = %zero to %n step %step iter_args(%acc2 = %sum0) -> (tensor<32x128xf32>)  : i32 {
      %from2 = tt.splat %i2 : i32 -> tensor<32x1xi32>
      %row2 = arith.addi %from2, %f : tensor<32x1xi32>
      %line2 = arith.muli %row2, %pitch32 : tensor<32x1xi32>
      %line22 = tt.broadcast %line2 : tensor<32x1xi32> -> tensor<32x128xi32>
      %bo2 = arith.addi %line22, %bk : tensor<32x128xi32>
      %bp2 = tt.addptr %bs, %bo2 : tensor<32x128x!tt.ptr<f16>>, tensor<32x128xi32>
      %y2 = tt.load %bp2 : tensor<32x128x!tt.ptr<f16>>
      %d2 = tt.dot %y2, %x2, %acc2, inputPrecision = tf32 : tensor<32x128xf16> * tensor<128x128xf16> -> tensor<32x128xf32>
      %p2 = arith.truncf %d2 : tensor<32x128xf32> to tensor<32x128xf16>
      %e2 = tt.dot %p2, %x3, %none, inputPrecision = tf32 : tensor<32x128xf16> * tensor<128x128xf16> -> tensor<32x128xf32>
      scf.yield %e2 : tensor<32x128xf32>
    }
    %cr = arith.muli %f, %pitch32 : tensor<32x1xi32>
    %cr2 = tt.broadcast %cr : tensor<32x1xi32> -> tensor<32x128xi32>
    %cp = arith.addi %cr2, %bk : tensor<32x128xi32>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>>
    %cq = tt.addptr %cs, %cp : tensor<32x128x!tt.ptr<f32>>, tensor<32x128xi32>
    tt.store %cq, %sum2 : tensor<32x128x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// Four products of a trip, whose tiles a ring of sm_120a does not hold at once: the loop is not pipelined there, and later
// tiles take the bytes of earlier ones (C92).
// run: run - --target sm_120a --grid 1 --interleavings 3 --seed 1 --arg=[65536] --arg=[65536] --arg=[4096]
// run: run - --target sm_80 --grid 1 --interleavings 3 --seed 1 --arg=[65536] --arg=[65536] --arg=[4096]
// run: run - --target sm_90a --grid 1 --interleavings 3 --seed 1 --arg=[65536] --arg=[65536] --arg=[4096]
// clean
module {
  tt.func public @four(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant 0 : i32
    %step = arith.constant 512 : i32
    %k = arith.constant 1024 : i32
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %wide = arith.constant dense<1024> : tensor<64x1xi32>
    %tall = arith.constant dense<64> : tensor<128x1xi32>
    %long = arith.constant dense<64> : tensor<64x1xi32>
    %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %m = tt.expand_dims %r64 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %n = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %am = arith.muli %m, %wide : tensor<64x1xi32>
    %am2 = tt.broadcast %am : tensor<64x1xi32> -> tensor<64x128xi32>
    %n2 = tt.broadcast %n : tensor<1x64xi32> -> tensor<128x64xi32>
    %as = tt.splat %a : !tt.ptr<bf16> -> tensor<64x128x!tt.ptr<bf16>>
    %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<128x64x!tt.ptr<bf16>>
    %all = scf.for %i = %zero to %k step %step iter_args(%sum = %none) -> (tensor<64x64xf32>) : i32 {
      %o0 = arith.constant 0 : i32
      %i0 = arith.addi %i, %o0 : i32
      %is0 = tt.splat %i0 : i32 -> tensor<128xi32>
      %ks0 = arith.addi %is0, %r128 : tensor<128xi32>
      %ka0 = tt.expand_dims %ks0 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
      %kb0 = tt.expand_dims %ks0 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %kc0 = tt.broadcast %ka0 : tensor<1x128xi32> -> tensor<64x128xi32>
      %ao0 = arith.addi %am2, %kc0 : tensor<64x128xi32>
      %bk0 = arith.muli %kb0, %tall : tensor<128x1xi32>
      %bl0 = tt.broadcast %bk0 : tensor<128x1xi32> -> tensor<128x64xi32>
      %bo0 = arith.addi %bl0, %n2 : tensor<128x64xi32>
      %ap0 = tt.addptr %as, %ao0 : tensor<64x128x!tt.ptr<bf16>>, tensor<64x128xi32>
      %bp0 = tt.addptr %bs, %bo0 : tensor<128x64x!tt.ptr<bf16>>, tensor<128x64xi32>
      %x0 = tt.load %ap0 : tensor<64x128x!tt.ptr<bf16>>
      %y0 = tt.load %bp0 : tensor<128x64x!tt.ptr<bf16>>
      %d0 = tt.dot %x0, %y0, %sum, inputPrecision = tf32 : tensor<64x128xbf16> * tensor<128x64xbf16> -> tensor<64x64xf32>
      %o1 = arith.constant 128 : i32
      %i1 = arith.addi %i, %o1 : i32
      %is1 = tt.splat %i1 : i32 -> tensor<128xi32>
      %ks1 = arith.addi %is1, %r128 : tensor<128xi32>
      %ka1 = tt.expand_dims %ks1 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
      %kb1 = tt.expand_dims %ks1 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %kc1 = tt.broadcast %ka1 : tensor<1x128xi32> -> tensor<64x128xi32>
      %ao1 = arith.addi %am2, %kc1 : tensor<64x128xi32>
      %bk1 = arith.muli %kb1, %tall : tensor<128x1xi32>
      %bl1 = tt.broadcast %bk1 : tensor<128x1xi32> -> tensor<128x64xi32>
      %bo1 = arith.addi %bl1, %n2 : tensor<128x64xi32>
      %ap1 = tt.addptr %as, %ao1 : tensor<64x128x!tt.ptr<bf16>>, tensor<64x128xi32>
      %bp1 = tt.addptr %bs, %bo1 : tensor<128x64x!tt.ptr<bf16>>, tensor<128x64xi32>
      %x1 = tt.load %ap1 : tensor<64x128x!tt.ptr<bf16>>
      %y1 = tt.load %bp1 : tensor<128x64x!tt.ptr<bf16>>
      %d1 = tt.dot %x1, %y1, %d0, inputPrecision = tf32 : tensor<64x128xbf16> * tensor<128x64xbf16> -> tensor<64x64xf32>
      %o2 = arith.constant 256 : i32
      %i2 = arith.addi %i, %o2 : i32
      %is2 = tt.splat %i2 : i32 -> tensor<128xi32>
      %ks2 = arith.addi %is2, %r128 : tensor<128xi32>
      %ka2 = tt.expand_dims %ks2 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
      %kb2 = tt.expand_dims %ks2 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %kc2 = tt.broadcast %ka2 : tensor<1x128xi32> -> tensor<64x128xi32>
      %ao2 = arith.addi %am2, %kc2 : tensor<64x128xi32>
      %bk2 = arith.muli %kb2, %tall : tensor<128x1xi32>
      %bl2 = tt.broadcast %bk2 : tensor<128x1xi32> -> tensor<128x64xi32>
      %bo2 = arith.addi %bl2, %n2 : tensor<128x64xi32>
      %ap2 = tt.addptr %as, %ao2 : tensor<64x128x!tt.ptr<bf16>>, tensor<64x128xi32>
      %bp2 = tt.addptr %bs, %bo2 : tensor<128x64x!tt.ptr<bf16>>, tensor<128x64xi32>
      %x2 = tt.load %ap2 : tensor<64x128x!tt.ptr<bf16>>
      %y2 = tt.load %bp2 : tensor<128x64x!tt.ptr<bf16>>
      %d2 = tt.dot %x2, %y2, %d1, inputPrecision = tf32 : tensor<64x128xbf16> * tensor<128x64xbf16> -> tensor<64x64xf32>
      %o3 = arith.constant 384 : i32
      %i3 = arith.addi %i, %o3 : i32
      %is3 = tt.splat %i3 : i32 -> tensor<128xi32>
      %ks3 = arith.addi %is3, %r128 : tensor<128xi32>
      %ka3 = tt.expand_dims %ks3 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
      %kb3 = tt.expand_dims %ks3 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %kc3 = tt.broadcast %ka3 : tensor<1x128xi32> -> tensor<64x128xi32>
      %ao3 = arith.addi %am2, %kc3 : tensor<64x128xi32>
      %bk3 = arith.muli %kb3, %tall : tensor<128x1xi32>
      %bl3 = tt.broadcast %bk3 : tensor<128x1xi32> -> tensor<128x64xi32>
      %bo3 = arith.addi %bl3, %n2 : tensor<128x64xi32>
      %ap3 = tt.addptr %as, %ao3 : tensor<64x128x!tt.ptr<bf16>>, tensor<64x128xi32>
      %bp3 = tt.addptr %bs, %bo3 : tensor<128x64x!tt.ptr<bf16>>, tensor<128x64xi32>
      %x3 = tt.load %ap3 : tensor<64x128x!tt.ptr<bf16>>
      %y3 = tt.load %bp3 : tensor<128x64x!tt.ptr<bf16>>
      %d3 = tt.dot %x3, %y3, %d2, inputPrecision = tf32 : tensor<64x128xbf16> * tensor<128x64xbf16> -> tensor<64x64xf32>
      scf.yield %d3 : tensor<64x64xf32>
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
