//! Every kernel of the repository compiles or is refused, each for its reason.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::several;
use warploom_ir::diag::Code;
use warploom_pipeline::{CompileOptions, compile_to_program, explain};
use warploom_testing::pipeline::{Outcome, exercise};

/// The files that several partitions run on sm_90a.
fn compiles(name: &str) -> bool {
    let refused = ["pointers", "sm80", "int8", "window", "paged", "bias"];
    let named = ["gemm_", "attention", "hints", "if_in_loop", "split_k", "gated"];
    named.iter().any(|n| name.starts_with(n)) && !refused.iter().any(|r| name.contains(r))
}

#[test]
fn every_kernel_compiles_or_is_refused() {
    let target = common::hopper();
    for (name, text) in common::kernel_files() {
        let outcome = exercise(&text, &target, &several(), 4).unwrap_or_else(|law| panic!("{name}: {law}"));
        let expected = if compiles(&name) { Outcome::Compiled } else { Outcome::Refused };
        assert_eq!(outcome, expected, "{name}");
    }
}

/// By whatever strategy a kernel is compiled: each of its forms reads back, and resumes to the same program.
#[test]
fn every_form_of_every_strategy_reads_back_q4() {
    for chip in ["sm_80", "sm_90a", "sm_100a"] {
        let target = warploom_chips::Target::named(chip).unwrap();
        for (name, text) in common::kernel_files() {
            exercise(&text, &target, &CompileOptions::default(), 1)
                .unwrap_or_else(|law| panic!("{name} on {chip}: {law}"));
        }
    }
}

#[test]
fn every_refusal_names_place_and_remedy_in_file_order() {
    let target = common::hopper();
    for (name, text) in common::kernel_files().into_iter().filter(|(name, _)| !compiles(name)) {
        let refusals = compile_to_program(&common::parse(&text), &target, &several()).unwrap_err();
        assert!(!refusals.is_empty(), "{name}");
        let offsets: Vec<u32> = refusals.iter().map(|r| r.offset.expect("a place")).collect();
        assert!(offsets.is_sorted(), "{name}: {offsets:?}");
        for refusal in &refusals {
            assert!(refusal.op.is_some() && !refusal.notes.is_empty(), "{name}: {refusal}");
            assert_ne!(refusal.code, Code::Internal, "{name}: {refusal}");
            assert_eq!(refusal.source.is_some(), name.contains(".loc."), "{name}: {refusal}");
        }
    }
}

#[test]
fn other_chips_are_refused() {
    let text = warploom_testing::pipeline::Kernel::default().text();
    for name in ["sm_80", "sm_89", "sm_120a"] {
        let target = warploom_chips::Target::named(name).unwrap();
        let refusals = compile_to_program(&common::parse(&text), &target, &several()).unwrap_err();
        assert!(
            refusals.iter().any(|r| r.code == Code::Target && r.message.contains(name)),
            "{name}: {refusals:?}"
        );
    }
}

#[test]
fn reports_say_what_bounds_the_kernel() {
    for (name, text) in common::kernel_files().into_iter().filter(|(name, _)| name == "gemm_bf16.ttir") {
        let compiled =
            compile_to_program(&common::parse(&text), &common::hopper(), &CompileOptions::default()).unwrap();
        let report = explain(&compiled);
        for line in [
            "partitions: 12 warps, 168 registers per thread at launch",
            "@load  warps 0-3    registers  40",
            "@math  warps 4-11   registers 232",
            "full 1 arrival and 49152 B, empty 8 arrivals, one per computing warp",
            "II 1024 cycles, bound by TC",
            "ring depth 3: what the depth law asks for",
            "4 TMA boxes of [128, 64]",
            "shared memory: 147504 of 232448 bytes",
        ] {
            assert!(report.contains(line), "{name}: no `{line}` in\n{report}");
        }
    }
}
