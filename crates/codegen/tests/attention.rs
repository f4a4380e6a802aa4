//! Attention programs: what they compute, and the code that a GPU runs (C28, C30, C46, C61, C65, C82).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/machine.rs"]
mod machine;

use common::{messages, program};
use machine::Matrix;
use warploom_chips::Target;
use warploom_codegen::assemble::assemble;
use warploom_codegen::{EmitOptions, Emitted, sass};
use warploom_emulator::{Arg, Device, ElemType, Launch, Module, Policy, Report, TensorMap, TiledMap};

const D: usize = 128;
const SCALE: f32 = 0.25;

fn compile(name: &str) -> Emitted {
    compile_text(name, "sm_90a", &program(name))
}

fn compile_text(name: &str, chip: &str, text: &str) -> Emitted {
    common::emit_for(chip, text, &EmitOptions::default())
        .unwrap_or_else(|e| panic!("{name}: {}", messages(&e)))
}

/// The program for chips with tensor memory, for one of them and a type of the inputs.
fn tensor_memory(chip: &str, elem: &str) -> Emitted {
    let text = program("attention_bf16.sm100.mlir").replace("bf16", elem);
    let text = if elem == "f16" { text.replace("elem_type = 10", "elem_type = 6") } else { text };
    compile_text(elem, chip, &text)
}

/// Attention of `heads` sequences of `n` rows in f64, and the logarithm of each row's sum.
fn reference(q: &[f64], k: &[f64], v: &[f64], n: usize, scale: f64, causal: bool) -> (Vec<f64>, Vec<f64>) {
    let (mut out, mut lse) = (Vec::new(), Vec::new());
    for row in 0..q.len() / D {
        let first = row / n * n;
        let seen = if causal { row - first + 1 } else { n };
        let score = |j: usize| -> f64 {
            let dot: f64 = (0..D).map(|d| q[row * D + d] * k[(first + j) * D + d]).sum();
            dot * scale
        };
        let scores: Vec<f64> = (0..seen).map(score).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|s| (s - most).exp2()).collect();
        let sum: f64 = weights.iter().sum();
        for d in 0..D {
            let mixed: f64 = weights.iter().enumerate().map(|(j, w)| w * v[(first + j) * D + d]).sum();
            out.push(mixed / sum);
        }
        lse.push((most + sum.log2()) * std::f64::consts::LN_2);
    }
    (out, lse)
}

/// Runs a program of sm_90a on sequences of `blocks` blocks; panics where the emulator finds anything.
fn computes(name: &str, blocks: usize, causal: bool, policies: &[Policy]) {
    runs(&compile(name), ("sm_90a", "bf16"), blocks, causal, policies);
}

