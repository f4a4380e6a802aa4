module {
  tt.func public @held_in_turns(%X: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %DY: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %OUT: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %BIAS: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %MEANS: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32) attributes {noinline = false} {
    %means = arith.constant dense<0.000000e+00> : tensor<16x64xf32>
    %bias = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %acc = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst = arith.constant dense<0.000000e+00> : tensor<32x64xbf16>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x32xbf16>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant dense<64> : tensor<16x1xi32>
    %cst_2 = arith.constant dense<64> : tensor<64x1xi32>
    %dy = arith.constant dense<64> : tensor<32x1xi32>
    %x = arith.constant dense<64> : tensor<1x32xi32>
    %c64_i32 = arith.constant 64 : i32
    %m = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %k = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %x_3 = tt.expand_dims %k {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %x_4 = tt.splat %X : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %x_5 = tt.addptr %x_4, %x_3 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %x_6 = tt.expand_dims %m {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %x_7 = arith.muli %x_6, %x : tensor<1x32xi32>
    %x_8 = tt.broadcast %x_5 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x32x!tt.ptr<bf16>>
    %x_9 = tt.broadcast %x_7 : tensor<1x32xi32> -> tensor<64x32xi32>
    %x_10 = tt.addptr %x_8, %x_9 : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
    %dy_11 = tt.expand_dims %m {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %dy_12 = arith.muli %dy_11, %dy : tensor<32x1xi32>
    %dy_13 = tt.splat %DY : !tt.ptr<bf16> -> tensor<32x1x!tt.ptr<bf16>>
    %dy_14 = tt.addptr %dy_13, %dy_12 : tensor<32x1x!tt.ptr<bf16>>, tensor<32x1xi32>
    %dy_15 = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %dy_16 = tt.broadcast %dy_14 : tensor<32x1x!tt.ptr<bf16>> -> tensor<32x64x!tt.ptr<bf16>>
    %dy_17 = tt.broadcast %dy_15 : tensor<1x64xi32> -> tensor<32x64xi32>
    %dy_18 = tt.addptr %dy_16, %dy_17 : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
    %means_19:3 = scf.for %i = %c0_i32 to %M step %c32_i32 iter_args(%acc_20 = %acc, %bias_21 = %bias, %means_22 = %means) -> (tensor<64x64xf32>, tensor<64xf32>, tensor<16x64xf32>)  : i32 {
      %mask = tt.splat %i : i32 -> tensor<32xi32>
      %mask_23 = arith.addi %m, %mask : tensor<32xi32>
      %mask_24 = tt.splat %M : i32 -> tensor<32xi32>
      %mask_25 = arith.cmpi slt, %mask_23, %mask_24 : tensor<32xi32>
      %a = tt.expand_dims %mask_25 {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
      %a_26 = arith.muli %i, %c64_i32 : i32
      %a_27 = tt.splat %a_26 : i32 -> tensor<64x32xi32>
      %a_28 = tt.addptr %x_10, %a_27 : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
      %a_29 = tt.broadcast %a : tensor<1x32xi1> -> tensor<64x32xi1>
      %a_30 = tt.load %a_28, %a_29, %cst_0 : tensor<64x32x!tt.ptr<bf16>>
      %b = tt.expand_dims %mask_25 {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
      %b_31 = tt.splat %a_26 : i32 -> tensor<32x64xi32>
      %b_32 = tt.addptr %dy_18, %b_31 : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
      %b_33 = tt.broadcast %b : tensor<32x1xi1> -> tensor<32x64xi1>
      %b_34 = tt.load %b_32, %b_33, %cst : tensor<32x64x!tt.ptr<bf16>>
      %acc_35 = tt.dot %a_30, %b_34, %acc_20, inputPrecision = tf32 : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
      %bias_36 = arith.extf %b_34 : tensor<32x64xbf16> to tensor<32x64xf32>
      %bias_37 = "tt.reduce"(%bias_36) <{axis = 0 : i32}> ({
      ^bb0(%bias_42: f32, %bias_43: f32):
        %bias_44 = arith.addf %bias_42, %bias_43 : f32
        tt.reduce.return %bias_44 : f32
      }) : (tensor<32x64xf32>) -> tensor<64xf32>
      %bias_38 = arith.addf %bias_21, %bias_37 : tensor<64xf32>
      %means_39 = tt.reshape %bias_36 : tensor<32x64xf32> -> tensor<16x2x64xf32>
      %means_40 = "tt.reduce"(%means_39) <{axis = 1 : i32}> ({
      ^bb0(%means_42: f32, %means_43: f32):
        %means_44 = arith.addf %means_42, %means_43 : f32
        tt.reduce.return %means_44 : f32
      }) : (tensor<16x2x64xf32>) -> tensor<16x64xf32>
      %means_41 = arith.addf %means_22, %means_40 : tensor<16x64xf32>
      scf.yield %acc_35, %bias_38, %means_41 : tensor<64x64xf32>, tensor<64xf32>, tensor<16x64xf32>
    }
    %0 = arith.muli %x_3, %cst_2 : tensor<64x1xi32>
    %1 = tt.splat %OUT : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %3 = tt.broadcast %2 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %4 = tt.broadcast %dy_15 : tensor<1x64xi32> -> tensor<64x64xi32>
    %5 = tt.addptr %3, %4 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %5, %means_19#0 : tensor<64x64x!tt.ptr<f32>>
    %6 = tt.splat %BIAS : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %7 = tt.addptr %6, %k : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %7, %means_19#1 : tensor<64x!tt.ptr<f32>>
    %8 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %9 = tt.expand_dims %8 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %10 = arith.muli %9, %cst_1 : tensor<16x1xi32>
    %11 = tt.splat %MEANS : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %12 = tt.addptr %11, %10 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %13 = tt.broadcast %12 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x64x!tt.ptr<f32>>
    %14 = tt.broadcast %dy_15 : tensor<1x64xi32> -> tensor<16x64xi32>
    %15 = tt.addptr %13, %14 : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>
    tt.store %15, %means_19#2 : tensor<16x64x!tt.ptr<f32>>
    tt.return
  }
}
