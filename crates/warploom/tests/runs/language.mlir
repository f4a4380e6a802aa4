// The remainder of f32 is exact, with the sign of the dividend (C68). The divisor is made by a power of two: the reference keeps
// f32 unrounded, and a remainder of many turns shows each bit of its divisor.
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// clean
module {
  tt.func public @remainder(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %r: !tt.ptr<f32>) {
    %small = arith.constant dense<9.765625e-4> : tensor<256xf32>
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %pps = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %pp = tt.addptr %pps, %n : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %qps = tt.splat %q : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %qp = tt.addptr %qps, %n : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %rps = tt.splat %r : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %rp = tt.addptr %rps, %n : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %x = tt.load %pp : tensor<256x!tt.ptr<f32>>
    %y = tt.load %qp : tensor<256x!tt.ptr<f32>>
    %z = arith.mulf %y, %small : tensor<256xf32>
    %m = arith.remf %x, %z : tensor<256xf32>
    tt.store %rp, %m : tensor<256x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// The remainder of f64 is exact, with the sign of the dividend (C68).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// clean
module {
  tt.func public @remainder(%p: !tt.ptr<f64>, %q: !tt.ptr<f64>, %r: !tt.ptr<f64>) {
    %small = arith.constant dense<1.0e-3> : tensor<256xf64>
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %pps = tt.splat %p : !tt.ptr<f64> -> tensor<256x!tt.ptr<f64>>
    %pp = tt.addptr %pps, %n : tensor<256x!tt.ptr<f64>>, tensor<256xi32>
    %qps = tt.splat %q : !tt.ptr<f64> -> tensor<256x!tt.ptr<f64>>
    %qp = tt.addptr %qps, %n : tensor<256x!tt.ptr<f64>>, tensor<256xi32>
    %rps = tt.splat %r : !tt.ptr<f64> -> tensor<256x!tt.ptr<f64>>
    %rp = tt.addptr %rps, %n : tensor<256x!tt.ptr<f64>>, tensor<256xi32>
    %x = tt.load %pp : tensor<256x!tt.ptr<f64>>
    %y = tt.load %qp : tensor<256x!tt.ptr<f64>>
    %z = arith.mulf %y, %small : tensor<256xf64>
    %m = arith.remf %x, %z : tensor<256xf64>
    tt.store %rp, %m : tensor<256x!tt.ptr<f64>>
    tt.return
  }
}
// -----
// The remainder of bf16 is exact, with the sign of the dividend (C68).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// clean
module {
  tt.func public @remainder(%p: !tt.ptr<bf16>, %q: !tt.ptr<bf16>, %r: !tt.ptr<bf16>) {
    %small = arith.constant dense<0.25> : tensor<256xbf16>
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %pps = tt.splat %p : !tt.ptr<bf16> -> tensor<256x!tt.ptr<bf16>>
    %pp = tt.addptr %pps, %n : tensor<256x!tt.ptr<bf16>>, tensor<256xi32>
    %qps = tt.splat %q : !tt.ptr<bf16> -> tensor<256x!tt.ptr<bf16>>
    %qp = tt.addptr %qps, %n : tensor<256x!tt.ptr<bf16>>, tensor<256xi32>
    %rps = tt.splat %r : !tt.ptr<bf16> -> tensor<256x!tt.ptr<bf16>>
    %rp = tt.addptr %rps, %n : tensor<256x!tt.ptr<bf16>>, tensor<256xi32>
    %x = tt.load %pp : tensor<256x!tt.ptr<bf16>>
    %y = tt.load %qp : tensor<256x!tt.ptr<bf16>>
    %z = arith.mulf %y, %small : tensor<256xbf16>
    %m = arith.remf %x, %z : tensor<256xbf16>
    tt.store %rp, %m : tensor<256x!tt.ptr<bf16>>
    tt.return
  }
}
// -----
// Of numbers that a mask leaves out none is counted.
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[2048] --arg=[8]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[2048] --arg=[8]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[2048] --arg=[8]
// clean
module {
  tt.func public @counted(%p: !tt.ptr<i32>, %r: !tt.ptr<i32>) {
    %limit = arith.constant dense<1500> : tensor<2048xi32>
    %seven = arith.constant dense<7> : tensor<2048xi32>
    %n = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32>
    %pps = tt.splat %p : !tt.ptr<i32> -> tensor<2048x!tt.ptr<i32>>
    %pp = tt.addptr %pps, %n : tensor<2048x!tt.ptr<i32>>, tensor<2048xi32>
    %e = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %rs = tt.splat %r : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %rp = tt.addptr %rs, %e : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %x = tt.load %pp : tensor<2048x!tt.ptr<i32>>
    %y = arith.andi %x, %seven : tensor<2048xi32>
    %kept = arith.cmpi slt, %n, %limit : tensor<2048xi32>
    %h = tt.histogram %y, %kept : tensor<2048xi32> -> tensor<8xi32>
    tt.store %rp, %h : tensor<8x!tt.ptr<i32>>
    tt.return
  }
}
// -----
// Products of several matrices of f16 at once (Q20).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[256] --arg=[128] --arg=[64]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[128] --arg=[64]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[256] --arg=[128] --arg=[64]
// clean
module {
  tt.func public @product(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %r: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.000000e+00> : tensor<2x8x4xf32>
    %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %j = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %k = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
    %pp = tt.addptr %ps, %i : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<128x!tt.ptr<f16>>
    %qp = tt.addptr %qs, %j : tensor<128x!tt.ptr<f16>>, tensor<128xi32>
    %rs = tt.splat %r : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %rp = tt.addptr %rs, %k : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %x1 = tt.load %pp : tensor<256x!tt.ptr<f16>>
    %y1 = tt.load %qp : tensor<128x!tt.ptr<f16>>
    %x = tt.reshape %x1 : tensor<256xf16> -> tensor<2x8x16xf16>
    %y = tt.reshape %y1 : tensor<128xf16> -> tensor<2x16x4xf16>
    %z = tt.dot %x, %y, %zero : tensor<2x8x16xf16> * tensor<2x16x4xf16> -> tensor<2x8x4xf32>
    %z1 = tt.reshape %z : tensor<2x8x4xf32> -> tensor<64xf32>
    tt.store %rp, %z1 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// Products of several matrices of i8 at once (Q20).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[512] --arg=[256] --arg=[64]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[512] --arg=[256] --arg=[64]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[512] --arg=[256] --arg=[64]
// clean
module {
  tt.func public @product(%p: !tt.ptr<i8>, %q: !tt.ptr<i8>, %r: !tt.ptr<i32>) {
    %zero = arith.constant dense<0> : tensor<2x8x4xi32>
    %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %j = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %k = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %ps = tt.splat %p : !tt.ptr<i8> -> tensor<512x!tt.ptr<i8>>
    %pp = tt.addptr %ps, %i : tensor<512x!tt.ptr<i8>>, tensor<512xi32>
    %qs = tt.splat %q : !tt.ptr<i8> -> tensor<256x!tt.ptr<i8>>
    %qp = tt.addptr %qs, %j : tensor<256x!tt.ptr<i8>>, tensor<256xi32>
    %rs = tt.splat %r : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %rp = tt.addptr %rs, %k : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %x1 = tt.load %pp : tensor<512x!tt.ptr<i8>>
    %y1 = tt.load %qp : tensor<256x!tt.ptr<i8>>
    %x = tt.reshape %x1 : tensor<512xi8> -> tensor<2x8x32xi8>
    %y = tt.reshape %y1 : tensor<256xi8> -> tensor<2x32x4xi8>
    %z = tt.dot %x, %y, %zero : tensor<2x8x32xi8> * tensor<2x32x4xi8> -> tensor<2x8x4xi32>
    %z1 = tt.reshape %z : tensor<2x8x4xi32> -> tensor<64xi32>
    tt.store %rp, %z1 : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}
// -----
// Products of several matrices of f32 at once (Q20).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[256] --arg=[128] --arg=[64]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[128] --arg=[64]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[256] --arg=[128] --arg=[64]
// clean
module {
  tt.func public @product(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %r: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.000000e+00> : tensor<2x8x4xf32>
    %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %j = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %k = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %pp = tt.addptr %ps, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %qp = tt.addptr %qs, %j : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %rs = tt.splat %r : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %rp = tt.addptr %rs, %k : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %x1 = tt.load %pp : tensor<256x!tt.ptr<f32>>
    %y1 = tt.load %qp : tensor<128x!tt.ptr<f32>>
    %x = tt.reshape %x1 : tensor<256xf32> -> tensor<2x8x16xf32>
    %y = tt.reshape %y1 : tensor<128xf32> -> tensor<2x16x4xf32>
    %z = tt.dot %x, %y, %zero : tensor<2x8x16xf32> * tensor<2x16x4xf32> -> tensor<2x8x4xf32>
    %z1 = tt.reshape %z : tensor<2x8x4xf32> -> tensor<64xf32>
    tt.store %rp, %z1 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// A tile of nine dimensions, folded along the fifth (C4).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[512] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[512] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[512] --arg=[256]
// clean
module {
  tt.func public @many(%p: !tt.ptr<i32>, %r: !tt.ptr<i32>) {
    %n = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %pps = tt.splat %p : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
    %pp = tt.addptr %pps, %n : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
    %e = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %rs = tt.splat %r : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %rp = tt.addptr %rs, %e : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %x = tt.load %pp : tensor<512x!tt.ptr<i32>>
    %y = tt.reshape %x : tensor<512xi32> -> tensor<2x2x2x2x2x2x2x2x2xi32>
    %z = "tt.reduce"(%y) <{axis = 4 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.xori %a, %b : i32
      tt.reduce.return %c : i32
    }) : (tensor<2x2x2x2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2x2x2xi32>
    %w = tt.reshape %z : tensor<2x2x2x2x2x2x2x2xi32> -> tensor<256xi32>
    tt.store %rp, %w : tensor<256x!tt.ptr<i32>>
    tt.return
  }
}
// -----
// The max of f16 in memory, which PTX has no operation for.
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[256] --arg=[64] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[64] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[256] --arg=[64] --arg=[256]
// clean
module {
  tt.func public @extremum(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %r: !tt.ptr<f16>) {
    %mask = arith.constant dense<63> : tensor<256xi32>
    %most = arith.constant dense<200> : tensor<256xi32>
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %pps = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
    %pp = tt.addptr %pps, %n : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
    %m = arith.andi %n, %mask : tensor<256xi32>
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
    %qp = tt.addptr %qs, %m : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
    %x = tt.load %pp : tensor<256x!tt.ptr<f16>>
    %kept = arith.cmpi slt, %n, %most : tensor<256xi32>
    %old = tt.atomic_rmw max, relaxed, gpu, %qp, %x, %kept : (tensor<256x!tt.ptr<f16>>, tensor<256xf16>, tensor<256xi1>) -> tensor<256xf16>
    tt.return
  }
}
// -----
// The max of bf16 in memory, which PTX has no operation for.
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[256] --arg=[64] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[64] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[256] --arg=[64] --arg=[256]
// clean
module {
  tt.func public @extremum(%p: !tt.ptr<bf16>, %q: !tt.ptr<bf16>, %r: !tt.ptr<bf16>) {
    %mask = arith.constant dense<63> : tensor<256xi32>
    %most = arith.constant dense<200> : tensor<256xi32>
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %pps = tt.splat %p : !tt.ptr<bf16> -> tensor<256x!tt.ptr<bf16>>
    %pp = tt.addptr %pps, %n : tensor<256x!tt.ptr<bf16>>, tensor<256xi32>
    %m = arith.andi %n, %mask : tensor<256xi32>
    %qs = tt.splat %q : !tt.ptr<bf16> -> tensor<256x!tt.ptr<bf16>>
    %qp = tt.addptr %qs, %m : tensor<256x!tt.ptr<bf16>>, tensor<256xi32>
    %x = tt.load %pp : tensor<256x!tt.ptr<bf16>>
    %kept = arith.cmpi slt, %n, %most : tensor<256xi32>
    %old = tt.atomic_rmw max, relaxed, gpu, %qp, %x, %kept : (tensor<256x!tt.ptr<bf16>>, tensor<256xbf16>, tensor<256xi1>) -> tensor<256xbf16>
    tt.return
  }
}
// -----
// The min of f16 in memory, which PTX has no operation for.
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[256] --arg=[64] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[64] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[256] --arg=[64] --arg=[256]
// clean
module {
  tt.func public @extremum(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %r: !tt.ptr<f16>) {
    %mask = arith.constant dense<63> : tensor<256xi32>
    %most = arith.constant dense<200> : tensor<256xi32>
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %pps = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
    %pp = tt.addptr %pps, %n : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
    %m = arith.andi %n, %mask : tensor<256xi32>
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
    %qp = tt.addptr %qs, %m : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
    %x = tt.load %pp : tensor<256x!tt.ptr<f16>>
    %kept = arith.cmpi slt, %n, %most : tensor<256xi32>
    %old = tt.atomic_rmw min, relaxed, gpu, %qp, %x, %kept : (tensor<256x!tt.ptr<f16>>, tensor<256xf16>, tensor<256xi1>) -> tensor<256xf16>
    tt.return
  }
}
// -----
// The min of bf16 in memory, which PTX has no operation for.
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[256] --arg=[64] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[64] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[256] --arg=[64] --arg=[256]
// clean
module {
  tt.func public @extremum(%p: !tt.ptr<bf16>, %q: !tt.ptr<bf16>, %r: !tt.ptr<bf16>) {
    %mask = arith.constant dense<63> : tensor<256xi32>
    %most = arith.constant dense<200> : tensor<256xi32>
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %pps = tt.splat %p : !tt.ptr<bf16> -> tensor<256x!tt.ptr<bf16>>
    %pp = tt.addptr %pps, %n : tensor<256x!tt.ptr<bf16>>, tensor<256xi32>
    %m = arith.andi %n, %mask : tensor<256xi32>
    %qs = tt.splat %q : !tt.ptr<bf16> -> tensor<256x!tt.ptr<bf16>>
    %qp = tt.addptr %qs, %m : tensor<256x!tt.ptr<bf16>>, tensor<256xi32>
    %x = tt.load %pp : tensor<256x!tt.ptr<bf16>>
    %kept = arith.cmpi slt, %n, %most : tensor<256xi32>
    %old = tt.atomic_rmw min, relaxed, gpu, %qp, %x, %kept : (tensor<256x!tt.ptr<bf16>>, tensor<256xbf16>, tensor<256xi1>) -> tensor<256xbf16>
    tt.return
  }
}
// -----
// A claim that holds does nothing; a volatile load goes to memory.
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=3
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=3
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=3
// clean
module {
  tt.func public @claims(%p: !tt.ptr<i32>, %r: !tt.ptr<i32>, %three: i32) {
    %most = arith.constant dense<256> : tensor<256xi32>
    %c3 = arith.constant 3 : i32
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %pps = tt.splat %p : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %pp = tt.addptr %pps, %n : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %rps = tt.splat %r : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %rp = tt.addptr %rps, %n : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %holds = arith.cmpi slt, %n, %most : tensor<256xi32>
    tt.assert %holds, "below 256" : tensor<256xi1>
    %is = arith.cmpi eq, %three, %c3 : i32
    tt.assert %is, "three" : i1
    %x = tt.load %pp {isVolatile = true} : tensor<256x!tt.ptr<i32>>
    %one = tt.load %p {isVolatile = true} : !tt.ptr<i32>
    %ones = tt.splat %one : i32 -> tensor<256xi32>
    %y = arith.addi %x, %ones : tensor<256xi32>
    tt.store %rp, %y : tensor<256x!tt.ptr<i32>>
    tt.return
  }
}
// -----
// An old value of 64 bits in all warps; a row folded by several.
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[1] --arg=[1024] --arg=[8]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[1] --arg=[1024] --arg=[8]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[1] --arg=[1024] --arg=[8]
// clean
module {
  tt.func public @wide(%p: !tt.ptr<i64>, %q: !tt.ptr<i64>, %r: !tt.ptr<i64>) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %old = tt.atomic_cas acq_rel, gpu, %p, %zero, %one : (!tt.ptr<i64>, i64, i64) -> i64
    %n = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %row = tt.expand_dims %n {axis = 0 : i32} : tensor<1024xi32> -> tensor<1x1024xi32>
    %qs = tt.splat %q : !tt.ptr<i64> -> tensor<1x1024x!tt.ptr<i64>>
    %qp = tt.addptr %qs, %row : tensor<1x1024x!tt.ptr<i64>>, tensor<1x1024xi32>
    %x = tt.load %qp : tensor<1x1024x!tt.ptr<i64>>
    %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: i64, %b: i64):
      %c = arith.addi %a, %b : i64
      tt.reduce.return %c : i64
    }) : (tensor<1x1024xi64>) -> tensor<1xi64>
    %t = tt.unsplat %s : tensor<1xi64>
    %u = arith.addi %t, %old : i64
    tt.store %r, %u : !tt.ptr<i64>
    tt.return
  }
}
// -----
// A map with branches, a division that only some elements reach, a load that only some do, and a way that several blocks
// lead to (C3, C9).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// clean
module {
  tt.func public @ways(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %r: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c3 = arith.constant 3 : i32
    %c9 = arith.constant 9 : i32
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %pps = tt.splat %p : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %pp = tt.addptr %pps, %n : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %rps = tt.splat %r : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %rp = tt.addptr %rps, %n : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %x = tt.load %pp : tensor<256x!tt.ptr<i32>>
    %z = "tt.map_elementwise"(%x, %n) <{pack = 1 : i32}> ({
    ^bb0(%a: i32, %i: i32):
      %low = arith.andi %i, %c3 : i32
      %some = arith.cmpi ne, %low, %c0 : i32
      cf.cond_br %some, ^bb1, ^bb2
    ^bb1:
      %d = arith.divsi %a, %low : i32
      %big = arith.cmpi sgt, %d, %c9 : i32
      cf.cond_br %big, ^bb3(%d : i32), ^bb2
    ^bb2:
      %at = tt.addptr %q, %i : !tt.ptr<i32>, i32
      %l = tt.load %at : !tt.ptr<i32>
      %odd = scf.if %some -> (i32) {
        %m = arith.remsi %l, %low : i32
        scf.yield %m : i32
      } else {
        scf.yield %l : i32
      }
      cf.br ^bb3(%odd : i32)
    ^bb3(%v: i32):
      tt.map_elementwise.return %v : i32
    }) : (tensor<256xi32>, tensor<256xi32>) -> tensor<256xi32>
    tt.store %rp, %z : tensor<256x!tt.ptr<i32>>
    tt.return
  }
}
// -----
// A map of four elements at once with two results (C3, C9).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[512] --arg=[512] --arg=[512]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[512] --arg=[512] --arg=[512]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[512] --arg=[512] --arg=[512]
// clean
module {
  tt.func public @four(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %r: !tt.ptr<i32>) {
    %n = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %pps = tt.splat %p : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
    %pp = tt.addptr %pps, %n : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
    %qps = tt.splat %q : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
    %qp = tt.addptr %qps, %n : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
    %rps = tt.splat %r : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
    %rp = tt.addptr %rps, %n : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
    %x = tt.load %pp : tensor<512x!tt.ptr<i32>>
    %s:2 = "tt.map_elementwise"(%x) <{pack = 4 : i32}> ({
    ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
      %ab = arith.addi %a, %b : i32
      %abc = arith.addi %ab, %c : i32
      %all = arith.addi %abc, %d : i32
      %first = arith.cmpi slt, %a, %d : i32
      %m = arith.select %first, %a, %d : i32
      tt.map_elementwise.return %a, %ab, %abc, %all, %d, %c, %b, %m : i32, i32, i32, i32, i32, i32, i32, i32
    }) : (tensor<512xi32>) -> (tensor<512xi32>, tensor<512xi32>)
    tt.store %qp, %s#0 : tensor<512x!tt.ptr<i32>>
    tt.store %rp, %s#1 : tensor<512x!tt.ptr<i32>>
    tt.return
  }
}
