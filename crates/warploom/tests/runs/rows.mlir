// Tiles with two leading dimensions, read by a product and by lanes, and stored: rows lie one behind the other (C8, C14).
// run: run - --target sm_80 --interleavings 2 --seed 1 --arg=[16384] --arg=[16384] --arg=[4096]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[16384] --arg=[16384] --arg=[4096]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[16384] --arg=[16384] --arg=[4096]
// run: run - --target sm_120a --interleavings 2 --seed 1 --arg=[16384] --arg=[16384] --arg=[4096]
// clean
module {
  tt.func public @k(%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %c: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c64 = arith.constant 64 : i32
    %c2 = arith.constant 2 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %s1 = arith.constant 1 : i64
    %s256 = arith.constant 256 : i64
    %s8192 = arith.constant 8192 : i64
    %s64 = arith.constant 64 : i64
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %d3 = tt.make_tensor_descriptor %a, [%c2, %c32, %c256], [%s8192, %s256, %s1] : !tt.ptr<f16>, !tt.tensordesc<2x32x64xf16>
    %e3 = tt.make_tensor_descriptor %b, [%c2, %c32, %c256], [%s8192, %s256, %s1] : !tt.ptr<f16>, !tt.tensordesc<2x32x64xf16>
    %d2 = tt.make_tensor_descriptor %a, [%c64, %c256], [%s256, %s1] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
    %acc = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (tensor<64x64xf32>) : i32 {
      %k = arith.muli %i, %c64 : i32
      %x3 = tt.descriptor_load %d3[%c0, %c0, %k] : !tt.tensordesc<2x32x64xf16> -> tensor<2x32x64xf16>
      %x0 = tt.reshape %x3 : tensor<2x32x64xf16> -> tensor<64x64xf16>
      %xe = arith.extf %x0 : tensor<64x64xf16> to tensor<64x64xf32>
      %x = tt.descriptor_load %d2[%c0, %k] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
      %y3 = tt.descriptor_load %e3[%c0, %c0, %k] : !tt.tensordesc<2x32x64xf16> -> tensor<2x32x64xf16>
      %y = tt.reshape %y3 : tensor<2x32x64xf16> -> tensor<64x64xf16>
      %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
      %n0 = tt.dot %x, %yt, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %n = arith.addf %n0, %xe : tensor<64x64xf32>
      scf.yield %n : tensor<64x64xf32>
    }
    %s2048 = arith.constant 2048 : i64
    %f3 = tt.make_tensor_descriptor %c, [%c2, %c32, %c64], [%s2048, %s64, %s1] : !tt.ptr<f32>, !tt.tensordesc<2x32x64xf32>
    %turned = tt.trans %acc {order = array<i32: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
    %rows = tt.reshape %turned : tensor<64x64xf32> -> tensor<2x32x64xf32>
    tt.descriptor_store %f3[%c0, %c0, %c0], %rows : !tt.tensordesc<2x32x64xf32>, tensor<2x32x64xf32>
    tt.return
  }
}
