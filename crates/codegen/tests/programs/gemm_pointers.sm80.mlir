// C = A @ B in f16 through pointers, tile 128x128x32, ring of 3 slots, sm_80: four warps copy two iterations ahead.
module attributes {warploom.form = "program", warploom.target = "sm_80"} {
  tt.func public @matmul_pointers(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}, %sc: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false, warploom.warps = 4 : i32, warploom.max_registers = 256 : i32, warploom.shared = 49152 : i32, warploom.descriptors = []} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %px = tt.get_program_id x : i32
    %row = arith.muli %px, %c128 : i32
    %py = tt.get_program_id y : i32
    %col = arith.muli %py, %c128 : i32
    warploom.pipeline @p0 {depth = 3 : i32, handshake = "cp_async", payload = ["a", "b"], tile = [tensor<128x32xf16>, tensor<32x128xf16>], swizzle = array<i32: 64, 128>, offset = array<i64: 0, 24576>, stride = array<i64: 8192, 8192>, bytes = 0 : i32, full = -1 : i32, empty = -1 : i32, arrive_full = 0 : i32, arrive_empty = 0 : i32}
    warploom.named_barrier @all {id = 1 : i32, threads = 128 : i32}
    warploom.partition @main {warp = 0 : i32, warps = 4 : i32, registers = 256 : i32, layout = "mma_sync", tiling = array<i32: 2, 2>} {
      %zero = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
      %za = arith.constant dense<0.000000e+00> : tensor<128x32xf16>
      %zb = arith.constant dense<0.000000e+00> : tensor<32x128xf16>
      %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
      %rk = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
      %rows = tt.splat %row : i32 -> tensor<128xi32>
      %rm = arith.addi %rows, %r : tensor<128xi32>
      %cols = tt.splat %col : i32 -> tensor<128xi32>
      %rn = arith.addi %cols, %r : tensor<128xi32>
      %rm1 = tt.expand_dims %rm {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %sas = tt.splat %sa : i32 -> tensor<128x1xi32>
      %ra = arith.muli %rm1, %sas : tensor<128x1xi32>
      %pa = tt.splat %a : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
      %pa1 = tt.addptr %pa, %ra : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
      %rk0 = tt.expand_dims %rk {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %pa2 = tt.broadcast %pa1 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x32x!tt.ptr<f16>>
      %ka = tt.broadcast %rk0 : tensor<1x32xi32> -> tensor<128x32xi32>
      %A = tt.addptr %pa2, %ka : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
      %rk1 = tt.expand_dims %rk {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %sbs = tt.splat %sb : i32 -> tensor<32x1xi32>
      %rb = arith.muli %rk1, %sbs : tensor<32x1xi32>
      %pb = tt.splat %b : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
      %pb1 = tt.addptr %pb, %rb : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
      %rn0 = tt.expand_dims %rn {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
      %pb2 = tt.broadcast %pb1 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x128x!tt.ptr<f16>>
      %nb = tt.broadcast %rn0 : tensor<1x128xi32> -> tensor<32x128xi32>
      %B = tt.addptr %pb2, %nb : tensor<32x128x!tt.ptr<f16>>, tensor<32x128xi32>
      %Ms = tt.splat %M : i32 -> tensor<128x1xi32>
      %inm = arith.cmpi slt, %rm1, %Ms : tensor<128x1xi32>
      %inma = tt.broadcast %inm : tensor<128x1xi1> -> tensor<128x32xi1>
      %Ns = tt.splat %N : i32 -> tensor<1x128xi32>
      %inn = arith.cmpi slt, %rn0, %Ns : tensor<1x128xi32>
      %innb = tt.broadcast %inn : tensor<1x128xi1> -> tensor<32x128xi1>
      %step = arith.muli %sb, %c32 : i32
      // what iteration 0 needs
      %k0 = tt.splat %K : i32 -> tensor<32xi32>
      %in0 = arith.cmpi slt, %rk, %k0 : tensor<32xi32>
      %in0a = tt.expand_dims %in0 {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
      %in0ab = tt.broadcast %in0a : tensor<1x32xi1> -> tensor<128x32xi1>
      %ma0 = arith.andi %inma, %in0ab : tensor<128x32xi1>
      warploom.async_copy @p0[%c0] {payload = 0 : i32} %A, %ma0, %za : tensor<128x32x!tt.ptr<f16>>
      %in0b = tt.expand_dims %in0 {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
      %in0bb = tt.broadcast %in0b : tensor<32x1xi1> -> tensor<32x128xi1>
      %mb0 = arith.andi %innb, %in0bb : tensor<32x128xi1>
      warploom.async_copy @p0[%c0] {payload = 1 : i32} %B, %mb0, %zb : tensor<32x128x!tt.ptr<f16>>
      warploom.async_commit
      // what iteration 1 needs
      %K1 = arith.subi %K, %c32 : i32
      %k1 = tt.splat %K1 : i32 -> tensor<32xi32>
      %in1 = arith.cmpi slt, %rk, %k1 : tensor<32xi32>
      %in1a = tt.expand_dims %in1 {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
      %in1ab = tt.broadcast %in1a : tensor<1x32xi1> -> tensor<128x32xi1>
      %ma1 = arith.andi %inma, %in1ab : tensor<128x32xi1>
      %o1 = tt.splat %c32 : i32 -> tensor<128x32xi32>
      %A1 = tt.addptr %A, %o1 : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
      warploom.async_copy @p0[%c1] {payload = 0 : i32} %A1, %ma1, %za : tensor<128x32x!tt.ptr<f16>>
      %in1b = tt.expand_dims %in1 {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
      %in1bb = tt.broadcast %in1b : tensor<32x1xi1> -> tensor<32x128xi1>
      %mb1 = arith.andi %innb, %in1bb : tensor<32x128xi1>
      %ob1 = tt.splat %step : i32 -> tensor<32x128xi32>
      %B1 = tt.addptr %B, %ob1 : tensor<32x128x!tt.ptr<f16>>, tensor<32x128xi32>
      warploom.async_copy @p0[%c1] {payload = 1 : i32} %B1, %mb1, %zb : tensor<32x128x!tt.ptr<f16>>
      warploom.async_commit
      %step2 = arith.muli %step, %c2 : i32
      %l:7 = scf.for %k = %c0 to %K step %c32 iter_args(%d = %zero, %i = %c0, %f = %c0, %j = %c2, %g = %c0, %oa = %c64, %ob = %step2) -> (tensor<128x128xf32>, i32, i32, i32, i32, i32, i32) : i32 {
        warploom.async_wait {pending = 1 : i32}
        warploom.barrier_sync @all
        %left = arith.subi %K, %k : i32
        %left2 = arith.subi %left, %c64 : i32
        %ks = tt.splat %left2 : i32 -> tensor<32xi32>
        %in = arith.cmpi slt, %rk, %ks : tensor<32xi32>
        %ina = tt.expand_dims %in {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
        %inab = tt.broadcast %ina : tensor<1x32xi1> -> tensor<128x32xi1>
        %ma = arith.andi %inma, %inab : tensor<128x32xi1>
        %oas = tt.splat %oa : i32 -> tensor<128x32xi32>
        %An = tt.addptr %A, %oas : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
        warploom.async_copy @p0[%j] {payload = 0 : i32} %An, %ma, %za : tensor<128x32x!tt.ptr<f16>>
        %inb = tt.expand_dims %in {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
        %inbb = tt.broadcast %inb : tensor<32x1xi1> -> tensor<32x128xi1>
        %mb = arith.andi %innb, %inbb : tensor<32x128xi1>
        %obs = tt.splat %ob : i32 -> tensor<32x128xi32>
        %Bn = tt.addptr %B, %obs : tensor<32x128x!tt.ptr<f16>>, tensor<32x128xi32>
        warploom.async_copy @p0[%j] {payload = 1 : i32} %Bn, %mb, %zb : tensor<32x128x!tt.ptr<f16>>
        warploom.async_commit
        %x = warploom.slot @p0[%i] {payload = 0 : i32} : tensor<128x32xf16>
        %y = warploom.slot @p0[%i] {payload = 1 : i32} : tensor<32x128xf16>
        %e = tt.dot %x, %y, %d, inputPrecision = tf32 : tensor<128x32xf16> * tensor<32x128xf16> -> tensor<128x128xf32>
        %n:2 = warploom.advance @p0[%i, %f]
        %m:2 = warploom.advance @p0[%j, %g]
        %oa1 = arith.addi %oa, %c32 : i32
        %ob1n = arith.addi %ob, %step : i32
        scf.yield %e, %n#0, %n#1, %m#0, %m#1, %oa1, %ob1n : tensor<128x128xf32>, i32, i32, i32, i32, i32, i32
      }
      warploom.async_wait {pending = 0 : i32}
      %in_m = tt.broadcast %inm : tensor<128x1xi1> -> tensor<128x128xi1>
      %in_n = tt.broadcast %inn : tensor<1x128xi1> -> tensor<128x128xi1>
      %inc = arith.andi %in_m, %in_n : tensor<128x128xi1>
      %scs = tt.splat %sc : i32 -> tensor<128x1xi32>
      %rc = arith.muli %rm1, %scs : tensor<128x1xi32>
      %pc = tt.splat %c : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
      %pc1 = tt.addptr %pc, %rc : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
      %pc2 = tt.broadcast %pc1 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x128x!tt.ptr<f16>>
      %nc = tt.broadcast %rn0 : tensor<1x128xi32> -> tensor<128x128xi32>
      %C = tt.addptr %pc2, %nc : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
      %out = arith.truncf %l#0 : tensor<128x128xf32> to tensor<128x128xf16>
      tt.store %C, %out, %inc : tensor<128x128x!tt.ptr<f16>>
    }
    tt.return
  }
}
