module {
  tt.func public @paired_sums(%A: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %D: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %E: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<64> : tensor<128x1xi32>
    %cst_0 = arith.constant dense<64> : tensor<32x1xi32>
    %m = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %n = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %acc_1 = scf.for %i = %c0_i32 to %K step %c32_i32 iter_args(%acc_2 = %acc) -> (tensor<128x64xf32>)  : i32 {
      %a = tt.expand_dims %m {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %a_3 = tt.splat %K : i32 -> tensor<128x1xi32>
      %a_4 = arith.muli %a, %a_3 : tensor<128x1xi32>
      %a_5 = tt.splat %A : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
      %a_6 = tt.addptr %a_5, %a_4 : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
      %a_7 = tt.splat %i : i32 -> tensor<32xi32>
      %a_8 = arith.addi %a_7, %k : tensor<32xi32>
      %a_9 = tt.expand_dims %a_8 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %a_10 = tt.broadcast %a_6 : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x32x!tt.ptr<bf16>>
      %a_11 = tt.broadcast %a_9 : tensor<1x32xi32> -> tensor<128x32xi32>
      %a_12 = tt.addptr %a_10, %a_11 : tensor<128x32x!tt.ptr<bf16>>, tensor<128x32xi32>
      %a_13 = tt.load %a_12 : tensor<128x32x!tt.ptr<bf16>>
      %b = tt.expand_dims %a_8 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %b_14 = arith.muli %b, %cst_0 : tensor<32x1xi32>
      %b_15 = tt.splat %B : !tt.ptr<bf16> -> tensor<32x1x!tt.ptr<bf16>>
      %b_16 = tt.addptr %b_15, %b_14 : tensor<32x1x!tt.ptr<bf16>>, tensor<32x1xi32>
      %b_17 = tt.expand_dims %n {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %b_18 = tt.broadcast %b_16 : tensor<32x1x!tt.ptr<bf16>> -> tensor<32x64x!tt.ptr<bf16>>
      %b_19 = tt.broadcast %b_17 : tensor<1x64xi32> -> tensor<32x64xi32>
      %b_20 = tt.addptr %b_18, %b_19 : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
      %b_21 = tt.load %b_20 : tensor<32x64x!tt.ptr<bf16>>
      %d = tt.splat %D : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
      %d_22 = tt.addptr %d, %a_4 : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
      %d_23 = tt.broadcast %d_22 : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x32x!tt.ptr<bf16>>
      %d_24 = tt.addptr %d_23, %a_11 : tensor<128x32x!tt.ptr<bf16>>, tensor<128x32xi32>
      %d_25 = tt.load %d_24 : tensor<128x32x!tt.ptr<bf16>>
      %e = tt.splat %E : !tt.ptr<bf16> -> tensor<32x1x!tt.ptr<bf16>>
      %e_26 = tt.addptr %e, %b_14 : tensor<32x1x!tt.ptr<bf16>>, tensor<32x1xi32>
      %e_27 = tt.broadcast %e_26 : tensor<32x1x!tt.ptr<bf16>> -> tensor<32x64x!tt.ptr<bf16>>
      %e_28 = tt.addptr %e_27, %b_19 : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
      %e_29 = tt.load %e_28 : tensor<32x64x!tt.ptr<bf16>>
      %acc_30 = tt.dot %a_13, %b_21, %acc_2, inputPrecision = tf32 : tensor<128x32xbf16> * tensor<32x64xbf16> -> tensor<128x64xf32>
      %acc_31 = tt.dot %d_25, %e_29, %acc_30, inputPrecision = tf32 : tensor<128x32xbf16> * tensor<32x64xbf16> -> tensor<128x64xf32>
      scf.yield %acc_31 : tensor<128x64xf32>
    }
    %0 = tt.expand_dims %m {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %1 = arith.muli %0, %cst : tensor<128x1xi32>
    %2 = tt.splat %C : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>>
    %3 = tt.addptr %2, %1 : tensor<128x1x!tt.ptr<f32>>, tensor<128x1xi32>
    %4 = tt.expand_dims %n {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %5 = tt.broadcast %3 : tensor<128x1x!tt.ptr<f32>> -> tensor<128x64x!tt.ptr<f32>>
    %6 = tt.broadcast %4 : tensor<1x64xi32> -> tensor<128x64xi32>
    %7 = tt.addptr %5, %6 : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
    tt.store %7, %acc_1 : tensor<128x64x!tt.ptr<f32>>
    tt.return
  }
}
