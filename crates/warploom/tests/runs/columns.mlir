// Tiles whose columns are consecutive in memory: they are copied as their transposes, row by row of those, and multiplied
// either way; rows of A are taken modulo M, as tutorials write it (C8, G20).
// run: run - --target sm_80 --grid 2 --interleavings 2 --seed 1 --arg=[8192] --arg=[8192] --arg=[8192] --arg=72 --arg=64 --arg=80
// run: run - --target sm_90a --grid 2 --interleavings 2 --seed 2 --arg=[8192] --arg=[8192] --arg=[8192] --arg=72 --arg=64 --arg=80
// run: run - --target sm_100a --grid 2 --interleavings 2 --seed 3 --arg=[8192] --arg=[8192] --arg=[8192] --arg=72 --arg=64 --arg=80
// run: run - --target sm_120a --grid 2 --interleavings 2 --seed 4 --arg=[8192] --arg=[8192] --arg=[8192] --arg=128 --arg=64 --arg=0
// clean
module {
  tt.func public @columns(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 8 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %none = arith.constant dense<0.000000e+00> : tensor<64x32xbf16>
    %blank = arith.constant dense<0.000000e+00> : tensor<32x64xbf16>
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %id = tt.get_program_id x : i32
    %first = arith.muli %id, %c64 : i32
    %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %start = tt.splat %first : i32 -> tensor<64xi32>
    %own = arith.addi %start, %r64 : tensor<64xi32>
    %height = tt.splat %M : i32 -> tensor<64xi32>
    %rows = arith.remsi %own, %height : tensor<64xi32>
    %m = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %n = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %ka = tt.expand_dims %r32 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %kb = tt.expand_dims %r32 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %lda = tt.splat %M : i32 -> tensor<1x32xi32>
    %kam = arith.muli %ka, %lda : tensor<1x32xi32>
    %mb = tt.broadcast %m : tensor<64x1xi32> -> tensor<64x32xi32>
    %kamb = tt.broadcast %kam : tensor<1x32xi32> -> tensor<64x32xi32>
    %ao = arith.addi %mb, %kamb : tensor<64x32xi32>
    %as = tt.splat %a : !tt.ptr<bf16> -> tensor<64x32x!tt.ptr<bf16>>
    %ap = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
    %ldb = tt.splat %K : i32 -> tensor<1x64xi32>
    %nb = arith.muli %n, %ldb : tensor<1x64xi32>
    %nbb = tt.broadcast %nb : tensor<1x64xi32> -> tensor<32x64xi32>
    %kbb = tt.broadcast %kb : tensor<32x1xi32> -> tensor<32x64xi32>
    %bo = arith.addi %kbb, %nbb : tensor<32x64xi32>
    %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<32x64x!tt.ptr<bf16>>
    %bp = tt.addptr %bs, %bo : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
    %astep = arith.muli %M, %c32 : i32
    %asteps = tt.splat %astep : i32 -> tensor<64x32xi32>
    %bsteps = arith.constant dense<32> : tensor<32x64xi32>
    %sum:3 = scf.for %k = %c0 to %K step %c32 iter_args(%acc = %zero, %pa = %ap, %pb = %bp) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<bf16>>, tensor<32x64x!tt.ptr<bf16>>)  : i32 {
      %left = arith.subi %K, %k : i32
      %la = tt.splat %left : i32 -> tensor<1x32xi32>
      %ma = arith.cmpi slt, %ka, %la : tensor<1x32xi32>
      %mab = tt.broadcast %ma : tensor<1x32xi1> -> tensor<64x32xi1>
      %x = tt.load %pa, %mab, %none : tensor<64x32x!tt.ptr<bf16>>
      %lb = tt.splat %left : i32 -> tensor<32x1xi32>
      %mk = arith.cmpi slt, %kb, %lb : tensor<32x1xi32>
      %mkb = tt.broadcast %mk : tensor<32x1xi1> -> tensor<32x64xi1>
      %y = tt.load %pb, %mkb, %blank : tensor<32x64x!tt.ptr<bf16>>
      %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
      %na = tt.addptr %pa, %asteps : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
      %nx = tt.addptr %pb, %bsteps : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
      scf.yield %d, %na, %nx : tensor<64x64xf32>, tensor<64x32x!tt.ptr<bf16>>, tensor<32x64x!tt.ptr<bf16>>
    }
    %ms = tt.expand_dims %own {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %ldc = tt.splat %N : i32 -> tensor<64x1xi32>
    %mc = arith.muli %ms, %ldc : tensor<64x1xi32>
    %mcb = tt.broadcast %mc : tensor<64x1xi32> -> tensor<64x64xi32>
    %ncb = tt.broadcast %n : tensor<1x64xi32> -> tensor<64x64xi32>
    %co = arith.addi %mcb, %ncb : tensor<64x64xi32>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %cp = tt.addptr %cs, %co : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %cp, %sum#0 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
