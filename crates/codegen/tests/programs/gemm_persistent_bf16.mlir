// C = A @ B.T in bf16, tile 128x256x64, persistent: each CTA takes tile after tile. The ring and its iterators live from
// tile to tile, so that the loads of the next tile run under the epilogue of this one (C9).
module attributes {warploom.form = "program", warploom.target = "sm_90a"} {
  tt.func public @matmul(%a: !tt.tensordesc<128x64xbf16>, %a_0: i32, %a_1: i32, %a_2: i64, %a_3: i64, %b: !tt.tensordesc<256x64xbf16>, %b_0: i32, %b_1: i32, %b_2: i64, %b_3: i64, %c: !tt.tensordesc<128x256xbf16>, %c_0: i32, %c_1: i32, %c_2: i64, %c_3: i64, %M: i32, %N: i32, %K: i32) attributes {noinline = false, warploom.warps = 12 : i32, warploom.max_registers = 168 : i32, warploom.shared = 213040 : i32, warploom.descriptors = [{swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 128, 64>, fp4_padded = false, is_im2col = false}, {swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 256, 64>, fp4_padded = false, is_im2col = false}, {swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 128, 64>, fp4_padded = false, is_im2col = false}]} {
    %zero = arith.constant dense<0.000000e+00> : tensor<128x256xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %c127 = arith.constant 127 : i32
    %c128 = arith.constant 128 : i32
    %c255 = arith.constant 255 : i32
    %c256 = arith.constant 256 : i32
    %m0 = arith.addi %M, %c127 : i32
    %down = arith.divsi %m0, %c128 : i32
    %n0 = arith.addi %N, %c255 : i32
    %across = arith.divsi %n0, %c256 : i32
    %tiles = arith.muli %down, %across : i32
    %pid = tt.get_program_id x : i32
    %programs = tt.get_num_programs x : i32
    %any = arith.cmpi sgt, %K, %c0 : i32
    warploom.pipeline @p0 {depth = 3 : i32, handshake = "tma_to_wgmma", payload = ["a", "b"], tile = [tensor<128x64xbf16>, tensor<256x64xbf16>], swizzle = array<i32: 128, 128>, offset = array<i64: 0, 49152>, stride = array<i64: 16384, 32768>, bytes = 49152 : i32, full = 212992 : i32, empty = 213016 : i32, arrive_full = 1 : i32, arrive_empty = 8 : i32}
    warploom.pipeline @p1 {depth = 1 : i32, handshake = "none", payload = ["c"], tile = [tensor<128x256xbf16>], swizzle = array<i32: 128>, offset = array<i64: 147456>, stride = array<i64: 65536>, bytes = 0 : i32, full = -1 : i32, empty = -1 : i32, arrive_full = 0 : i32, arrive_empty = 0 : i32}
    warploom.named_barrier @math {id = 1 : i32, threads = 256 : i32}
    warploom.partition @load {warp = 0 : i32, warps = 4 : i32, registers = 40 : i32} {
      warploom.elect {
        %it:2 = scf.for %tile = %pid to %tiles step %programs iter_args(%i0 = %c0, %f0 = %c1) -> (i32, i32) : i32 {
          %cols = arith.divsi %tile, %down : i32
          %rows = arith.remsi %tile, %down : i32
          %row = arith.muli %rows, %c128 : i32
          %col = arith.muli %cols, %c256 : i32
          %in:2 = scf.for %k = %c0 to %K step %c64 iter_args(%i = %i0, %f = %f0) -> (i32, i32) : i32 {
            warploom.producer_acquire @p0[%i, %f]
            warploom.producer_commit @p0[%i, %f] {bytes = 49152 : i32}
            warploom.tma_load @p0[%i] {payload = 0 : i32} %a[%row, %k] : !tt.tensordesc<128x64xbf16>
            warploom.tma_load @p0[%i] {payload = 1 : i32} %b[%col, %k] : !tt.tensordesc<256x64xbf16>
            %n:2 = warploom.advance @p0[%i, %f]
            scf.yield %n#0, %n#1 : i32, i32
          }
          scf.yield %in#0, %in#1 : i32, i32
        }
      }
    }
    warploom.partition @math {warp = 4 : i32, warps = 8 : i32, registers = 232 : i32} {
      %it:2 = scf.for %tile = %pid to %tiles step %programs iter_args(%i0 = %c0, %f0 = %c0) -> (i32, i32) : i32 {
        %cols = arith.divsi %tile, %down : i32
        %rows = arith.remsi %tile, %down : i32
        %row = arith.muli %rows, %c128 : i32
        %col = arith.muli %cols, %c256 : i32
        %l:3 = scf.for %k = %c0 to %K step %c64 iter_args(%d = %zero, %i = %i0, %f = %f0) -> (tensor<128x256xf32>, i32, i32) : i32 {
          warploom.consumer_wait @p0[%i, %f]
          %x = warploom.slot @p0[%i] {payload = 0 : i32} : tensor<128x64xbf16>
          %y = warploom.slot @p0[%i] {payload = 1 : i32} : tensor<256x64xbf16>
          %z = tt.trans %y {order = array<i32: 1, 0>} : tensor<256x64xbf16> -> tensor<64x256xbf16>
          %e = tt.dot %x, %z, %d, inputPrecision = tf32 : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
          %w = warploom.mma_wait %e {pending = 1 : i32} : tensor<128x256xf32>
          warploom.consumer_release @p0[%i, %f] {lag = 1 : i32}
          %n:2 = warploom.advance @p0[%i, %f]
          scf.yield %w, %n#0, %n#1 : tensor<128x256xf32>, i32, i32
        }
        %acc = warploom.mma_wait %l#0 {pending = 0 : i32} : tensor<128x256xf32>
        scf.if %any {
          %wrapped = arith.cmpi eq, %l#1, %c0 : i32
          %less = arith.subi %l#1, %c1 : i32
          %before = arith.select %wrapped, %c2, %less : i32
          warploom.consumer_release @p0[%before, %l#2] {lag = 0 : i32}
        }
        %out = arith.truncf %acc : tensor<128x256xf32> to tensor<128x256xbf16>
        warploom.elect {
          warploom.store_wait {pending = 0 : i32, read = true}
        }
        warploom.barrier_sync @math
        warploom.tile_store %out, @p1[%c0] {payload = 0 : i32} : tensor<128x256xbf16>
        warploom.proxy_fence
        warploom.barrier_sync @math
        warploom.elect {
          warploom.tma_store @p1[%c0] {payload = 0 : i32} %c[%row, %col] : !tt.tensordesc<128x256xbf16>
          warploom.store_commit
        }
        scf.yield %l#1, %l#2 : i32, i32
      }
      warploom.elect {
        warploom.store_wait {pending = 0 : i32, read = true}
      }
    }
    tt.return
  }
}
