//! Atomics whose old value is read, `tt.atomic_cas`, and who asks where several lanes hold an element (C3, C65).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/pointers.rs"]
mod pointers;

use pointers::{Kernel, i32_bytes, i32s};
use warploom_emulator::Policy;

const POLICIES: [Policy; 3] = [Policy::Eager, Policy::Lazy, Policy::Random(11)];

/// Adds 1 to a counter of every row or column below `%n`, and stores the old values through another pointer.
fn counts(kernel: Kernel, shape: &str, order: &str) {
    let count = if shape == "R" { kernel.rows } else { kernel.cols } as i32;
    let at = if shape == "R" { "%rows" } else { "%cols" };
    let ops = format!(
        "%one = arith.constant dense<1> : {shape}xi32\n%n = arith.constant dense<{}> : {shape}xi32\n\
         %k = arith.cmpi slt, {at}, %n : {shape}xi32\n\
         %ps = tt.splat %p0 : !tt.ptr<i32> -> {shape}x!tt.ptr<i32>\n\
         %pq = tt.addptr %ps, {at} : {shape}x!tt.ptr<i32>, {shape}xi32\n\
         %old = tt.atomic_rmw add, {order}, gpu, %pq, %one, %k : ({shape}x!tt.ptr<i32>, {shape}xi32, {shape}xi1) -> \
         {shape}xi32",
        count - 3
    );
    // The vector runs along a dimension of a matrix.
    let along = match shape {
        "R" => {
            "%e = tt.expand_dims %old {axis = 1 : i32} : Rxi32 -> tensor<ROWSx1xi32>\n\
                %b = tt.broadcast %e : tensor<ROWSx1xi32> -> Mxi32"
        }
        _ => {
            "%e = tt.expand_dims %old {axis = 0 : i32} : Cxi32 -> tensor<1xCOLSxi32>\n\
              %b = tt.broadcast %e : tensor<1xCOLSxi32> -> Mxi32"
        }
    };
    let along = along.replace("ROWS", &kernel.rows.to_string()).replace("COLS", &kernel.cols.to_string());
    let (rows, cols) = (kernel.rows as i32, kernel.cols as i32);
    let kernel = Kernel { buffers: vec!["i32", "i32"], ..kernel }.ops(&ops).ops(&along).store("b", 1, "M");
    let emitted = kernel.compile();
    let before: Vec<i32> = (0..count).map(|i| 10 * i).collect();
    for policy in POLICIES {
        let after = kernel.run(&emitted, &[i32_bytes(&before), vec![0; 4 * (rows * cols) as usize]], policy);
        let counters: Vec<i32> =
            before.iter().zip(0..).map(|(b, i)| if i < count - 3 { b + 1 } else { *b }).collect();
        assert_eq!(i32s(&after[0]), counters, "{shape} {order}");
        for (i, &found) in i32s(&after[1]).iter().enumerate() {
            let line = if shape == "R" { i as i32 / cols } else { i as i32 % cols };
            assert_eq!(found, if line < count - 3 { 10 * line } else { 0 }, "{shape} {order}: {i}");
        }
    }
}

#[test]
fn every_counter_is_asked_once() {
    for order in ["relaxed", "acq_rel"] {
        counts(Kernel { scratch: 1024, ..Kernel::blocked(8, 128, 4, [1, 128]) }, "C", order);
        counts(Kernel { scratch: 1024, ..Kernel::blocked(8, 128, 4, [1, 128]) }, "R", order);
        counts(Kernel { scratch: 512, ..Kernel::blocked(16, 32, 4, [4, 8]) }, "R", order);
        counts(Kernel { scratch: 512, ..Kernel::blocked(16, 32, 4, [4, 8]) }, "C", order);
        counts(Kernel::blocked(4, 64, 1, [2, 32]), "R", order);
    }
    let layout = "layout = \"wgmma\"".to_owned();
    let wgmma = Kernel { layout, chip: "sm_90a", scratch: 512, ..Kernel::blocked(64, 16, 4, [1, 1]) };
    counts(wgmma, "C", "relaxed");
}