/// Runs what was compiled for a chip and a type of the inputs.
fn runs(
    emitted: &Emitted,
    (chip, elem): (&str, &'static str),
    blocks: usize,
    causal: bool,
    policies: &[Policy],
) {
    let name = &emitted.metadata.name;
    let (heads, n) = (2, 128 * blocks);
    let rows = heads * n;
    let inputs: Vec<Matrix> = (1..4).map(|seed| Matrix::random(rows as u64, D as u64, elem, seed)).collect();
    let values: Vec<Vec<f64>> = inputs.iter().map(Matrix::values).collect();
    let (out, lse) = reference(&values[0], &values[1], &values[2], n, f64::from(SCALE), causal);
    for &policy in policies {
        let found = launch(emitted, chip, &inputs, blocks, policy);
        let place = format!("{name}, {chip} {elem}, {blocks} blocks, {policy:?}");
        assert!(found.report.clean(), "{place}: {}", found.report);
        let worst = machine::error(&found.out, out.iter().copied());
        assert!(worst < 6e-3, "{place}: {worst}");
        let worst = machine::error(&found.lse, lse.iter().copied());
        assert!(worst < 1e-5, "{place}: log-sum-exp {worst}");
    }
}

/// What a run left behind.
struct Found {
    report: Report,
    out: Vec<f64>,
    lse: Vec<f64>,
}

/// Runs two heads under one order of warps.
fn launch(emitted: &Emitted, chip: &str, inputs: &[Matrix], blocks: usize, policy: Policy) -> Found {
    let (rows, elem) = (inputs[0].rows, inputs[0].elem);
    let mut device = Device::new(&Target::named(chip).unwrap());
    let result = Matrix::zero(rows, D as u64, elem);
    let mut args = Vec::new();
    let mut at = Vec::new();
    for (matrix, record) in inputs.iter().chain([&result]).zip(&emitted.metadata.tensordesc_meta) {
        let addr = device.alloc_from(&matrix.bytes, "matrix").unwrap();
        at.push(addr);
        let map = TiledMap {
            elem: ElemType::from_code(record.elem_type as u8).unwrap(),
            addr,
            dims: vec![matrix.cols, matrix.rows],
            strides: vec![matrix.cols * 2],
            box_dims: record.block_size.iter().rev().copied().collect(),
            elem_strides: Vec::new(),
            swizzle: [0, 32, 64, 128][record.swizzle as usize],
            nan_fill: false,
        };
        args.push(Arg::from(&TensorMap::tiled(&map).unwrap()));
        args.extend([Arg::I32(matrix.rows as i32), Arg::I32(matrix.cols as i32)]);
        args.extend([Arg::I64(matrix.cols as i64), Arg::I64(1)]);
    }
    let at_lse = device.alloc_from(&vec![0; 4 * rows as usize], "log-sum-exp").unwrap();
    let n = 128 * blocks as i32;
    args.extend([Arg::Ptr(at_lse), Arg::I32(n), Arg::F32(SCALE), Arg::U64(0), Arg::U64(0)]);
    let module = Module::parse(&emitted.ptx).unwrap();
    let entry = module.entry(&emitted.metadata.name).unwrap();
    let launch = Launch {
        grid: [blocks as u32, (rows / n as u64) as u32, 1],
        smem: emitted.metadata.shared as u32,
        args,
        ..Launch::of(entry)
    };
    let options = warploom_emulator::RunOptions::default().policy(policy).strict(true);
    let report = device.run(&module, &launch, &options).unwrap_or_else(|e| panic!("{e}"));
    let stored = Matrix { bytes: device.read(at[3]).unwrap().to_vec(), ..result };
    let lse = device.read(at_lse).unwrap().chunks_exact(4).map(|b| machine::value("f32", b)).collect();
    Found { report, out: stored.values(), lse }
}

#[test]
fn attention_computes() {
    for blocks in [1, 2, 3] {
        computes("attention_bf16.mlir", blocks, false, &[Policy::Random(blocks as u64)]);
    }
}

#[test]
fn causal_attention_computes() {
    computes("attention_causal_bf16.mlir", 4, true, &[Policy::Random(5)]);
}

#[test]
fn attention_through_tensor_memory_computes() {
    for (elem, blocks) in [("bf16", 1), ("bf16", 2), ("bf16", 5), ("f16", 3)] {
        let emitted = tensor_memory("sm_100a", elem);
        let policies = [Policy::Eager, Policy::Lazy, Policy::Random(blocks as u64)];
        runs(&emitted, ("sm_100a", elem), blocks, false, &policies);
    }
}

/// One fault in the program or its PTX: the emulator must say so, under some order of warps.
#[track_caller]
fn found(emitted: &Emitted, what: &str, code: &str) {
    let inputs: Vec<Matrix> =
        (1..4).map(|seed| Matrix::random(4 * D as u64, D as u64, "bf16", seed)).collect();
    let policies = [Policy::Lazy, Policy::Eager, Policy::Random(1), Policy::Random(2)];
    let mut seen = Vec::new();
    for policy in policies {
        let report = launch(emitted, "sm_100a", &inputs, 4, policy).report;
        seen.extend(report.findings.iter().map(|f| f.code.to_string()));
        if seen.iter().any(|c| c == code) {
            return;
        }
    }
    panic!("{what}: no {code} in {seen:?}");
}

#[test]
fn faults_in_tensor_memory_are_found_c24_c25() {
    let good = program("attention_bf16.sm100.mlir");
    let edited = |from: &str, to: &str| {
        assert_eq!(good.matches(from).count(), 1, "{from}");
        compile_text(from, "sm_100a", &good.replace(from, to))
    };
    for (line, code) in [
        // The next S comes over a P that was not read.
        ("            warploom.producer_acquire @p[%si, %sf]\n", "R03"),
        // O is rescaled while it is added to.
        ("          warploom.consumer_wait @o[%c0, %of]\n", "R03"),
        // P is read before it is there.
        ("          warploom.consumer_wait @p[%pi, %pf]\n", "R03"),
        // S is read before it is there.
        ("        warploom.consumer_wait @s[%si, %sf]\n", "R03"),
        // Nobody says that P was read, or that O was added to.
        ("          warploom.consumer_release @p[%pi, %pf] {lag = 0 : i32}\n", "D01"),
        ("          warploom.producer_commit @o[%c0, %of] {bytes = 0 : i32}\n", "D01"),
    ] {
        found(&edited(line, ""), line.trim(), code);
    }
    let whole = compile_text("good", "sm_100a", &good);
    for (instruction, code) in [
        ("tcgen05.wait::st", "R03"),
        ("tcgen05.wait::ld", "R03"),
        ("tcgen05.fence::before", "R05"),
        ("tcgen05.fence::after", "R05"),
    ] {
        let mut broken = whole.clone();
        let lines = whole.ptx.lines().filter(|line| !line.trim_start().starts_with(instruction));
        broken.ptx = lines.collect::<Vec<_>>().join("\n");
        assert_ne!(broken.ptx.lines().count(), whole.ptx.lines().count(), "{instruction}");
        found(&broken, instruction, code);
    }
}

#[test]
fn a_row_to_each_lane_fits_into_its_registers_c80() {
    let ptxas = common::tool("ptxas");
    let nvdisasm = common::tool("nvdisasm");
    // Instructions of a trip of soft-max and rescaling; sm_110 has no machine instructions on pairs of f32.
    for (chip, most) in [("sm_100a", 590), ("sm_103a", 590), ("sm_110a", 850)] {
        for elem in ["bf16", "f16"] {
            let emitted = tensor_memory(chip, elem);
            let assembled = assemble(&ptxas, &emitted.ptx, chip).unwrap_or_else(|e| panic!("{chip}: {e}"));
            assert!(assembled.report.is_clean(), "{chip} {elem}: {}", assembled.log);
            let loops = sass::loops(&sass::disassemble(&nvdisasm, &assembled.cubin).unwrap());
            let trip =
                loops.iter().filter(|l| l.utcmma + l.utmaldg == 0).map(|l| l.instructions).max().unwrap();
            println!("{chip} {elem}: {} registers, {trip} instructions a trip", assembled.report.registers);
            assert!(trip <= most, "{chip} {elem}: {trip} instructions a trip");
        }
    }
}
