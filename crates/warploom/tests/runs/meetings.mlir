// Elements of a vector meet at a distance of 1, 2, .. 128, each pair picked out of a cube by products and sums, as sorts
// outside Triton's library are written. What is left of a cube is a row or a column with one extent of 1, of which no lane
// holds more than its share (G5, G10).
// run: run - --target sm_80 --interleavings 3 --seed 1 --arg=[256] --arg=[256]
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[256] --arg=[256]
// run: run - --target sm_100a --interleavings 3 --seed 1 --arg=[256] --arg=[256]
// clean
module {
  tt.func public @meetings(%from: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %into: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0> : tensor<256xi32>
    %one = arith.constant dense<1> : tensor<1x2x1xi32>
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %two = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %two1 = tt.expand_dims %two {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
    %pair = tt.expand_dims %two1 {axis = 2 : i32} : tensor<1x2xi32> -> tensor<1x2x1xi32>
    %other = arith.subi %one, %pair : tensor<1x2x1xi32>
    %left = arith.sitofp %other : tensor<1x2x1xi32> to tensor<1x2x1xf32>
    %right = arith.sitofp %pair : tensor<1x2x1xi32> to tensor<1x2x1xf32>
    %ps = tt.splat %from : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %pp = tt.addptr %ps, %n : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %qs = tt.splat %into : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %qp = tt.addptr %qs, %n : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %v = tt.load %pp : tensor<256x!tt.ptr<f32>>
    %c0 = tt.reshape %v : tensor<256xf32> -> tensor<128x2x1xf32>
    %l0 = tt.broadcast %left : tensor<1x2x1xf32> -> tensor<128x2x1xf32>
    %r0 = tt.broadcast %right : tensor<1x2x1xf32> -> tensor<128x2x1xf32>
    %lm0 = arith.mulf %c0, %l0 : tensor<128x2x1xf32>
    %rm0 = arith.mulf %c0, %r0 : tensor<128x2x1xf32>
    %ls0 = "tt.reduce"(%lm0) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<128x2x1xf32>) -> tensor<128x1xf32>
    %rs0 = "tt.reduce"(%rm0) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<128x2x1xf32>) -> tensor<128x1xf32>
    %le0 = tt.expand_dims %ls0 {axis = 1 : i32} : tensor<128x1xf32> -> tensor<128x1x1xf32>
    %re0 = tt.expand_dims %rs0 {axis = 1 : i32} : tensor<128x1xf32> -> tensor<128x1x1xf32>
    %lb0 = tt.broadcast %le0 : tensor<128x1x1xf32> -> tensor<128x2x1xf32>
    %rb0 = tt.broadcast %re0 : tensor<128x1x1xf32> -> tensor<128x2x1xf32>
    %lv0 = tt.reshape %lb0 : tensor<128x2x1xf32> -> tensor<256xf32>
    %rv0 = tt.reshape %rb0 : tensor<128x2x1xf32> -> tensor<256xf32>
    %o0 = tt.broadcast %pair : tensor<1x2x1xi32> -> tensor<128x2x1xi32>
    %ov0 = tt.reshape %o0 : tensor<128x2x1xi32> -> tensor<256xi32>
    %first0 = arith.cmpi eq, %ov0, %zero : tensor<256xi32>
    %lo0 = arith.minnumf %lv0, %rv0 : tensor<256xf32>
    %hi0 = arith.maxnumf %lv0, %rv0 : tensor<256xf32>
    %x0 = arith.select %first0, %lo0, %hi0 : tensor<256xi1>, tensor<256xf32>
    %c1 = tt.reshape %x0 : tensor<256xf32> -> tensor<64x2x2xf32>
    %l1 = tt.broadcast %left : tensor<1x2x1xf32> -> tensor<64x2x2xf32>
    %r1 = tt.broadcast %right : tensor<1x2x1xf32> -> tensor<64x2x2xf32>
    %lm1 = arith.mulf %c1, %l1 : tensor<64x2x2xf32>
    %rm1 = arith.mulf %c1, %r1 : tensor<64x2x2xf32>
    %ls1 = "tt.reduce"(%lm1) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<64x2x2xf32>) -> tensor<64x2xf32>
    %rs1 = "tt.reduce"(%rm1) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<64x2x2xf32>) -> tensor<64x2xf32>
    %le1 = tt.expand_dims %ls1 {axis = 1 : i32} : tensor<64x2xf32> -> tensor<64x1x2xf32>
    %re1 = tt.expand_dims %rs1 {axis = 1 : i32} : tensor<64x2xf32> -> tensor<64x1x2xf32>
    %lb1 = tt.broadcast %le1 : tensor<64x1x2xf32> -> tensor<64x2x2xf32>
    %rb1 = tt.broadcast %re1 : tensor<64x1x2xf32> -> tensor<64x2x2xf32>
    %lv1 = tt.reshape %lb1 : tensor<64x2x2xf32> -> tensor<256xf32>
    %rv1 = tt.reshape %rb1 : tensor<64x2x2xf32> -> tensor<256xf32>
    %o1 = tt.broadcast %pair : tensor<1x2x1xi32> -> tensor<64x2x2xi32>
    %ov1 = tt.reshape %o1 : tensor<64x2x2xi32> -> tensor<256xi32>
    %first1 = arith.cmpi eq, %ov1, %zero : tensor<256xi32>
    %lo1 = arith.minnumf %lv1, %rv1 : tensor<256xf32>
    %hi1 = arith.maxnumf %lv1, %rv1 : tensor<256xf32>
    %x1 = arith.select %first1, %lo1, %hi1 : tensor<256xi1>, tensor<256xf32>
    %c2 = tt.reshape %x1 : tensor<256xf32> -> tensor<32x2x4xf32>
    %l2 = tt.broadcast %left : tensor<1x2x1xf32> -> tensor<32x2x4xf32>
    %r2 = tt.broadcast %right : tensor<1x2x1xf32> -> tensor<32x2x4xf32>
    %lm2 = arith.mulf %c2, %l2 : tensor<32x2x4xf32>
    %rm2 = arith.mulf %c2, %r2 : tensor<32x2x4xf32>
    %ls2 = "tt.reduce"(%lm2) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<32x2x4xf32>) -> tensor<32x4xf32>
    %rs2 = "tt.reduce"(%rm2) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<32x2x4xf32>) -> tensor<32x4xf32>
    %le2 = tt.expand_dims %ls2 {axis = 1 : i32} : tensor<32x4xf32> -> tensor<32x1x4xf32>
    %re2 = tt.expand_dims %rs2 {axis = 1 : i32} : tensor<32x4xf32> -> tensor<32x1x4xf32>
    %lb2 = tt.broadcast %le2 : tensor<32x1x4xf32> -> tensor<32x2x4xf32>
    %rb2 = tt.broadcast %re2 : tensor<32x1x4xf32> -> tensor<32x2x4xf32>
    %lv2 = tt.reshape %lb2 : tensor<32x2x4xf32> -> tensor<256xf32>
    %rv2 = tt.reshape %rb2 : tensor<32x2x4xf32> -> tensor<256xf32>
    %o2 = tt.broadcast %pair : tensor<1x2x1xi32> -> tensor<32x2x4xi32>
    %ov2 = tt.reshape %o2 : tensor<32x2x4xi32> -> tensor<256xi32>
    %first2 = arith.cmpi eq, %ov2, %zero : tensor<256xi32>
    %lo2 = arith.minnumf %lv2, %rv2 : tensor<256xf32>
    %hi2 = arith.maxnumf %lv2, %rv2 : tensor<256xf32>
    %x2 = arith.select %first2, %lo2, %hi2 : tensor<256xi1>, tensor<256xf32>
    %c3 = tt.reshape %x2 : tensor<256xf32> -> tensor<16x2x8xf32>
    %l3 = tt.broadcast %left : tensor<1x2x1xf32> -> tensor<16x2x8xf32>
    %r3 = tt.broadcast %right : tensor<1x2x1xf32> -> tensor<16x2x8xf32>
    %lm3 = arith.mulf %c3, %l3 : tensor<16x2x8xf32>
    %rm3 = arith.mulf %c3, %r3 : tensor<16x2x8xf32>
    %ls3 = "tt.reduce"(%lm3) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<16x2x8xf32>) -> tensor<16x8xf32>
    %rs3 = "tt.reduce"(%rm3) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<16x2x8xf32>) -> tensor<16x8xf32>
    %le3 = tt.expand_dims %ls3 {axis = 1 : i32} : tensor<16x8xf32> -> tensor<16x1x8xf32>
    %re3 = tt.expand_dims %rs3 {axis = 1 : i32} : tensor<16x8xf32> -> tensor<16x1x8xf32>
    %lb3 = tt.broadcast %le3 : tensor<16x1x8xf32> -> tensor<16x2x8xf32>
    %rb3 = tt.broadcast %re3 : tensor<16x1x8xf32> -> tensor<16x2x8xf32>
    %lv3 = tt.reshape %lb3 : tensor<16x2x8xf32> -> tensor<256xf32>
    %rv3 = tt.reshape %rb3 : tensor<16x2x8xf32> -> tensor<256xf32>
    %o3 = tt.broadcast %pair : tensor<1x2x1xi32> -> tensor<16x2x8xi32>
    %ov3 = tt.reshape %o3 : tensor<16x2x8xi32> -> tensor<256xi32>
    %first3 = arith.cmpi eq, %ov3, %zero : tensor<256xi32>
    %lo3 = arith.minnumf %lv3, %rv3 : tensor<256xf32>
    %hi3 = arith.maxnumf %lv3, %rv3 : tensor<256xf32>
    %x3 = arith.select %first3, %lo3, %hi3 : tensor<256xi1>, tensor<256xf32>
    %c4 = tt.reshape %x3 : tensor<256xf32> -> tensor<8x2x16xf32>
    %l4 = tt.broadcast %left : tensor<1x2x1xf32> -> tensor<8x2x16xf32>
    %r4 = tt.broadcast %right : tensor<1x2x1xf32> -> tensor<8x2x16xf32>
    %lm4 = arith.mulf %c4, %l4 : tensor<8x2x16xf32>
    %rm4 = arith.mulf %c4, %r4 : tensor<8x2x16xf32>
    %ls4 = "tt.reduce"(%lm4) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<8x2x16xf32>) -> tensor<8x16xf32>
    %rs4 = "tt.reduce"(%rm4) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<8x2x16xf32>) -> tensor<8x16xf32>
    %le4 = tt.expand_dims %ls4 {axis = 1 : i32} : tensor<8x16xf32> -> tensor<8x1x16xf32>
    %re4 = tt.expand_dims %rs4 {axis = 1 : i32} : tensor<8x16xf32> -> tensor<8x1x16xf32>
    %lb4 = tt.broadcast %le4 : tensor<8x1x16xf32> -> tensor<8x2x16xf32>
    %rb4 = tt.broadcast %re4 : tensor<8x1x16xf32> -> tensor<8x2x16xf32>
    %lv4 = tt.reshape %lb4 : tensor<8x2x16xf32> -> tensor<256xf32>
    %rv4 = tt.reshape %rb4 : tensor<8x2x16xf32> -> tensor<256xf32>
    %o4 = tt.broadcast %pair : tensor<1x2x1xi32> -> tensor<8x2x16xi32>
    %ov4 = tt.reshape %o4 : tensor<8x2x16xi32> -> tensor<256xi32>
    %first4 = arith.cmpi eq, %ov4, %zero : tensor<256xi32>
    %lo4 = arith.minnumf %lv4, %rv4 : tensor<256xf32>
    %hi4 = arith.maxnumf %lv4, %rv4 : tensor<256xf32>
    %x4 = arith.select %first4, %lo4, %hi4 : tensor<256xi1>, tensor<256xf32>
    %c5 = tt.reshape %x4 : tensor<256xf32> -> tensor<4x2x32xf32>
    %l5 = tt.broadcast %left : tensor<1x2x1xf32> -> tensor<4x2x32xf32>
    %r5 = tt.broadcast %right : tensor<1x2x1xf32> -> tensor<4x2x32xf32>
    %lm5 = arith.mulf %c5, %l5 : tensor<4x2x32xf32>
    %rm5 = arith.mulf %c5, %r5 : tensor<4x2x32xf32>
    %ls5 = "tt.reduce"(%lm5) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<4x2x32xf32>) -> tensor<4x32xf32>
    %rs5 = "tt.reduce"(%rm5) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<4x2x32xf32>) -> tensor<4x32xf32>
    %le5 = tt.expand_dims %ls5 {axis = 1 : i32} : tensor<4x32xf32> -> tensor<4x1x32xf32>
    %re5 = tt.expand_dims %rs5 {axis = 1 : i32} : tensor<4x32xf32> -> tensor<4x1x32xf32>
    %lb5 = tt.broadcast %le5 : tensor<4x1x32xf32> -> tensor<4x2x32xf32>
    %rb5 = tt.broadcast %re5 : tensor<4x1x32xf32> -> tensor<4x2x32xf32>
    %lv5 = tt.reshape %lb5 : tensor<4x2x32xf32> -> tensor<256xf32>
    %rv5 = tt.reshape %rb5 : tensor<4x2x32xf32> -> tensor<256xf32>
    %o5 = tt.broadcast %pair : tensor<1x2x1xi32> -> tensor<4x2x32xi32>
    %ov5 = tt.reshape %o5 : tensor<4x2x32xi32> -> tensor<256xi32>
    %first5 = arith.cmpi eq, %ov5, %zero : tensor<256xi32>
    %lo5 = arith.minnumf %lv5, %rv5 : tensor<256xf32>
    %hi5 = arith.maxnumf %lv5, %rv5 : tensor<256xf32>
    %x5 = arith.select %first5, %lo5, %hi5 : tensor<256xi1>, tensor<256xf32>
    %c6 = tt.reshape %x5 : tensor<256xf32> -> tensor<2x2x64xf32>
    %l6 = tt.broadcast %left : tensor<1x2x1xf32> -> tensor<2x2x64xf32>
    %r6 = tt.broadcast %right : tensor<1x2x1xf32> -> tensor<2x2x64xf32>
    %lm6 = arith.mulf %c6, %l6 : tensor<2x2x64xf32>
    %rm6 = arith.mulf %c6, %r6 : tensor<2x2x64xf32>
    %ls6 = "tt.reduce"(%lm6) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<2x2x64xf32>) -> tensor<2x64xf32>
    %rs6 = "tt.reduce"(%rm6) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<2x2x64xf32>) -> tensor<2x64xf32>
    %le6 = tt.expand_dims %ls6 {axis = 1 : i32} : tensor<2x64xf32> -> tensor<2x1x64xf32>
    %re6 = tt.expand_dims %rs6 {axis = 1 : i32} : tensor<2x64xf32> -> tensor<2x1x64xf32>
    %lb6 = tt.broadcast %le6 : tensor<2x1x64xf32> -> tensor<2x2x64xf32>
    %rb6 = tt.broadcast %re6 : tensor<2x1x64xf32> -> tensor<2x2x64xf32>
    %lv6 = tt.reshape %lb6 : tensor<2x2x64xf32> -> tensor<256xf32>
    %rv6 = tt.reshape %rb6 : tensor<2x2x64xf32> -> tensor<256xf32>
    %o6 = tt.broadcast %pair : tensor<1x2x1xi32> -> tensor<2x2x64xi32>
    %ov6 = tt.reshape %o6 : tensor<2x2x64xi32> -> tensor<256xi32>
    %first6 = arith.cmpi eq, %ov6, %zero : tensor<256xi32>
    %lo6 = arith.minnumf %lv6, %rv6 : tensor<256xf32>
    %hi6 = arith.maxnumf %lv6, %rv6 : tensor<256xf32>
    %x6 = arith.select %first6, %lo6, %hi6 : tensor<256xi1>, tensor<256xf32>
    %c7 = tt.reshape %x6 : tensor<256xf32> -> tensor<1x2x128xf32>
    %l7 = tt.broadcast %left : tensor<1x2x1xf32> -> tensor<1x2x128xf32>
    %r7 = tt.broadcast %right : tensor<1x2x1xf32> -> tensor<1x2x128xf32>
    %lm7 = arith.mulf %c7, %l7 : tensor<1x2x128xf32>
    %rm7 = arith.mulf %c7, %r7 : tensor<1x2x128xf32>
    %ls7 = "tt.reduce"(%lm7) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<1x2x128xf32>) -> tensor<1x128xf32>
    %rs7 = "tt.reduce"(%rm7) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<1x2x128xf32>) -> tensor<1x128xf32>
    %le7 = tt.expand_dims %ls7 {axis = 1 : i32} : tensor<1x128xf32> -> tensor<1x1x128xf32>
    %re7 = tt.expand_dims %rs7 {axis = 1 : i32} : tensor<1x128xf32> -> tensor<1x1x128xf32>
    %lb7 = tt.broadcast %le7 : tensor<1x1x128xf32> -> tensor<1x2x128xf32>
    %rb7 = tt.broadcast %re7 : tensor<1x1x128xf32> -> tensor<1x2x128xf32>
    %lv7 = tt.reshape %lb7 : tensor<1x2x128xf32> -> tensor<256xf32>
    %rv7 = tt.reshape %rb7 : tensor<1x2x128xf32> -> tensor<256xf32>
    %o7 = tt.broadcast %pair : tensor<1x2x1xi32> -> tensor<1x2x128xi32>
    %ov7 = tt.reshape %o7 : tensor<1x2x128xi32> -> tensor<256xi32>
    %first7 = arith.cmpi eq, %ov7, %zero : tensor<256xi32>
    %lo7 = arith.minnumf %lv7, %rv7 : tensor<256xf32>
    %hi7 = arith.maxnumf %lv7, %rv7 : tensor<256xf32>
    %x7 = arith.select %first7, %lo7, %hi7 : tensor<256xi1>, tensor<256xf32>
    tt.store %qp, %x7 : tensor<256x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// Halves of bytes, joined and stored one behind the other under a mask: the matrix of pairs is a vector in another shape, and
