// A product whose loop asks for one stage: both operands are copied in their own trip by other lanes than hold what the loop
// carries of their places, and the product ends before the next trip copies (C6, C46).
// run: run - --target sm_80 --interleavings 4 --seed 1 --arg=[16384] --arg=[16384] --arg=[4096] --arg 150
// run: run - --target sm_90a --interleavings 4 --seed 1 --arg=[16384] --arg=[16384] --arg=[4096] --arg 150
// run: run - --target sm_100a --interleavings 4 --seed 1 --arg=[16384] --arg=[16384] --arg=[4096] --arg 150
// clean
module {
  tt.func public @straight(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32) {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %none = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c63 = arith.constant 63 : i32
    %c64 = arith.constant 64 : i32
    %w = arith.constant dense<192> : tensor<64x1xi32>
    %w64 = arith.constant dense<64> : tensor<64x1xi32>
    %s64 = arith.constant dense<64> : tensor<64x64xi32>
    %s4096 = arith.constant dense<4096> : tensor<64x64xi32>
    %n = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %n {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %cols = tt.expand_dims %n {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %along = tt.broadcast %cols : tensor<1x64xi32> -> tensor<64x64xi32>
    %ad = arith.muli %rows, %w : tensor<64x1xi32>
    %ad1 = tt.broadcast %ad : tensor<64x1xi32> -> tensor<64x64xi32>
    %ao = arith.addi %ad1, %along : tensor<64x64xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %ap = tt.addptr %as, %ao : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %bd = arith.muli %rows, %w64 : tensor<64x1xi32>
    %bd1 = tt.broadcast %bd : tensor<64x1xi32> -> tensor<64x64xi32>
    %bo = arith.addi %bd1, %along : tensor<64x64xi32>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %bp = tt.addptr %bs, %bo : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %k63 = arith.addi %k, %c63 : i32
    %trips = arith.divsi %k63, %c64 : i32
    %l:3 = scf.for %i = %c0 to %trips step %c1 iter_args(%pa = %ap, %pb = %bp, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>)  : i32 {
      %done = arith.muli %i, %c64 : i32
      %left = arith.subi %k, %done : i32
      %la = tt.splat %left : i32 -> tensor<1x64xi32>
      %ma = arith.cmpi slt, %cols, %la : tensor<1x64xi32>
      %ma1 = tt.broadcast %ma : tensor<1x64xi1> -> tensor<64x64xi1>
      %x = tt.load %pa, %ma1, %none : tensor<64x64x!tt.ptr<f16>>
      %lb = tt.splat %left : i32 -> tensor<64x1xi32>
      %mb = arith.cmpi slt, %rows, %lb : tensor<64x1xi32>
      %mb1 = tt.broadcast %mb : tensor<64x1xi1> -> tensor<64x64xi1>
      %y = tt.load %pb, %mb1, %none : tensor<64x64x!tt.ptr<f16>>
      %sum = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %na = tt.addptr %pa, %s64 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %nb = tt.addptr %pb, %s4096 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      scf.yield %na, %nb, %sum : tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>
    } {tt.num_stages = 1 : i32}
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %cp = tt.addptr %cs, %bo : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %cp, %l#2 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
