//! Tuning: the candidates are compiled and checked, the price orders them, and the best one still runs right.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]
#![cfg(feature = "llvm")]

use std::path::Path;

use warploom::run::{ArgSpec, Case, policies, prepare};
use warploom::target::CtaDemand;
use warploom::{Module, Options, Target, TuneOptions, Tuned, tune};
use warploom_emulator as emulator;

fn kernel(name: &str) -> Module {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kernels").join(name);
    warploom::read(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn tuned(name: &str, chip: &str) -> Tuned {
    let target = Target::named(chip).unwrap();
    tune(&kernel(name), &target, &Options::default(), &TuneOptions::default()).unwrap()
}

#[test]
fn the_best_is_no_worse_than_what_is_compiled_anyway_and_the_order_is_fixed() {
    for chip in ["sm_90a", "sm_100a"] {
        let (once, again) = (tuned("gemm_f16.ttir", chip), tuned("gemm_f16.ttir", chip));
        let prices: Vec<u64> = once.candidates().map(|c| c.cycles).collect();
        assert!(prices.is_sorted(), "{prices:?}");
        assert!(!once.runners_up.is_empty() && once.tried <= 15, "{}", once.tried);
        let plain = |c: &&warploom::Candidate| c.ctas == 1 && c.options.pipeline.slack_slots == 0;
        let plain = once.candidates().find(|c| plain(c) && c.options.pipeline.depth.is_none()).unwrap();
        assert!(once.best.cycles <= plain.cycles);
        let facts = |t: &Tuned| t.candidates().map(|c| c.facts.clone()).collect::<Vec<_>>();
        assert_eq!(facts(&once), facts(&again));
    }
}

#[test]
fn what_shares_an_sm_fits_it_as_often_as_it_says_t4() {
    let target = Target::named("sm_90a").unwrap();
    let found = tuned("gemm_f16.ttir", "sm_90a");
    assert!(found.candidates().any(|c| c.ctas == 2 && c.resident >= 2));
    for c in found.candidates() {
        let demand = CtaDemand {
            threads: c.facts.warps as u32 * 32,
            registers: c.facts.registers.min(255) as u32,
            smem_bytes: c.facts.shared_bytes,
            tmem_columns: 0,
        };
        assert_eq!(target.residency(&demand).unwrap().ctas, c.resident);
        assert!(c.resident >= c.ctas, "{:?}", c.facts);
        // What partitions hold after the exchange is no more than the launch gave.
        let held: u64 = c.facts.partitions.iter().map(|a| a.warps * a.registers).sum();
        assert!(held <= c.facts.warps * c.facts.registers, "{:?}", c.facts);
    }
}

#[test]
fn the_best_runs_right() {
    let (target, module) = (Target::named("sm_90a").unwrap(), kernel("gemm_f16.ttir"));
    let found = tuned("gemm_f16.ttir", "sm_90a");
    let best = &found.best;
    let emitted = warploom::emit(best.lowered.program(), &target, &best.options).unwrap();
    let ptx = emulator::Module::parse(&emitted.ptx).unwrap();
    let pair = |rows| ArgSpec::Tensor(vec![rows, 304]);
    let args = vec![pair(104), pair(88), ArgSpec::Tensor(vec![104, 88]), ArgSpec::Int(304)];
    let case = Case { args, grid: [1, 1, 1], seed: 3 };
    let prepared = prepare(&module, &emitted.metadata.name, &case).unwrap();
    for policy in policies(3) {
        let options = emulator::RunOptions::default().policy(policy);
        let outcome = prepared.run(&ptx, &emitted.metadata, &target, &options).unwrap();
        assert!(outcome.passed(), "{policy:?}: {}", outcome.report);
    }
}

#[test]
fn a_kernel_that_is_refused_is_refused_with_its_own_reasons() {
    let target = Target::named("sm_90a").unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kernels/gemm.ttir");
    let text = std::fs::read_to_string(path).unwrap();
    let wide = text.replace("128x64x", "256x64x").replace("128x256x", "256x256x");
    let module = warploom::read(&wide).unwrap();
    let plain = warploom::lower(&module, &target, &Options::default()).unwrap_err();
    let refused = tune(&module, &target, &Options::default(), &TuneOptions::default()).unwrap_err();
    assert_eq!(plain[0].message, refused[0].message);
}
