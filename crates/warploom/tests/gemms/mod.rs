//! Kernels of matrix products, compiled and run on the emulator against what they mean.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::Path;

use warploom::run::{ArgSpec, Case, policies, prepare};
use warploom::{Options, Target};
use warploom_emulator as emulator;

/// What the arguments of a kernel are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// `a, b, c, K`, the operands stored transposed or not.
    Plain { ta: bool, tb: bool },
    /// The same with a leading batch.
    Batched,
    /// `a, b, c, d, bias, alpha, beta, N, K`.
    Epilogue,
    /// `a, b, d, bias, alpha, N, K`.
    BiasRelu,
    /// `a, b, c, row scales, column scales, M, N, K`.
    Scaled,
    /// `a, b, c, bias, row scales, alpha, M, N, K`: those of generated kernels.
    Generated,
}

pub const NT: Kind = Kind::Plain { ta: false, tb: true };

/// The arguments for a product of these extents that runs over `k` of the `depth` elements along K.
pub fn args(kind: Kind, m: u64, n: u64, depth: u64, k: u64) -> Vec<ArgSpec> {
    use ArgSpec::{Buffer, Float, Int, Tensor};
    let pair = |swap: bool, x, y| Tensor(if swap { vec![y, x] } else { vec![x, y] });
    let (a, b, c) = (pair(false, m, depth), pair(false, n, depth), Tensor(vec![m, n]));
    let (m_arg, n_arg, k_arg) = (Int(m as i64), Int(n as i64), Int(k as i64));
    match kind {
        Kind::Plain { ta, tb } => vec![pair(ta, m, depth), pair(!tb, n, depth), c, k_arg],
        Kind::Batched => {
            vec![Tensor(vec![2, m, depth]), Tensor(vec![2, n, depth]), Tensor(vec![2, m, n]), k_arg]
        }
        Kind::Epilogue => vec![a, b, c.clone(), c, Buffer(n), Float(0.5), Float(-0.75), n_arg, k_arg],
        Kind::BiasRelu => vec![a, b, c, Buffer(n), Float(0.5), n_arg, k_arg],
        Kind::Scaled => vec![a, b, c, Buffer(m), Buffer(n), m_arg, n_arg, k_arg],
        Kind::Generated => vec![a, b, c, Buffer(n), Buffer(m), Float(0.5), m_arg, n_arg, k_arg],
    }
}

/// Compiles a kernel file for a chip and runs it for each number of trips.
pub fn run_on(chip: &str, path: &Path, kind: Kind, tile: [u64; 3], trips: &[u64], seeds: u64) {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{name}: {e}"));
    run_text(chip, (&name, &text), &Options::default(), kind, tile, trips, seeds);
}

/// The same of the text of a kernel and its name.
pub fn run_text(
    chip: &str,
    (name, text): (&str, &str),
    options: &Options,
    kind: Kind,
    tile: [u64; 3],
    trips: &[u64],
    seeds: u64,
) {
    let target = Target::named(chip).unwrap();
    let module = warploom::read(text).unwrap_or_else(|d| panic!("{name}: {}", d[0]));
    let output = warploom::compile(&module, &target, options).unwrap_or_else(|d| panic!("{name}: {}", d[0]));
    let metadata = &output.emitted.metadata;
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    let [bm, bn, bk] = tile;
    // Ragged in every direction: the last rows, columns and elements along K are outside the tensors.
    let (m, n) = (bm - 24, bn - 40);
    let grid = if kind == Kind::Batched { [1, 1, 2] } else { [1, 1, 1] };
    for &trips in trips {
        let k = (trips * bk).saturating_sub(if trips > 1 { 16 } else { 0 });
        let case = Case { args: args(kind, m, n, k.max(16), k), grid, seed: trips + 1 };
        let prepared = prepare(&module, &metadata.name, &case).unwrap_or_else(|e| panic!("{name}: {e}"));
        for policy in policies(seeds) {
            let options = emulator::RunOptions::default().policy(policy);
            let outcome =
                prepared.run(&ptx, metadata, &target, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(
                outcome.passed(),
                "{name}, {trips} trips, {policy:?}: relative error {:.2e}\n{}",
                outcome.relative_error,
                outcome.report
            );
        }
    }
}
