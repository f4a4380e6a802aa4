// A tile loaded by descriptor in a branch of a loop, in front of an inner loop; what lies outside is NaN.
module {
  tt.func public @again(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %tiles: i32, %rows: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %side = arith.constant 64 : i32
    %wide = arith.constant 128 : i32
    %pitch = arith.constant 128 : i64
    %unit = arith.constant 1 : i64
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %ones = arith.constant dense<1.0> : tensor<64x64xf32>
    %da = tt.make_tensor_descriptor %a, [%rows, %wide], [%pitch, %unit] {padding = 2 : i32} : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
    %db = tt.make_tensor_descriptor %b, [%wide, %wide], [%pitch, %unit] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %down = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %along = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %s = tt.splat %side : i32 -> tensor<64x1xi32>
    %r = arith.muli %down, %s : tensor<64x1xi32>
    %rb = tt.broadcast %r : tensor<64x1xi32> -> tensor<64x64xi32>
    %cb = tt.broadcast %along : tensor<1x64xi32> -> tensor<64x64xi32>
    %place = arith.addi %rb, %cb : tensor<64x64xi32>
    scf.for %t = %zero to %tiles step %one  : i32 {
      %row = arith.muli %t, %side : i32
      %even = arith.cmpi ne, %t, %one : i32
      %res = scf.if %even -> (tensor<64x64xf32>) {
        %x = tt.descriptor_load %da[%row, %zero] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
        %nan = arith.cmpf une, %x, %x : tensor<64x64xf16>
        %nil = arith.constant dense<0.0> : tensor<64x64xf16>
        %clear = arith.select %nan, %nil, %x : tensor<64x64xi1>, tensor<64x64xf16>
        %outside = arith.select %nan, %ones, %none : tensor<64x64xi1>, tensor<64x64xf32>
        %sum = scf.for %k = %zero to %wide step %side iter_args(%acc = %outside) -> (tensor<64x64xf32>)  : i32 {
          %y = tt.descriptor_load %db[%k, %zero] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
          %d = tt.dot %clear, %y, %acc, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
          scf.yield %d : tensor<64x64xf32>
        }
        scf.yield %sum : tensor<64x64xf32>
      } else {
        scf.yield %ones : tensor<64x64xf32>
      }
      %o = arith.constant 4096 : i32
      %start = arith.muli %t, %o : i32
      %pc = tt.addptr %c, %start : !tt.ptr<f32>, i32
      %base = tt.splat %pc : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
      %to = tt.addptr %base, %place : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      tt.store %to, %res : tensor<64x64x!tt.ptr<f32>>
    }
    tt.return
  }
}
