module attributes {warploom.form = "program", warploom.target = "sm_90a"} {
  tt.func public @matmul_device_descriptors(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i64 {tt.divisibility = 16 : i32}, %arg7: i64 {tt.divisibility = 16 : i32}, %arg8: i64 {tt.divisibility = 16 : i32}) attributes {noinline = false, warploom.warps = 12 : i32, warploom.max_registers = 168 : i32, warploom.shared = 147712 : i32, warploom.descriptors = []} {
    %c64_i32 = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %c256_i32 = arith.constant 256 : i32
    %c128_i32 = arith.constant 128 : i32
    %c1_i64 = arith.constant 1 : i64
    %0 = tt.make_tensor_descriptor %arg0, [%arg3, %arg5], [%arg6, %c1_i64] {warploom.tensor_map = {swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 128, 64>, fp4_padded = false, is_im2col = false, staging = 147584 : i32}} : <bf16>, <128x64xbf16>
    %1 = tt.make_tensor_descriptor %arg1, [%arg4, %arg5], [%arg7, %c1_i64] {warploom.tensor_map = {swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 256, 64>, fp4_padded = false, is_im2col = false, staging = 147584 : i32}} : <bf16>, <256x64xbf16>
    %2 = tt.make_tensor_descriptor %arg2, [%arg3, %arg4], [%arg8, %c1_i64] {warploom.tensor_map = {swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 128, 64>, fp4_padded = false, is_im2col = false, staging = 147584 : i32}} : <bf16>, <128x256xbf16>
    %3 = tt.get_program_id x : i32
    %4 = arith.muli %3, %c128_i32 : i32
    %5 = tt.get_program_id y : i32
    %6 = arith.muli %5, %c256_i32 : i32
    %7 = arith.constant 0 : i32
    %8 = arith.constant 1 : i32
    warploom.pipeline @p0 {depth = 3 : i32, handshake = "tma_to_wgmma", payload = ["a", "b"], tile = [tensor<128x64xbf16>, tensor<256x64xbf16>], swizzle = array<i32: 128, 128>, offset = array<i64: 98304, 0>, stride = array<i64: 16384, 32768>, bytes = 49152 : i32, full = 147456 : i32, empty = 147480 : i32, arrive_full = 1 : i32, arrive_empty = 8 : i32}
    warploom.pipeline @p1 {depth = 1 : i32, handshake = "none", payload = ["out"], tile = [tensor<128x256xbf16>], swizzle = array<i32: 128>, offset = array<i64: 0>, stride = array<i64: 65536>, bytes = 0 : i32, full = -1 : i32, empty = -1 : i32, arrive_full = 0 : i32, arrive_empty = 0 : i32}
    warploom.named_barrier @math {id = 1 : i32, threads = 256 : i32}
    warploom.partition @load {warp = 0 : i32, warps = 4 : i32, registers = 40 : i32} {
      warploom.elect {
        %9:2 = scf.for %arg9 = %c0_i32 to %arg5 step %c64_i32 iter_args(%p0.slot = %7, %p0.phase = %8) -> (i32, i32)  : i32 {
          warploom.producer_acquire @p0[%p0.slot, %p0.phase]
          warploom.producer_commit @p0[%p0.slot, %p0.phase] {bytes = 49152 : i32}
          warploom.tma_load @p0[%p0.slot] {payload = 0 : i32} %0[%4, %arg9] : !tt.tensordesc<128x64xbf16>
          warploom.tma_load @p0[%p0.slot] {payload = 1 : i32} %1[%6, %arg9] : !tt.tensordesc<256x64xbf16>
          %10:2 = warploom.advance @p0[%p0.slot, %p0.phase]
          scf.yield %10#0, %10#1 : i32, i32
        }
      }
    }
    warploom.partition @math {warp = 4 : i32, warps = 8 : i32, registers = 232 : i32} {
      %cst = arith.constant dense<0.000000e+00> : tensor<128x256xf32>
      %9:3 = scf.for %arg9 = %c0_i32 to %arg5 step %c64_i32 iter_args(%arg10 = %cst, %p0.slot = %7, %p0.phase = %7) -> (tensor<128x256xf32>, i32, i32)  : i32 {
        warploom.consumer_wait @p0[%p0.slot, %p0.phase]
        %12 = warploom.slot @p0[%p0.slot] {payload = 0 : i32} : tensor<128x64xbf16>
        %13 = warploom.slot @p0[%p0.slot] {payload = 1 : i32} : tensor<256x64xbf16>
        %14 = tt.trans %13 {order = array<i32: 1, 0>} : tensor<256x64xbf16> -> tensor<64x256xbf16>
        %15 = tt.dot %12, %14, %arg10, inputPrecision = tf32 : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
        %16 = warploom.mma_wait %15 {pending = 1 : i32} : tensor<128x256xf32>
        warploom.consumer_release @p0[%p0.slot, %p0.phase] {lag = 1 : i32}
        %17:2 = warploom.advance @p0[%p0.slot, %p0.phase]
        scf.yield %16, %17#0, %17#1 : tensor<128x256xf32>, i32, i32
      }
      %10 = warploom.mma_wait %9#0 {pending = 0 : i32} : tensor<128x256xf32>
      %11 = arith.truncf %10 : tensor<128x256xf32> to tensor<128x256xbf16>
      warploom.barrier_sync @math
      warploom.tile_store %11, @p1[%7] {payload = 0 : i32} : tensor<128x256xbf16>
      warploom.proxy_fence
      warploom.barrier_sync @math
      warploom.elect {
        warploom.tma_store @p1[%7] {payload = 0 : i32} %2[%4, %6] : !tt.tensordesc<128x256xbf16>
        warploom.store_commit
        warploom.store_wait {pending = 0 : i32, read = true}
      }
    }
    tt.return
  }
}
