// Forward causal attention: blocks left of the diagonal, rotated, then the block on it under a mask; two warpgroups of 64 rows.
// The product with K of one block runs beside the product with V of the block before, under the soft-max.
module attributes {warploom.form = "program", warploom.target = "sm_90a"} {
  tt.func public @attention(%dq: !tt.tensordesc<128x128xbf16>, %dq0: i32, %dq1: i32, %dq2: i64, %dq3: i64, %dk: !tt.tensordesc<128x128xbf16>, %dk0: i32, %dk1: i32, %dk2: i64, %dk3: i64, %dv: !tt.tensordesc<128x128xbf16>, %dv0: i32, %dv1: i32, %dv2: i64, %dv3: i64, %do: !tt.tensordesc<128x128xbf16>, %do0: i32, %do1: i32, %do2: i64, %do3: i64, %lse: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %s: f32) attributes {noinline = false, warploom.warps = 12 : i32, warploom.max_registers = 168 : i32, warploom.shared = 163920 : i32, warploom.descriptors = [{swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 128, 64>, fp4_padded = false, is_im2col = false}, {swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 128, 64>, fp4_padded = false, is_im2col = false}, {swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 128, 64>, fp4_padded = false, is_im2col = false}, {swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 128, 64>, fp4_padded = false, is_im2col = false}]} {
    %zero = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
    %none = arith.constant dense<0.000000e+00> : tensor<128xf32>
    %ln2 = arith.constant dense<0.693147182> : tensor<128xf32>
    %least = arith.constant dense<0xFF800000> : tensor<128xf32>
    %low = arith.constant dense<0xFF800000> : tensor<128x128xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %px = tt.get_program_id x : i32
    %start = arith.muli %px, %c128 : i32
    %py = tt.get_program_id y : i32
    %base = arith.muli %py, %n : i32
    %row = arith.addi %base, %start : i32
    %end = arith.addi %start, %c128 : i32
    %enough = arith.cmpi sgt, %start, %c128 : i32
    warploom.pipeline @q {depth = 1 : i32, handshake = "tma_to_wgmma", payload = ["q"], tile = [tensor<128x128xbf16>], swizzle = array<i32: 128>, offset = array<i64: 0>, stride = array<i64: 32768>, bytes = 32768 : i32, full = 163840 : i32, empty = -1 : i32, arrive_full = 1 : i32, arrive_empty = 0 : i32}
    warploom.pipeline @k {depth = 2 : i32, handshake = "tma_to_wgmma", payload = ["k"], tile = [tensor<128x128xbf16>], swizzle = array<i32: 128>, offset = array<i64: 32768>, stride = array<i64: 32768>, bytes = 32768 : i32, full = 163848 : i32, empty = 163864 : i32, arrive_full = 1 : i32, arrive_empty = 8 : i32}
    warploom.pipeline @v {depth = 2 : i32, handshake = "tma_to_wgmma", payload = ["v"], tile = [tensor<128x128xbf16>], swizzle = array<i32: 128>, offset = array<i64: 98304>, stride = array<i64: 32768>, bytes = 32768 : i32, full = 163880 : i32, empty = 163896 : i32, arrive_full = 1 : i32, arrive_empty = 8 : i32}
    warploom.pipeline @o {depth = 1 : i32, handshake = "none", payload = ["o"], tile = [tensor<128x128xbf16>], swizzle = array<i32: 128>, offset = array<i64: 0>, stride = array<i64: 32768>, bytes = 0 : i32, full = -1 : i32, empty = -1 : i32, arrive_full = 0 : i32, arrive_empty = 0 : i32}
    warploom.named_barrier @math {id = 1 : i32, threads = 256 : i32}
    warploom.partition @load {warp = 0 : i32, warps = 4 : i32, registers = 24 : i32} {
      warploom.elect {
        warploom.producer_commit @q[%c0, %c0] {bytes = 32768 : i32}
        warploom.tma_load @q[%c0] {payload = 0 : i32} %dq[%row, %c0] : !tt.tensordesc<128x128xbf16>
        %it:2 = scf.for %at = %c0 to %end step %c128 iter_args(%i = %c0, %f = %c1) -> (i32, i32) : i32 {
          %block = arith.addi %base, %at : i32
          warploom.producer_acquire @k[%i, %f]
          warploom.producer_commit @k[%i, %f] {bytes = 32768 : i32}
          warploom.tma_load @k[%i] {payload = 0 : i32} %dk[%block, %c0] : !tt.tensordesc<128x128xbf16>
          warploom.producer_acquire @v[%i, %f]
          warploom.producer_commit @v[%i, %f] {bytes = 32768 : i32}
          warploom.tma_load @v[%i] {payload = 0 : i32} %dv[%block, %c0] : !tt.tensordesc<128x128xbf16>
          %next:2 = warploom.advance @k[%i, %f]
          scf.yield %next#0, %next#1 : i32, i32
        }
      }
    }
    warploom.partition @math {warp = 4 : i32, warps = 8 : i32, registers = 240 : i32} {
      %scale = tt.splat %s : f32 -> tensor<128x128xf32>
      %lane = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
      %first = tt.splat %start : i32 -> tensor<128xi32>
      %rows = arith.addi %first, %lane : tensor<128xi32>
      warploom.consumer_wait @q[%c0, %c0]
      %q = warploom.slot @q[%c0] {payload = 0 : i32} : tensor<128x128xbf16>
      %all:7 = scf.if %enough -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>, i32, i32, i32, i32) {
        warploom.consumer_wait @k[%c0, %c0]
        %ksRa = warploom.slot @k[%c0] {payload = 0 : i32} : tensor<128x128xbf16>
        %ktRa = tt.trans %ksRa {order = array<i32: 1, 0>} : tensor<128x128xbf16> -> tensor<128x128xbf16>
        %sRa = tt.dot %q, %ktRa, %zero, inputPrecision = tf32 : tensor<128x128xbf16> * tensor<128x128xbf16> -> tensor<128x128xf32>
        %swRa = warploom.mma_wait %sRa {pending = 0 : i32} : tensor<128x128xf32>
        warploom.consumer_release @k[%c0, %c0] {lag = 0 : i32}
        %knRa:2 = warploom.advance @k[%c0, %c0]
        %xRa = arith.mulf %swRa, %scale : tensor<128x128xf32>
        %hRa = "tt.reduce"(%xRa) <{axis = 1 : i32}> ({
        ^bb0(%aRa: f32, %bRa: f32):
          %cRa = arith.maxnumf %aRa, %bRa : f32
          tt.reduce.return %cRa : f32
        }) : (tensor<128x128xf32>) -> tensor<128xf32>
        %mRa = arith.maxnumf %least, %hRa : tensor<128xf32>
        %mcRa = tt.expand_dims %mRa {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
        %mbRa = tt.broadcast %mcRa : tensor<128x1xf32> -> tensor<128x128xf32>
        %dRa = arith.subf %xRa, %mbRa : tensor<128x128xf32>
        %pRa = math.exp2 %dRa : tensor<128x128xf32>
        %eRa = arith.subf %least, %mRa : tensor<128xf32>
        %alRa = math.exp2 %eRa : tensor<128xf32>
        %gRa = arith.mulf %none, %alRa : tensor<128xf32>
        %uRa = "tt.reduce"(%pRa) <{axis = 1 : i32}> ({
        ^bb0(%vRa: f32, %wRa: f32):
          %zRa = arith.addf %vRa, %wRa : f32
          tt.reduce.return %zRa : f32
        }) : (tensor<128x128xf32>) -> tensor<128xf32>
        %lRa = arith.addf %gRa, %uRa : tensor<128xf32>
        %qRa = arith.truncf %pRa : tensor<128x128xf32> to tensor<128x128xbf16>
        %acRa = tt.expand_dims %alRa {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
        %abRa = tt.broadcast %acRa : tensor<128x1xf32> -> tensor<128x128xf32>
        %oRa = arith.mulf %zero, %abRa : tensor<128x128xf32>
        %Rb:8 = scf.for %atRb = %c128 to %start step %c128 iter_args(%oiRb = %oRa, %liRb = %lRa, %miRb = %mRa, %piRb = %qRa, %kiRb = %knRa#0, %kfRb = %knRa#1, %viRb = %c0, %vfRb = %c0) -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128x128xbf16>, i32, i32, i32, i32) : i32 {
          warploom.consumer_wait @k[%kiRb, %kfRb]
          %ksRb = warploom.slot @k[%kiRb] {payload = 0 : i32} : tensor<128x128xbf16>
          %ktRb = tt.trans %ksRb {order = array<i32: 1, 0>} : tensor<128x128xbf16> -> tensor<128x128xbf16>
          %sRb = tt.dot %q, %ktRb, %zero, inputPrecision = tf32 : tensor<128x128xbf16> * tensor<128x128xbf16> -> tensor<128x128xf32>
          warploom.consumer_wait @v[%viRb, %vfRb]
          %vsRb = warploom.slot @v[%viRb] {payload = 0 : i32} : tensor<128x128xbf16>
          %rRb = tt.dot %piRb, %vsRb, %oiRb, inputPrecision = tf32 : tensor<128x128xbf16> * tensor<128x128xbf16> -> tensor<128x128xf32>
          %swRb = warploom.mma_wait %sRb {pending = 1 : i32} : tensor<128x128xf32>
          warploom.consumer_release @k[%kiRb, %kfRb] {lag = 0 : i32}
          %knRb:2 = warploom.advance @k[%kiRb, %kfRb]
          %xRb = arith.mulf %swRb, %scale : tensor<128x128xf32>
          %hRb = "tt.reduce"(%xRb) <{axis = 1 : i32}> ({
          ^bb0(%aRb: f32, %bRb: f32):
            %cRb = arith.maxnumf %aRb, %bRb : f32
            tt.reduce.return %cRb : f32
          }) : (tensor<128x128xf32>) -> tensor<128xf32>
          %mRb = arith.maxnumf %miRb, %hRb : tensor<128xf32>
          %mcRb = tt.expand_dims %mRb {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
          %mbRb = tt.broadcast %mcRb : tensor<128x1xf32> -> tensor<128x128xf32>
          %dRb = arith.subf %xRb, %mbRb : tensor<128x128xf32>
          %pRb = math.exp2 %dRb : tensor<128x128xf32>
          %eRb = arith.subf %miRb, %mRb : tensor<128xf32>
          %alRb = math.exp2 %eRb : tensor<128xf32>
          %gRb = arith.mulf %liRb, %alRb : tensor<128xf32>
          %uRb = "tt.reduce"(%pRb) <{axis = 1 : i32}> ({
          ^bb0(%vRb: f32, %wRb: f32):
            %zRb = arith.addf %vRb, %wRb : f32
            tt.reduce.return %zRb : f32
          }) : (tensor<128x128xf32>) -> tensor<128xf32>
          %lRb = arith.addf %gRb, %uRb : tensor<128xf32>
          %rwRb = warploom.mma_wait %rRb {pending = 0 : i32} : tensor<128x128xf32>
          warploom.consumer_release @v[%viRb, %vfRb] {lag = 0 : i32}
          %vnRb:2 = warploom.advance @v[%viRb, %vfRb]
          %qRb = arith.truncf %pRb : tensor<128x128xf32> to tensor<128x128xbf16>
          %acRb = tt.expand_dims %alRb {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
          %abRb = tt.broadcast %acRb : tensor<128x1xf32> -> tensor<128x128xf32>
          %oRb = arith.mulf %rwRb, %abRb : tensor<128x128xf32>
          scf.yield %oRb, %lRb, %mRb, %qRb, %knRb#0, %knRb#1, %vnRb#0, %vnRb#1 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128x128xbf16>, i32, i32, i32, i32
        }
        warploom.consumer_wait @v[%Rb#6, %Rb#7]
        %vsRc = warploom.slot @v[%Rb#6] {payload = 0 : i32} : tensor<128x128xbf16>
        %rRc = tt.dot %Rb#3, %vsRc, %Rb#0, inputPrecision = tf32 : tensor<128x128xbf16> * tensor<128x128xbf16> -> tensor<128x128xf32>
        %rwRc = warploom.mma_wait %rRc {pending = 0 : i32} : tensor<128x128xf32>
        warploom.consumer_release @v[%Rb#6, %Rb#7] {lag = 0 : i32}
        %vnRc:2 = warploom.advance @v[%Rb#6, %Rb#7]
        scf.yield %rwRc, %Rb#1, %Rb#2, %Rb#4, %Rb#5, %vnRc#0, %vnRc#1 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>, i32, i32, i32, i32
      } else {
        %U:7 = scf.for %atU = %c0 to %start step %c128 iter_args(%oiU = %zero, %liU = %none, %miU = %least, %kiU = %c0, %kfU = %c0, %viU = %c0, %vfU = %c0) -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>, i32, i32, i32, i32) : i32 {
          warploom.consumer_wait @k[%kiU, %kfU]
          %ksU = warploom.slot @k[%kiU] {payload = 0 : i32} : tensor<128x128xbf16>
          %ktU = tt.trans %ksU {order = array<i32: 1, 0>} : tensor<128x128xbf16> -> tensor<128x128xbf16>
          %sU = tt.dot %q, %ktU, %zero, inputPrecision = tf32 : tensor<128x128xbf16> * tensor<128x128xbf16> -> tensor<128x128xf32>
          %swU = warploom.mma_wait %sU {pending = 0 : i32} : tensor<128x128xf32>
          warploom.consumer_release @k[%kiU, %kfU] {lag = 0 : i32}
          %knU:2 = warploom.advance @k[%kiU, %kfU]
          %xU = arith.mulf %swU, %scale : tensor<128x128xf32>
          %hU = "tt.reduce"(%xU) <{axis = 1 : i32}> ({
          ^bb0(%aU: f32, %bU: f32):
            %cU = arith.maxnumf %aU, %bU : f32
            tt.reduce.return %cU : f32
          }) : (tensor<128x128xf32>) -> tensor<128xf32>
          %mU = arith.maxnumf %miU, %hU : tensor<128xf32>
          %mcU = tt.expand_dims %mU {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
          %mbU = tt.broadcast %mcU : tensor<128x1xf32> -> tensor<128x128xf32>
          %dU = arith.subf %xU, %mbU : tensor<128x128xf32>
          %pU = math.exp2 %dU : tensor<128x128xf32>
          %eU = arith.subf %miU, %mU : tensor<128xf32>
          %alU = math.exp2 %eU : tensor<128xf32>
          %gU = arith.mulf %liU, %alU : tensor<128xf32>
          %uU = "tt.reduce"(%pU) <{axis = 1 : i32}> ({
          ^bb0(%vU: f32, %wU: f32):
            %zU = arith.addf %vU, %wU : f32
            tt.reduce.return %zU : f32
          }) : (tensor<128x128xf32>) -> tensor<128xf32>
          %lU = arith.addf %gU, %uU : tensor<128xf32>
          %qU = arith.truncf %pU : tensor<128x128xf32> to tensor<128x128xbf16>
          %acU = tt.expand_dims %alU {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
          %abU = tt.broadcast %acU : tensor<128x1xf32> -> tensor<128x128xf32>
          %oU = arith.mulf %oiU, %abU : tensor<128x128xf32>
          warploom.consumer_wait @v[%viU, %vfU]
          %vsU = warploom.slot @v[%viU] {payload = 0 : i32} : tensor<128x128xbf16>
          %rU = tt.dot %qU, %vsU, %oU, inputPrecision = tf32 : tensor<128x128xbf16> * tensor<128x128xbf16> -> tensor<128x128xf32>
          %rwU = warploom.mma_wait %rU {pending = 0 : i32} : tensor<128x128xf32>
          warploom.consumer_release @v[%viU, %vfU] {lag = 0 : i32}
          %vnU:2 = warploom.advance @v[%viU, %vfU]
          scf.yield %rwU, %lU, %mU, %knU#0, %knU#1, %vnU#0, %vnU#1 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>, i32, i32, i32, i32
        }
        scf.yield %U#0, %U#1, %U#2, %U#3, %U#4, %U#5, %U#6 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>, i32, i32, i32, i32
      }
      %G:7 = scf.for %atG = %start to %end step %c128 iter_args(%oiG = %all#0, %liG = %all#1, %miG = %all#2, %kiG = %all#3, %kfG = %all#4, %viG = %all#5, %vfG = %all#6) -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>, i32, i32, i32, i32) : i32 {
        warploom.consumer_wait @k[%kiG, %kfG]
        %ksG = warploom.slot @k[%kiG] {payload = 0 : i32} : tensor<128x128xbf16>
        %ktG = tt.trans %ksG {order = array<i32: 1, 0>} : tensor<128x128xbf16> -> tensor<128x128xbf16>
        %sG = tt.dot %q, %ktG, %zero, inputPrecision = tf32 : tensor<128x128xbf16> * tensor<128x128xbf16> -> tensor<128x128xf32>
        %swG = warploom.mma_wait %sG {pending = 0 : i32} : tensor<128x128xf32>
        warploom.consumer_release @k[%kiG, %kfG] {lag = 0 : i32}
        %knG:2 = warploom.advance @k[%kiG, %kfG]
        %xG = arith.mulf %swG, %scale : tensor<128x128xf32>
        %j0G = tt.splat %atG : i32 -> tensor<128xi32>
        %jG = arith.addi %j0G, %lane : tensor<128xi32>
        %nnG = tt.splat %n : i32 -> tensor<128xi32>
        %inG = arith.cmpi slt, %jG, %nnG : tensor<128xi32>
        %inrG = tt.expand_dims %inG {axis = 0 : i32} : tensor<128xi1> -> tensor<1x128xi1>
        %rcG = tt.expand_dims %rows {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
        %jrG = tt.expand_dims %jG {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
        %rbG = tt.broadcast %rcG : tensor<128x1xi32> -> tensor<128x128xi32>
        %jbG = tt.broadcast %jrG : tensor<1x128xi32> -> tensor<128x128xi32>
        %geG = arith.cmpi sge, %rbG, %jbG : tensor<128x128xi32>
        %inbG = tt.broadcast %inrG : tensor<1x128xi1> -> tensor<128x128xi1>
        %keepG = arith.andi %inbG, %geG : tensor<128x128xi1>
        %yG = arith.select %keepG, %xG, %low : tensor<128x128xi1>, tensor<128x128xf32>
        %hG = "tt.reduce"(%yG) <{axis = 1 : i32}> ({
        ^bb0(%aG: f32, %bG: f32):
          %cG = arith.maxnumf %aG, %bG : f32
          tt.reduce.return %cG : f32
        }) : (tensor<128x128xf32>) -> tensor<128xf32>
        %mG = arith.maxnumf %miG, %hG : tensor<128xf32>
        %mcG = tt.expand_dims %mG {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
        %mbG = tt.broadcast %mcG : tensor<128x1xf32> -> tensor<128x128xf32>
        %dG = arith.subf %yG, %mbG : tensor<128x128xf32>
        %pG = math.exp2 %dG : tensor<128x128xf32>
        %eG = arith.subf %miG, %mG : tensor<128xf32>
        %alG = math.exp2 %eG : tensor<128xf32>
        %gG = arith.mulf %liG, %alG : tensor<128xf32>
        %uG = "tt.reduce"(%pG) <{axis = 1 : i32}> ({
        ^bb0(%vG: f32, %wG: f32):
          %zG = arith.addf %vG, %wG : f32
          tt.reduce.return %zG : f32
        }) : (tensor<128x128xf32>) -> tensor<128xf32>
        %lG = arith.addf %gG, %uG : tensor<128xf32>
        %qG = arith.truncf %pG : tensor<128x128xf32> to tensor<128x128xbf16>
        %acG = tt.expand_dims %alG {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
        %abG = tt.broadcast %acG : tensor<128x1xf32> -> tensor<128x128xf32>
        %oG = arith.mulf %oiG, %abG : tensor<128x128xf32>
        warploom.consumer_wait @v[%viG, %vfG]
        %vsG = warploom.slot @v[%viG] {payload = 0 : i32} : tensor<128x128xbf16>
        %rG = tt.dot %qG, %vsG, %oG, inputPrecision = tf32 : tensor<128x128xbf16> * tensor<128x128xbf16> -> tensor<128x128xf32>
        %rwG = warploom.mma_wait %rG {pending = 0 : i32} : tensor<128x128xf32>
        warploom.consumer_release @v[%viG, %vfG] {lag = 0 : i32}
        %vnG:2 = warploom.advance @v[%viG, %vfG]
        scf.yield %rwG, %lG, %mG, %knG#0, %knG#1, %vnG#0, %vnG#1 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>, i32, i32, i32, i32
      }
      %lc = tt.expand_dims %G#1 {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
      %lb = tt.broadcast %lc : tensor<128x1xf32> -> tensor<128x128xf32>
      %quot = arith.divf %G#0, %lb : tensor<128x128xf32>
      %out = arith.truncf %quot : tensor<128x128xf32> to tensor<128x128xbf16>
      %lp0 = tt.addptr %lse, %base : !tt.ptr<f32>, i32
      %lp1 = tt.splat %lp0 : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
      %lp = tt.addptr %lp1, %rows : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
      %ll = math.log2 %G#1 : tensor<128xf32>
      %lm = arith.addf %G#2, %ll : tensor<128xf32>
      %lv = arith.mulf %lm, %ln2 : tensor<128xf32>
      tt.store %lp, %lv : tensor<128x!tt.ptr<f32>>
      warploom.barrier_sync @math
      warploom.tile_store %out, @o[%c0] {payload = 0 : i32} : tensor<128x128xbf16>
      warploom.proxy_fence
      warploom.barrier_sync @math
      warploom.elect {
        warploom.tma_store @o[%c0] {payload = 0 : i32} %do[%row, %c0] : !tt.tensordesc<128x128xbf16>
        warploom.store_commit
        warploom.store_wait {pending = 0 : i32, read = true}
      }
    }
    tt.return
  }
}
