//! Attention programs: what they compute, and the code that a GPU runs (C28, C30, C46, C61, C65, C82).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/machine.rs"]
mod machine;

use common::{messages, program};
use machine::Matrix;
use warploom_codegen::{Emitted, Options};
use warploom_emulator::{Arg, Device, ElemType, Launch, Module, Policy, TensorMap, TiledMap};
use warploom_target::Target;

const D: usize = 128;

fn compile(name: &str) -> Emitted {
    common::emit_text(&program(name), &Options::default())
        .unwrap_or_else(|e| panic!("{name}: {}", messages(&e)))
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

/// Runs a program on sequences of `blocks` blocks; panics where the emulator finds anything.
fn computes(name: &str, blocks: usize, causal: bool, policies: &[Policy]) {
    let emitted = compile(name);
    let (heads, n, scale) = (2, 128 * blocks, 0.25f32);
    let rows = heads * n;
    let inputs: Vec<Matrix> =
        (1..4).map(|seed| Matrix::random(rows as u64, D as u64, "bf16", seed)).collect();
    let values: Vec<Vec<f64>> = inputs.iter().map(Matrix::values).collect();
    let (out, lse) = reference(&values[0], &values[1], &values[2], n, f64::from(scale), causal);
    for &policy in policies {
        let mut device = Device::new(&Target::named("sm_90a").unwrap());
        let result = Matrix::zero(rows as u64, D as u64, "bf16");
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
        let at_lse = device.alloc_from(&vec![0; 4 * rows], "log-sum-exp").unwrap();
        args.extend([Arg::Ptr(at_lse), Arg::I32(n as i32), Arg::F32(scale), Arg::U64(0), Arg::U64(0)]);
        let module = Module::parse(&emitted.ptx).unwrap();
        let entry = module.entry(&emitted.metadata.name).unwrap();
        let launch = Launch {
            grid: [blocks as u32, heads as u32, 1],
            smem: emitted.metadata.shared as u32,
            args,
            ..Launch::of(entry)
        };
        let options = warploom_emulator::Options { policy, strict: true, ..Default::default() };
        let report = device.run(&module, &launch, &options).unwrap_or_else(|e| panic!("{e}"));
        assert!(report.clean(), "{name}, {blocks} blocks, {policy:?}: {report}");
        let stored = Matrix { bytes: device.read(at[3]).unwrap().to_vec(), ..result };
        let worst = machine::error(&stored.values(), out.iter().copied());
        assert!(worst < 6e-3, "{name}, {blocks} blocks, {policy:?}: {worst}");
        let found: Vec<f64> =
            device.read(at_lse).unwrap().chunks_exact(4).map(|b| machine::value("f32", b)).collect();
        let worst = machine::error(&found, lse.iter().copied());
        assert!(worst < 1e-5, "{name}, {blocks} blocks, {policy:?}: log-sum-exp {worst}");
    }
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
