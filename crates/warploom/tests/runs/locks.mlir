// Programs that take turns by a lock: each spins until it is free, and adds to what the one before left (C35).
// run: run - --target sm_80 --grid 5 --interleavings 4 --seed 1 --arg=0,0 --arg=[64] --arg=0,0
// run: run - --target sm_90a --grid 5 --interleavings 4 --seed 1 --arg=0,0 --arg=[64] --arg=0,0
// run: run - --target sm_100a --grid 5 --interleavings 4 --seed 1 --arg=0,0 --arg=[64] --arg=0,0
// clean
module {
  tt.func public @turns(%lock: !tt.ptr<i32>, %p: !tt.ptr<i32>, %count: !tt.ptr<i32>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %true = arith.constant true
    scf.while : () -> () {
      %held = tt.atomic_cas acq_rel, gpu, %lock, %zero, %one : (!tt.ptr<i32>, i32, i32) -> i32
      %again = arith.cmpi eq, %held, %one : i32
      scf.condition(%again)
    } do {
      scf.yield
    }
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %base = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %at = tt.addptr %base, %range : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %before = tt.load %count : !tt.ptr<i32>
    %first = arith.cmpi eq, %before, %zero : i32
    scf.if %first {
      tt.store %at, %range : tensor<64x!tt.ptr<i32>>
    } else {
      %x = tt.load %at : tensor<64x!tt.ptr<i32>>
      %y = arith.addi %x, %range : tensor<64xi32>
      tt.store %at, %y : tensor<64x!tt.ptr<i32>>
    }
    %after = arith.addi %before, %one : i32
    tt.store %count, %after : !tt.ptr<i32>
    %free = tt.atomic_rmw exch, acq_rel, gpu, %lock, %zero, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
}
