module {
  tt.func public @bytes(%a: !tt.ptr<{T}> {tt.divisibility = 16 : i32}, %b: !tt.ptr<{T}> {tt.divisibility = 16 : i32}, %c: !tt.ptr<{S}> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %one = arith.constant dense<1> : tensor<64x1xi32>
    %ones = arith.constant dense<1> : tensor<1x64xi32>
    %wide = arith.constant dense<64> : tensor<64x1xi32>
    %c4096 = arith.constant 4096 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<{ZERO}> : tensor<128x64x{S}>
    %nothing = arith.constant dense<{ZERO}> : tensor<128x64x{T}>
    %none = arith.constant dense<{ZERO}> : tensor<64x64x{T}>
    %m = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %d = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %mc = tt.expand_dims %m {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %dr = tt.expand_dims %d {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %dc = tt.expand_dims %d {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %nm = tt.splat %n : i32 -> tensor<128x1xi32>
    %nn = tt.splat %n : i32 -> tensor<1x64xi32>
    %arow = arith.muli %mc, %nm : tensor<128x1xi32>
    %arows = tt.broadcast %arow : tensor<128x1xi32> -> tensor<128x64xi32>
    %acols = tt.broadcast %dr : tensor<1x64xi32> -> tensor<128x64xi32>
    %aat = arith.addi %arows, %acols : tensor<128x64xi32>
    %ab = tt.splat %a : !tt.ptr<{T}> -> tensor<128x64x!tt.ptr<{T}>>
    %ap = tt.addptr %ab, %aat : tensor<128x64x!tt.ptr<{T}>>, tensor<128x64xi32>
    %bcol = arith.muli %dr, %{BN} : tensor<1x64xi32>
    %bcols = tt.broadcast %bcol : tensor<1x64xi32> -> tensor<64x64xi32>
    %brow = arith.muli %dc, %{BK} : tensor<64x1xi32>
    %brows = tt.broadcast %brow : tensor<64x1xi32> -> tensor<64x64xi32>
    %bat = arith.addi %brows, %bcols : tensor<64x64xi32>
    %bb = tt.splat %b : !tt.ptr<{T}> -> tensor<64x64x!tt.ptr<{T}>>
    %bp = tt.addptr %bb, %bat : tensor<64x64x!tt.ptr<{T}>>, tensor<64x64xi32>
    %step = tt.splat %c64 : i32 -> tensor<128x64xi32>
    %r:3 = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero, %p = %ap, %q = %bp) -> (tensor<128x64x{S}>, tensor<128x64x!tt.ptr<{T}>>, tensor<64x64x!tt.ptr<{T}>>) : i32 {
      %left = arith.subi %n, %k : i32
      %leftr = tt.splat %left : i32 -> tensor<1x64xi32>
      %inr = arith.cmpi slt, %dr, %leftr : tensor<1x64xi32>
      %amask = tt.broadcast %inr : tensor<1x64xi1> -> tensor<128x64xi1>
      %leftc = tt.splat %left : i32 -> tensor<64x1xi32>
      %inc = arith.cmpi slt, %dc, %leftc : tensor<64x1xi32>
      %bmask = tt.broadcast %inc : tensor<64x1xi1> -> tensor<64x64xi1>
      %x = tt.load %p, %amask, %nothing : tensor<128x64x!tt.ptr<{T}>>
      %y = tt.load %q, %bmask, %none : tensor<64x64x!tt.ptr<{T}>>
      %s = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<128x64x{T}> * tensor<64x64x{T}> -> tensor<128x64x{S}>
      %pn = tt.addptr %p, %step : tensor<128x64x!tt.ptr<{T}>>, tensor<128x64xi32>
      %by = tt.splat %{STEP} : i32 -> tensor<64x64xi32>
      %qn = tt.addptr %q, %by : tensor<64x64x!tt.ptr<{T}>>, tensor<64x64xi32>
      scf.yield %s, %pn, %qn : tensor<128x64x{S}>, tensor<128x64x!tt.ptr<{T}>>, tensor<64x64x!tt.ptr<{T}>>
    }
    %c64v = arith.constant dense<64> : tensor<128x1xi32>
    %crow = arith.muli %mc, %c64v : tensor<128x1xi32>
    %crows = tt.broadcast %crow : tensor<128x1xi32> -> tensor<128x64xi32>
    %cat = arith.addi %crows, %acols : tensor<128x64xi32>
    %cb = tt.splat %c : !tt.ptr<{S}> -> tensor<128x64x!tt.ptr<{S}>>
    %cp = tt.addptr %cb, %cat : tensor<128x64x!tt.ptr<{S}>>, tensor<128x64xi32>
    tt.store %cp, %r#0 : tensor<128x64x!tt.ptr<{S}>>
    tt.return
  }
}
