//! Kernels of tiles made at random, of every type, rank and size, in loops and branches, with memory that is written and read
//! again: compiled for a chip of each family and run on the emulator, they do what the interpreter does (C3, G12).
#![cfg(feature = "llvm")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "tests may fail")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use warploom::run::{ArgSpec, Case, prepare};
use warploom::{Options, Target};
use warploom_emulator::{self as emulator, Policy};
use warploom_testing::ir::tape;
use warploom_testing::pipeline::{TileArg, TileKernel, reasoned};

const CHIPS: [&str; 4] = ["sm_80", "sm_90a", "sm_100a", "sm_120a"];

/// What became of a kernel on a chip.
enum Outcome {
    Right,
    Refused(String),
    Wrong(String),
}

/// Compiles and runs a kernel on a chip.
fn run(kernel: &TileKernel, chip: &str, seed: u64) -> Outcome {
    let target = Target::named(chip).unwrap();
    let module = match warploom::read(&kernel.text) {
        Ok(module) => module,
        Err(found) => return Outcome::Wrong(format!("the generator is wrong: {}", found[0])),
    };
    let output = match warploom::compile(&module, &target, &Options::default()) {
        Ok(output) => output,
        Err(refused) => match reasoned(&refused) {
            Ok(()) => return Outcome::Refused(refused[0].message.clone()),
            Err(law) => return Outcome::Wrong(law),
        },
    };
    let args = kernel.args.iter().map(|arg| match arg {
        TileArg::Buffer(values) => ArgSpec::Values(values.clone()),
        TileArg::Random(count) => ArgSpec::Buffer(*count),
        TileArg::Tensor(dims) => ArgSpec::Tensor(dims.clone()),
        TileArg::Number(value) => ArgSpec::Int(*value),
    });
    let case = Case { args: args.collect(), grid: [kernel.programs, 1, 1], seed };
    let metadata = &output.emitted.metadata;
    let prepared = match prepare(&module, &metadata.name, &case) {
        Ok(prepared) => prepared,
        Err(error) => return Outcome::Wrong(error.to_string()),
    };
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    for policy in [Policy::Lazy, Policy::Random(seed)] {
        let options = emulator::RunOptions::default().policy(policy);
        match prepared.run(&ptx, metadata, &target, &options) {
            Ok(outcome) if outcome.passed() => {}
            Ok(outcome) => {
                return Outcome::Wrong(format!("{policy:?}: right {}, {}", outcome.right, outcome.report));
            }
            Err(error) => return Outcome::Wrong(error.to_string()),
        }
    }
    Outcome::Right
}

/// Runs kernels of seeds as long as there is time; each on one chip after the other. Of a seed only the first chip that is
/// wrong is told.
fn kernels(make: fn(&[u8]) -> TileKernel, seeds: impl Iterator<Item = u64>, time: Duration) {
    let (began, mut ran, mut wrong) = (Instant::now(), 0, Vec::new());
    let mut refusals = BTreeMap::<String, u64>::new();
    for seed in seeds.take_while(|_| began.elapsed() < time) {
        let kernel = make(&tape(seed, 400));
        for chip in CHIPS {
            match run(&kernel, chip, seed) {
                Outcome::Right => ran += 1,
                Outcome::Refused(reason) => *refusals.entry(reason).or_default() += 1,
                Outcome::Wrong(what) => {
                    let path = format!("{}/tiles-{seed}.ttir", env!("CARGO_TARGET_TMPDIR"));
                    std::fs::write(&path, kernel.to_string()).unwrap();
                    println!("seed {seed} on {chip}, see {path}: {what}");
                    wrong.push((seed, chip));
                    break;
                }
            }
        }
    }
    println!("{ran} ran, refused: {refusals:#?}");
    assert_eq!(wrong, []);
    assert!(ran > 10 * refusals.values().sum::<u64>(), "most kernels are refused: {refusals:#?}");
}

#[test]
fn kernels_of_tiles_do_what_they_mean() {
    let found = [99, 412, 756, 804, 940, 950, 2045, 2415, 3085];
    kernels(TileKernel::from_bytes, (0..24).chain(found), Duration::from_secs(3600));
}

#[test]
#[ignore = "ten minutes: `make soak`"]
fn kernels_of_tiles_do_what_they_mean_for_ten_minutes() {
    kernels(TileKernel::from_bytes, 24.., Duration::from_secs(600));
}

#[test]
fn loops_that_multiply_do_what_they_mean() {
    kernels(TileKernel::looped, (0..12).chain([5042]), Duration::from_secs(3600));
}

#[test]
#[ignore = "ten minutes: `make soak`"]
fn loops_that_multiply_do_what_they_mean_for_ten_minutes() {
    kernels(TileKernel::looped, 12.., Duration::from_secs(600));
}

#[test]
fn loops_of_partitions_of_their_own_do_what_they_mean() {
    let found = [13, 51, 250, 370, 387, 627, 821, 884];
    kernels(TileKernel::piped, (0..6).chain(found), Duration::from_secs(3600));
}

#[test]
#[ignore = "ten minutes: `make soak`"]
fn loops_of_partitions_of_their_own_do_what_they_mean_for_ten_minutes() {
    kernels(TileKernel::piped, 6.., Duration::from_secs(600));
}