// lanes are dealt out for the vector (G2, G13).
// run: run - --target sm_80 --interleavings 3 --seed 1 --arg=[256] --arg=[512] --arg=500
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[256] --arg=[512] --arg=500
// run: run - --target sm_100a --interleavings 3 --seed 1 --arg=[256] --arg=[512] --arg=500
// clean
module {
  tt.func public @halves(%from: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %into: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %count: i32) {
    %low = arith.constant dense<15> : tensor<256xi8>
    %bits = arith.constant dense<4> : tensor<256xi8>
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %ps = tt.splat %from : !tt.ptr<i8> -> tensor<256x!tt.ptr<i8>>
    %pp = tt.addptr %ps, %n : tensor<256x!tt.ptr<i8>>, tensor<256xi32>
    %v = tt.load %pp : tensor<256x!tt.ptr<i8>>
    %a = arith.andi %v, %low : tensor<256xi8>
    %b = arith.shrui %v, %bits : tensor<256xi8>
    %af = arith.uitofp %a : tensor<256xi8> to tensor<256xf32>
    %bf = arith.uitofp %b : tensor<256xi8> to tensor<256xf32>
    %c = tt.join %bf, %af : tensor<256xf32> -> tensor<256x2xf32>
    %d = tt.reshape %c : tensor<256x2xf32> -> tensor<512xf32>
    %m = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %counts = tt.splat %count : i32 -> tensor<512xi32>
    %mask = arith.cmpi slt, %m, %counts : tensor<512xi32>
    %qs = tt.splat %into : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>>
    %qp = tt.addptr %qs, %m : tensor<512x!tt.ptr<f16>>, tensor<512xi32>
    %e = arith.truncf %d : tensor<512xf32> to tensor<512xf16>
    tt.store %qp, %e, %mask : tensor<512x!tt.ptr<f16>>
    tt.return
  }
}
