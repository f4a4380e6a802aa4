//! Every GEMM of the frame: its PTX on the emulator against what the kernel means, on ragged shapes and for the trip
//! counts of C28, under several interleavings.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]
#![cfg(feature = "llvm")]

use std::path::Path;

use warploom::run::{ArgSpec, Case, policies, prepare};
use warploom::{Options, Target};
use warploom_emulator as emulator;

mod gemms;

use gemms::{Kind, NT, root, run_on};

/// Compiles a kernel for Hopper and runs it for each number of trips; `None` where the file is absent.
fn run(path: &Path, kind: Kind, tile: [u64; 3], trips: &[u64], seeds: u64) -> Option<()> {
    run_on("sm_90a", path, kind, tile, trips, seeds)
}

/// File, arguments, tile.
type Row = (&'static str, Kind, [u64; 3]);

const EXAMPLES: &[Row] = &[
    ("gemm", NT, [128, 256, 64]),
    ("gemm_f16", NT, [128, 128, 64]),
    ("gemm_f32_out", NT, [128, 128, 64]),
    ("gemm_fp8", NT, [128, 256, 128]),
    ("gemm_bias_relu", Kind::BiasRelu, [128, 256, 64]),
];

const REFERENCE: &[Row] = &[
    ("gemm_bf16", NT, [128, 256, 64]),
    ("gemm_bf16_128", NT, [128, 128, 64]),
    ("gemm_bf16_64", NT, [64, 64, 64]),
    ("gemm_bf16_f32", NT, [128, 128, 64]),
    ("gemm_f16_nn", Kind::Plain { ta: false, tb: false }, [128, 256, 64]),
    ("gemm_f16_tn", Kind::Plain { ta: true, tb: false }, [128, 256, 64]),
    ("gemm_f16_tt", Kind::Plain { ta: true, tb: true }, [128, 256, 64]),
    ("gemm_tf32", NT, [128, 128, 32]),
    ("gemm_fp8", NT, [128, 256, 128]),
    ("gemm_fp8_e5m2", NT, [128, 128, 128]),
    ("gemm_fp8_scaled", Kind::Scaled, [128, 128, 128]),
    ("gemm_batched", Kind::Batched, [128, 128, 64]),
    ("gemm_epilogue_relu", Kind::Epilogue, [128, 256, 64]),
    ("gemm_epilogue_gelu", Kind::Epilogue, [128, 256, 64]),
    ("gemm_epilogue_silu", Kind::Epilogue, [128, 256, 64]),
    ("gemm_epilogue_alpha", Kind::Epilogue, [128, 256, 64]),
    ("hints", NT, [128, 128, 128]),
];

/// Every file of the suite with every number of trips, `seeds` random interleavings each beside the two extremes.
/// `hints` promises that K is above 0.
fn suite(seeds: u64, trips: &[u64]) {
    let (examples, reference) = (root().join("examples/kernels"), root().join("../shared/data/kernels"));
    for (folder, rows) in [(examples, EXAMPLES), (reference, REFERENCE)] {
        for &(file, kind, tile) in rows {
            let trips: Vec<u64> = trips.iter().copied().filter(|t| *t > 0 || file != "hints").collect();
            let found = run(&folder.join(format!("{file}.ttir")), kind, tile, &trips, seeds);
            assert!(found.is_some() || rows == REFERENCE, "{file} is missing");
            if found.is_none() {
                break;
            }
            println!("{file}: {} interleavings for each of {trips:?} trips, clean and right", seeds + 2);
        }
    }
}

#[test]
fn the_kernels_run_right_under_some_interleavings() {
    suite(1, &[0, 1, 3]);
}

#[test]
#[ignore = "minutes in a release build: E93 with 100 interleavings each (make soak SOAK=100)"]
fn the_kernels_run_right_under_100_interleavings() {
    suite(98, &[0, 1, 3]);
}

#[test]
#[ignore = "an hour in a release build: the nightly run (make soak)"]
fn the_kernels_run_right_under_1000_interleavings() {
    suite(998, &[0, 1, 3]);
}

#[test]
fn the_flagship_runs_right_for_every_trip_count_of_c28() {
    let kernel = root().join("examples/kernels/gemm.ttir");
    // Ring of 3: 0, 1, D, D+1, 2D+1, and one that ends in the middle of a slot.
    run(&kernel, NT, [128, 256, 64], &[0, 1, 2, 3, 4, 7], 3).unwrap();
}

/// Runs a kernel of the reference folder on cases, each under several interleavings.
fn cases(file: &str, cases: impl IntoIterator<Item = Case>, seeds: u64) {
    let path = root().join(format!("../shared/data/kernels/{file}.ttir"));
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {file} is not there");
        return;
    };
    let target = Target::named("sm_90a").unwrap();
    let module = warploom::read(&text).unwrap_or_else(|d| panic!("{file}: {}", d[0]));
    let output = warploom::compile(&module, &target, &Options::default())
        .unwrap_or_else(|d| panic!("{file}: {}", d[0]));
    let metadata = &output.emitted.metadata;
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    for case in cases {
        let prepared = prepare(&module, &metadata.name, &case).unwrap_or_else(|e| panic!("{file}: {e}"));
        for policy in policies(seeds) {
            let options = emulator::Options { policy, ..emulator::Options::default() };
            let outcome =
                prepared.run(&ptx, metadata, &target, &options).unwrap_or_else(|e| panic!("{file}: {e}"));
            assert!(
                outcome.passed(),
                "{file}, {case:?}, {policy:?}: relative error {:.2e}\n{}",
                outcome.relative_error,
                outcome.report
            );
        }
    }
}

