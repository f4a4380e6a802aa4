// Forward attention on a chip with tensor memory: one warp copies, one issues products, four compute a row to each
// lane. P takes the columns of the S that it is made of and is read by the second product from there; the sum O
// is rescaled in place between two products (C24, C25, C66).
module attributes {warploom.form = "program", warploom.target = "sm_100a"} {
  tt.func public @attention(%dq: !tt.tensordesc<128x128xbf16>, %dq0: i32, %dq1: i32, %dq2: i64, %dq3: i64, %dk: !tt.tensordesc<128x128xbf16>, %dk0: i32, %dk1: i32, %dk2: i64, %dk3: i64, %dv: !tt.tensordesc<128x128xbf16>, %dv0: i32, %dv1: i32, %dv2: i64, %dv3: i64, %do: !tt.tensordesc<128x128xbf16>, %do0: i32, %do1: i32, %do2: i64, %do3: i64, %lse: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %s: f32) attributes {noinline = false, warploom.warps = 8 : i32, warploom.max_registers = 256 : i32, warploom.shared = 164000 : i32, warploom.tmem = 512 : i32, warploom.tmem_slot = 163992 : i32, warploom.descriptors = [{swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 128, 64>, fp4_padded = false, is_im2col = false}, {swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 128, 64>, fp4_padded = false, is_im2col = false}, {swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 128, 64>, fp4_padded = false, is_im2col = false}, {swizzle = 3 : i32, elem_size = 2 : i32, elem_type = 10 : i32, block_size = array<i32: 128, 64>, fp4_padded = false, is_im2col = false}]} {
    %none = arith.constant dense<0.000000e+00> : tensor<128xf32>
    %ln2 = arith.constant dense<0.693147182> : tensor<128xf32>
    %least = arith.constant dense<0xFF800000> : tensor<128xf32>
    %no = arith.constant false
    %yes = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %px = tt.get_program_id x : i32
    %start = arith.muli %px, %c128 : i32
    %py = tt.get_program_id y : i32
    %base = arith.muli %py, %n : i32
    %row = arith.addi %base, %start : i32
    warploom.pipeline @q {depth = 1 : i32, handshake = "tma_to_mma", payload = ["q"], tile = [tensor<128x128xbf16>], swizzle = array<i32: 128>, offset = array<i64: 0>, stride = array<i64: 32768>, bytes = 32768 : i32, full = 163840 : i32, empty = -1 : i32, arrive_full = 1 : i32, arrive_empty = 0 : i32}
    warploom.pipeline @k {depth = 2 : i32, handshake = "tma_to_mma", payload = ["k"], tile = [tensor<128x128xbf16>], swizzle = array<i32: 128>, offset = array<i64: 32768>, stride = array<i64: 32768>, bytes = 32768 : i32, full = 163848 : i32, empty = 163864 : i32, arrive_full = 1 : i32, arrive_empty = 1 : i32}
    warploom.pipeline @v {depth = 2 : i32, handshake = "tma_to_mma", payload = ["v"], tile = [tensor<128x128xbf16>], swizzle = array<i32: 128>, offset = array<i64: 98304>, stride = array<i64: 32768>, bytes = 32768 : i32, full = 163880 : i32, empty = 163896 : i32, arrive_full = 1 : i32, arrive_empty = 1 : i32}
    warploom.pipeline @s {depth = 2 : i32, handshake = "mma_to_generic", space = "tmem", payload = ["s"], tile = [tensor<128x128xf32>], column = array<i64: 0>, columns = array<i64: 128>, bytes = 0 : i32, full = 163912 : i32, empty = 163928 : i32, arrive_full = 1 : i32, arrive_empty = 4 : i32}
    warploom.pipeline @p {depth = 2 : i32, handshake = "generic_to_mma", space = "tmem", payload = ["p"], tile = [tensor<128x128xbf16>], column = array<i64: 0>, columns = array<i64: 128>, bytes = 0 : i32, full = 163944 : i32, empty = 163960 : i32, arrive_full = 4 : i32, arrive_empty = 1 : i32}
    warploom.pipeline @o {depth = 1 : i32, handshake = "mma_to_generic", space = "tmem", payload = ["o"], tile = [tensor<128x128xf32>], column = array<i64: 256>, columns = array<i64: 128>, bytes = 0 : i32, full = 163976 : i32, empty = 163984 : i32, arrive_full = 1 : i32, arrive_empty = 4 : i32}
    warploom.pipeline @out {depth = 1 : i32, handshake = "none", payload = ["out"], tile = [tensor<128x128xbf16>], swizzle = array<i32: 128>, offset = array<i64: 0>, stride = array<i64: 32768>, bytes = 0 : i32, full = -1 : i32, empty = -1 : i32, arrive_full = 0 : i32, arrive_empty = 0 : i32}
    warploom.named_barrier @math {id = 1 : i32, threads = 128 : i32}
    warploom.partition @load {warp = 0 : i32, warps = 1 : i32, registers = 256 : i32} {
      warploom.elect {
        warploom.producer_commit @q[%c0, %c0] {bytes = 32768 : i32}
        warploom.tma_load @q[%c0] {payload = 0 : i32} %dq[%row, %c0] : !tt.tensordesc<128x128xbf16>
        %it:2 = scf.for %at = %c0 to %n step %c128 iter_args(%i = %c0, %f = %c1) -> (i32, i32) : i32 {
          %block = arith.addi %base, %at : i32
          warploom.producer_acquire @k[%i, %f]
          warploom.producer_commit @k[%i, %f] {bytes = 32768 : i32}
          warploom.tma_load @k[%i] {payload = 0 : i32} %dk[%block, %c0] : !tt.tensordesc<128x128xbf16>
          warploom.producer_acquire @v[%i, %f]
          warploom.producer_commit @v[%i, %f] {bytes = 32768 : i32}
          warploom.tma_load @v[%i] {payload = 0 : i32} %dv[%block, %c0] : !tt.tensordesc<128x128xbf16>
          %next:2 = warploom.advance @k[%i, %f]
          scf.yield %next#0, %next#1 : i32, i32
        }
      }
    }
    warploom.partition @mma {warp = 1 : i32, warps = 1 : i32, registers = 256 : i32} {
      warploom.elect {
        warploom.consumer_wait @q[%c0, %c0]
        %q = warploom.slot @q[%c0] {payload = 0 : i32} : tensor<128x128xbf16>
        warploom.producer_acquire @s[%c0, %c1]
        warploom.consumer_wait @k[%c0, %c0]
        %ks = warploom.slot @k[%c0] {payload = 0 : i32} : tensor<128x128xbf16>
        %kt = tt.trans %ks {order = array<i32: 1, 0>} : tensor<128x128xbf16> -> tensor<128x128xbf16>
        warploom.mma @s[%c0] {payload = 0 : i32} %q, %kt, %no, inputPrecision = tf32 : tensor<128x128xbf16> * tensor<128x128xbf16>
        warploom.consumer_release @k[%c0, %c0] {lag = 0 : i32}
        warploom.producer_commit @s[%c0, %c1] {bytes = 0 : i32}
        %kn:2 = warploom.advance @k[%c0, %c0]
        %sn:2 = warploom.advance @s[%c0, %c1]
        %it:8 = scf.for %at = %c0 to %n step %c128 iter_args(%keep = %no, %ki = %kn#0, %kf = %kn#1, %si = %sn#0, %sf = %sn#1, %pi = %c0, %pf = %c0, %of = %c1) -> (i1, i32, i32, i32, i32, i32, i32, i32) : i32 {
          %ahead = arith.addi %at, %c128 : i32
          %more = arith.cmpi slt, %ahead, %n : i32
          %an:4 = scf.if %more -> (i32, i32, i32, i32) {
            warploom.producer_acquire @s[%si, %sf]
            warploom.producer_acquire @p[%si, %sf]
            warploom.consumer_wait @k[%ki, %kf]
            %ks2 = warploom.slot @k[%ki] {payload = 0 : i32} : tensor<128x128xbf16>
            %kt2 = tt.trans %ks2 {order = array<i32: 1, 0>} : tensor<128x128xbf16> -> tensor<128x128xbf16>
            warploom.mma @s[%si] {payload = 0 : i32} %q, %kt2, %no, inputPrecision = tf32 : tensor<128x128xbf16> * tensor<128x128xbf16>
            warploom.consumer_release @k[%ki, %kf] {lag = 0 : i32}
            warploom.producer_commit @s[%si, %sf] {bytes = 0 : i32}
            %kn2:2 = warploom.advance @k[%ki, %kf]
            %sn2:2 = warploom.advance @s[%si, %sf]
            scf.yield %kn2#0, %kn2#1, %sn2#0, %sn2#1 : i32, i32, i32, i32
          } else {
            scf.yield %ki, %kf, %si, %sf : i32, i32, i32, i32
          }
          warploom.consumer_wait @p[%pi, %pf]
          warploom.consumer_wait @v[%pi, %pf]
          warploom.producer_acquire @o[%c0, %of]
          %p = warploom.slot @p[%pi] {payload = 0 : i32} : tensor<128x128xbf16>
          %v = warploom.slot @v[%pi] {payload = 0 : i32} : tensor<128x128xbf16>
          warploom.mma @o[%c0] {payload = 0 : i32} %p, %v, %keep, inputPrecision = tf32 : tensor<128x128xbf16> * tensor<128x128xbf16>
          warploom.consumer_release @p[%pi, %pf] {lag = 0 : i32}
          warploom.consumer_release @v[%pi, %pf] {lag = 0 : i32}
          warploom.producer_commit @o[%c0, %of] {bytes = 0 : i32}
          %pn:2 = warploom.advance @p[%pi, %pf]
          %on:2 = warploom.advance @o[%c0, %of]
          scf.yield %yes, %an#0, %an#1, %an#2, %an#3, %pn#0, %pn#1, %on#1 : i1, i32, i32, i32, i32, i32, i32, i32
        }
      }
    }
    warploom.partition @math {warp = 4 : i32, warps = 4 : i32, registers = 256 : i32, layout = "rows"} {
      %scale = tt.splat %s : f32 -> tensor<128x128xf32>
      %lane = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
      %first = tt.splat %start : i32 -> tensor<128xi32>
      %rows = arith.addi %first, %lane : tensor<128xi32>
      %all:6 = scf.for %at = %c0 to %n step %c128 iter_args(%l = %none, %m = %least, %again = %no, %si = %c0, %sf = %c0, %of = %c0) -> (tensor<128xf32>, tensor<128xf32>, i1, i32, i32, i32) : i32 {
        warploom.consumer_wait @s[%si, %sf]
        %sv = warploom.slot @s[%si] {payload = 0 : i32} : tensor<128x128xf32>
        %x = arith.mulf %sv, %scale : tensor<128x128xf32>
        %h = "tt.reduce"(%x) <{axis = 1 : i32}> ({
        ^bb0(%ra: f32, %rb: f32):
          %rc = arith.maxnumf %ra, %rb : f32
          tt.reduce.return %rc : f32
        }) : (tensor<128x128xf32>) -> tensor<128xf32>
        %mn = arith.maxnumf %m, %h : tensor<128xf32>
        %mc = tt.expand_dims %mn {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
        %mb = tt.broadcast %mc : tensor<128x1xf32> -> tensor<128x128xf32>
        %d = arith.subf %x, %mb : tensor<128x128xf32>
        %pe = math.exp2 %d : tensor<128x128xf32>
        %e = arith.subf %m, %mn : tensor<128xf32>
        %al = math.exp2 %e : tensor<128xf32>
        %ofn = scf.if %again -> (i32) {
          warploom.consumer_wait @o[%c0, %of]
          %ov = warploom.slot @o[%c0] {payload = 0 : i32} : tensor<128x128xf32>
          %ac = tt.expand_dims %al {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
          %ab = tt.broadcast %ac : tensor<128x1xf32> -> tensor<128x128xf32>
          %os = arith.mulf %ov, %ab : tensor<128x128xf32>
          warploom.tile_store %os, @o[%c0] {payload = 0 : i32} : tensor<128x128xf32>
          warploom.consumer_release @o[%c0, %of] {lag = 0 : i32}
          %on:2 = warploom.advance @o[%c0, %of]
          scf.yield %on#1 : i32
        } else {
          scf.yield %of : i32
        }
        %pt = arith.truncf %pe : tensor<128x128xf32> to tensor<128x128xbf16>
        warploom.tile_store %pt, @p[%si] {payload = 0 : i32} : tensor<128x128xbf16>
        warploom.producer_commit @p[%si, %sf] {bytes = 0 : i32}
        warploom.consumer_release @s[%si, %sf] {lag = 0 : i32}
        %g = arith.mulf %l, %al : tensor<128xf32>
        %u = "tt.reduce"(%pe) <{axis = 1 : i32}> ({
        ^bb0(%sa: f32, %sb: f32):
          %sc = arith.addf %sa, %sb : f32
          tt.reduce.return %sc : f32
        }) : (tensor<128x128xf32>) -> tensor<128xf32>
        %ln = arith.addf %g, %u : tensor<128xf32>
        %sn:2 = warploom.advance @s[%si, %sf]
        scf.yield %ln, %mn, %yes, %sn#0, %sn#1, %ofn : tensor<128xf32>, tensor<128xf32>, i1, i32, i32, i32
      }
      warploom.consumer_wait @o[%c0, %all#5]
      %acc = warploom.slot @o[%c0] {payload = 0 : i32} : tensor<128x128xf32>
      %lc = tt.expand_dims %all#0 {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
      %lb = tt.broadcast %lc : tensor<128x1xf32> -> tensor<128x128xf32>
      %quot = arith.divf %acc, %lb : tensor<128x128xf32>
      %out = arith.truncf %quot : tensor<128x128xf32> to tensor<128x128xbf16>
      %lp0 = tt.addptr %lse, %base : !tt.ptr<f32>, i32
      %lp1 = tt.splat %lp0 : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
      %lp = tt.addptr %lp1, %rows : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
      %ll = math.log2 %all#0 : tensor<128xf32>
      %lm = arith.addf %all#1, %ll : tensor<128xf32>
      %lv = arith.mulf %lm, %ln2 : tensor<128xf32>
      tt.store %lp, %lv : tensor<128x!tt.ptr<f32>>
      warploom.barrier_sync @math
      warploom.tile_store %out, @out[%c0] {payload = 0 : i32} : tensor<128x128xbf16>
      warploom.proxy_fence
      warploom.barrier_sync @math
      warploom.elect {
        warploom.tma_store @out[%c0] {payload = 0 : i32} %do[%row, %c0] : !tt.tensordesc<128x128xbf16>
        warploom.store_commit
        warploom.store_wait {pending = 0 : i32, read = true}
      }
    }
    tt.return
  }
}
