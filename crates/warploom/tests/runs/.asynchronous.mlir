module {
  tt.func public @chain(%q: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %v: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %n: i32, %rows: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<{M}x64xf32>
    %none = arith.constant dense<0.0> : tensor<64x64xbf16>
    %scale = arith.constant dense<1.250000e-01> : tensor<{M}x64xf32>
    %c64v = arith.constant dense<64> : tensor<{M}x1xi32>
    %c64w = arith.constant dense<64> : tensor<64x1xi32>
    %m = tt.make_range {end = {M} : i32, start = 0 : i32} : tensor<{M}xi32>
    %d = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %mc = tt.expand_dims %m {axis = 1 : i32} : tensor<{M}xi32> -> tensor<{M}x1xi32>
    %ms = arith.muli %mc, %c64v : tensor<{M}x1xi32>
    %dr = tt.expand_dims %d {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %mb = tt.broadcast %ms : tensor<{M}x1xi32> -> tensor<{M}x64xi32>
    %db = tt.broadcast %dr : tensor<1x64xi32> -> tensor<{M}x64xi32>
    %at = arith.addi %mb, %db : tensor<{M}x64xi32>
    %limit = tt.splat %rows : i32 -> tensor<{M}x1xi32>
    %in = arith.cmpi slt, %mc, %limit : tensor<{M}x1xi32>
    %inb = tt.broadcast %in : tensor<{M}x1xi1> -> tensor<{M}x64xi1>
    %qb = tt.splat %q : !tt.ptr<bf16> -> tensor<{M}x64x!tt.ptr<bf16>>
    %qp = tt.addptr %qb, %at : tensor<{M}x64x!tt.ptr<bf16>>, tensor<{M}x64xi32>
    %no = arith.constant dense<0.0> : tensor<{M}x64xbf16>
    %a = tt.load %qp, %inb, %no : tensor<{M}x64x!tt.ptr<bf16>>
    %dc = tt.expand_dims %d {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %ds = arith.muli %dc, %c64w : tensor<64x1xi32>
    %dsb = tt.broadcast %ds : tensor<64x1xi32> -> tensor<64x64xi32>
    %drb = tt.broadcast %dr : tensor<1x64xi32> -> tensor<64x64xi32>
    %tile = arith.addi %dsb, %drb : tensor<64x64xi32>
    %kb = tt.splat %k : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
    %kp = tt.addptr %kb, %tile : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %vb = tt.splat %v : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
    %vp = tt.addptr %vb, %tile : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %r:2 = scf.while (%i = %c0, %acc = %zero) : (i32, tensor<{M}x64xf32>) -> (i32, tensor<{M}x64xf32>) {
      %more = arith.cmpi slt, %i, %n : i32
      scf.condition(%more) %i, %acc : i32, tensor<{M}x64xf32>
    } do {
    ^bb0(%i: i32, %acc: tensor<{M}x64xf32>):
      %by = arith.muli %i, %c64 : i32
      %move = tt.splat %by : i32 -> tensor<64x64xi32>
      %left = arith.subi %n, %i : i32
      %leftv = tt.splat %left : i32 -> tensor<64x1xi32>
      %inside = arith.cmpi slt, %dc, %leftv : tensor<64x1xi32>
      %mask = tt.broadcast %inside : tensor<64x1xi1> -> tensor<64x64xi1>
      %kq = tt.addptr %kp, %move : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
      %vq = tt.addptr %vp, %move : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
      %b = tt.load %kq, %mask, %none : tensor<64x64x!tt.ptr<bf16>>
      %c = tt.load %vq, %mask, %none : tensor<64x64x!tt.ptr<bf16>>
      %bt = tt.trans %b {order = array<i32: 1, 0>} : tensor<64x64xbf16> -> tensor<64x64xbf16>
      %s = tt.dot %a, %bt, %zero, inputPrecision = tf32 : tensor<{M}x64xbf16> * tensor<64x64xbf16> -> tensor<{M}x64xf32>
      %t = arith.mulf %s, %scale : tensor<{M}x64xf32>
      %p = arith.truncf %t : tensor<{M}x64xf32> to tensor<{M}x64xbf16>
      %half = arith.mulf %acc, %scale : tensor<{M}x64xf32>
      %sum = tt.dot %p, %c, %half, inputPrecision = tf32 : tensor<{M}x64xbf16> * tensor<64x64xbf16> -> tensor<{M}x64xf32>
      %first = arith.cmpi eq, %i, %c0 : i32
      %e = scf.if %first -> (tensor<{M}x64xf32>) {
        %x = tt.dot %p, %bt, %sum, inputPrecision = tf32 : tensor<{M}x64xbf16> * tensor<64x64xbf16> -> tensor<{M}x64xf32>
        scf.yield %x : tensor<{M}x64xf32>
      } else {
        scf.yield %sum : tensor<{M}x64xf32>
      }
      %next = arith.addi %i, %c64 : i32
      scf.yield %next, %e : i32, tensor<{M}x64xf32>
    }
    %out = arith.truncf %r#1 : tensor<{M}x64xf32> to tensor<{M}x64xbf16>
    %ob = tt.splat %o : !tt.ptr<bf16> -> tensor<{M}x64x!tt.ptr<bf16>>
    %op = tt.addptr %ob, %at : tensor<{M}x64x!tt.ptr<bf16>>, tensor<{M}x64xi32>
    tt.store %op, %out, %inb : tensor<{M}x64x!tt.ptr<bf16>>
    tt.return
  }
}
