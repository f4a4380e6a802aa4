// A persistent product whose rows and columns are computed where a tile begins and kept in the other trips (C8, G10).
// run: run - --target sm_80 --grid 2 --interleavings 2 --seed 1 --arg=[7200] --arg=[6912] --arg=[9600] --arg=100 --arg=96 --arg=72 --arg=2
// run: run - --target sm_90a --grid 2 --interleavings 2 --seed 1 --arg=[7200] --arg=[6912] --arg=[9600] --arg=100 --arg=96 --arg=72 --arg=2
// run: run - --target sm_100a --grid 2 --interleavings 2 --seed 1 --arg=[7200] --arg=[6912] --arg=[9600] --arg=100 --arg=96 --arg=72 --arg=2
// run: run - --target sm_120a --grid 2 --interleavings 2 --seed 1 --arg=[7200] --arg=[6912] --arg=[9600] --arg=100 --arg=96 --arg=72 --arg=2
// clean
module {
  tt.func public @k(%a_ptr: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b_ptr: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %N: i32, %K: i32, %programs: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %steps = arith.constant 31 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x64xf16>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x32xf16>
    %c32_i32 = arith.constant 32 : i32
    %cst_2 = arith.constant dense<0> : tensor<64xi32>
    %c64_i32 = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %step = arith.constant -1 : i32
    %c1_i32 = arith.constant 1 : i32
    %c63_i32 = arith.constant 63 : i32
    %columns = arith.addi %N, %c63_i32 : i32
    %columns_3 = arith.divsi %columns, %c64_i32 : i32
    %steps_4 = arith.addi %K, %steps : i32
    %steps_5 = arith.divsi %steps_4, %c32_i32 : i32
    %tiles = arith.addi %M, %c63_i32 : i32
    %tiles_6 = arith.divsi %tiles, %c64_i32 : i32
    %tiles_7 = arith.muli %tiles_6, %columns_3 : i32
    %start = tt.get_program_id x : i32
    %mine = arith.subi %tiles_7, %start : i32
    %mine_8 = arith.addi %mine, %programs : i32
    %mine_9 = arith.subi %mine_8, %c1_i32 : i32
    %mine_10 = arith.divsi %mine_9, %programs : i32
    %tile = arith.subi %start, %programs : i32
    %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %along = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %0 = arith.muli %steps_5, %mine_10 : i32
    %acc:5 = scf.for %_ = %c0_i32 to %0 step %c1_i32 iter_args(%tile_11 = %tile, %step_12 = %step, %rows_13 = %rows, %cols = %rows, %acc_14 = %cst) -> (i32, i32, tensor<64xi32>, tensor<64xi32>, tensor<64x64xf32>)  : i32 {
      %step_15 = arith.subi %steps_5, %c1_i32 : i32
      %step_16 = arith.cmpi eq, %step_12, %step_15 : i32
      %step_17 = arith.addi %step_12, %c1_i32 : i32
      %step_18 = arith.select %step_16, %c0_i32, %step_17 : i32
      %1 = arith.cmpi eq, %step_18, %c0_i32 : i32
      %2:3 = scf.if %1 -> (i32, tensor<64xi32>, tensor<64xi32>) {
        %tile_49 = arith.addi %tile_11, %programs : i32
        %m = arith.divsi %tile_49, %columns_3 : i32
        %m_50 = arith.muli %m, %c64_i32 : i32
        %n = arith.remsi %tile_49, %columns_3 : i32
        %n_51 = arith.muli %n, %c64_i32 : i32
        %rows_52 = tt.splat %m_50 : i32 -> tensor<64xi32>
        %rows_53 = arith.addi %rows_52, %rows : tensor<64xi32>
        %rows_54 = tt.splat %M : i32 -> tensor<64xi32>
        %rows_55 = arith.cmpi slt, %rows_53, %rows_54 : tensor<64xi32>
        %rows_56 = arith.select %rows_55, %rows_53, %cst_2 : tensor<64xi1>, tensor<64xi32>
        %cols_57 = tt.splat %n_51 : i32 -> tensor<64xi32>
        %cols_58 = arith.addi %cols_57, %rows : tensor<64xi32>
        %cols_59 = tt.splat %N : i32 -> tensor<64xi32>
        %cols_60 = arith.remsi %cols_58, %cols_59 : tensor<64xi32>
        scf.yield %tile_49, %rows_56, %cols_60 : i32, tensor<64xi32>, tensor<64xi32>
      } else {
        scf.yield %tile_11, %rows_13, %cols : i32, tensor<64xi32>, tensor<64xi32>
      }
      %at = arith.muli %step_18, %c32_i32 : i32
      %at_19 = tt.splat %at : i32 -> tensor<32xi32>
      %at_20 = arith.addi %at_19, %along : tensor<32xi32>
      %a = tt.expand_dims %along {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %a_21 = arith.subi %K, %at : i32
      %a_22 = tt.splat %a_21 : i32 -> tensor<1x32xi32>
      %a_23 = arith.cmpi slt, %a, %a_22 : tensor<1x32xi32>
      %a_24 = tt.expand_dims %2#1 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %a_25 = tt.splat %K : i32 -> tensor<64x1xi32>
      %a_26 = arith.muli %a_24, %a_25 : tensor<64x1xi32>
      %a_27 = tt.splat %a_ptr : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
      %a_28 = tt.addptr %a_27, %a_26 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
      %a_29 = tt.expand_dims %at_20 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %a_30 = tt.broadcast %a_28 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
      %a_31 = tt.broadcast %a_29 : tensor<1x32xi32> -> tensor<64x32xi32>
      %a_32 = tt.addptr %a_30, %a_31 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %a_33 = tt.broadcast %a_23 : tensor<1x32xi1> -> tensor<64x32xi1>
      %a_34 = tt.load %a_32, %a_33, %cst_1 : tensor<64x32x!tt.ptr<f16>>
      %b = tt.expand_dims %along {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %b_35 = tt.splat %a_21 : i32 -> tensor<32x1xi32>
      %b_36 = arith.cmpi slt, %b, %b_35 : tensor<32x1xi32>
      %b_37 = tt.expand_dims %at_20 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %b_38 = tt.splat %N : i32 -> tensor<32x1xi32>
      %b_39 = arith.muli %b_37, %b_38 : tensor<32x1xi32>
      %b_40 = tt.splat %b_ptr : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
      %b_41 = tt.addptr %b_40, %b_39 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
      %b_42 = tt.expand_dims %2#2 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %b_43 = tt.broadcast %b_41 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
      %b_44 = tt.broadcast %b_42 : tensor<1x64xi32> -> tensor<32x64xi32>
      %b_45 = tt.addptr %b_43, %b_44 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
      %b_46 = tt.broadcast %b_36 : tensor<32x1xi1> -> tensor<32x64xi1>
      %b_47 = tt.load %b_45, %b_46, %cst_0 : tensor<32x64x!tt.ptr<f16>>
      %acc_48 = tt.dot %a_34, %b_47, %acc_14, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %3 = arith.cmpi eq, %step_18, %step_15 : i32
      %4 = arith.select %3, %cst, %acc_48 : tensor<64x64xf32>
      scf.if %3 {
        %m = arith.divsi %2#0, %columns_3 : i32
        %m_49 = arith.muli %m, %c64_i32 : i32
        %m_50 = tt.splat %m_49 : i32 -> tensor<64xi32>
        %m_51 = arith.addi %m_50, %rows : tensor<64xi32>
        %n = arith.remsi %2#0, %columns_3 : i32
        %n_52 = arith.muli %n, %c64_i32 : i32
        %n_53 = tt.splat %n_52 : i32 -> tensor<64xi32>
        %n_54 = arith.addi %n_53, %rows : tensor<64xi32>
        %5 = tt.expand_dims %m_51 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
        %6 = tt.splat %M : i32 -> tensor<64x1xi32>
        %7 = arith.cmpi slt, %5, %6 : tensor<64x1xi32>
        %8 = tt.expand_dims %n_54 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
        %9 = tt.splat %N : i32 -> tensor<1x64xi32>
        %10 = arith.cmpi slt, %8, %9 : tensor<1x64xi32>
        %11 = tt.broadcast %7 : tensor<64x1xi1> -> tensor<64x64xi1>
        %12 = tt.broadcast %10 : tensor<1x64xi1> -> tensor<64x64xi1>
        %13 = arith.andi %11, %12 : tensor<64x64xi1>
        %14 = tt.splat %N : i32 -> tensor<64x1xi32>
        %15 = arith.muli %5, %14 : tensor<64x1xi32>
        %16 = tt.splat %c_ptr : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
        %17 = tt.addptr %16, %15 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
        %18 = tt.broadcast %17 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
        %19 = tt.broadcast %8 : tensor<1x64xi32> -> tensor<64x64xi32>
        %20 = tt.addptr %18, %19 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
        tt.store %20, %acc_48, %13 : tensor<64x64x!tt.ptr<f32>>
      }
      scf.yield %2#0, %step_18, %2#1, %2#2, %4 : i32, i32, tensor<64xi32>, tensor<64xi32>, tensor<64x64xf32>
    }
    tt.return
  }
}
