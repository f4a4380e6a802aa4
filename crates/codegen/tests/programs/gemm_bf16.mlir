// C = A @ B.T in bf16, tile 128x256x64, ring of 3 slots, sm_90a: one loading partition, two warpgroups that multiply.
module attributes {warploom.form = "program", warploom.target = "sm_90a"} {
  tt.func public @matmul(%a: !tt.tensordesc<128x64xbf16>, %a0: i32, %a1: i32, %a2: i64, %a3: i64, %b: !tt.tensordesc<256x64xbf16>, %b0: i32, %b1: i32, %b2: i64, %b3: i64, %c: !tt.tensordesc<128x256xbf16>, %c0: i32, %c1: i32, %c2: i64, %c3: i64, %K: i32) attributes {noinline = false, warploom.warps = 12 : i32, warploom.max_registers = 168 : i32, warploom.shared = 213040 : i32, warploom.descriptors = [{swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 128, 64>, fp4_padded = false, is_im2col = false}, {swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 256, 64>, fp4_padded = false, is_im2col = false}, {swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 128, 64>, fp4_padded = false, is_im2col = false}]} {
    %zero = arith.constant dense<0.000000e+00> : tensor<128x256xf32>
    %i64 = arith.constant 64 : i32
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %i256 = arith.constant 256 : i32
    %i128 = arith.constant 128 : i32
    %x = tt.get_program_id x : i32
    %row = arith.muli %x, %i128 : i32
    %y = tt.get_program_id y : i32
    %col = arith.muli %y, %i256 : i32
    warploom.pipeline @p0 {depth = 3 : i32, handshake = "tma_to_wgmma", payload = ["a", "b"], tile = [tensor<128x64xbf16>, tensor<256x64xbf16>], swizzle = array<i32: 128, 128>, offset = array<i64: 0, 49152>, stride = array<i64: 16384, 32768>, bytes = 49152 : i32, full = 212992 : i32, empty = 213016 : i32, arrive_full = 1 : i32, arrive_empty = 8 : i32}
    warploom.pipeline @p1 {depth = 1 : i32, handshake = "none", payload = ["c"], tile = [tensor<128x256xbf16>], swizzle = array<i32: 128>, offset = array<i64: 147456>, stride = array<i64: 65536>, bytes = 0 : i32, full = -1 : i32, empty = -1 : i32, arrive_full = 0 : i32, arrive_empty = 0 : i32}
    warploom.named_barrier @math {id = 1 : i32, threads = 256 : i32}
    warploom.partition @load {warp = 0 : i32, warps = 4 : i32, registers = 40 : i32} {
      warploom.elect {
        %p:2 = scf.for %k = %i0 to %K step %i64 iter_args(%i = %i0, %f = %i1) -> (i32, i32) : i32 {
          warploom.producer_acquire @p0[%i, %f]
          warploom.producer_commit @p0[%i, %f] {bytes = 49152 : i32}
          warploom.tma_load @p0[%i] {payload = 0 : i32} %a[%row, %k] : !tt.tensordesc<128x64xbf16>
          warploom.tma_load @p0[%i] {payload = 1 : i32} %b[%col, %k] : !tt.tensordesc<256x64xbf16>
          %n:2 = warploom.advance @p0[%i, %f]
          scf.yield %n#0, %n#1 : i32, i32
        }
      }
    }
    warploom.partition @math {warp = 4 : i32, warps = 8 : i32, registers = 232 : i32} {
      %l:3 = scf.for %k = %i0 to %K step %i64 iter_args(%d = %zero, %i = %i0, %f = %i0) -> (tensor<128x256xf32>, i32, i32) : i32 {
        warploom.consumer_wait @p0[%i, %f]
        %x0 = warploom.slot @p0[%i] {payload = 0 : i32} : tensor<128x64xbf16>
        %y0 = warploom.slot @p0[%i] {payload = 1 : i32} : tensor<256x64xbf16>
        %z = tt.trans %y0 {order = array<i32: 1, 0>} : tensor<256x64xbf16> -> tensor<64x256xbf16>
        %e = tt.dot %x0, %z, %d, inputPrecision = tf32 : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
        %w = warploom.mma_wait %e {pending = 1 : i32} : tensor<128x256xf32>
        warploom.consumer_release @p0[%i, %f] {lag = 1 : i32}
        %n:2 = warploom.advance @p0[%i, %f]
        scf.yield %w, %n#0, %n#1 : tensor<128x256xf32>, i32, i32
      }
      %acc = warploom.mma_wait %l#0 {pending = 0 : i32} : tensor<128x256xf32>
      %out = arith.truncf %acc : tensor<128x256xf32> to tensor<128x256xbf16>
      warploom.tile_store %out, @p1[%i0] {payload = 0 : i32} : tensor<128x256xbf16>
      warploom.proxy_fence
      warploom.barrier_sync @math
      warploom.elect {
        warploom.tma_store @p1[%i0] {payload = 0 : i32} %c[%row, %col] : !tt.tensordesc<128x256xbf16>
        warploom.store_commit
        warploom.store_wait {pending = 0 : i32, read = true}
      }
    }
    tt.return
  }
}
