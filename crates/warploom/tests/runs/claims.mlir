// Assertions in the region of a reduction and of a scan, which hold for what the kernel combines, not for what idle lanes
// would (C3, C65): sums below 2048 of elements below 4, while twice any prefix is above.
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[512] --arg=[512] --arg=[1]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[512] --arg=[512] --arg=[1]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[512] --arg=[512] --arg=[1]
// clean
module {
  tt.func public @sums(%p: !tt.ptr<i32>, %r: !tt.ptr<i32>, %s: !tt.ptr<i32>) {
    %three = arith.constant dense<3> : tensor<512xi32>
    %most = arith.constant 2048 : i32
    %n = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %pps = tt.splat %p : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
    %pp = tt.addptr %pps, %n : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
    %rps = tt.splat %r : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
    %rp = tt.addptr %rps, %n : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
    %x = tt.load %pp : tensor<512x!tt.ptr<i32>>
    %y = arith.andi %x, %three : tensor<512xi32>
    %all = "tt.reduce"(%y) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      %holds = arith.cmpi slt, %c, %most : i32
      tt.assert %holds, "small" : i1
      tt.reduce.return %c : i32
    }) : (tensor<512xi32>) -> i32
    tt.store %s, %all : !tt.ptr<i32>
    %z = "tt.scan"(%y) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      %holds = arith.cmpi slt, %c, %most : i32
      tt.assert %holds, "small" : i1
      tt.scan.return %c : i32
    }) : (tensor<512xi32>) -> tensor<512xi32>
    tt.store %rp, %z : tensor<512x!tt.ptr<i32>>
    tt.return
  }
}
// -----
// The same where lanes without one before them would fail: numbers rise, and each sum takes a later one.
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[512]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[512]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[512]
// clean
module {
  tt.func public @rising(%r: !tt.ptr<i32>) {
    %n = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %rps = tt.splat %r : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
    %rp = tt.addptr %rps, %n : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
    %t = tt.reshape %n : tensor<512xi32> -> tensor<8x64xi32>
    %z = "tt.scan"(%t) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%a: i32, %b: i32):
      %later = arith.cmpi slt, %a, %b : i32
      tt.assert %later, "in order" : i1
      tt.scan.return %b : i32
    }) : (tensor<8x64xi32>) -> tensor<8x64xi32>
    %f = tt.reshape %z : tensor<8x64xi32> -> tensor<512xi32>
    tt.store %rp, %f : tensor<512x!tt.ptr<i32>>
    tt.return
  }
}
// -----
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[512]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[512]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[512]
// clean
module {
  tt.func public @rising(%r: !tt.ptr<i32>) {
    %n = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %rps = tt.splat %r : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
    %rp = tt.addptr %rps, %n : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
    %t = tt.reshape %n : tensor<512xi32> -> tensor<8x64xi32>
    %z = "tt.scan"(%t) <{axis = 1 : i32, reverse = true}> ({
    ^bb0(%a: i32, %b: i32):
      %later = arith.cmpi sgt, %a, %b : i32
      tt.assert %later, "in order" : i1
      tt.scan.return %b : i32
    }) : (tensor<8x64xi32>) -> tensor<8x64xi32>
    %f = tt.reshape %z : tensor<8x64xi32> -> tensor<512xi32>
    tt.store %rp, %f : tensor<512x!tt.ptr<i32>>
    tt.return
  }
}
// -----
// An assertion of a reduction that does not hold (C3).
// run: run - --target sm_90a --seed 1 --arg=[1]
module {
  tt.func public @fails(%s: !tt.ptr<i32>) {
    %most = arith.constant 100 : i32
    %n = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %all = "tt.reduce"(%n) <{axis = 0 : i32}> ({ // error: assertion failed: small [shape]
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      %holds = arith.cmpi slt, %c, %most : i32
      tt.assert %holds, "small" : i1
      tt.reduce.return %c : i32
    }) : (tensor<64xi32>) -> i32
    tt.store %s, %all : !tt.ptr<i32>
    tt.return
  }
}
// -----
// Pointers that the author calls constant (C5).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[256] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[256] --arg=[256]
// clean
module {
  tt.func public @constant(%p: !tt.ptr<f32, "constant"> {tt.divisibility = 16 : i32}, %r: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %pps = tt.splat %p : !tt.ptr<f32, "constant"> -> tensor<256x!tt.ptr<f32, "constant">>
    %pp = tt.addptr %pps, %n : tensor<256x!tt.ptr<f32, "constant">>, tensor<256xi32>
    %rps = tt.splat %r : !tt.ptr<f32, "global"> -> tensor<256x!tt.ptr<f32>>
    %rp = tt.addptr %rps, %n : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %x = tt.load %pp : tensor<256x!tt.ptr<f32, "constant">>
    tt.store %rp, %x : tensor<256x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// The absolute value of 8-bit floats, whose bits hold the sign alone apart (C68).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[256] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[256] --arg=[256]
// clean
module {
  tt.func public @absolute(%p: !tt.ptr<f8E5M2>, %r: !tt.ptr<f8E5M2>) {
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %pps = tt.splat %p : !tt.ptr<f8E5M2> -> tensor<256x!tt.ptr<f8E5M2>>
    %pp = tt.addptr %pps, %n : tensor<256x!tt.ptr<f8E5M2>>, tensor<256xi32>
    %rps = tt.splat %r : !tt.ptr<f8E5M2> -> tensor<256x!tt.ptr<f8E5M2>>
    %rp = tt.addptr %rps, %n : tensor<256x!tt.ptr<f8E5M2>>, tensor<256xi32>
    %x = tt.load %pp : tensor<256x!tt.ptr<f8E5M2>>
    %y = math.absf %x : tensor<256xf8E5M2>
    tt.store %rp, %y : tensor<256x!tt.ptr<f8E5M2>>
    tt.return
  }
}
// -----
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[256] --arg=[256]
// clean
module {
  tt.func public @absolute(%p: !tt.ptr<f8E4M3FN>, %r: !tt.ptr<f8E4M3FN>) {
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %pps = tt.splat %p : !tt.ptr<f8E4M3FN> -> tensor<256x!tt.ptr<f8E4M3FN>>
    %pp = tt.addptr %pps, %n : tensor<256x!tt.ptr<f8E4M3FN>>, tensor<256xi32>
    %rps = tt.splat %r : !tt.ptr<f8E4M3FN> -> tensor<256x!tt.ptr<f8E4M3FN>>
    %rp = tt.addptr %rps, %n : tensor<256x!tt.ptr<f8E4M3FN>>, tensor<256xi32>
    %x = tt.load %pp : tensor<256x!tt.ptr<f8E4M3FN>>
    %y = math.absf %x : tensor<256xf8E4M3FN>
    tt.store %rp, %y : tensor<256x!tt.ptr<f8E4M3FN>>
    tt.return
  }
}
// -----
// A scan of one element gives it, whoever reads it (C65).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[1] --arg=[64]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[1] --arg=[64]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[1] --arg=[64]
// clean
module {
  tt.func public @one(%p: !tt.ptr<i32>, %r: !tt.ptr<i32>) {
    %pp = tt.splat %p : !tt.ptr<i32> -> tensor<1x!tt.ptr<i32>>
    %x = tt.load %pp : tensor<1x!tt.ptr<i32>>
    %z = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.scan.return %c : i32
    }) : (tensor<1xi32>) -> tensor<1xi32>
    %t = tt.reshape %z : tensor<1xi32> -> tensor<1x1xi32>
    %w = tt.broadcast %t : tensor<1x1xi32> -> tensor<64x1xi32>
    %f = tt.reshape %w : tensor<64x1xi32> -> tensor<64xi32>
    %n = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rps = tt.splat %r : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %rp = tt.addptr %rps, %n : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    tt.store %rp, %f : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}
