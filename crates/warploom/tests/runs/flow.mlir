// Early returns and branches between blocks (C9): what stands behind runs only where it ran.
// run: run - --target sm_80 --grid 4 --interleavings 1 --arg=[1024] --arg=0,1,2,3
// run: run - --target sm_90a --grid 4 --interleavings 1 --arg=[1024] --arg=0,5,2,9
// run: run - --target sm_100a --grid 4 --interleavings 1 --arg=[1024] --arg=7,7,0,0
// clean
module {
  tt.func public @returns(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %flags: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %c256 = arith.constant 256 : i32
    %pid = tt.get_program_id x : i32
    %at = tt.addptr %flags, %pid : !tt.ptr<i32>, i32
    %flag = tt.load %at : !tt.ptr<i32>
    %first = arith.muli %pid, %c256 : i32
    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %base = tt.splat %first : i32 -> tensor<256xi32>
    %offs = arith.addi %base, %range : tensor<256xi32>
    %ptrs = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %all = tt.addptr %ptrs, %offs : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %none = arith.cmpi eq, %flag, %c0 : i32
    cf.cond_br %none, ^bb1, ^bb2
  ^bb1:
    tt.return
  ^bb2:
    %x = tt.load %all : tensor<256x!tt.ptr<f32>>
    %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<256xf32>) -> f32
    %more = arith.cmpi sgt, %flag, %c2 : i32
    cf.cond_br %more, ^bb3(%sum, %x : f32, tensor<256xf32>), ^bb4
  ^bb3(%scale: f32, %tile: tensor<256xf32>):
    %wide = tt.splat %scale : f32 -> tensor<256xf32>
    %y = arith.addf %tile, %wide : tensor<256xf32>
    tt.store %all, %y : tensor<256x!tt.ptr<f32>>
    cf.br ^bb1
  ^bb4:
    %z = arith.negf %x : tensor<256xf32>
    cf.br ^bb3(%sum, %z : f32, tensor<256xf32>)
  }
}
// -----
// Functions with tiles and early returns of their own.
// run: run - --target sm_80 --grid 3 --interleavings 1 --arg=[512] --arg=[64]
// run: run - --target sm_90a --grid 3 --interleavings 1 --arg=[512] --arg=[64]
// clean
module {
  tt.func public @calls(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %pid = tt.get_program_id x : i32
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %ptrs = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %all = tt.addptr %ptrs, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %x = tt.load %all : tensor<128x!tt.ptr<f32>>
    %y, %t = tt.call @some(%x, %pid) : (tensor<128xf32>, i32) -> (tensor<128xf32>, f32)
    %at = tt.addptr %q, %pid : !tt.ptr<f32>, i32
    tt.store %at, %t : !tt.ptr<f32>
    %c128 = arith.constant 128 : i32
    %one = arith.constant 1 : i32
    %n = arith.addi %pid, %one : i32
    %far = arith.muli %n, %c128 : i32
    %shift = tt.splat %far : i32 -> tensor<128xi32>
    %to = tt.addptr %all, %shift : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    tt.store %to, %y : tensor<128x!tt.ptr<f32>>
    tt.return
  }
  tt.func private @some(%x: tensor<128xf32>, %n: i32) -> (tensor<128xf32>, f32) attributes {noinline = true} {
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0.000000e+00 : f32
    %few = arith.cmpi slt, %n, %c1 : i32
    cf.cond_br %few, ^bb1, ^bb2
  ^bb1:
    tt.return %x, %zero : tensor<128xf32>, f32
  ^bb2:
    %y = tt.call @doubled(%x) : (tensor<128xf32>) -> tensor<128xf32>
    %sum = "tt.reduce"(%y) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.maxnumf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<128xf32>) -> f32
    tt.return %y, %sum : tensor<128xf32>, f32
  }
  tt.func private @doubled(%x: tensor<128xf32>) -> tensor<128xf32> {
    %y = arith.addf %x, %x : tensor<128xf32>
    tt.return %y : tensor<128xf32>
  }
}
// -----
// A circle of branches, which is left in two places.
// run: run - --target sm_80 --interleavings 1 --arg=[64] --arg=3,1,4,1,5,9,2,6
// run: run - --target sm_90a --interleavings 1 --arg=[64] --arg=3,1,4,1,5,0,2,6
// clean
module {
  tt.func public @circle(%p: !tt.ptr<i32>, %numbers: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    cf.br ^bb1(%c0, %c0 : i32, i32)
  ^bb1(%i: i32, %sum: i32):
    %at = tt.addptr %numbers, %i : !tt.ptr<i32>, i32
    %n = tt.load %at : !tt.ptr<i32>
    %end = arith.cmpi eq, %n, %c0 : i32
    cf.cond_br %end, ^bb3(%i : i32), ^bb2
  ^bb2:
    %next = arith.addi %i, %c1 : i32
    %more = arith.addi %sum, %n : i32
    %again = arith.cmpi slt, %next, %c8 : i32
    cf.cond_br %again, ^bb1(%next, %more : i32, i32), ^bb4
  ^bb3(%found: i32):
    %from = arith.addi %found, %sum : i32
    tt.store %p, %from : !tt.ptr<i32>
    tt.return
  ^bb4:
    %to = tt.addptr %p, %next : !tt.ptr<i32>, i32
    tt.store %to, %more : !tt.ptr<i32>
    tt.return
  }
}
// -----
// A loop that only hands values on, and a branch that depends on them (C35).
// run: run - --target sm_80 --interleavings 0 --seed 1 --arg=[4] --arg=3
// run: run - --target sm_100a --interleavings 0 --seed 1 --arg=[4] --arg=3
// clean
module {
  tt.func public @handed(%p: !tt.ptr<i32>, %few: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %some = arith.cmpi sle, %c0, %few : i32
    %v:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %some, %b = %some) -> (i1, i1)  : i32 {
      scf.yield %a, %some : i1, i1
    }
    %x = scf.if %v#0 -> (i32) {
      scf.yield %few : i32
    } else {
      scf.yield %c0 : i32
    }
    tt.store %p, %x : !tt.ptr<i32>
    tt.return
  }
}
// -----
// A product that nobody uses is left out, with the loads that feed it (C9).
// run: run - --target sm_80 --interleavings 0 --seed 1 --arg=[1024] --arg=[4]
// run: run - --target sm_90a --interleavings 0 --seed 1 --arg=[1024] --arg=[4]
// run: run - --target sm_100a --interleavings 0 --seed 1 --arg=[1024] --arg=[4]
// clean
module {
  tt.func public @unused(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i32>) {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %r = tt.reshape %n : tensor<256xi32> -> tensor<16x16xi32>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
    %at = tt.addptr %s, %r : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
    %a = tt.load %at : tensor<16x16x!tt.ptr<f16>>
    %d = tt.dot %a, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %one = arith.constant 1 : i32
    tt.store %q, %one : !tt.ptr<i32>
    tt.return
  }
}
// -----
// The larger and the smaller of f64, and f32 cut off to 16 bits (C7, C68).
// run: run - --target sm_80 --interleavings 0 --seed 1 --arg=[64] --arg=[64] --arg=[64] --arg=[64] --arg=[64]
// run: run - --target sm_100a --interleavings 0 --seed 1 --arg=[64] --arg=[64] --arg=[64] --arg=[64] --arg=[64]
// clean
module {
  tt.func public @rounded(%p: !tt.ptr<f32>, %q: !tt.ptr<f64>, %h: !tt.ptr<f16>, %b: !tt.ptr<bf16>, %e: !tt.ptr<f8E5M2>) {
    %n = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %pa = tt.addptr %ps, %n : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %qs = tt.splat %q : !tt.ptr<f64> -> tensor<64x!tt.ptr<f64>>
    %qa = tt.addptr %qs, %n : tensor<64x!tt.ptr<f64>>, tensor<64xi32>
    %hs = tt.splat %h : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
    %ha = tt.addptr %hs, %n : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
    %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %ba = tt.addptr %bs, %n : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %x = tt.load %pa : tensor<64x!tt.ptr<f32>>
    %y = tt.load %qa : tensor<64x!tt.ptr<f64>>
    %w = arith.extf %x : tensor<64xf32> to tensor<64xf64>
    %m0 = arith.maxnumf %w, %y : tensor<64xf64>
    %m1 = arith.minimumf %m0, %y : tensor<64xf64>
    %m2 = arith.maximumf %m1, %w : tensor<64xf64>
    %m3 = arith.minnumf %m2, %m0 : tensor<64xf64>
    tt.store %qa, %m3 : tensor<64x!tt.ptr<f64>>
    %f = tt.fp_to_fp %x, rounding = rtz : tensor<64xf32> -> tensor<64xf16>
    tt.store %ha, %f : tensor<64x!tt.ptr<f16>>
    %g = tt.fp_to_fp %x, rounding = rtz : tensor<64xf32> -> tensor<64xbf16>
    tt.store %ba, %g : tensor<64x!tt.ptr<bf16>>
    %es = tt.splat %e : !tt.ptr<f8E5M2> -> tensor<64x!tt.ptr<f8E5M2>>
    %ea = tt.addptr %es, %n : tensor<64x!tt.ptr<f8E5M2>>, tensor<64xi32>
    %u = tt.fp_to_fp %x, rounding = rtz : tensor<64xf32> -> tensor<64xf8E5M2>
    tt.store %ea, %u : tensor<64x!tt.ptr<f8E5M2>>
    tt.return
  }
}
