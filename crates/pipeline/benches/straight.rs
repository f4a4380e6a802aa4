//! `cargo bench -p warploom-pipeline --bench straight -- [OPERATIONS ..]`
//!
//! Kernels of many operations in a row, on numbers, on tiles and on memory, in a loop or not, and behind a product:
//! microseconds of processor time per operation for reading, verifying, compiling to a program (with its checkers),
//! explaining and printing. What is linear shows equal numbers in a column. Without arguments: 5,000 and 20,000
//! operations. The program fails where a step takes more than three times as long per operation for the longest kernel
//! as for the shortest.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a program, not a library

use std::process::ExitCode;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use warploom_chips::Target;
use warploom_ir::{parse, print, verify};
use warploom_pipeline::{CompileOptions, resume};
use warploom_testing::ir::{Shape, StraightLine};

/// Processor time of this process so far.
fn now() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// The GEMM of the examples with so many operations on its result.
fn behind_a_product(operations: usize) -> String {
    let gemm = include_str!("../examples/gemm.ttir");
    let ty = "tensor<128x256xf32>";
    let line = |n: usize| match n {
        0 => format!("    %e0 = arith.addf %4, %4 : {ty}\n"),
        n => format!("    %e{n} = arith.addf %e{}, %4 : {ty}\n", n - 1),
    };
    let chain: String = (0..operations).map(line).collect();
    let last = operations.saturating_sub(1);
    gemm.replace("    %5 = arith.truncf %4", &format!("{chain}    %5 = arith.truncf %e{last}"))
}

/// Kernels of so many operations: what they are called, for which chip, the text.
fn kernels(operations: usize) -> Vec<(String, &'static str, String)> {
    let name = |k: &StraightLine| {
        let shape = match k.shape {
            Shape::Chain => "chain",
            Shape::Wide => "wide",
            Shape::Memory => "memory",
        };
        let (of, around) =
            (if k.tiles { "tiles" } else { "numbers" }, if k.looped { ", in a loop" } else { "" });
        format!("{shape} of {of}{around}")
    };
    // In a loop that loads no tile nothing is scheduled.
    let mut all: Vec<_> =
        StraightLine::all(operations).iter().map(|k| (name(k), "sm_90a", k.text())).collect();
    for chip in ["sm_90a", "sm_100a"] {
        all.push((format!("behind a product, {chip}"), chip, behind_a_product(operations)));
    }
    all
}

/// Microseconds per operation of each step.
fn measure(operations: usize, chip: &str, text: &str) -> [f64; 5] {
    let target = Target::named(chip).unwrap();
    let mut options = CompileOptions::default();
    options.check = true;
    let mut marks = vec![now()];
    let module = parse(text).unwrap();
    marks.push(now());
    assert!(verify(&module).is_empty());
    marks.push(now());
    let resumed = resume(&module, &target, &options);
    marks.push(now());
    let resumed = match resumed {
        Ok(resumed) => resumed,
        Err(refused) => panic!("{}", refused.first().unwrap()),
    };
    let said = resumed.explain();
    marks.push(now());
    let program = print(resumed.program());
    marks.push(now());
    std::hint::black_box((said, program));
    std::array::from_fn(|n| (marks[n + 1] - marks[n]).as_secs_f64() * 1e6 / operations as f64)
}

fn main() -> ExitCode {
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let sizes = if asked.is_empty() { vec![5_000, 20_000] } else { asked };
    println!(
        "{:<28} {:>8}  {:>8} {:>8} {:>8} {:>8} {:>8}",
        "us per operation", "ops", "read", "verify", "compile", "explain", "print"
    );
    let mut slow = false;
    for kind in 0..kernels(1).len() {
        let mut first: Option<[f64; 5]> = None;
        for &operations in &sizes {
            let (name, chip, text) = kernels(operations).swap_remove(kind);
            let times = measure(operations, chip, &text);
            let [read, verified, compiled, explained, printed] = times;
            println!(
                "{name:<28} {operations:>8}  {read:>8.2} {verified:>8.2} {compiled:>8.2} {explained:>8.2} {printed:>8.2}"
            );
            let least = first.get_or_insert(times);
            // Half a microsecond is noise.
            slow |= least.iter().zip(times).any(|(before, time)| time > 3.0 * before + 0.5);
        }
    }
    if slow {
        eprintln!("a step is not linear");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
