//! Copies by `cp.async`, `ldmatrix` and mma.sync: a pointer GEMM as a program, run on the emulator and assembled
//! for every chip that has them (C42, C44, C67, C82).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/machine.rs"]
mod machine;

use common::{messages, program, tool};
use machine::{fill, value};
use warploom_chips::Target;
use warploom_codegen::assemble::assemble;
use warploom_codegen::{EmitOptions, Emitted, emit, sass};
use warploom_emulator as emulator;
use warploom_emulator::{Arg, Device, Launch, Policy};

const CHIPS: [&str; 5] = ["sm_80", "sm_86", "sm_89", "sm_90a", "sm_120a"];

fn compile(text: &str, chip: &str) -> Emitted {
    let module = warploom_ir::parse(text).unwrap_or_else(|e| panic!("{}", messages(&e)));
    let found = warploom_ir::verify(&module);
    assert!(found.is_empty(), "{}", messages(&found));
    let target = Target::named(chip).unwrap();
    emit(&module, &target, &EmitOptions::default()).unwrap_or_else(|e| panic!("{chip}: {}", messages(&e)))
}

/// `C = A @ B` on the emulator, and the largest difference from a plain product; rows are `pitch` elements apart.
fn run(emitted: &Emitted, elem: &'static str, chip: &str, [m, n, k]: [u64; 3], policy: Policy) -> f64 {
    let target = Target::named(chip).unwrap();
    let mut device = Device::new(&target);
    let (pitch_a, pitch_b, pitch_c) = (k.max(16).next_multiple_of(16) + 16, n + 16, n);
    let (a, b) = (fill(elem, m * pitch_a, 3), fill(elem, k.max(1) * pitch_b, 5));
    let pa = device.alloc_from(&a, "a").unwrap();
    let pb = device.alloc_from(&b, "b").unwrap();
    let pc = device.alloc_from(&vec![0x11; (m * pitch_c * 2) as usize], "c").unwrap();
    let mut args = vec![Arg::Ptr(pa), Arg::Ptr(pb), Arg::Ptr(pc)];
    args.extend([m, n, k, pitch_a, pitch_b, pitch_c].map(|v| Arg::I32(v as i32)));
    args.extend([Arg::U64(0), Arg::U64(0)]);
    let ptx = emulator::Module::parse(&emitted.ptx).unwrap();
    let entry = ptx.entry(&emitted.metadata.name).unwrap();
    let grid = [m.div_ceil(128) as u32, n.div_ceil(128) as u32, 1];
    let launch = Launch { grid, smem: emitted.metadata.shared as u32, args, ..Launch::of(entry) };
    let options = emulator::RunOptions::default().policy(policy);
    let report = device.run(&ptx, &launch, &options).unwrap();
    assert!(report.clean(), "{report}");
    let at = |list: &[u8], i: u64| value(elem, &list[2 * i as usize..2 * i as usize + 2]);
    let c = device.read(pc).unwrap();
    let mut worst = 0.0f64;
    for i in 0..m {
        for j in 0..n {
            let sum: f64 = (0..k).map(|x| at(&a, i * pitch_a + x) * at(&b, x * pitch_b + j)).sum();
            let found = at(c, i * pitch_c + j);
            worst = worst.max((found - sum).abs() / sum.abs().max(1.0));
        }
    }
    worst
}

#[test]
fn pointer_gemm_computes_for_every_trip_count() {
    let emitted = compile(&program("gemm_pointers.sm80.mlir"), "sm_80");
    for (k, policy) in [
        (0, Policy::Eager),
        (16, Policy::Lazy),
        (32, Policy::Random(1)),
        (64, Policy::Eager),
        (96, Policy::Random(2)),
        (128, Policy::Lazy),
        (208, Policy::Random(3)),
    ] {
        let worst = run(&emitted, "f16", "sm_80", [112, 96, k], policy);
        assert!(worst < 6e-4, "K = {k}: {worst}");
    }
}

#[test]
fn tilings_types_and_views() {
    let text = program("gemm_pointers.sm80.mlir");
    for tiling in ["4, 1", "1, 4"] {
        let text = text.replace("array<i32: 2, 2>", &format!("array<i32: {tiling}>"));
        let worst = run(&compile(&text, "sm_86"), "f16", "sm_86", [128, 128, 64], Policy::Random(4));
        assert!(worst < 6e-4, "{tiling}: {worst}");
    }
    let bf16 = text.replace("f16", "bf16");
    let worst = run(&compile(&bf16, "sm_89"), "bf16", "sm_89", [144, 128, 80], Policy::Random(5));
    assert!(worst < 4e-3, "bf16: {worst}");
    // Strides without a known divisor: elements go through registers, one by one.
    let loose = text.replace("%sa: i32 {tt.divisibility = 16 : i32}", "%sa: i32");
    assert!(compile(&loose, "sm_80").ptx.contains("st.shared"));
    let worst = run(&compile(&loose, "sm_80"), "f16", "sm_80", [128, 128, 96], Policy::Random(6));
    assert!(worst < 6e-4, "loose: {worst}");
    // A bound without a known divisor: the chunk in which it falls is copied up to there.
    let ragged = text.replace("%K: i32 {tt.divisibility = 16 : i32}", "%K: i32");
    assert_ne!(ragged, text);
    let emitted = compile(&ragged, "sm_80");
    assert!(!emitted.ptx.contains("st.shared") && !emitted.ptx.contains("ld.global"));
    for k in [1, 7, 33, 45, 72, 127] {
        let worst = run(&emitted, "f16", "sm_80", [128, 128, k], Policy::Random(k));
        assert!(worst < 6e-4, "ragged, K = {k}: {worst}");
    }
    // Rows at multiples of 4 bytes: four copies of 4 bytes for each chunk.
    let four = text.replace("%sa: i32 {tt.divisibility = 16 : i32}", "%sa: i32 {tt.divisibility = 2 : i32}");
    let emitted = compile(&four, "sm_80");
    assert!(emitted.ptx.contains("cp.async.ca.shared.global") && !emitted.ptx.contains("st.shared"));
    let worst = run(&emitted, "f16", "sm_80", [128, 128, 96], Policy::Random(7));
    assert!(worst < 6e-4, "four: {worst}");
}

#[test]
fn every_chip_assembles_it_within_the_bar_c82() {
    let ptxas = tool("ptxas");
    let nvdisasm = tool("nvdisasm");
    for chip in CHIPS {
        let emitted = compile(&program("gemm_pointers.sm80.mlir"), chip);
        let assembled = assemble(&ptxas, &emitted.ptx, chip).unwrap_or_else(|d| panic!("{chip}: {d}"));
        assert!(assembled.report.is_clean(), "{chip}: {}", assembled.log);
        let text = sass::disassemble(&nvdisasm, &assembled.cubin).unwrap();
        let worst = sass::loops(&text).into_iter().map(|l| l.instructions).max().unwrap();
        println!("{chip}: {worst} instructions a trip, {} registers", assembled.report.registers);
        assert!(worst <= 208, "{chip}: {worst} instructions a trip; Triton takes 208");
        assert_eq!(emitted.ptx.matches("mma.sync.aligned.m16n8k16").count(), 64);
    }
}
