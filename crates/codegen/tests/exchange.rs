//! Reductions whose rows or columns lie in several warps: through shared memory (C65).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/pointers.rs"]
mod pointers;

use pointers::{Kernel, f32_bytes, f32s, i32_bytes, i32s, noise};
use warploom_emulator::Policy;

const POLICIES: [Policy; 3] = [Policy::Eager, Policy::Lazy, Policy::Random(3)];

/// Sums and the place of the largest element of each row or column.
fn both(axis: u64) -> String {
    let (out, index) = if axis == 1 { ("R", "%cb") } else { ("C", "%rb") };
    format!(
        "%s = \"tt.reduce\"(%x) <{{axis = {axis} : i32}}> ({{\n^bb0(%a: f32, %b: f32):\n\
         %c = arith.addf %a, %b : f32\ntt.reduce.return %c : f32\n}}) : (Mxf32) -> {out}xf32\n\
         %m:2 = \"tt.reduce\"(%x, {index}) <{{axis = {axis} : i32}}> ({{\n\
         ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):\n\
         %g = arith.cmpf ogt, %a, %b : f32\n%e = arith.cmpf oeq, %a, %b : f32\n\
         %l = arith.cmpi slt, %i, %j : i32\n%t = arith.andi %e, %l : i1\n%w = arith.ori %g, %t : i1\n\
         %v = arith.select %w, %a, %b : f32\n%k = arith.select %w, %i, %j : i32\n\
         tt.reduce.return %v, %k : f32, i32\n}}) : (Mxf32, Mxi32) -> ({out}xf32, {out}xi32)\n\
         %best = arith.addi %m#1, %zero : {out}xi32"
    )
}

fn reduces(kernel: Kernel, axis: u64) {
    let name = format!("{kernel:?} along {axis}");
    let (rows, cols) = (kernel.rows as usize, kernel.cols as usize);
    let out = if axis == 1 { "R" } else { "C" };
    let kernel = Kernel { buffers: vec!["f32", "f32", "i32"], ..kernel }
        .load("x", 0, "M")
        .ops(&format!("%zero = arith.constant dense<0> : {out}xi32"))
        .ops(&both(axis))
        .store("s", 1, out)
        .store("best", 2, out);
    let emitted = kernel.compile();
    // Small whole numbers: sums are exact in any order, and the largest comes more than once.
    let x: Vec<f32> = noise((rows * cols) as u64, 5, 41).iter().map(|&v| v as f32 - 20.0).collect();
    let count = if axis == 1 { rows } else { cols };
    let line = |n: usize| -> Vec<f32> {
        match axis {
            1 => x[n * cols..(n + 1) * cols].to_vec(),
            _ => (0..rows).map(|r| x[r * cols + n]).collect(),
        }
    };
    for policy in POLICIES {
        let before = [f32_bytes(&x), vec![0x55; 4 * count], vec![0x55; 4 * count]];
        let after = kernel.run(&emitted, &before, policy);
        let (sums, places) = (f32s(&after[1]), i32s(&after[2]));
        for n in 0..count {
            let line = line(n);
            assert_eq!(sums[n], line.iter().sum::<f32>(), "{name}: {n}");
            let most = line.iter().copied().fold(f32::MIN, f32::max);
            let place = line.iter().position(|&v| v == most).unwrap();
            // Columns are counted by the offset of their row.
            let place = if axis == 1 { place } else { place * cols };
            assert_eq!(places[n], place as i32, "{name}: {n}");
        }
    }
}

fn with_scratch(kernel: Kernel, bytes: u64) -> Kernel {
    Kernel { scratch: bytes, ..kernel }
}

#[test]
fn rows_over_several_warps_c65() {
    // One row over four warps, over all but half of the warps, several rows at a time.
    reduces(with_scratch(Kernel::blocked(4, 512, 4, [4, 128]), 4096), 1);
    reduces(with_scratch(Kernel::blocked(8, 256, 4, [2, 64]), 4096), 1);
    reduces(with_scratch(Kernel::blocked(8, 512, 8, [1, 128]), 8192), 1);
}

#[test]
fn columns_over_several_warps_c65() {
    reduces(with_scratch(Kernel::blocked(32, 64, 4, [4, 16]), 4096), 0);
    reduces(with_scratch(Kernel::blocked(16, 128, 4, [1, 64]), 4096), 0);
    reduces(with_scratch(Kernel::blocked(32, 32, 2, [1, 8]), 8192), 0);
    let tensor = |layout: &str| layout.to_owned();
    let warp = Kernel {
        layout: tensor("layout = \"mma_sync\", tiling = array<i32: 2, 2>"),
        ..Kernel::blocked(64, 32, 4, [1, 1])
    };
    reduces(with_scratch(warp.clone(), 8192), 0);
    reduces(with_scratch(warp, 8192), 1);
    let wgmma = Kernel {
        layout: tensor("layout = \"wgmma\""),
        chip: "sm_90a",
        ..Kernel::blocked(128, 16, 8, [1, 1])
    };
    reduces(with_scratch(wgmma, 4096), 0);
}

