module {
  tt.func public @split_sums(%A: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<64> : tensor<128x1xi32>
    %cst_1 = arith.constant dense<64> : tensor<32x1xi32>
    %m = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %n = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %low:2 = scf.for %i = %c0_i32 to %K step %c32_i32 iter_args(%high = %cst, %low_2 = %cst) -> (tensor<128x64xf32>, tensor<128x64xf32>)  : i32 {
      %a = tt.expand_dims %m {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %a_3 = tt.splat %K : i32 -> tensor<128x1xi32>
      %a_4 = arith.muli %a, %a_3 : tensor<128x1xi32>
      %a_5 = tt.splat %A : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>>
      %a_6 = tt.addptr %a_5, %a_4 : tensor<128x1x!tt.ptr<f32>>, tensor<128x1xi32>
      %a_7 = tt.splat %i : i32 -> tensor<32xi32>
      %a_8 = arith.addi %a_7, %k : tensor<32xi32>
      %a_9 = tt.expand_dims %a_8 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %a_10 = tt.broadcast %a_6 : tensor<128x1x!tt.ptr<f32>> -> tensor<128x32x!tt.ptr<f32>>
      %a_11 = tt.broadcast %a_9 : tensor<1x32xi32> -> tensor<128x32xi32>
      %a_12 = tt.addptr %a_10, %a_11 : tensor<128x32x!tt.ptr<f32>>, tensor<128x32xi32>
      %a_13 = tt.load %a_12 : tensor<128x32x!tt.ptr<f32>>
      %b = tt.expand_dims %a_8 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %b_14 = arith.muli %b, %cst_1 : tensor<32x1xi32>
      %b_15 = tt.splat %B : !tt.ptr<f32> -> tensor<32x1x!tt.ptr<f32>>
      %b_16 = tt.addptr %b_15, %b_14 : tensor<32x1x!tt.ptr<f32>>, tensor<32x1xi32>
      %b_17 = tt.expand_dims %n {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %b_18 = tt.broadcast %b_16 : tensor<32x1x!tt.ptr<f32>> -> tensor<32x64x!tt.ptr<f32>>
      %b_19 = tt.broadcast %b_17 : tensor<1x64xi32> -> tensor<32x64xi32>
      %b_20 = tt.addptr %b_18, %b_19 : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
      %b_21 = tt.load %b_20 : tensor<32x64x!tt.ptr<f32>>
      %a1 = arith.truncf %a_13 : tensor<128x32xf32> to tensor<128x32xbf16>
      %b1 = arith.truncf %b_21 : tensor<32x64xf32> to tensor<32x64xbf16>
      %a2 = arith.extf %a1 : tensor<128x32xbf16> to tensor<128x32xf32>
      %a2_22 = arith.subf %a_13, %a2 : tensor<128x32xf32>
      %a2_23 = arith.truncf %a2_22 : tensor<128x32xf32> to tensor<128x32xbf16>
      %b2 = arith.extf %b1 : tensor<32x64xbf16> to tensor<32x64xf32>
      %b2_24 = arith.subf %b_21, %b2 : tensor<32x64xf32>
      %b2_25 = arith.truncf %b2_24 : tensor<32x64xf32> to tensor<32x64xbf16>
      %high_26 = tt.dot %a1, %b1, %high, inputPrecision = tf32 : tensor<128x32xbf16> * tensor<32x64xbf16> -> tensor<128x64xf32>
      %low_27 = tt.dot %a1, %b2_25, %low_2, inputPrecision = tf32 : tensor<128x32xbf16> * tensor<32x64xbf16> -> tensor<128x64xf32>
      %low_28 = tt.dot %a2_23, %b1, %low_27, inputPrecision = tf32 : tensor<128x32xbf16> * tensor<32x64xbf16> -> tensor<128x64xf32>
      scf.yield %high_26, %low_28 : tensor<128x64xf32>, tensor<128x64xf32>
    }
    %0 = tt.expand_dims %m {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %1 = arith.muli %0, %cst_0 : tensor<128x1xi32>
    %2 = tt.splat %C : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>>
    %3 = tt.addptr %2, %1 : tensor<128x1x!tt.ptr<f32>>, tensor<128x1xi32>
    %4 = tt.expand_dims %n {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %5 = tt.broadcast %3 : tensor<128x1x!tt.ptr<f32>> -> tensor<128x64x!tt.ptr<f32>>
    %6 = tt.broadcast %4 : tensor<1x64xi32> -> tensor<128x64xi32>
    %7 = tt.addptr %5, %6 : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
    %8 = arith.addf %low#0, %low#1 : tensor<128x64xf32>
    tt.store %7, %8 : tensor<128x64x!tt.ptr<f32>>
    tt.return
  }
}
