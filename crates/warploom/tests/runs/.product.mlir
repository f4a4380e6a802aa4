module {
  tt.func public @k(%a: !tt.tensordesc<{M}x{K}x{T}>, %a0: i32, %a1: i32, %a2: i64, %a3: i64, %b: !tt.tensordesc<{K}x{N}x{T}>, %b0: i32, %b1: i32, %b2: i64, %b3: i64, %c: !tt.tensordesc<{M}x{N}x{T}>, %c0: i32, %c1: i32, %c2: i64, %c3: i64, %to: i32{STEP}) attributes {noinline = false} {
    %zero = arith.constant dense<0.000000e+00> : tensor<{M}x{N}xf32>
    %from = arith.constant 0 : i32
    %ck = arith.constant {K} : i32
    %cm = arith.constant {M} : i32
    %cn = arith.constant {N} : i32
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %row = arith.muli %x, %cm : i32
    %col = arith.muli %y, %cn : i32
    %r = scf.for %at = %from to %to step {BY} iter_args(%sum = %zero) -> (tensor<{M}x{N}xf32>) : i32 {
      %p = tt.descriptor_load %a[%row, %at] : !tt.tensordesc<{M}x{K}x{T}> -> tensor<{M}x{K}x{T}>
      %q = tt.descriptor_load %b[%at, %col] : !tt.tensordesc<{K}x{N}x{T}> -> tensor<{K}x{N}x{T}>
      %d = tt.dot %p, %q, %sum : tensor<{M}x{K}x{T}> * tensor<{K}x{N}x{T}> -> tensor<{M}x{N}xf32>
      scf.yield %d : tensor<{M}x{N}xf32>
    }
    %t = arith.truncf %r : tensor<{M}x{N}xf32> to tensor<{M}x{N}x{T}>
    tt.descriptor_store %c[%row, %col], %t : !tt.tensordesc<{M}x{N}x{T}>, tensor<{M}x{N}x{T}>
    tt.return
  }
}