#[test]
fn little_scratch_takes_turns() {
    let kernel = Kernel::blocked(16, 256, 4, [1, 64]);
    // Two words for each row and lane of four warps: one row at a time.
    reduces(with_scratch(kernel.clone(), 1024), 1);
    reduces(with_scratch(kernel, 3000), 1);
}

#[test]
fn vectors_become_scalars() {
    let text = "%s = \"tt.reduce\"(%x) <{axis = 0 : i32}> ({\n^bb0(%a: i32, %b: i32):\n\
                %c = arith.maxsi %a, %b : i32\ntt.reduce.return %c : i32\n}) : (Cxi32) -> i32\n\
                %f = tt.splat %s : i32 -> Cxi32\n%y = arith.subi %f, %x : Cxi32";
    let kernel = Kernel { buffers: vec!["i32", "i32"], scratch: 512, ..Kernel::blocked(1, 512, 4, [4, 128]) };
    let kernel = kernel.load("x", 0, "C").ops(text).store("y", 1, "C");
    let emitted = kernel.compile();
    let x: Vec<i32> = noise(512, 7, 100_000).iter().map(|&v| v as i32 - 50_000).collect();
    let most = x.iter().max().unwrap();
    for policy in POLICIES {
        let after = kernel.run(&emitted, &[i32_bytes(&x), vec![0; 4 * 512]], policy);
        assert_eq!(i32s(&after[1]), x.iter().map(|v| most - v).collect::<Vec<_>>());
    }
}

#[test]
fn wide_numbers_and_halves_cross_warps() {
    for (elem, op, fill) in [("i64", "addi", 3i64), ("i16", "addi", 3)] {
        let text = format!(
            "%s = \"tt.reduce\"(%x) <{{axis = 1 : i32}}> ({{\n^bb0(%a: {elem}, %b: {elem}):\n\
             %c = arith.{op} %a, %b : {elem}\ntt.reduce.return %c : {elem}\n}}) : (Mx{elem}) -> Rx{elem}"
        );
        let kernel =
            Kernel { buffers: vec![elem, elem], scratch: 1024, ..Kernel::blocked(4, 128, 4, [1, 128]) };
        let kernel = kernel.load("x", 0, "M").ops(&text).store("s", 1, "R");
        let size = if elem == "i64" { 8 } else { 2 };
        let x: Vec<u8> = (0..512).flat_map(|i| (fill * i).to_le_bytes()[..size].to_vec()).collect();
        let after = kernel.run(&kernel.compile(), &[x, vec![0; 4 * size]], Policy::Random(9));
        for row in 0..4i64 {
            let sum: i64 = (0..128).map(|c| fill * (128 * row + c)).sum();
            let at = row as usize * size;
            assert_eq!(after[1][at..at + size], sum.to_le_bytes()[..size], "{elem}");
        }
    }
}

#[test]
fn what_scratch_must_be() {
    let wrong = |scratch: u64, from: &str, to: &str| {
        let kernel =
            Kernel { buffers: vec!["f32"], ..with_scratch(Kernel::blocked(4, 512, 4, [4, 128]), scratch) };
        let kernel = kernel.load("x", 0, "M").ops("%zero = arith.constant dense<0> : Rxi32").ops(&both(1));
        let text = kernel.text();
        assert!(text.contains(from), "{from}");
        let text = text.replace(from, to);
        let module = warploom_ir::parse(&text).unwrap();
        let found = warploom_ir::verify(&module);
        if !found.is_empty() {
            return common::messages(&found);
        }
        let target = warploom_chips::Target::named("sm_80").unwrap();
        match warploom_codegen::emit(&module, &target, &warploom_codegen::EmitOptions::default()) {
            Ok(_) => panic!("compiled with {to}"),
            Err(list) => common::messages(&list),
        }
    };
    assert!(wrong(0, "@main", "@main").contains("without scratch memory"));
    assert!(wrong(512, "@main", "@main").contains("needs: 1024 B"));
    assert!(wrong(1024, "array<i64: 0, 1024>", "array<i64: 16, 1024>").contains("1024 B of scratch at 16"));
    assert!(wrong(1024, "array<i64: 0, 1024>", "array<i64: 0>").contains("an offset and a number"));
    assert!(wrong(1024, ", barrier = @all", "").contains("named barrier"));
    assert!(wrong(1024, "barrier = @all", "barrier = @none").contains("@none"));
    assert!(wrong(1024, "threads = 128", "threads = 64").contains("64 threads for the 4 warps"));
}