#[test]
fn unread_results_with_an_order() {
    let ops = "%one = arith.constant dense<5> : Cxi32\n\
               %ps = tt.splat %p0 : !tt.ptr<i32> -> Cx!tt.ptr<i32>\n\
               %pq = tt.addptr %ps, %cols : Cx!tt.ptr<i32>, Cxi32\n\
               %old = tt.atomic_rmw max, acq_rel, gpu, %pq, %one : (Cx!tt.ptr<i32>, Cxi32) -> Cxi32";
    let kernel = Kernel { buffers: vec!["i32"], ..Kernel::blocked(4, 64, 4, [1, 64]) }.ops(ops);
    let before: Vec<i32> = (-30..34).collect();
    let after = kernel.run(&kernel.compile(), &[i32_bytes(&before)], Policy::Random(5));
    assert_eq!(i32s(&after[0]), before.iter().map(|&v| v.max(5)).collect::<Vec<_>>());
}

/// One lane takes a lock, adds to a counter, and everybody sees what it found.
fn scalars(kernel: Kernel) {
    let ops = "%c0 = arith.constant 0 : i32\n%c7 = arith.constant 7 : i32\n\
               %was = tt.atomic_cas acq_rel, gpu, %p0, %c0, %c7 : (!tt.ptr<i32>, i32, i32) -> i32\n\
               %again = tt.atomic_cas acq_rel, gpu, %p0, %c0, %c7 : (!tt.ptr<i32>, i32, i32) -> i32\n\
               %sum = tt.atomic_rmw add, acq_rel, gpu, %p1, %c7 : (!tt.ptr<i32>, i32) -> i32\n\
               %one = tt.splat %was : i32 -> Mxi32\n%two = tt.splat %again : i32 -> Mxi32\n\
               %three = tt.splat %sum : i32 -> Mxi32\n\
               %x = arith.addi %one, %two : Mxi32\n%y = arith.addi %x, %three : Mxi32";
    let size = 4 * (kernel.rows * kernel.cols) as usize;
    let kernel = Kernel { buffers: vec!["i32"; 3], ..kernel }.ops(ops).store("y", 2, "M");
    let emitted = kernel.compile();
    for policy in POLICIES {
        let after = kernel.run(&emitted, &[i32_bytes(&[0]), i32_bytes(&[100]), vec![0; size]], policy);
        assert_eq!((i32s(&after[0]), i32s(&after[1])), (vec![7], vec![107]));
        assert!(i32s(&after[2]).iter().all(|&v| v == 107));
    }
}

#[test]
fn one_lane_asks_for_all() {
    scalars(Kernel { scratch: 512, ..Kernel::blocked(4, 128, 4, [1, 128]) });
    scalars(Kernel::blocked(4, 32, 1, [1, 32]));
    let bare = Kernel { buffers: vec!["i32"], ..Kernel::blocked(4, 128, 4, [1, 128]) }.ops(
        "%c0 = arith.constant 0 : i32\n\
         %was = tt.atomic_cas acq_rel, gpu, %p0, %c0, %c0 : (!tt.ptr<i32>, i32, i32) -> i32",
    );
    assert!(bare.try_compile().unwrap_err().contains("scratch"));
}

#[test]
fn a_barrier_of_the_kernel() {
    // What other lanes stored is read behind it.
    let turned = "%last = arith.constant dense<127> : Cxi32\n%back = arith.subi %last, %cols : Cxi32\n\
                  %qs = tt.splat %p0 : !tt.ptr<i32> -> Cx!tt.ptr<i32>\n\
                  %qq = tt.addptr %qs, %back : Cx!tt.ptr<i32>, Cxi32\n";
    let kernel = Kernel { buffers: vec!["i32", "i32"], scratch: 512, ..Kernel::blocked(1, 128, 4, [1, 128]) }
        .store("cols", 0, "C")
        .ops("ttg.barrier all")
        .ops(turned)
        .ops("%y = tt.load %qq : Cx!tt.ptr<i32>")
        .store("y", 1, "C");
    for policy in POLICIES {
        let after = kernel.run(&kernel.compile(), &[vec![0; 512], vec![0; 512]], policy);
        assert_eq!(i32s(&after[1]), (0..128).rev().collect::<Vec<_>>());
    }
}
