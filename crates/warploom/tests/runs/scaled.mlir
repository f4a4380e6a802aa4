// f16 beside scaled numbers of 4 and 8 bits: the sum of two of bf16, exact (C3, C68).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[2048] --arg=[4096] --arg=[128] --arg=[4096]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[2048] --arg=[4096] --arg=[128] --arg=[4096]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[2048] --arg=[4096] --arg=[128] --arg=[4096]
// run: run - --target sm_120a --interleavings 2 --seed 1 --arg=[2048] --arg=[4096] --arg=[128] --arg=[4096]
// clean
module {
  tt.func public @scaled(%p: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %r: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %m = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %al = arith.constant dense<32> : tensor<64x1xi32>
    %ar = arith.muli %rows, %al : tensor<64x1xi32>
    %arb = tt.broadcast %ar : tensor<64x1xi32> -> tensor<64x32xi32>
    %ac = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %ace = tt.expand_dims %ac {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %acb = tt.broadcast %ace : tensor<1x32xi32> -> tensor<64x32xi32>
    %ao = arith.addi %arb, %acb : tensor<64x32xi32>
    %as = tt.splat %p : !tt.ptr<i8> -> tensor<64x32x!tt.ptr<i8>>
    %ap = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>
    %a = tt.load %ap : tensor<64x32x!tt.ptr<i8>>
    %bl = arith.constant dense<64> : tensor<64x1xi32>
    %br = arith.muli %rows, %bl : tensor<64x1xi32>
    %brb = tt.broadcast %br : tensor<64x1xi32> -> tensor<64x64xi32>
    %bc = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %bce = tt.expand_dims %bc {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %bcb = tt.broadcast %bce : tensor<1x64xi32> -> tensor<64x64xi32>
    %bo = arith.addi %brb, %bcb : tensor<64x64xi32>
    %bs = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %bp = tt.addptr %bs, %bo : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %bn = tt.load %bp : tensor<64x64x!tt.ptr<f16>>
    %b = tt.trans %bn {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %kl = arith.constant dense<2> : tensor<64x1xi32>
    %kr = arith.muli %rows, %kl : tensor<64x1xi32>
    %krb = tt.broadcast %kr : tensor<64x1xi32> -> tensor<64x2xi32>
    %kc = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %kce = tt.expand_dims %kc {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
    %kcb = tt.broadcast %kce : tensor<1x2xi32> -> tensor<64x2xi32>
    %ko = arith.addi %krb, %kcb : tensor<64x2xi32>
    %ks = tt.splat %k : !tt.ptr<i8> -> tensor<64x2x!tt.ptr<i8>>
    %kp = tt.addptr %ks, %ko : tensor<64x2x!tt.ptr<i8>>, tensor<64x2xi32>
    %ki = tt.load %kp : tensor<64x2x!tt.ptr<i8>>
    %some = arith.constant dense<15> : tensor<64x2xi8>
    %least = arith.constant dense<112> : tensor<64x2xi8>
    %km = arith.andi %ki, %some : tensor<64x2xi8>
    %kv = arith.ori %km, %least : tensor<64x2xi8>
    %d = tt.dot_scaled %a scale %kv, %b, %zero lhs = e2m1 rhs = fp16 {fastMath = false} : tensor<64x32xi8>, tensor<64x2xi8> * tensor<64x64xf16> -> tensor<64x64xf32>
    %dl = arith.constant dense<64> : tensor<64x1xi32>
    %dr = arith.muli %rows, %dl : tensor<64x1xi32>
    %drb = tt.broadcast %dr : tensor<64x1xi32> -> tensor<64x64xi32>
    %dc = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %dce = tt.expand_dims %dc {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %dcb = tt.broadcast %dce : tensor<1x64xi32> -> tensor<64x64xi32>
    %do = arith.addi %drb, %dcb : tensor<64x64xi32>
    %ds = tt.splat %r : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %dp = tt.addptr %ds, %do : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %dp, %d : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[4096] --arg=[4096] --arg=[128] --arg=[4096]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[4096] --arg=[4096] --arg=[128] --arg=[4096]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[4096] --arg=[4096] --arg=[128] --arg=[4096]
// run: run - --target sm_120a --interleavings 2 --seed 1 --arg=[4096] --arg=[4096] --arg=[128] --arg=[4096]
// clean
module {
  tt.func public @scaled(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f8E5M2> {tt.divisibility = 16 : i32}, %k: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %r: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %m = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %al = arith.constant dense<64> : tensor<64x1xi32>
    %ar = arith.muli %rows, %al : tensor<64x1xi32>
    %arb = tt.broadcast %ar : tensor<64x1xi32> -> tensor<64x64xi32>
    %ac = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %ace = tt.expand_dims %ac {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %acb = tt.broadcast %ace : tensor<1x64xi32> -> tensor<64x64xi32>
    %ao = arith.addi %arb, %acb : tensor<64x64xi32>
    %as = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %ap = tt.addptr %as, %ao : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %a = tt.load %ap : tensor<64x64x!tt.ptr<f16>>
    %bl = arith.constant dense<64> : tensor<64x1xi32>
    %br = arith.muli %rows, %bl : tensor<64x1xi32>
    %brb = tt.broadcast %br : tensor<64x1xi32> -> tensor<64x64xi32>
    %bc = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %bce = tt.expand_dims %bc {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %bcb = tt.broadcast %bce : tensor<1x64xi32> -> tensor<64x64xi32>
    %bo = arith.addi %brb, %bcb : tensor<64x64xi32>
    %bs = tt.splat %q : !tt.ptr<f8E5M2> -> tensor<64x64x!tt.ptr<f8E5M2>>
    %bp = tt.addptr %bs, %bo : tensor<64x64x!tt.ptr<f8E5M2>>, tensor<64x64xi32>
    %bn = tt.load %bp : tensor<64x64x!tt.ptr<f8E5M2>>
    %b = tt.trans %bn {order = array<i32: 1, 0>} : tensor<64x64xf8E5M2> -> tensor<64x64xf8E5M2>
    %kl = arith.constant dense<2> : tensor<64x1xi32>
    %kr = arith.muli %rows, %kl : tensor<64x1xi32>
    %krb = tt.broadcast %kr : tensor<64x1xi32> -> tensor<64x2xi32>
    %kc = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %kce = tt.expand_dims %kc {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
    %kcb = tt.broadcast %kce : tensor<1x2xi32> -> tensor<64x2xi32>
    %ko = arith.addi %krb, %kcb : tensor<64x2xi32>
    %ks = tt.splat %k : !tt.ptr<i8> -> tensor<64x2x!tt.ptr<i8>>
    %kp = tt.addptr %ks, %ko : tensor<64x2x!tt.ptr<i8>>, tensor<64x2xi32>
    %ki = tt.load %kp : tensor<64x2x!tt.ptr<i8>>
    %some = arith.constant dense<15> : tensor<64x2xi8>
    %least = arith.constant dense<112> : tensor<64x2xi8>
    %km = arith.andi %ki, %some : tensor<64x2xi8>
    %kv = arith.ori %km, %least : tensor<64x2xi8>
    %d = tt.dot_scaled %a, %b scale %kv, %zero lhs = fp16 rhs = e5m2 {fastMath = false} : tensor<64x64xf16> * tensor<64x64xf8E5M2>, tensor<64x2xi8> -> tensor<64x64xf32>
    %dl = arith.constant dense<64> : tensor<64x1xi32>
    %dr = arith.muli %rows, %dl : tensor<64x1xi32>
    %drb = tt.broadcast %dr : tensor<64x1xi32> -> tensor<64x64xi32>
    %dc = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %dce = tt.expand_dims %dc {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %dcb = tt.broadcast %dce : tensor<1x64xi32> -> tensor<64x64xi32>
    %do = arith.addi %drb, %dcb : tensor<64x64xi32>
    %ds = tt.splat %r : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %dp = tt.addptr %ds, %do : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %dp, %d : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[4096] --arg=[4096] --arg=[128] --arg=[4096]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[4096] --arg=[4096] --arg=[128] --arg=[4096]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[4096] --arg=[4096] --arg=[128] --arg=[4096]
// run: run - --target sm_120a --interleavings 2 --seed 1 --arg=[4096] --arg=[4096] --arg=[128] --arg=[4096]
// clean
module {
  tt.func public @scaled(%p: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %r: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %m = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %al = arith.constant dense<64> : tensor<64x1xi32>
    %ar = arith.muli %rows, %al : tensor<64x1xi32>
    %arb = tt.broadcast %ar : tensor<64x1xi32> -> tensor<64x64xi32>
    %ac = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %ace = tt.expand_dims %ac {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %acb = tt.broadcast %ace : tensor<1x64xi32> -> tensor<64x64xi32>
    %ao = arith.addi %arb, %acb : tensor<64x64xi32>
    %as = tt.splat %p : !tt.ptr<f8E4M3FN> -> tensor<64x64x!tt.ptr<f8E4M3FN>>
    %ap = tt.addptr %as, %ao : tensor<64x64x!tt.ptr<f8E4M3FN>>, tensor<64x64xi32>
    %a = tt.load %ap : tensor<64x64x!tt.ptr<f8E4M3FN>>
    %bl = arith.constant dense<64> : tensor<64x1xi32>
    %br = arith.muli %rows, %bl : tensor<64x1xi32>
    %brb = tt.broadcast %br : tensor<64x1xi32> -> tensor<64x64xi32>
    %bc = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %bce = tt.expand_dims %bc {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %bcb = tt.broadcast %bce : tensor<1x64xi32> -> tensor<64x64xi32>
    %bo = arith.addi %brb, %bcb : tensor<64x64xi32>
    %bs = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %bp = tt.addptr %bs, %bo : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %bn = tt.load %bp : tensor<64x64x!tt.ptr<f16>>
    %b = tt.trans %bn {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %kl = arith.constant dense<2> : tensor<64x1xi32>
    %kr = arith.muli %rows, %kl : tensor<64x1xi32>
    %krb = tt.broadcast %kr : tensor<64x1xi32> -> tensor<64x2xi32>
    %kc = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %kce = tt.expand_dims %kc {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
    %kcb = tt.broadcast %kce : tensor<1x2xi32> -> tensor<64x2xi32>
    %ko = arith.addi %krb, %kcb : tensor<64x2xi32>
    %ks = tt.splat %k : !tt.ptr<i8> -> tensor<64x2x!tt.ptr<i8>>
    %kp = tt.addptr %ks, %ko : tensor<64x2x!tt.ptr<i8>>, tensor<64x2xi32>
    %ki = tt.load %kp : tensor<64x2x!tt.ptr<i8>>
    %some = arith.constant dense<15> : tensor<64x2xi8>
    %least = arith.constant dense<112> : tensor<64x2xi8>
    %km = arith.andi %ki, %some : tensor<64x2xi8>
    %kv = arith.ori %km, %least : tensor<64x2xi8>
    %d = tt.dot_scaled %a scale %kv, %b, %zero lhs = e4m3 rhs = fp16 {fastMath = false} : tensor<64x64xf8E4M3FN>, tensor<64x2xi8> * tensor<64x64xf16> -> tensor<64x64xf32>
    %dl = arith.constant dense<64> : tensor<64x1xi32>
    %dr = arith.muli %rows, %dl : tensor<64x1xi32>
    %drb = tt.broadcast %dr : tensor<64x1xi32> -> tensor<64x64xi32>
    %dc = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %dce = tt.expand_dims %dc {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %dcb = tt.broadcast %dce : tensor<1x64xi32> -> tensor<64x64xi32>
    %do = arith.addi %drb, %dcb : tensor<64x64xi32>
    %ds = tt.splat %r : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %dp = tt.addptr %ds, %do : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %dp, %d : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
