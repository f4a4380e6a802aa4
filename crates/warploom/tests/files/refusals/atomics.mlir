// bf16 numbers added up in memory: a chip without the feature, and one with it.
// run: compile - --target sm_80 --emit program
module {
  tt.func public @add(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %one = arith.constant dense<1.000000e+00> : tensor<128xbf16>
    %all = arith.constant dense<true> : tensor<128xi1>
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %1 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<128x!tt.ptr<bf16>>
    %2 = tt.addptr %1, %0 : tensor<128x!tt.ptr<bf16>>, tensor<128xi32>
    %3 = tt.atomic_rmw fadd, acq_rel, gpu, %2, %one, %all : (tensor<128x!tt.ptr<bf16>>, tensor<128xbf16>, tensor<128xi1>) -> tensor<128xbf16> // error: sm_80 has no atomic operation on bf16 [target, C3]
    // note: needs: sm_90
    // note: instead: 
    tt.return
  }
}
// -----
// run: compile - --target sm_90a --emit program
// clean
module {
  tt.func public @add(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %one = arith.constant dense<1.000000e+00> : tensor<128xbf16>
    %all = arith.constant dense<true> : tensor<128xi1>
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %1 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<128x!tt.ptr<bf16>>
    %2 = tt.addptr %1, %0 : tensor<128x!tt.ptr<bf16>>, tensor<128xi32>
    %3 = tt.atomic_rmw fadd, acq_rel, gpu, %2, %one, %all : (tensor<128x!tt.ptr<bf16>>, tensor<128xbf16>, tensor<128xi1>) -> tensor<128xbf16>
    tt.return
  }
}
