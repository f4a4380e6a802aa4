// Weights of 4 bits, eight to a word, joined and reshaped in front of a product: K is shorter than the rows that a warpgroup
// holds, and lanes make the elements wherever they store them (C62, G5).
// run: run - --target sm_90a --interleavings 4 --seed 1 --arg=[6144] --arg=[768] --arg=[4096] --arg=96
// run: run - --target sm_90a --interleavings 2 --seed 2 --arg=[6144] --arg=[768] --arg=[4096] --arg=0
// run: run - --target sm_100a --interleavings 4 --seed 1 --arg=[6144] --arg=[768] --arg=[4096] --arg=96
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[6144] --arg=[768] --arg=[4096] --arg=96
// clean
module {
  tt.func public @packed(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32 {tt.divisibility = 16 : i32}) {
    %zero = arith.constant 0 : i32
    %step = arith.constant 32 : i32
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %pitch = arith.constant dense<96> : tensor<64x1xi32>
    %words = arith.constant dense<8> : tensor<32x1xi32>
    %wide = arith.constant dense<64> : tensor<64x1xi32>
    %four = arith.constant dense<4> : tensor<8xi32>
    %low = arith.constant dense<15> : tensor<32x64xi32>
    %middle = arith.constant dense<8> : tensor<32x64xi32>
    %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %ks = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %eight = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %bits = arith.muli %eight, %four : tensor<8xi32>
    %bits2 = tt.expand_dims %bits {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %bits8 = tt.broadcast %bits2 : tensor<1x8xi32> -> tensor<8x8xi32>
    %bits64 = tt.reshape %bits8 : tensor<8x8xi32> -> tensor<64xi32>
    %shift1 = tt.expand_dims %bits64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %shift = tt.broadcast %shift1 : tensor<1x64xi32> -> tensor<32x64xi32>
    %rows2 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %cols2 = tt.expand_dims %rows {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %ra = arith.muli %rows2, %pitch : tensor<64x1xi32>
    %ab = tt.broadcast %ra : tensor<64x1xi32> -> tensor<64x32xi32>
    %eight2 = tt.expand_dims %eight {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %bw = tt.broadcast %eight2 : tensor<1x8xi32> -> tensor<32x8xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %bs = tt.splat %b : !tt.ptr<i32> -> tensor<32x8x!tt.ptr<i32>>
    %sum = scf.for %i = %zero to %k step %step iter_args(%acc = %none) -> (tensor<64x64xf32>)  : i32 {
      %from = tt.splat %i : i32 -> tensor<32xi32>
      %at = arith.addi %from, %ks : tensor<32xi32>
      %at0 = tt.expand_dims %at {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %ac = tt.broadcast %at0 : tensor<1x32xi32> -> tensor<64x32xi32>
      %ao = arith.addi %ab, %ac : tensor<64x32xi32>
      %ap = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %ap : tensor<64x32x!tt.ptr<f16>>
      %at1 = tt.expand_dims %at {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %br = arith.muli %at1, %words : tensor<32x1xi32>
      %bb = tt.broadcast %br : tensor<32x1xi32> -> tensor<32x8xi32>
      %bo = arith.addi %bb, %bw : tensor<32x8xi32>
      %bp = tt.addptr %bs, %bo : tensor<32x8x!tt.ptr<i32>>, tensor<32x8xi32>
      %w = tt.load %bp : tensor<32x8x!tt.ptr<i32>>
      %w2 = tt.join %w, %w : tensor<32x8xi32> -> tensor<32x8x2xi32>
      %w16 = tt.reshape %w2 : tensor<32x8x2xi32> -> tensor<32x16xi32>
      %w4 = tt.join %w16, %w16 : tensor<32x16xi32> -> tensor<32x16x2xi32>
      %w32 = tt.reshape %w4 : tensor<32x16x2xi32> -> tensor<32x32xi32>
      %w8 = tt.join %w32, %w32 : tensor<32x32xi32> -> tensor<32x32x2xi32>
      %w64 = tt.reshape %w8 : tensor<32x32x2xi32> -> tensor<32x64xi32>
      %moved = arith.shrui %w64, %shift : tensor<32x64xi32>
      %digit = arith.andi %moved, %low : tensor<32x64xi32>
      %signed = arith.subi %digit, %middle : tensor<32x64xi32>
      %y = arith.sitofp %signed : tensor<32x64xi32> to tensor<32x64xf16>
      %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %rc = arith.muli %rows2, %wide : tensor<64x1xi32>
    %cb = tt.broadcast %rc : tensor<64x1xi32> -> tensor<64x64xi32>
    %cc = tt.broadcast %cols2 : tensor<1x64xi32> -> tensor<64x64xi32>
    %co = arith.addi %cb, %cc : tensor<64x64xi32>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %cp = tt.addptr %cs, %co : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %cp, %sum : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// Few rows: the product is made turned, and its lanes write what they hold where it belongs.
// run: run - --target sm_90a --interleavings 4 --seed 1 --arg=[2048] --arg=[16384] --arg=[2048] --arg=128
// run: run - --target sm_90a --interleavings 2 --seed 2 --arg=[2048] --arg=[16384] --arg=[2048] --arg=0
// run: run - --target sm_100a --interleavings 4 --seed 1 --arg=[2048] --arg=[16384] --arg=[2048] --arg=128
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[2048] --arg=[16384] --arg=[2048] --arg=128
// clean
module {
  tt.func public @turned(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: i32 {tt.divisibility = 16 : i32}) {
    %zero = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %none = arith.constant dense<0.0> : tensor<128x16xf32>
    %nothing = arith.constant dense<0.0> : tensor<16x128xf16>
    %pitch = arith.constant dense<128> : tensor<16x1xi32>
    %deep = arith.constant dense<128> : tensor<128x1xi32>
    %rows = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %cols = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %ks = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rows2 = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %cols0 = tt.expand_dims %cols {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %cols1 = tt.expand_dims %cols {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ra = arith.muli %rows2, %pitch : tensor<16x1xi32>
    %ab = tt.broadcast %ra : tensor<16x1xi32> -> tensor<16x64xi32>
    %rb = arith.muli %cols1, %deep : tensor<128x1xi32>
    %bb = tt.broadcast %rb : tensor<128x1xi32> -> tensor<128x64xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<16x64x!tt.ptr<f16>>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
    %cb = tt.broadcast %ra : tensor<16x1xi32> -> tensor<16x128xi32>
    %cc = tt.broadcast %cols0 : tensor<1x128xi32> -> tensor<16x128xi32>
    %co = arith.addi %cb, %cc : tensor<16x128xi32>
    %cs = tt.splat %c : !tt.ptr<f16> -> tensor<16x128x!tt.ptr<f16>>
    %cp = tt.addptr %cs, %co : tensor<16x128x!tt.ptr<f16>>, tensor<16x128xi32>
    %empty = arith.cmpi sle, %k, %zero : i32
    scf.if %empty {
      tt.store %cp, %nothing : tensor<16x128x!tt.ptr<f16>>
    }
    %sum = scf.for %i = %zero to %k step %step iter_args(%acc = %none) -> (tensor<128x16xf32>)  : i32 {
      %from = tt.splat %i : i32 -> tensor<64xi32>
      %at = arith.addi %from, %ks : tensor<64xi32>
      %at0 = tt.expand_dims %at {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %ac = tt.broadcast %at0 : tensor<1x64xi32> -> tensor<16x64xi32>
      %ao = arith.addi %ab, %ac : tensor<16x64xi32>
      %ap = tt.addptr %as, %ao : tensor<16x64x!tt.ptr<f16>>, tensor<16x64xi32>
      %x = tt.load %ap : tensor<16x64x!tt.ptr<f16>>
      %bc = tt.broadcast %at0 : tensor<1x64xi32> -> tensor<128x64xi32>
      %bo = arith.addi %bb, %bc : tensor<128x64xi32>
      %bp = tt.addptr %bs, %bo : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
      %y = tt.load %bp : tensor<128x64x!tt.ptr<f16>>
      %turned = tt.trans %x {order = array<i32: 1, 0>} : tensor<16x64xf16> -> tensor<64x16xf16>
      %d = tt.dot %y, %turned, %acc, inputPrecision = tf32 : tensor<128x64xf16> * tensor<64x16xf16> -> tensor<128x16xf32>
      scf.yield %d : tensor<128x16xf32>
    }
    %back = tt.trans %sum {order = array<i32: 1, 0>} : tensor<128x16xf32> -> tensor<16x128xf32>
    %half = arith.truncf %back : tensor<16x128xf32> to tensor<16x128xf16>
    tt.store %cp, %half : tensor<16x128x!tt.ptr<f16>>
    tt.return
  }
}
