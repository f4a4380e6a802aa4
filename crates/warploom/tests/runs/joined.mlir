// Pairs joined of two matrices lie one behind the other in a vector, which is stored as its elements lie: a partition that
// needs no scratch memory else has none to bring them elsewhere (G5, G12).
// run: run - --target sm_80 --interleavings 3 --seed 1 --arg=[1024] --arg=[1024] --arg=[16] --arg=[2048]
// run: run - --target sm_90a --interleavings 3 --seed 1 --arg=[1024] --arg=[1024] --arg=[16] --arg=[2048]
// run: run - --target sm_100a --interleavings 3 --seed 1 --arg=[1024] --arg=[1024] --arg=[16] --arg=[2048]
// clean
module {
  tt.func public @joined(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %s: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %to: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %sixteen = arith.constant dense<16> : tensor<16x1xi32>
    %n = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rows = tt.expand_dims %n {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %cols = tt.expand_dims %n {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %down = arith.muli %rows, %sixteen : tensor<16x1xi32>
    %down1 = tt.broadcast %down : tensor<16x1xi32> -> tensor<16x16xi32>
    %along = tt.broadcast %cols : tensor<1x16xi32> -> tensor<16x16xi32>
    %at = arith.addi %down1, %along : tensor<16x16xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
    %ap = tt.addptr %as, %at : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
    %x = tt.load %ap : tensor<16x16x!tt.ptr<f16>>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
    %bp = tt.addptr %bs, %at : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
    %y = tt.load %bp : tensor<16x16x!tt.ptr<f16>>
    %ss = tt.splat %s : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %sp = tt.addptr %ss, %rows : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %scale = tt.load %sp : tensor<16x1x!tt.ptr<f16>>
    %pairs = tt.join %x, %y : tensor<16x16xf16> -> tensor<16x16x2xf16>
    %wide = tt.reshape %pairs : tensor<16x16x2xf16> -> tensor<16x32xf16>
    %each = tt.broadcast %scale : tensor<16x1xf16> -> tensor<16x32xf16>
    %scaled = arith.mulf %wide, %each : tensor<16x32xf16>
    %line = tt.reshape %scaled : tensor<16x32xf16> -> tensor<512xf16>
    %m = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %ts = tt.splat %to : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>>
    %tp = tt.addptr %ts, %m : tensor<512x!tt.ptr<f16>>, tensor<512xi32>
    tt.store %tp, %line : tensor<512x!tt.ptr<f16>>
    tt.return
  }
}
