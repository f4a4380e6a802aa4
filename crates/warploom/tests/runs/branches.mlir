// Products in branches of a loop that carries their pointers: a sum is in flight in one branch and waited for in another,
// and what stands deeper than the loop's body is copied by other lanes than carry it (C8, C46, C67). The number of trips
// comes by operations without sign (C35).
// run: run - --target sm_80 --grid 1 --interleavings 4 --seed 1 --arg=[6144] --arg=[6144] --arg=[4096] --arg=80
// run: run - --target sm_90a --grid 1 --interleavings 4 --seed 1 --arg=[6144] --arg=[6144] --arg=[4096] --arg=80
// run: run - --target sm_100a --grid 1 --interleavings 4 --seed 1 --arg=[6144] --arg=[6144] --arg=[4096] --arg=80
// run: run - --target sm_120a --grid 1 --interleavings 4 --seed 1 --arg=[6144] --arg=[6144] --arg=[4096] --arg=80
// clean
module {
  tt.func public @parts(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %step = arith.constant 32 : i32
    %less = arith.constant 31 : i32
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %empty = arith.constant dense<0.0> : tensor<64x32xbf16>
    %void = arith.constant dense<0.0> : tensor<32x64xbf16>
    %wide = arith.constant dense<96> : tensor<64x1xi32>
    %tall = arith.constant dense<64> : tensor<32x1xi32>
    %long = arith.constant dense<64> : tensor<64x1xi32>
    %by_a = arith.constant dense<32> : tensor<64x32xi32>
    %by_b = arith.constant dense<2048> : tensor<32x64xi32>
    %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %m = tt.expand_dims %r64 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %n = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %ka = tt.expand_dims %r32 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %kb = tt.expand_dims %r32 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %am = arith.muli %m, %wide : tensor<64x1xi32>
    %am2 = tt.broadcast %am : tensor<64x1xi32> -> tensor<64x32xi32>
    %ka2 = tt.broadcast %ka : tensor<1x32xi32> -> tensor<64x32xi32>
    %ao = arith.addi %am2, %ka2 : tensor<64x32xi32>
    %as = tt.splat %a : !tt.ptr<bf16> -> tensor<64x32x!tt.ptr<bf16>>
    %at = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
    %bk = arith.muli %kb, %tall : tensor<32x1xi32>
    %bk2 = tt.broadcast %bk : tensor<32x1xi32> -> tensor<32x64xi32>
    %n2 = tt.broadcast %n : tensor<1x64xi32> -> tensor<32x64xi32>
    %bo = arith.addi %bk2, %n2 : tensor<32x64xi32>
    %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<32x64x!tt.ptr<bf16>>
    %bt = tt.addptr %bs, %bo : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
    %up = arith.addi %k, %less : i32
    %trips = arith.divui %up, %step : i32
    %all:3 = scf.for %i = %zero to %trips step %one iter_args(%pa = %at, %pb = %bt, %sum = %none) -> (tensor<64x32x!tt.ptr<bf16>>, tensor<32x64x!tt.ptr<bf16>>, tensor<64x64xf32>) : i32 {
      %begin = arith.muli %i, %step : i32
      %end = arith.addi %begin, %step : i32
      %past = arith.cmpi sge, %begin, %k : i32
      %next = scf.if %past -> (tensor<64x64xf32>) {
        scf.yield %sum : tensor<64x64xf32>
      } else {
        %full = arith.cmpi sle, %end, %k : i32
        %some = scf.if %full -> (tensor<64x64xf32>) {
          %x = tt.load %pa : tensor<64x32x!tt.ptr<bf16>>
          %y = tt.load %pb : tensor<32x64x!tt.ptr<bf16>>
          %d = tt.dot %x, %y, %sum, inputPrecision = tf32 : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
          scf.yield %d : tensor<64x64xf32>
        } else {
          %left = arith.subi %k, %begin : i32
          %bound = tt.splat %left : i32 -> tensor<32xi32>
          %in = arith.cmpi slt, %r32, %bound : tensor<32xi32>
          %ia = tt.expand_dims %in {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
          %ia2 = tt.broadcast %ia : tensor<1x32xi1> -> tensor<64x32xi1>
          %ib = tt.expand_dims %in {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
          %ib2 = tt.broadcast %ib : tensor<32x1xi1> -> tensor<32x64xi1>
          %x = tt.load %pa, %ia2, %empty : tensor<64x32x!tt.ptr<bf16>>
          %y = tt.load %pb, %ib2, %void : tensor<32x64x!tt.ptr<bf16>>
          %d = tt.dot %x, %y, %sum, inputPrecision = tf32 : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
          scf.yield %d : tensor<64x64xf32>
        }
        scf.yield %some : tensor<64x64xf32>
      }
      %qa = tt.addptr %pa, %by_a : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
      %qb = tt.addptr %pb, %by_b : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
      scf.yield %qa, %qb, %next : tensor<64x32x!tt.ptr<bf16>>, tensor<32x64x!tt.ptr<bf16>>, tensor<64x64xf32>
    }
    %cm = arith.muli %m, %long : tensor<64x1xi32>
    %cm2 = tt.broadcast %cm : tensor<64x1xi32> -> tensor<64x64xi32>
    %cn2 = tt.broadcast %n : tensor<1x64xi32> -> tensor<64x64xi32>
    %co = arith.addi %cm2, %cn2 : tensor<64x64xi32>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %ct = tt.addptr %cs, %co : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %ct, %all#2 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
