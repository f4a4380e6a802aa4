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
// -----
// Programs that take turns by a number: each polls until it is theirs, and the poll ends in one way only; a tile of
// numbers is polled, and read and written atomically (C3, C35).
// run: run - --target sm_80 --grid 5 --interleavings 4 --seed 1 --arg=0,0 --arg=[64] --arg=[64]
// run: run - --target sm_90a --grid 5 --interleavings 4 --seed 1 --arg=0,0 --arg=[64] --arg=[64]
// run: run - --target sm_100a --grid 5 --interleavings 4 --seed 1 --arg=0,0 --arg=[64] --arg=[64]
// clean
module {
  tt.func public @turns(%turn: !tt.ptr<i32>, %p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
    %one = arith.constant 1 : i32
    %zero = arith.constant dense<0> : tensor<64xi32>
    %me = tt.get_program_id x : i32
    %next = arith.addi %me, %one : i32
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %base = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %at = tt.addptr %base, %range : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %out = tt.splat %q : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %to = tt.addptr %out, %range : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %mine = tt.atomic_poll acquire, gpu, %turn, %me : !tt.ptr<i32>, i32 -> i1
    %old = tt.atomic_load relaxed, gpu, %at : (tensor<64x!tt.ptr<i32>>) -> tensor<64xi32>
    %new = arith.addi %old, %range : tensor<64xi32>
    %odd = arith.andi %new, %range : tensor<64xi32>
    %some = arith.cmpi ne, %odd, %zero : tensor<64xi32>
    tt.atomic_store relaxed, gpu, %at, %new, %some : tensor<64x!tt.ptr<i32>>
    %kept = tt.atomic_load acquire, gpu, %at, %some : (tensor<64x!tt.ptr<i32>>, tensor<64xi1>) -> tensor<64xi32>
    %again = tt.load %at : tensor<64x!tt.ptr<i32>>
    %there = tt.atomic_poll relaxed, cta, %at, %again : tensor<64x!tt.ptr<i32>>, tensor<64xi32> -> tensor<64xi1>
    %counted = arith.extui %there : tensor<64xi1> to tensor<64xi32>
    %shown = arith.addi %counted, %kept : tensor<64xi32>
    tt.store %to, %shown : tensor<64x!tt.ptr<i32>>
    tt.atomic_store release, gpu, %turn, %next : !tt.ptr<i32>
    tt.return
  }
}
// -----
// A poll that gives up says so; memory is asked at least once. Grids may depend on others (C3).
// run: run - --target sm_90a --grid 3 --interleavings 4 --seed 1 --arg=1,0 --arg=[64] --arg=0
// run: run - --target sm_120a --grid 3 --interleavings 4 --seed 1 --arg=1,0 --arg=[64] --arg=1
// clean
module {
  tt.func public @late(%flag: !tt.ptr<i32>, %q: !tt.ptr<i32>, %wanted: i32) {
    %none = arith.constant 0 : i64
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %out = tt.splat %q : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %to = tt.addptr %out, %range : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    tt.grid_dependency_wait
    %found = tt.atomic_poll acquire, sys, %flag, %wanted timeout %none : !tt.ptr<i32>, i32 -> i1
    tt.grid_dependency_launch_dependents
    %number = arith.extui %found : i1 to i32
    %all = tt.splat %number : i32 -> tensor<64xi32>
    %shown = arith.addi %all, %range : tensor<64xi32>
    tt.store %to, %shown : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}
