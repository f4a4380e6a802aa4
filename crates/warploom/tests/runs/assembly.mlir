// Two results and constants in the text; the text has registers and a predicate of its own (C3).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// clean
module {
  tt.func public @halves(%p: !tt.ptr<i16>, %q: !tt.ptr<f16>, %r: !tt.ptr<f16>) {
    %mask = arith.constant dense<983055> : tensor<256xi32>
    %magic = arith.constant dense<1677747200> : tensor<256xi32>
    %table = arith.constant dense<234> : tensor<256xi32>
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %pps = tt.splat %p : !tt.ptr<i16> -> tensor<256x!tt.ptr<i16>>
    %pp = tt.addptr %pps, %n : tensor<256x!tt.ptr<i16>>, tensor<256xi32>
    %qps = tt.splat %q : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
    %qp = tt.addptr %qps, %n : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
    %rps = tt.splat %r : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
    %rp = tt.addptr %rps, %n : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
    %h = tt.load %pp : tensor<256x!tt.ptr<i16>>
    %x = arith.extui %h : tensor<256xi16> to tensor<256xi32>
    %y:2 = tt.elementwise_inline_asm "{ .reg .b32 t; .reg .pred odd; lop3.b32 t, $2, $3, $4, $5; sub.f16x2 t, t, $6; and.b32 t, t, 0x7fff7fff; setp.ne.u32 odd, t, 0; @odd add.f16x2 t, t, t; mov.b32 {$0, $1}, t; }" {constraints = "=h,=h,r,n,n,n,r", packed_element = 1 : i32, pure = true} %x, %mask, %magic, %table, %magic : tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32>, tensor<256xi32> -> tensor<256xf16>, tensor<256xf16>
    tt.store %qp, %y#0 : tensor<256x!tt.ptr<f16>>
    tt.store %rp, %y#1 : tensor<256x!tt.ptr<f16>>
    tt.return
  }
}
// -----
// Four bytes in a register, their results in two of them (C3).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[512] --arg=[512]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[512] --arg=[512]
// clean
module {
  tt.func public @bytes(%p: !tt.ptr<i8>, %q: !tt.ptr<i16>) {
    %n = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %pps = tt.splat %p : !tt.ptr<i8> -> tensor<512x!tt.ptr<i8>>
    %pp = tt.addptr %pps, %n : tensor<512x!tt.ptr<i8>>, tensor<512xi32>
    %qps = tt.splat %q : !tt.ptr<i16> -> tensor<512x!tt.ptr<i16>>
    %qp = tt.addptr %qps, %n : tensor<512x!tt.ptr<i16>>, tensor<512xi32>
    %x = tt.load %pp : tensor<512x!tt.ptr<i8>>
    %y = tt.elementwise_inline_asm "prmt.b32 $0, $2, 0, 0x4140; prmt.b32 $1, $2, 0, 0x4342;" {constraints = "=&r,=r,r", packed_element = 4 : i32, pure = true} %x : tensor<512xi8> -> tensor<512xi16>
    tt.store %qp, %y : tensor<512x!tt.ptr<i16>>
    tt.return
  }
}
// -----
// An operand in the register of its result, and registers of 64 bits (C3).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[256] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[256]
// clean
module {
  tt.func public @tied(%p: !tt.ptr<f64>, %q: !tt.ptr<f64>) {
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %pps = tt.splat %p : !tt.ptr<f64> -> tensor<256x!tt.ptr<f64>>
    %pp = tt.addptr %pps, %n : tensor<256x!tt.ptr<f64>>, tensor<256xi32>
    %qps = tt.splat %q : !tt.ptr<f64> -> tensor<256x!tt.ptr<f64>>
    %qp = tt.addptr %qps, %n : tensor<256x!tt.ptr<f64>>, tensor<256xi32>
    %x = tt.load %pp : tensor<256x!tt.ptr<f64>>
    %y = tt.load %qp : tensor<256x!tt.ptr<f64>>
    %z = tt.elementwise_inline_asm "fma.rn.f64 $0, $2, $2, $0;" {constraints = "=d,0,d", packed_element = 1 : i32, pure = true} %x, %y : tensor<256xf64>, tensor<256xf64> -> tensor<256xf64>
    tt.store %qp, %z : tensor<256x!tt.ptr<f64>>
    tt.return
  }
}
// -----
// What depends on who runs it has no reference (C3).
// run: run - --target sm_90a --arg=[256]
module {
  tt.func public @lane(%p: !tt.ptr<i32>) {
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %pps = tt.splat %p : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %pp = tt.addptr %pps, %n : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %x = tt.load %pp : tensor<256x!tt.ptr<i32>>
    // error @below: mov.u32 is more than a function of its operands [op, C3]
    %y = tt.elementwise_inline_asm "{ .reg .b32 t; mov.u32 t, %laneid; add.u32 $0, $1, t; }" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<256xi32> -> tensor<256xi32>
    tt.store %pp, %y : tensor<256x!tt.ptr<i32>>
    tt.return
  }
}
