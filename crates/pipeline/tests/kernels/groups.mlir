// Products in groups: descriptors are made anew for each, and stored through.
module {
  tt.func public @groups(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %groups: i32, %rows: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %side = arith.constant 64 : i32
    %wide = arith.constant 128 : i32
    %pitch = arith.constant 128 : i64
    %unit = arith.constant 1 : i64
    %size = arith.constant 16384 : i32
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %first = tt.get_program_id x : i32
    scf.for %g = %zero to %groups step %one  : i32 {
      %at = arith.muli %g, %size : i32
      %pa = tt.addptr %a, %at : !tt.ptr<f16>, i32
      %pb = tt.addptr %b, %at : !tt.ptr<f16>, i32
      %pc = tt.addptr %c, %at : !tt.ptr<f16>, i32
      %da = tt.make_tensor_descriptor %pa, [%rows, %wide], [%pitch, %unit] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
      %db = tt.make_tensor_descriptor %pb, [%wide, %wide], [%pitch, %unit] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
      %dc = tt.make_tensor_descriptor %pc, [%rows, %wide], [%pitch, %unit] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
      %last = scf.while (%tile = %first) : (i32) -> i32 {
        %more = arith.cmpi slt, %tile, %side : i32
        %four = arith.shli %two, %one : i32
        %some = arith.cmpi slt, %tile, %four : i32
        %go = arith.andi %more, %some : i1
        scf.condition(%go) %tile : i32
      } do {
      ^bb0(%tile: i32):
        %m = arith.divsi %tile, %two : i32
        %n = arith.remsi %tile, %two : i32
        %row = arith.muli %m, %side : i32
        %col = arith.muli %n, %side : i32
        %sum = scf.for %k = %zero to %wide step %side iter_args(%acc = %none) -> (tensor<64x64xf32>)  : i32 {
          %x = tt.descriptor_load %da[%row, %k] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
          %y = tt.descriptor_load %db[%k, %col] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
          %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
          scf.yield %d : tensor<64x64xf32>
        }
        %out = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
        tt.descriptor_store %dc[%row, %col], %out : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
        %next = arith.addi %tile, %two : i32
        scf.yield %next : i32
      }
    }
    tt.return
  }
}
