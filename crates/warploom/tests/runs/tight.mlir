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
