// Products that no tensor core multiplies, for want of rows, columns or K: lanes do (T12, Q20).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[32] --arg=[64] --arg=[2]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[32] --arg=[64] --arg=[2]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[32] --arg=[64] --arg=[2]
// clean
module {
  tt.func public @k(%a: !tt.ptr<f8E5M2> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f8E5M2> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %rm = tt.make_range {end = 1 : i32, start = 0 : i32} : tensor<1xi32>
    %rn = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %rk = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %m = tt.expand_dims %rm {axis = 1 : i32} : tensor<1xi32> -> tensor<1x1xi32>
    %n = tt.expand_dims %rn {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
    %k0 = tt.expand_dims %rk {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %k1 = tt.expand_dims %rk {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %ck = arith.constant dense<32> : tensor<1x1xi32>
    %cn = arith.constant dense<2> : tensor<32x1xi32>
    %cn2 = arith.constant dense<2> : tensor<1x1xi32>
    %mk = arith.muli %m, %ck : tensor<1x1xi32>
    %kn = arith.muli %k1, %cn : tensor<32x1xi32>
    %mn = arith.muli %m, %cn2 : tensor<1x1xi32>
    %a0 = tt.broadcast %mk : tensor<1x1xi32> -> tensor<1x32xi32>
    %a1 = tt.broadcast %k0 : tensor<1x32xi32> -> tensor<1x32xi32>
    %ao = arith.addi %a0, %a1 : tensor<1x32xi32>
    %b0 = tt.broadcast %kn : tensor<32x1xi32> -> tensor<32x2xi32>
    %b1 = tt.broadcast %n : tensor<1x2xi32> -> tensor<32x2xi32>
    %bo = arith.addi %b0, %b1 : tensor<32x2xi32>
    %c0 = tt.broadcast %mn : tensor<1x1xi32> -> tensor<1x2xi32>
    %c1 = tt.broadcast %n : tensor<1x2xi32> -> tensor<1x2xi32>
    %co = arith.addi %c0, %c1 : tensor<1x2xi32>
    %as = tt.splat %a : !tt.ptr<f8E5M2> -> tensor<1x32x!tt.ptr<f8E5M2>>
    %bs = tt.splat %b : !tt.ptr<f8E5M2> -> tensor<32x2x!tt.ptr<f8E5M2>>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<1x2x!tt.ptr<f32>>
    %ap = tt.addptr %as, %ao : tensor<1x32x!tt.ptr<f8E5M2>>, tensor<1x32xi32>
    %bp = tt.addptr %bs, %bo : tensor<32x2x!tt.ptr<f8E5M2>>, tensor<32x2xi32>
    %cp = tt.addptr %cs, %co : tensor<1x2x!tt.ptr<f32>>, tensor<1x2xi32>
    %x = tt.load %ap : tensor<1x32x!tt.ptr<f8E5M2>>
    %y = tt.load %bp : tensor<32x2x!tt.ptr<f8E5M2>>
    %z = arith.constant dense<0.0> : tensor<1x2xf32>
    %d = tt.dot %x, %y, %z, inputPrecision = ieee : tensor<1x32xf8E5M2> * tensor<32x2xf8E5M2> -> tensor<1x2xf32>
    tt.store %cp, %d : tensor<1x2x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[128] --arg=[2048] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[128] --arg=[2048] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[128] --arg=[2048] --arg=[256]
// clean
module {
  tt.func public @k(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %rm = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %rn = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rk = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %m = tt.expand_dims %rm {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %n = tt.expand_dims %rn {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %k0 = tt.expand_dims %rk {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %k1 = tt.expand_dims %rk {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %ck = arith.constant dense<32> : tensor<4x1xi32>
    %cn = arith.constant dense<64> : tensor<32x1xi32>
    %cn2 = arith.constant dense<64> : tensor<4x1xi32>
    %mk = arith.muli %m, %ck : tensor<4x1xi32>
    %kn = arith.muli %k1, %cn : tensor<32x1xi32>
    %mn = arith.muli %m, %cn2 : tensor<4x1xi32>
    %a0 = tt.broadcast %mk : tensor<4x1xi32> -> tensor<4x32xi32>
    %a1 = tt.broadcast %k0 : tensor<1x32xi32> -> tensor<4x32xi32>
    %ao = arith.addi %a0, %a1 : tensor<4x32xi32>
    %b0 = tt.broadcast %kn : tensor<32x1xi32> -> tensor<32x64xi32>
    %b1 = tt.broadcast %n : tensor<1x64xi32> -> tensor<32x64xi32>
    %bo = arith.addi %b0, %b1 : tensor<32x64xi32>
    %c0 = tt.broadcast %mn : tensor<4x1xi32> -> tensor<4x64xi32>
    %c1 = tt.broadcast %n : tensor<1x64xi32> -> tensor<4x64xi32>
    %co = arith.addi %c0, %c1 : tensor<4x64xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<4x32x!tt.ptr<f16>>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<4x64x!tt.ptr<f32>>
    %ap = tt.addptr %as, %ao : tensor<4x32x!tt.ptr<f16>>, tensor<4x32xi32>
    %bp = tt.addptr %bs, %bo : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %cp = tt.addptr %cs, %co : tensor<4x64x!tt.ptr<f32>>, tensor<4x64xi32>
    %x = tt.load %ap : tensor<4x32x!tt.ptr<f16>>
    %y = tt.load %bp : tensor<32x64x!tt.ptr<f16>>
    %z = arith.constant dense<0.0> : tensor<4x64xf32>
    %d = tt.dot %x, %y, %z, inputPrecision = ieee : tensor<4x32xf16> * tensor<32x64xf16> -> tensor<4x64xf32>
    tt.store %cp, %d : tensor<4x64x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[2048] --arg=[128] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[2048] --arg=[128] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[2048] --arg=[128] --arg=[256]
// clean
module {
  tt.func public @k(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %rm = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rn = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %rk = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %m = tt.expand_dims %rm {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %n = tt.expand_dims %rn {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %k0 = tt.expand_dims %rk {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %k1 = tt.expand_dims %rk {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %ck = arith.constant dense<32> : tensor<64x1xi32>
    %cn = arith.constant dense<4> : tensor<32x1xi32>
    %cn2 = arith.constant dense<4> : tensor<64x1xi32>
    %mk = arith.muli %m, %ck : tensor<64x1xi32>
    %kn = arith.muli %k1, %cn : tensor<32x1xi32>
    %mn = arith.muli %m, %cn2 : tensor<64x1xi32>
    %a0 = tt.broadcast %mk : tensor<64x1xi32> -> tensor<64x32xi32>
    %a1 = tt.broadcast %k0 : tensor<1x32xi32> -> tensor<64x32xi32>
    %ao = arith.addi %a0, %a1 : tensor<64x32xi32>
    %b0 = tt.broadcast %kn : tensor<32x1xi32> -> tensor<32x4xi32>
    %b1 = tt.broadcast %n : tensor<1x4xi32> -> tensor<32x4xi32>
    %bo = arith.addi %b0, %b1 : tensor<32x4xi32>
    %c0 = tt.broadcast %mn : tensor<64x1xi32> -> tensor<64x4xi32>
    %c1 = tt.broadcast %n : tensor<1x4xi32> -> tensor<64x4xi32>
    %co = arith.addi %c0, %c1 : tensor<64x4xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<32x4x!tt.ptr<f16>>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x4x!tt.ptr<f32>>
    %ap = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %bp = tt.addptr %bs, %bo : tensor<32x4x!tt.ptr<f16>>, tensor<32x4xi32>
    %cp = tt.addptr %cs, %co : tensor<64x4x!tt.ptr<f32>>, tensor<64x4xi32>
    %x = tt.load %ap : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %bp : tensor<32x4x!tt.ptr<f16>>
    %z = arith.constant dense<0.0> : tensor<64x4xf32>
    %d = tt.dot %x, %y, %z, inputPrecision = ieee : tensor<64x32xf16> * tensor<32x4xf16> -> tensor<64x4xf32>
    tt.store %cp, %d : tensor<64x4x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[128] --arg=[128] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[128] --arg=[128] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[128] --arg=[128] --arg=[256]
// clean
module {
  tt.func public @k(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rn = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rk = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %m = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %n = tt.expand_dims %rn {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %k0 = tt.expand_dims %rk {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %k1 = tt.expand_dims %rk {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %ck = arith.constant dense<8> : tensor<16x1xi32>
    %cn = arith.constant dense<16> : tensor<8x1xi32>
    %cn2 = arith.constant dense<16> : tensor<16x1xi32>
    %mk = arith.muli %m, %ck : tensor<16x1xi32>
    %kn = arith.muli %k1, %cn : tensor<8x1xi32>
    %mn = arith.muli %m, %cn2 : tensor<16x1xi32>
    %a0 = tt.broadcast %mk : tensor<16x1xi32> -> tensor<16x8xi32>
    %a1 = tt.broadcast %k0 : tensor<1x8xi32> -> tensor<16x8xi32>
    %ao = arith.addi %a0, %a1 : tensor<16x8xi32>
    %b0 = tt.broadcast %kn : tensor<8x1xi32> -> tensor<8x16xi32>
    %b1 = tt.broadcast %n : tensor<1x16xi32> -> tensor<8x16xi32>
    %bo = arith.addi %b0, %b1 : tensor<8x16xi32>
    %c0 = tt.broadcast %mn : tensor<16x1xi32> -> tensor<16x16xi32>
    %c1 = tt.broadcast %n : tensor<1x16xi32> -> tensor<16x16xi32>
    %co = arith.addi %c0, %c1 : tensor<16x16xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<16x8x!tt.ptr<f16>>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<8x16x!tt.ptr<f16>>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    %ap = tt.addptr %as, %ao : tensor<16x8x!tt.ptr<f16>>, tensor<16x8xi32>
    %bp = tt.addptr %bs, %bo : tensor<8x16x!tt.ptr<f16>>, tensor<8x16xi32>
    %cp = tt.addptr %cs, %co : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %x = tt.load %ap : tensor<16x8x!tt.ptr<f16>>
    %y = tt.load %bp : tensor<8x16x!tt.ptr<f16>>
    %z = arith.constant dense<0.0> : tensor<16x16xf32>
    %d = tt.dot %x, %y, %z, inputPrecision = ieee : tensor<16x8xf16> * tensor<8x16xf16> -> tensor<16x16xf32>
    tt.store %cp, %d : tensor<16x16x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[16] --arg=[16] --arg=[16]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[16] --arg=[16] --arg=[16]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[16] --arg=[16] --arg=[16]
// clean
module {
  tt.func public @k(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %rm = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %rn = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %rk = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %m = tt.expand_dims %rm {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %n = tt.expand_dims %rn {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %k0 = tt.expand_dims %rk {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %k1 = tt.expand_dims %rk {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %ck = arith.constant dense<4> : tensor<4x1xi32>
    %cn = arith.constant dense<4> : tensor<4x1xi32>
    %cn2 = arith.constant dense<4> : tensor<4x1xi32>
    %mk = arith.muli %m, %ck : tensor<4x1xi32>
    %kn = arith.muli %k1, %cn : tensor<4x1xi32>
    %mn = arith.muli %m, %cn2 : tensor<4x1xi32>
    %a0 = tt.broadcast %mk : tensor<4x1xi32> -> tensor<4x4xi32>
    %a1 = tt.broadcast %k0 : tensor<1x4xi32> -> tensor<4x4xi32>
    %ao = arith.addi %a0, %a1 : tensor<4x4xi32>
    %b0 = tt.broadcast %kn : tensor<4x1xi32> -> tensor<4x4xi32>
    %b1 = tt.broadcast %n : tensor<1x4xi32> -> tensor<4x4xi32>
    %bo = arith.addi %b0, %b1 : tensor<4x4xi32>
    %c0 = tt.broadcast %mn : tensor<4x1xi32> -> tensor<4x4xi32>
    %c1 = tt.broadcast %n : tensor<1x4xi32> -> tensor<4x4xi32>
    %co = arith.addi %c0, %c1 : tensor<4x4xi32>
    %as = tt.splat %a : !tt.ptr<bf16> -> tensor<4x4x!tt.ptr<bf16>>
    %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<4x4x!tt.ptr<bf16>>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<4x4x!tt.ptr<f32>>
    %ap = tt.addptr %as, %ao : tensor<4x4x!tt.ptr<bf16>>, tensor<4x4xi32>
    %bp = tt.addptr %bs, %bo : tensor<4x4x!tt.ptr<bf16>>, tensor<4x4xi32>
    %cp = tt.addptr %cs, %co : tensor<4x4x!tt.ptr<f32>>, tensor<4x4xi32>
    %x = tt.load %ap : tensor<4x4x!tt.ptr<bf16>>
    %y = tt.load %bp : tensor<4x4x!tt.ptr<bf16>>
    %z = arith.constant dense<0.0> : tensor<4x4xf32>
    %d = tt.dot %x, %y, %z, inputPrecision = ieee : tensor<4x4xbf16> * tensor<4x4xbf16> -> tensor<4x4xf32>
    tt.store %cp, %d : tensor<4x4x!tt.ptr<f32>>
    tt.return
  }
}
