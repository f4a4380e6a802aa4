// Sums of f16, two in a register: what mma.sync and wgmma add up themselves (T12); tcgen05 keeps f32 and rounds. Through
// descriptors, and through pointers with the sums scaled in each trip.
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=64x104 --arg=64x72 --arg=104x72 --arg=64
// run: run - --target sm_80 --interleavings 2 --seed 2 --arg=64x104 --arg=64x72 --arg=104x72 --arg=64
// run: run - --target sm_120a --interleavings 2 --seed 3 --arg=64x104 --arg=64x72 --arg=104x72 --arg=64
// run: run - --target sm_100a --interleavings 2 --seed 4 --arg=64x104 --arg=64x72 --arg=104x72 --arg=64
// run: run - --target sm_90a --interleavings 4 --seed 5 --arg=176x104 --arg=176x72 --arg=104x72 --arg=176
// run: run - --target sm_90a --interleavings 2 --seed 6 --arg=16x104 --arg=16x72 --arg=104x72 --arg=0
// clean
module {
  tt.func public @matmul(%arg0: !tt.tensordesc<64x128xf16>, %arg1: i32, %arg2: i32, %arg3: i64, %arg4: i64, %arg5: !tt.tensordesc<64x64xf16>, %arg6: i32, %arg7: i32, %arg8: i64, %arg9: i64, %arg10: !tt.tensordesc<128x64xf16>, %arg11: i32, %arg12: i32, %arg13: i64, %arg14: i64, %arg15: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<128x64xf16>
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %c128_i32 = arith.constant 128 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c128_i32 : i32
    %2 = tt.get_program_id y : i32
    %3 = arith.muli %2, %c64_i32 : i32
    %4 = scf.for %arg16 = %c0_i32 to %arg15 step %c64_i32 iter_args(%arg17 = %cst) -> (tensor<128x64xf16>)  : i32 {
      %6 = tt.descriptor_load %arg0[%arg16, %1] : !tt.tensordesc<64x128xf16> -> tensor<64x128xf16>
      %7 = tt.trans %6 {order = array<i32: 1, 0>} : tensor<64x128xf16> -> tensor<128x64xf16>
      %8 = tt.descriptor_load %arg5[%arg16, %3] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
      %9 = tt.dot %7, %8, %arg17, inputPrecision = tf32 : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf16>
      scf.yield %9 : tensor<128x64xf16>
    }
    tt.descriptor_store %arg10[%1, %3], %4 : !tt.tensordesc<128x64xf16>, tensor<128x64xf16>
    tt.return
  }
}
// -----
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_80 --interleavings 2 --seed 2 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_120a --interleavings 2 --seed 3 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// run: run - --target sm_103a --interleavings 2 --seed 4 --arg=[6144] --arg=[6144] --arg=[4096] --arg=96
// clean
module {
  tt.func public @scaled_sums(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: i32 {tt.divisibility = 16 : i32}) {
    %zero = arith.constant 0 : i32
    %step = arith.constant 32 : i32
    %none = arith.constant dense<0.0> : tensor<64x64xf16>
    %half = arith.constant dense<0.5> : tensor<64x64xf16>
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
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
    %sum = scf.for %i = %zero to %k step %step iter_args(%acc = %none) -> (tensor<64x64xf16>)  : i32 {
      %from = tt.splat %i : i32 -> tensor<32xi32>
      %at = arith.addi %from, %ks : tensor<32xi32>
      %at0 = tt.expand_dims %at {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %ac = tt.broadcast %at0 : tensor<1x32xi32> -> tensor<64x32xi32>
      %ao = arith.addi %ab, %ac : tensor<64x32xi32>
      %ap = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %ap : tensor<64x32x!tt.ptr<f16>>
      %at1 = tt.expand_dims %at {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %br = arith.muli %at1, %wide32 : tensor<32x1xi32>
      %bb = tt.broadcast %br : tensor<32x1xi32> -> tensor<32x64xi32>
      %bo = arith.addi %bb, %bc : tensor<32x64xi32>
      %bp = tt.addptr %bs, %bo : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
      %y = tt.load %bp : tensor<32x64x!tt.ptr<f16>>
      %less = arith.mulf %acc, %half : tensor<64x64xf16>
      %d = tt.dot %x, %y, %less, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf16>
      scf.yield %d : tensor<64x64xf16>
    }
    %ro = arith.muli %rows2, %wide : tensor<64x1xi32>
    %rc = tt.broadcast %ro : tensor<64x1xi32> -> tensor<64x64xi32>
    %cc = tt.broadcast %cols2 : tensor<1x64xi32> -> tensor<64x64xi32>
    %co = arith.addi %rc, %cc : tensor<64x64xi32>
    %cs = tt.splat %c : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %cp = tt.addptr %cs, %co : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    tt.store %cp, %sum : tensor<64x64x!tt.ptr<f16>>
    tt.return
  }
}
