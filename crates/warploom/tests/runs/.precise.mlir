module {
  tt.func public @precise(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32 {tt.divisibility = 16 : i32}) {
    %zero = arith.constant 0 : i32
    %step = arith.constant 32 : i32
    %chosen = arith.constant dense<{AT}> : tensor<64x32xi32>
    %value = arith.constant dense<{VALUE}> : tensor<64x32xf32>
    %fours = arith.constant dense<4.0> : tensor<32x64xf32>
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %pitch = arith.constant dense<96> : tensor<64x1xi32>
    %wide = arith.constant dense<64> : tensor<64x1xi32>
    %wide32 = arith.constant dense<64> : tensor<32x1xi32>
    %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %ks = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %rows2 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %cols2 = tt.expand_dims %rows {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %ra = arith.muli %rows2, %pitch : tensor<64x1xi32>
    %ab = tt.broadcast %ra : tensor<64x1xi32> -> tensor<64x32xi32>
    %bc = tt.broadcast %cols2 : tensor<1x64xi32> -> tensor<32x64xi32>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
    %bs = tt.splat %b : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
    %sum = scf.for %i = %zero to %k step %step iter_args(%acc = %none) -> (tensor<64x64xf32>)  : i32 {
      %from = tt.splat %i : i32 -> tensor<32xi32>
      %at = arith.addi %from, %ks : tensor<32xi32>
      %at0 = tt.expand_dims %at {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %ac = tt.broadcast %at0 : tensor<1x32xi32> -> tensor<64x32xi32>
      %ao = arith.addi %ab, %ac : tensor<64x32xi32>
      %ap = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
      %x = tt.load %ap : tensor<64x32x!tt.ptr<f32>>
      %at1 = tt.expand_dims %at {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %br = arith.muli %at1, %wide32 : tensor<32x1xi32>
      %bb = tt.broadcast %br : tensor<32x1xi32> -> tensor<32x64xi32>
      %bo = arith.addi %bb, %bc : tensor<32x64xi32>
      %bp = tt.addptr %bs, %bo : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
      %whole = tt.load %bp : tensor<32x64x!tt.ptr<f32>>
      %special = arith.cmpi eq, %ao, %chosen : tensor<64x32xi32>
      %marked = arith.select %special, %value, %x : tensor<64x32xi1>, tensor<64x32xf32>
      %four = arith.mulf %whole, %fours : tensor<32x64xf32>
      %number = arith.fptosi %four : tensor<32x64xf32> to tensor<32x64xi32>
      %exact = arith.sitofp %number : tensor<32x64xi32> to tensor<32x64xf32>
      %d = tt.dot {X}, {Y}, %acc, inputPrecision = {P} : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %ro = arith.muli %rows2, %wide : tensor<64x1xi32>
    %rc = tt.broadcast %ro : tensor<64x1xi32> -> tensor<64x64xi32>
    %cc = tt.broadcast %cols2 : tensor<1x64xi32> -> tensor<64x64xi32>
    %co = arith.addi %rc, %cc : tensor<64x64xi32>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %cp = tt.addptr %cs, %co : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %cp, %sum : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