/// Attention over `blocks` blocks of keys and values: `q, k, v, o, lse, length, scale`.
fn attention(rows: u64, columns: u64, head: u64, blocks: u64) -> Case {
    use ArgSpec::{Buffer, Float, Int, Tensor};
    let length = (blocks * columns).next_multiple_of(rows);
    let tile = || Tensor(vec![length, head]);
    let args = vec![tile(), tile(), tile(), tile(), Buffer(length), Int(length as i64), Float(0.25)];
    Case { args, grid: [(length / rows) as u32, 1, 1], seed: blocks + 1 }
}

#[test]
fn attention_runs_right() {
    // One block, the rotated loop not entered; two; past the depth of the rings.
    cases("attention", [1, 2, 3].map(|blocks| attention(128, 128, 128, blocks)), 2);
    cases("attention_64", [1, 2, 4, 5].map(|blocks| attention(128, 128, 64, blocks)), 1);
}

#[test]
fn causal_attention_runs_right() {
    // Programs of one grid take the loop before the diagonal 0, 1 and 2 times.
    cases("attention_causal", [attention(128, 128, 128, 3)], 1);
    cases("attention_causal_f16", [2, 5].map(|blocks| attention(128, 64, 64, blocks)), 1);
}

#[test]
fn packed_sequences_run_right() {
    use ArgSpec::{Buffer, Float, Int, Tensor, Values};
    // Sequences that end inside a block, one of them empty; the second block of rows lies past the end of some.
    let starts = vec![0, 70, 70, 270];
    let (tokens, heads) = (270u64, 2u64);
    let tile = || Tensor(vec![tokens, heads * 64]);
    let args = vec![
        tile(),
        tile(),
        tile(),
        Buffer(tokens * heads * 64),
        Values(starts),
        Float(0.25),
        Int(heads as i64),
    ];
    cases("attention_ragged", [Case { args, grid: [2, 3, 2], seed: 7 }], 1);
}

#[test]
fn a_branch_in_the_loop_runs_right() {
    use ArgSpec::{Buffer, Int, Tensor};
    let case = |trips: u64| {
        let k = trips * 64;
        let (a, c) = (Tensor(vec![128, k.max(64)]), Tensor(vec![128, 128]));
        Case { args: vec![a.clone(), a, c, Buffer(128), Int(k as i64)], grid: [1, 1, 1], seed: trips + 1 }
    };
    cases("if_in_loop", [0, 1, 2, 3, 5].map(case), 1);
}

#[test]
fn persistent_products_run_right() {
    use ArgSpec::{Int, Tensor};
    // Two programs share six ragged tiles; without trips along K every ring stays as it is.
    let case = |trips: u64| {
        let (m, n, k) = (300u64, 500u64, trips * 64);
        let pair = |rows| Tensor(vec![rows, k.max(64)]);
        let args = vec![pair(m), pair(n), Tensor(vec![m, n]), Int(m as i64), Int(n as i64), Int(k as i64)];
        Case { args, grid: [2, 1, 1], seed: trips + 1 }
    };
    for file in ["gemm_persistent", "gemm_persistent_flat"] {
        cases(file, [0, 1, 2, 4].map(case), 1);
    }
}
