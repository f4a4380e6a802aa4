// A product masked by bounds of the column: `first + column <= last`, and less than the row.
module {
  tt.func public @k(%a: !tt.tensordesc<64x32xf16>, %a0: i32, %a1: i32, %a2: i64, %a3: i64, %b: !tt.tensordesc<32x64xf16>, %b0: i32, %b1: i32, %b2: i64, %b3: i64, %c: !tt.tensordesc<64x64xf16>, %c0: i32, %c1: i32, %c2: i64, %c3: i64, %to: i32, %first: i32{STATED}, %last: i32, %start: i32) attributes {noinline = false} {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %from = arith.constant 0 : i32
    %ck = arith.constant 32 : i32
    %cm = arith.constant 64 : i32
    %cn = arith.constant 64 : i32
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %row = arith.muli %x, %cm : i32
    %col = arith.muli %y, %cn : i32
    %r = scf.for %at = %from to %to step %ck iter_args(%sum = %zero) -> (tensor<64x64xf32>) : i32 {
      %p = tt.descriptor_load %a[%row, %at] : !tt.tensordesc<64x32xf16> -> tensor<64x32xf16>
      %q = tt.descriptor_load %b[%at, %col] : !tt.tensordesc<32x64xf16> -> tensor<32x64xf16>
      %d = tt.dot %p, %q, %sum : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %iota = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %f = tt.splat %first : i32 -> tensor<64xi32>
    %cols = arith.addi %f, %iota : tensor<64xi32>
    %s = tt.splat %start : i32 -> tensor<64xi32>
    %rows = arith.addi %s, %iota : tensor<64xi32>
    %l = tt.splat %last : i32 -> tensor<64xi32>
    %in = arith.cmpi sle, %cols, %l : tensor<64xi32>
    %in1 = tt.expand_dims %in {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1>
    %in2 = tt.broadcast %in1 : tensor<1x64xi1> -> tensor<64x64xi1>
    %m1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %n1 = tt.expand_dims %cols {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %m2 = tt.broadcast %m1 : tensor<64x1xi32> -> tensor<64x64xi32>
    %n2 = tt.broadcast %n1 : tensor<1x64xi32> -> tensor<64x64xi32>
    %low = arith.cmpi sgt, %m2, %n2 : tensor<64x64xi32>
    %both = arith.andi %in2, %low : tensor<64x64xi1>
    %kept = arith.select %both, %r, %zero : tensor<64x64xi1>, tensor<64x64xf32>
    %t = arith.truncf %kept : tensor<64x64xf32> to tensor<64x64xf16>
    tt.descriptor_store %c[%row, %col], %t : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
    tt.return
  }
}
