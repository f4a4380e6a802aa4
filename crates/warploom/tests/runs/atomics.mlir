// Sums of bf16 in memory, several lanes to each: by the instruction from 9.0 on, swapped in before.
// run: run - --target sm_80 --interleavings 4 --seed 1 --arg=[64] --arg=[256]
// run: run - --target sm_89 --interleavings 2 --seed 1 --arg=[64] --arg=[256]
// run: run - --target sm_90a --interleavings 4 --seed 1 --arg=[64] --arg=[256]
// run: run - --target sm_100a --interleavings 2 --seed 1 --arg=[64] --arg=[256]
// clean
module {
  tt.func public @sums(%q: !tt.ptr<bf16>, %r: !tt.ptr<bf16>) {
    %mask = arith.constant dense<63> : tensor<256xi32>
    %most = arith.constant dense<200> : tensor<256xi32>
    %one = arith.constant dense<1.0> : tensor<256xbf16>
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %m = arith.andi %n, %mask : tensor<256xi32>
    %qs = tt.splat %q : !tt.ptr<bf16> -> tensor<256x!tt.ptr<bf16>>
    %qp = tt.addptr %qs, %m : tensor<256x!tt.ptr<bf16>>, tensor<256xi32>
    %kept = arith.cmpi slt, %n, %most : tensor<256xi32>
    %old = tt.atomic_rmw fadd, relaxed, gpu, %qp, %one, %kept : (tensor<256x!tt.ptr<bf16>>, tensor<256xbf16>, tensor<256xi1>) -> tensor<256xbf16>
    tt.return
  }
}
// -----
// What each found there, of one lane for each; the sum of a scalar, which one thread adds.
// run: run - --target sm_80 --interleavings 4 --seed 1 --arg=[256] --arg=[257] --arg=[256]
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[257] --arg=[256]
// clean
module {
  tt.func public @found(%p: !tt.ptr<bf16>, %q: !tt.ptr<bf16>, %r: !tt.ptr<bf16>) {
    %yes = arith.constant true
    %last = arith.constant 256 : i32
    %half = arith.constant 0.5 : bf16
    %all = arith.constant dense<true> : tensor<256xi1>
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<256x!tt.ptr<bf16>>
    %pp = tt.addptr %ps, %n : tensor<256x!tt.ptr<bf16>>, tensor<256xi32>
    %qs = tt.splat %q : !tt.ptr<bf16> -> tensor<256x!tt.ptr<bf16>>
    %qp = tt.addptr %qs, %n : tensor<256x!tt.ptr<bf16>>, tensor<256xi32>
    %rs = tt.splat %r : !tt.ptr<bf16> -> tensor<256x!tt.ptr<bf16>>
    %rp = tt.addptr %rs, %n : tensor<256x!tt.ptr<bf16>>, tensor<256xi32>
    %x = tt.load %pp : tensor<256x!tt.ptr<bf16>>
    %old = tt.atomic_rmw fadd, acq_rel, gpu, %qp, %x, %all : (tensor<256x!tt.ptr<bf16>>, tensor<256xbf16>, tensor<256xi1>) -> tensor<256xbf16>
    tt.store %rp, %old : tensor<256x!tt.ptr<bf16>>
    %end = tt.addptr %q, %last : !tt.ptr<bf16>, i32
    %was = tt.atomic_rmw fadd, relaxed, gpu, %end, %half, %yes : (!tt.ptr<bf16>, bf16, i1) -> bf16
    tt.return
  }
}
// -----
// Quotients and logarithms by their names in libdevice, without it.
// run: run - --target sm_90a --interleavings 2 --seed 1 --arg=[256] --arg=[256] --arg=[256]
// clean
module {
  tt.func public @named(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %r: !tt.ptr<f32>) {
    %two = arith.constant dense<2.0> : tensor<256xf32>
    %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %pp = tt.addptr %ps, %n : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %qp = tt.addptr %qs, %n : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %rs = tt.splat %r : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %rp = tt.addptr %rs, %n : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %x = tt.load %pp : tensor<256x!tt.ptr<f32>>
    %y = tt.load %qp : tensor<256x!tt.ptr<f32>>
    %xx = arith.mulf %x, %x : tensor<256xf32>
    %far = arith.addf %xx, %two : tensor<256xf32>
    %a = tt.extern_elementwise %y, %far {libname = "", libpath = "", pure = true, symbol = "__nv_fast_fdividef"} : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %b = tt.extern_elementwise %a, %far {libname = "", libpath = "", pure = true, symbol = "__nv_fdiv_rn"} : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %c = tt.extern_elementwise %far {libname = "", libpath = "", pure = true, symbol = "__nv_fast_logf"} : (tensor<256xf32>) -> tensor<256xf32>
    %d = tt.extern_elementwise %far {libname = "", libpath = "", pure = true, symbol = "__nv_fast_log2f"} : (tensor<256xf32>) -> tensor<256xf32>
    %e = arith.addf %b, %c : tensor<256xf32>
    %f = arith.addf %e, %d : tensor<256xf32>
    tt.store %rp, %f : tensor<256x!tt.ptr<f32>>
    tt.return
  }
}
