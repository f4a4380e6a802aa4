//! Every kernel of `bench/kernels.toml` on every family of chips: what compiles runs right on the emulator, on ragged
//! shapes and tiny trip counts; what does not is refused with a remedy.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]
#![cfg(feature = "llvm")]

use std::collections::BTreeMap;

mod common;

use warploom::run::{Case, policies, prepare};
use warploom::{Options, Target};
use warploom_emulator as emulator;

/// As the command: half a million launches spend an eighth of their time in the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// One chip of each family; the others of a family get the same program.
const CHIPS: [&str; 4] = ["sm_80", "sm_90a", "sm_100a", "sm_120a"];

/// The launches of a kernel.
fn cases(kernel: &toml::Value) -> Vec<Case> {
    let lines = kernel["cases"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
    let case = |(number, line): (usize, &str)| {
        let (args, grid) = line.split_once(" / ").unwrap_or((line, "1"));
        let mut extents = [1; 3];
        for (slot, extent) in extents.iter_mut().zip(grid.split(',')) {
            *slot = extent.parse().unwrap();
        }
        let args = args.split_whitespace().map(|arg| arg.parse().unwrap()).collect();
        Case { args, grid: extents, seed: number as u64 + 1 }
    };
    lines.enumerate().map(case).collect()
}

/// Runs a kernel on a chip, each case under the two extremes and `seeds` random orders; the number of runs, or why the
/// kernel was refused; what went wrong is added to a list.
fn run(
    name: &str,
    text: &str,
    chip: &str,
    cases: &[Case],
    seeds: u64,
    wrong: &mut Vec<String>,
) -> Result<usize, String> {
    let target = Target::named(chip).unwrap();
    let module = warploom::read(text).unwrap_or_else(|d| panic!("{name}: {}", d[0]));
    let output = match warploom::compile(&module, &target, &Options::default()) {
        Ok(output) => output,
        Err(refused) => {
            let first = &refused[0];
            if first.notes.is_empty() {
                wrong.push(format!("{name} on {chip}: no remedy: {first}"));
            }
            return Err(first.message.clone());
        }
    };
    let metadata = &output.emitted.metadata;
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    let mut runs = 0;
    for (number, case) in cases.iter().enumerate() {
        let prepared = prepare(&module, &metadata.name, case).unwrap_or_else(|e| panic!("{name}: {e}"));
        for policy in policies(seeds) {
            let options = emulator::RunOptions::default().policy(policy).threads(2);
            let outcome =
                prepared.run(&ptx, metadata, &target, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
            if !outcome.passed() {
                let (error, report) = (outcome.relative_error, outcome.report);
                wrong.push(format!(
                    "{name} on {chip}, case {number}, {policy:?}: error {error:.2e}\n{report}"
                ));
            }
            runs += 1;
        }
    }
    Ok(runs)
}

/// Kernels by the products of their text: what they share is how their loops are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Rows, reductions, element-wise.
    NoProduct,
    /// GEMMs of all kinds.
    OneProduct,
    /// Attention and its kin.
    SeveralProducts,
}

impl Part {
    fn of(text: &str) -> Self {
        match text.lines().filter(|line| line.contains("= tt.dot")).count() {
            0 => Self::NoProduct,
            1 => Self::OneProduct,
            _ => Self::SeveralProducts,
        }
    }
}

/// The kernels of a part on all chips, each case under the extremes and `seeds` random orders.
fn suite(part: Part, seeds: u64) {
    let table: BTreeMap<String, toml::Value> = toml::from_str(&common::read("bench/kernels.toml")).unwrap();
    let mut wrong = Vec::new();
    for (name, kernel) in &table {
        let file = kernel.get("file").map(|file| file.as_str().unwrap().to_owned());
        let file = file.unwrap_or_else(|| format!("kernels/{name}.ttir"));
        let text = common::read(file);
        if Part::of(&text) != part {
            continue;
        }
        let cases = cases(kernel);
        for chip in CHIPS {
            match run(name, &text, chip, &cases, seeds, &mut wrong) {
                Ok(runs) => println!("{name} on {chip}: {runs} runs"),
                Err(reason) => println!("{name} on {chip}: refused, {reason}"),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_gemm_runs_right_or_is_refused_with_a_reason() {
    suite(Part::OneProduct, 1);
}

#[test]
fn every_kernel_of_several_products_runs_right_or_is_refused_with_a_reason() {
    suite(Part::SeveralProducts, 1);
}

#[test]
fn every_kernel_without_a_product_runs_right_or_is_refused_with_a_reason() {
    suite(Part::NoProduct, 1);
}

#[test]
#[ignore = "minutes in a release build: E93 with 100 interleavings each (make soak SOAK=100)"]
fn every_gemm_runs_right_under_100_interleavings() {
    suite(Part::OneProduct, 98);
}

#[test]
#[ignore = "minutes in a release build (make soak SOAK=100)"]
fn every_kernel_of_several_products_runs_right_under_100_interleavings() {
    suite(Part::SeveralProducts, 98);
}

#[test]
#[ignore = "minutes in a release build (make soak SOAK=100)"]
fn every_kernel_without_a_product_runs_right_under_100_interleavings() {
    suite(Part::NoProduct, 98);
}

#[test]
#[ignore = "an hour in a release build: the nightly run (make soak)"]
fn every_gemm_runs_right_under_1000_interleavings() {
    suite(Part::OneProduct, 998);
}

#[test]
#[ignore = "more than an hour in a release build: the nightly run (make soak)"]
fn every_kernel_of_several_products_runs_right_under_1000_interleavings() {
    suite(Part::SeveralProducts, 998);
}

#[test]
#[ignore = "minutes in a release build: the nightly run (make soak)"]
fn every_kernel_without_a_product_runs_right_under_1000_interleavings() {
    suite(Part::NoProduct, 998);
}
