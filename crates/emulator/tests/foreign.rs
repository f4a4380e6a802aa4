//! CUDA C++ of ours that nvcc compiled, with the numbers and findings it must give (E98, E99, E101): `make foreign`.
//!
//! `make foreign` writes the PTX to `target/foreign/ours` of the workspace with nvcc from PyPI; a test that does not find it
//! fails. The sources are in `tests/foreign`. With DATA it compiles NVIDIA's samples too, of which some have a result that is known.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod common;
#[path = "foreign/expected.rs"]
mod expected;
#[path = "foreign/samples.rs"]
mod samples;
#[path = "foreign/together.rs"]
mod together;

use common::workspace;
use warploom_chips::Target;
use warploom_emulator::{Arg, Device, Launch, Module, Policy, Report, RunOptions};

const POLICIES: [Policy; 5] =
    [Policy::Eager, Policy::Lazy, Policy::Random(1), Policy::Random(2), Policy::Pct(3)];

/// An argument: a buffer with its contents, or a value.
enum Given {
    Buffer(Vec<u8>),
    Value(Arg),
}

/// A launch of a kernel, and what it must give.
struct Case {
    /// Below `target/foreign/ours` or `target/foreign/data`.
    file: String,
    entry: String,
    grid: [u32; 3],
    block: [u32; 3],
    /// Bytes of dynamic shared memory.
    smem: u32,
    args: Vec<Given>,
    /// The argument that holds the result: the last buffer unless told.
    result: Option<usize>,
    want: Want,
}

/// What a launch must give.
enum Want {
    /// These words in the result.
    Words(Vec<u32>),
    /// These numbers in the result, within so much.
    Floats(Vec<f64>, f64),
    /// One double in the result.
    Double(f64),
    /// This text.
    Text(String),
    /// A finding of this code.
    Finding(&'static str),
}

fn module(folder: &str, file: &str) -> Module {
    let path = workspace().join("target/foreign").join(folder).join(format!("{file}.ptx"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|e| panic!("{}: {e}; `make foreign` makes it", path.display()));
    Module::parse(&text).unwrap_or_else(|e| panic!("{file}: {e}"))
}

fn run(module: &Module, case: &Case, policy: Policy) -> (Report, Vec<u8>) {
    let entry = module.entry(&case.entry).unwrap();
    if let Some(refusal) = entry.refusal() {
        panic!("{}: {refusal}", case.entry);
    }
    let mut device = Device::new(&Target::named("sm_90a").unwrap());
    let (mut args, mut last) = (Vec::new(), None);
    for (i, given) in case.args.iter().enumerate() {
        args.push(match given {
            Given::Value(v) => v.clone(),
            Given::Buffer(bytes) => {
                let at = device.alloc_from(bytes, &format!("buffer{i}")).unwrap();
                if case.result.is_none_or(|r| r == i) {
                    last = Some(at);
                }
                Arg::Ptr(at)
            }
        });
    }
    let launch = Launch { grid: case.grid, block: case.block, smem: case.smem, args, ..Launch::of(entry) };
    let options = RunOptions::default().policy(policy).max_steps(3_000_000);
    let report = device.run(module, &launch, &options).unwrap_or_else(|e| panic!("{}: {e}", case.entry));
    let out = last.map(|at| device.read(at).unwrap().to_vec());
    (report, out.unwrap_or_default())
}

/// What is wrong with a launch, if anything.
fn judge(case: &Case, report: &Report, out: &[u8]) -> Option<String> {
    if let Want::Finding(code) = case.want {
        return (!report.has(code)).then(|| format!("no {code}: {report}"));
    }
    if !report.clean() {
        return Some(report.to_string());
    }
    let words = || out.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().unwrap()));
    match &case.want {
        Want::Words(want) => words().zip(want).enumerate().find_map(|(i, (got, want))| {
            (got != *want).then(|| format!("word {i} is {got:#x} and not {want:#x}"))
        }),
        Want::Floats(want, most) => {
            words().map(f32::from_bits).zip(want).enumerate().find_map(|(i, (got, want))| {
                let error = (f64::from(got) - want).abs();
                (error.is_nan() || error > *most).then(|| format!("number {i} is {got} and not {want}"))
            })
        }
        Want::Double(want) => {
            let got = f64::from_le_bytes(out[..8].try_into().unwrap());
            (got != *want).then(|| format!("{got} and not {want}"))
        }
        Want::Text(want) => (report.printed != *want).then(|| format!("printed {:?}", report.printed)),
        Want::Finding(_) => None,
    }
}

/// Runs launches of the modules in a folder under every policy.
fn all_are_right(folder: &str, cases: &[Case]) {
    let mut wrong = Vec::new();
    for case in cases {
        let module = module(folder, &case.file);
        for policy in POLICIES {
            let (report, out) = run(&module, case, policy);
            wrong.extend(judge(case, &report, &out).map(|w| format!("{} {policy:?}: {w}", case.entry)));
        }
    }
    println!("{} launches under {} policies, {} wrong", cases.len(), POLICIES.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs nvcc's output: make foreign"]
fn what_nvcc_compiles_runs_right() {
    let cases: Vec<Case> = expected::cases().into_iter().chain(together::cases()).collect();
    all_are_right("ours", &cases);
}

#[test]
#[ignore = "needs NVIDIA's CUDA samples: make foreign DATA=FOLDER"]
fn samples_of_cuda_give_their_results() {
    all_are_right("data", &samples::cases());
}
