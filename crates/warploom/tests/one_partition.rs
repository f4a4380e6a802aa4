//! Kernels that one partition runs, on the chips that multiply synchronously and without a product on every chip: their
//! PTX on the emulator against what the kernel means. Kernels written for a question of their own stand in `runs`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]
#![cfg(feature = "llvm")]

mod common;

use common::{kernel, partitions};
use warploom::run::{ArgSpec, Case, policies, prepare};
use warploom::{Options, Partitions, Target};
use warploom_emulator as emulator;

/// Compiles a kernel for a chip and runs it on each list of arguments.
fn run(
    name: &str,
    text: &str,
    chip: &str,
    options: &Options,
    cases: &[(Vec<ArgSpec>, [u32; 3])],
    seeds: u64,
) {
    let target = Target::named(chip).unwrap();
    let module = warploom::read(text).unwrap_or_else(|d| panic!("{name}: {}", d[0]));
    let output = warploom::compile(&module, &target, options).unwrap_or_else(|d| panic!("{name}: {}", d[0]));
    assert_eq!(partitions(&output.lowered), Some(Partitions::One), "{name}");
    let metadata = &output.emitted.metadata;
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    for (number, (args, grid)) in cases.iter().enumerate() {
        let case = Case { args: args.clone(), grid: *grid, seed: number as u64 + 1 };
        let prepared = prepare(&module, &metadata.name, &case).unwrap_or_else(|e| panic!("{name}: {e}"));
        for policy in policies(seeds) {
            let options = emulator::RunOptions::default().policy(policy);
            let outcome =
                prepared.run(&ptx, metadata, &target, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(
                outcome.passed(),
                "{name} on {chip}, case {number}, {policy:?}: relative error {:.2e}\n{}",
                outcome.relative_error,
                outcome.report
            );
        }
    }
}

/// `a, b, c, M, N, K, strides` of a pointer GEMM.
fn gemm(m: i64, n: i64, k: i64) -> (Vec<ArgSpec>, [u32; 3]) {
    use ArgSpec::{Buffer, Int};
    let sa = k.max(16);
    let buffer = |count: i64| Buffer(count.max(16) as u64);
    let args =
        vec![buffer(m * sa), buffer(k * n), buffer(m * n), Int(m), Int(n), Int(k), Int(sa), Int(n), Int(n)];
    (args, [m.unsigned_abs().div_ceil(128) as u32, n.unsigned_abs().div_ceil(128) as u32, 1])
}

#[test]
fn pointer_gemm_runs_right_for_every_trip_count_of_c28() {
    let text = kernel("gemm_pointers");
    let cases: Vec<_> = [0, 16, 32, 64, 96, 112, 128, 160, 304].map(|k| gemm(112, 96, k)).into();
    run("gemm_pointers", &text, "sm_80", &Options::default(), &cases, 2);
}

#[test]
fn pointer_gemm_runs_right_on_every_chip_and_depth() {
    let text = kernel("gemm_pointers");
    for chip in ["sm_86", "sm_89", "sm_120a"] {
        run("gemm_pointers", &text, chip, &Options::default(), &[gemm(144, 128, 80)], 1);
    }
    for depth in [2, 3, 5] {
        let mut options = Options::default();
        options.pipeline.depth = Some(depth);
        run("gemm_pointers", &text, "sm_80", &options, &[gemm(128, 128, 112)], 1);
    }
}

/// wgmma of what `cp.async` brought, with a product left unfinished in each trip, or none.
#[test]
fn pointer_gemm_multiplies_asynchronously_for_every_trip_count_of_c28() {
    let text = kernel("gemm_pointers");
    let cases: Vec<_> = [0, 16, 32, 64, 96, 112, 128, 160, 304].map(|k| gemm(112, 96, k)).into();
    run("gemm_pointers", &text, "sm_90a", &Options::default(), &cases, 2);
    for depth in [2, 3, 5] {
        let mut options = Options::default();
        options.pipeline.depth = Some(depth);
        run("gemm_pointers", &text, "sm_90a", &options, &[gemm(128, 128, 0), gemm(144, 128, 208)], 2);
    }
}

/// That the pointer GEMM with slots for three trips is right, and that some interleaving shows what breaks by each change
/// of its PTX: what for, the text, what stands there instead.
fn each_is_needed(chip: &str, product: &str, changes: &[(&str, &str, &str)]) {
    let target = Target::named(chip).unwrap();
    let module = warploom::read(&kernel("gemm_pointers")).unwrap();
    let mut options = Options::default();
    options.pipeline.depth = Some(3);
    let output = warploom::compile(&module, &target, &options).unwrap();
    let (metadata, ptx) = (&output.emitted.metadata, &output.emitted.ptx);
    assert!(ptx.contains(product) && !ptx.contains("mma.sync"));
    let (args, grid) = gemm(128, 128, 208);
    let prepared = prepare(&module, &metadata.name, &Case { args, grid, seed: 1 }).unwrap();
    let passes = |text: &str| {
        let ptx = emulator::Module::parse(text).unwrap();
        policies(4).into_iter().all(|policy| {
            let options = emulator::RunOptions::default().policy(policy);
            prepared.run(&ptx, metadata, &target, &options).is_ok_and(|outcome| outcome.passed())
        })
    };
    assert!(passes(ptx));
    for (name, from, to) in changes {
        assert!(ptx.contains(from), "{name}");
        assert!(!passes(&ptx.replace(from, to)), "{name}");
    }
}

/// Orders that asynchronous products of what `cp.async` brought need on every chip.
const ORDERS: [(&str, &str, &str); 3] = [
    ("no proxy fence", "fence.proxy.async.shared::cta;", ""),
    ("no wait for copies", "cp.async.wait_group \t0;", "cp.async.wait_group \t1;"),
    ("nobody meets", "bar.sync", "// bar.sync"),
];

#[test]
fn asynchronous_products_of_one_partition_without_an_order_are_found() {
    let (one, two) = ("wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 2;");
    let none = "wgmma.wait_group.sync.aligned 0;";
    let waits = [("a slot filled too early", one, two), ("an accumulator read too early", none, one)];
    each_is_needed("sm_90a", "wgmma.mma_async", &[&ORDERS[..], &waits].concat());
}

/// tcgen05.mma of what `cp.async` brought: the sum stays in tensor memory, slots are given back by commits.
#[test]
fn pointer_gemm_multiplies_in_tensor_memory_for_every_trip_count_of_c28() {
    let text = kernel("gemm_pointers");
    let cases: Vec<_> = [0, 16, 32, 64, 96, 112, 128, 160, 304].map(|k| gemm(112, 96, k)).into();
    run("gemm_pointers", &text, "sm_100a", &Options::default(), &cases, 2);
    for (chip, depth) in [("sm_103a", 2), ("sm_110a", 3), ("sm_100a", 5)] {
        let mut options = Options::default();
        options.pipeline.depth = Some(depth);
        run("gemm_pointers", &text, chip, &options, &[gemm(128, 128, 0), gemm(144, 128, 208)], 2);
    }
}

#[test]
fn tensor_memory_of_one_partition_without_an_order_is_found() {
    each_is_needed("sm_100a", "tcgen05.mma", &ORDERS);
}

/// A tensor as Triton passes a descriptor on this chip (C17): pointer, shape, strides, flags, shape and strides again.
fn tensor(rows: i64, cols: i64) -> Vec<ArgSpec> {
    use ArgSpec::{Buffer, Int};
    let whole = [Int(rows), Int(cols), Int(cols), Int(1)];
    let mut args = vec![Buffer((rows * cols).max(16).unsigned_abs())];
    args.extend(whole.clone());
    args.extend([Int(0), Int(0)]);
    args.extend(whole);
    args
}

#[test]
fn the_gemm_exported_for_8_0_runs_right() {
    let text = kernel("gemm_bf16_128.sm80");
    let case = |m: i64, n: i64, k: i64| {
        let mut args = tensor(m, k.max(8));
        args.extend(tensor(n, k.max(8)));
        args.extend(tensor(m, n));
        args.push(ArgSpec::Int(k));
        (args, [1, 1, 1])
    };
    let cases: Vec<_> = [0, 64, 72, 192].map(|k| case(100, 120, k)).into();
    for chip in ["sm_80", "sm_90a"] {
        run("gemm_bf16_128.sm80", &text, chip, &Options::default(), &cases, 1);
    }
}

#[test]
fn layer_norm_runs_right_on_every_chip() {
    use ArgSpec::{Buffer, Float, Int};
    let text = kernel("layernorm");
    let case = |n: i64| {
        let row = (n.max(1) as u64).next_multiple_of(16);
        let wide = Buffer(2 * row);
        let args = vec![
            wide.clone(),
            wide,
            Buffer(row),
            Buffer(row),
            Buffer(2),
            Buffer(2),
            Int(row as i64),
            Int(n),
            Float(1e-5),
        ];
        (args, [2, 1, 1])
    };
    let cases: Vec<_> = [1000, 1024, 2500].map(case).into();
    for chip in ["sm_80", "sm_90a"] {
        run("layernorm", &text, chip, &Options::default(), &cases, 1);
    }
}

#[test]
fn soft_max_runs_right_without_a_pipelined_loop() {
    use ArgSpec::{Buffer, Int};
    let text = kernel("softmax");
    let case = |rows: i64, cols: i64| {
        let wide = Buffer((rows * 4096) as u64);
        (vec![wide.clone(), wide, Int(4096), Int(4096), Int(rows), Int(cols)], [2, 1, 1])
    };
    run("softmax", &text, "sm_80", &Options::default(), &[case(3, 4096), case(3, 1000)], 1);
}
