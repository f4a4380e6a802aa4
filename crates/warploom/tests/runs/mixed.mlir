// A loop whose tiles come by pointers and one whose tiles come by descriptors, in a loop over tiles that stores by descriptor: what
// is stored lies where the first loop copies to in the next round (C26, C33).
// run: run - --target sm_90a --interleavings 2 --arg=[49152] --arg=[16384] --arg=[12288] --arg=3
// run: run - --target sm_100a --interleavings 2 --arg=[49152] --arg=[16384] --arg=[12288] --arg=3
// run: run - --target sm_120a --interleavings 2 --arg=[49152] --arg=[16384] --arg=[12288] --arg=3
// clean
module {
  tt.func public @mixed(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %tiles: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %steps = arith.constant 4 : i32
    %many = arith.constant 16 : i32
    %side = arith.constant 64 : i32
    %thin = arith.constant 16 : i32
    %wide = arith.constant 256 : i32
    %pitch = arith.constant 256 : i64
    %narrow = arith.constant 64 : i64
    %unit = arith.constant 1 : i64
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %rows = arith.muli %tiles, %side : i32
    %da = tt.make_tensor_descriptor %a, [%rows, %wide], [%pitch, %unit] : !tt.ptr<f16>, !tt.tensordesc<64x16xf16>
    %db = tt.make_tensor_descriptor %b, [%wide, %side], [%narrow, %unit] : !tt.ptr<f16>, !tt.tensordesc<16x64xf16>
    %dc = tt.make_tensor_descriptor %c, [%rows, %side], [%narrow, %unit] : !tt.ptr<f32>, !tt.tensordesc<64x64xf32>
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %down = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %along = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %s = tt.splat %wide : i32 -> tensor<64x1xi32>
    %r = arith.muli %down, %s : tensor<64x1xi32>
    %rb = tt.broadcast %r : tensor<64x1xi32> -> tensor<64x64xi32>
    %n = tt.splat %side : i32 -> tensor<64x1xi32>
    %q = arith.muli %down, %n : tensor<64x1xi32>
    %qb = tt.broadcast %q : tensor<64x1xi32> -> tensor<64x64xi32>
    %cb = tt.broadcast %along : tensor<1x64xi32> -> tensor<64x64xi32>
    %pa = arith.addi %rb, %cb : tensor<64x64xi32>
    %pb = arith.addi %qb, %cb : tensor<64x64xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    scf.for %t = %zero to %tiles step %one  : i32 {
      %row = arith.muli %t, %side : i32
      %first = arith.muli %row, %wide : i32
      %first_t = tt.splat %first : i32 -> tensor<64x64xi32>
      %half = scf.for %k = %zero to %steps step %one iter_args(%acc = %none) -> (tensor<64x64xf32>)  : i32 {
        %x = arith.muli %k, %side : i32
        %xt = tt.splat %x : i32 -> tensor<64x64xi32>
        %ia = arith.addi %pa, %xt : tensor<64x64xi32>
        %ja = arith.addi %ia, %first_t : tensor<64x64xi32>
        %y = arith.muli %x, %side : i32
        %yt = tt.splat %y : i32 -> tensor<64x64xi32>
        %ib = arith.addi %pb, %yt : tensor<64x64xi32>
        %ap = tt.addptr %as, %ja : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
        %bp = tt.addptr %bs, %ib : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
        %at = tt.load %ap : tensor<64x64x!tt.ptr<f16>>
        %bt = tt.load %bp : tensor<64x64x!tt.ptr<f16>>
        %d = tt.dot %at, %bt, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      %all = scf.for %k = %zero to %many step %one iter_args(%acc = %half) -> (tensor<64x64xf32>)  : i32 {
        %x = arith.muli %k, %thin : i32
        %at = tt.descriptor_load %da[%row, %x] : !tt.tensordesc<64x16xf16> -> tensor<64x16xf16>
        %bt = tt.descriptor_load %db[%x, %zero] : !tt.tensordesc<16x64xf16> -> tensor<16x64xf16>
        %d = tt.dot %at, %bt, %acc : tensor<64x16xf16> * tensor<16x64xf16> -> tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      tt.descriptor_store %dc[%row, %zero], %all : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
    }
    tt.return
  }
}
