module {
  tt.func public @gated(%a: !tt.tensordesc<128x32xbf16>, %a.shape.0: i32, %a.shape.1: i32, %a.stride.0: i64, %a.stride.1: i64, %b: !tt.tensordesc<128x32xbf16>, %b.shape.0: i32, %b.shape.1: i32, %b.stride.0: i64, %b.stride.1: i64, %c: !tt.tensordesc<128x32xbf16>, %c.shape.0: i32, %c.shape.1: i32, %c.stride.0: i64, %c.stride.1: i64, %x: !tt.tensordesc<128x128xbf16>, %x.shape.0: i32, %x.shape.1: i32, %x.stride.0: i64, %x.stride.1: i64, %y: !tt.tensordesc<128x128xbf16>, %y.shape.0: i32, %y.shape.1: i32, %y.stride.0: i64, %y.stride.1: i64, %z: !tt.tensordesc<128x128xbf16>, %z.shape.0: i32, %z.shape.1: i32, %z.stride.0: i64, %z.stride.1: i64, %K: i32) attributes {noinline = false} {
    %c32_i32 = arith.constant 32 : i32
    %cst = arith.constant dense<1.000000e+00> : tensor<128x128xf32>
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
    %up:2 = scf.for %k = %c0_i32 to %K step %c32_i32 iter_args(%gate = %cst_0, %up_1 = %cst_0) -> (tensor<128x128xf32>, tensor<128x128xf32>)  : i32 {
      %t = tt.descriptor_load %a[%c0_i32, %k] : !tt.tensordesc<128x32xbf16> -> tensor<128x32xbf16>
      %gate_2 = tt.descriptor_load %b[%c0_i32, %k] : !tt.tensordesc<128x32xbf16> -> tensor<128x32xbf16>
      %gate_3 = tt.trans %gate_2 {order = array<i32: 1, 0>} : tensor<128x32xbf16> -> tensor<32x128xbf16>
      %gate_4 = tt.dot %t, %gate_3, %gate, inputPrecision = tf32 : tensor<128x32xbf16> * tensor<32x128xbf16> -> tensor<128x128xf32>
      %up_5 = tt.descriptor_load %c[%c0_i32, %k] : !tt.tensordesc<128x32xbf16> -> tensor<128x32xbf16>
      %up_6 = tt.trans %up_5 {order = array<i32: 1, 0>} : tensor<128x32xbf16> -> tensor<32x128xbf16>
      %up_7 = tt.dot %t, %up_6, %up_1, inputPrecision = tf32 : tensor<128x32xbf16> * tensor<32x128xbf16> -> tensor<128x128xf32>
      scf.yield %gate_4, %up_7 : tensor<128x128xf32>, tensor<128x128xf32>
    }
    %0 = arith.negf %up#0 : tensor<128x128xf32>
    %1 = math.exp %0 : tensor<128x128xf32>
    %2 = arith.addf %1, %cst : tensor<128x128xf32>
    %3 = arith.divf %up#0, %2 : tensor<128x128xf32>
    %4 = arith.mulf %3, %up#1 : tensor<128x128xf32>
    %5 = arith.truncf %4 : tensor<128x128xf32> to tensor<128x128xbf16>
    tt.descriptor_store %x[%c0_i32, %c0_i32], %5 : !tt.tensordesc<128x128xbf16>, tensor<128x128xbf16>
    %6 = arith.truncf %up#0 : tensor<128x128xf32> to tensor<128x128xbf16>
    tt.descriptor_store %y[%c0_i32, %c0_i32], %6 : !tt.tensordesc<128x128xbf16>, tensor<128x128xbf16>
    %7 = arith.truncf %up#1 : tensor<128x128xf32> to tensor<128x128xbf16>
    tt.descriptor_store %z[%c0_i32, %c0_i32], %7 : !tt.tensordesc<128x128xbf16>, tensor<128x128xbf16>
    tt.return
  }
}
