// Tiles in other shapes (G5, G12). Groups of a row are scaled by their largest element, as quantisation does: places of the
// cube are those of the matrix, and the few scales come to where they are wanted.
// run: run - --target sm_80 --interleavings 3 --seed 1 --arg=[4096] --arg=[4096] --arg=[128]
// run: run - --target sm_90a --interleavings 3 --seed 2 --arg=[4096] --arg=[4096] --arg=[128]
// run: run - --target sm_100a --interleavings 3 --seed 3 --arg=[4096] --arg=[4096] --arg=[128]
// clean
module {
  tt.func public @groups(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %s: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %c128 = arith.constant dense<128> : tensor<32x1xi32>
    %c4 = arith.constant dense<4> : tensor<32x1xi32>
    %one = arith.constant dense<1.000000e+00> : tensor<32x4x1xf32>
    %rows = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %row = tt.expand_dims %rows {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %cols = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %col = tt.expand_dims %cols {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %r0 = arith.muli %row, %c128 : tensor<32x1xi32>
    %r1 = tt.broadcast %r0 : tensor<32x1xi32> -> tensor<32x128xi32>
    %q1 = tt.broadcast %col : tensor<1x128xi32> -> tensor<32x128xi32>
    %at = arith.addi %r1, %q1 : tensor<32x128xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %at : tensor<32x128x!tt.ptr<f32>>, tensor<32x128xi32>
    %v = tt.load %xp : tensor<32x128x!tt.ptr<f32>>
    %a = math.absf %v : tensor<32x128xf32>
    %cube = tt.reshape %a : tensor<32x128xf32> -> tensor<32x4x32xf32>
    %most = "tt.reduce"(%cube) <{axis = 2 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %m = arith.maxnumf %l, %r : f32
      tt.reduce.return %m : f32
    }) : (tensor<32x4x32xf32>) -> tensor<32x4xf32>
    %most1 = tt.expand_dims %most {axis = 2 : i32} : tensor<32x4xf32> -> tensor<32x4x1xf32>
    %above = arith.addf %most1, %one : tensor<32x4x1xf32>
    %values = tt.reshape %v : tensor<32x128xf32> -> tensor<32x4x32xf32>
    %scale = tt.broadcast %above : tensor<32x4x1xf32> -> tensor<32x4x32xf32>
    %scaled = arith.mulf %values, %scale : tensor<32x4x32xf32>
    %flat = tt.reshape %scaled : tensor<32x4x32xf32> -> tensor<32x128xf32>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %at : tensor<32x128x!tt.ptr<f32>>, tensor<32x128xi32>
    tt.store %yp, %flat : tensor<32x128x!tt.ptr<f32>>
    %four = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %group = tt.expand_dims %four {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %s0 = arith.muli %row, %c4 : tensor<32x1xi32>
    %s1 = tt.broadcast %s0 : tensor<32x1xi32> -> tensor<32x4xi32>
    %s2 = tt.broadcast %group : tensor<1x4xi32> -> tensor<32x4xi32>
    %s3 = arith.addi %s1, %s2 : tensor<32x4xi32>
    %ss = tt.splat %s : !tt.ptr<f32> -> tensor<32x4x!tt.ptr<f32>>
    %sp = tt.addptr %ss, %s3 : tensor<32x4x!tt.ptr<f32>>, tensor<32x4xi32>
    %small = tt.reshape %above : tensor<32x4x1xf32> -> tensor<32x4xf32>
    tt.store %sp, %small : tensor<32x4x!tt.ptr<f32>>
    tt.return
  }
}
// -----
// One row of a vector, scaled by what a reduction of it gives; and a vector that is stored where sums of rows say.
// run: run - --target sm_80 --interleavings 3 --seed 1 --arg=[128] --arg=[128] --arg=[32]
// run: run - --target sm_90a --interleavings 3 --seed 2 --arg=[128] --arg=[128] --arg=[32]
// run: run - --target sm_100a --interleavings 3 --seed 3 --arg=[128] --arg=[128] --arg=[32]
// clean
module {
  tt.func public @row(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %z: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %one = arith.constant dense<1.000000e+00> : tensor<1xf32>
    %cols = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %cols : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %v = tt.load %xp : tensor<128x!tt.ptr<f32>>
    %row = tt.reshape %v : tensor<128xf32> -> tensor<1x128xf32>
    %a = math.absf %row : tensor<1x128xf32>
    %most = "tt.reduce"(%a) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %m = arith.maxnumf %l, %r : f32
      tt.reduce.return %m : f32
    }) : (tensor<1x128xf32>) -> tensor<1xf32>
    %above = arith.addf %most, %one : tensor<1xf32>
    %cell = tt.reshape %above : tensor<1xf32> -> tensor<1x1xf32>
    %scale = tt.broadcast %cell : tensor<1x1xf32> -> tensor<1x128xf32>
    %scaled = arith.mulf %row, %scale : tensor<1x128xf32>
    %back = tt.reshape %scaled : tensor<1x128xf32> -> tensor<128xf32>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %cols : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    tt.store %yp, %back : tensor<128x!tt.ptr<f32>>
    // Ranks: how many numbers are smaller.
    %n = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %down = tt.expand_dims %n {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %along = tt.expand_dims %n {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %down2 = tt.broadcast %down : tensor<32x1xi32> -> tensor<32x32xi32>
    %along2 = tt.broadcast %along : tensor<1x32xi32> -> tensor<32x32xi32>
    %less = arith.cmpi slt, %along2, %down2 : tensor<32x32xi32>
    %count = arith.extui %less : tensor<32x32xi1> to tensor<32x32xi32>
    %rank = "tt.reduce"(%count) <{axis = 1 : i32}> ({
    ^bb0(%l: i32, %r: i32):
      %sum = arith.addi %l, %r : i32
      tt.reduce.return %sum : i32
    }) : (tensor<32x32xi32>) -> tensor<32xi32>
    %zs = tt.splat %z : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %zp = tt.addptr %zs, %rank : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    tt.store %zp, %n : tensor<32x!tt.ptr<i32>>
    tt.return
  }
}
