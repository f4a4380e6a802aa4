//! Computing partitions that take turns by tiles on Hopper (Q50), on the emulator: right for every number of tiles and
//! trips, and the products of a tile begin before the tile before is stored.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]
#![cfg(feature = "llvm")]

use warploom::run::ArgSpec::{Int, Tensor};
use warploom::run::{Case, policies, prepare};
use warploom::{Options, Output, Target};
use warploom_emulator as emulator;

mod common;

fn compiled() -> (warploom::Module, Output, Target) {
    let module = warploom::read(&common::kernel("gemm_persistent_128")).unwrap();
    let target = Target::named("sm_90a").unwrap();
    let output =
        warploom::compile(&module, &target, &Options::default()).unwrap_or_else(|d| panic!("{}", d[0]));
    let partitions: Vec<String> = output.lowered.facts().partitions.into_iter().map(|p| p.name).collect();
    assert_eq!(partitions, ["load", "math0", "math1"]);
    (module, output, target)
}

fn case(m: u64, n: u64, k: u64, depth: u64, programs: u32) -> Case {
    let args = vec![
        Tensor(vec![m, depth]),
        Tensor(vec![n, depth]),
        Tensor(vec![m, n]),
        Int(m as i64),
        Int(n as i64),
        Int(k as i64),
    ];
    Case { args, grid: [programs, 1, 1], seed: 1 }
}

/// No tile, one, an odd and an even number of them for a program; no trip, one, as many as slots and one more.
#[test]
fn tiles_in_turn_are_right_whatever_their_number() {
    let (module, output, target) = compiled();
    let metadata = &output.emitted.metadata;
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    for (m, n, programs) in [(100, 100, 2), (300, 100, 1), (300, 250, 1), (300, 300, 2)] {
        for k in [0, 64, 192, 312] {
            let prepared = prepare(&module, &metadata.name, &case(m, n, k, k.max(16), programs)).unwrap();
            for policy in policies(4) {
                let options = emulator::RunOptions::default().policy(policy);
                let outcome = prepared.run(&ptx, metadata, &target, &options).unwrap();
                assert!(outcome.passed(), "{m}x{n}x{k}, {policy:?}\n{}", outcome.report);
            }
        }
    }
}

#[test]
fn products_of_the_next_tile_run_before_the_stores_of_this_one_q50() {
    let (module, output, target) = compiled();
    let metadata = &output.emitted.metadata;
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    let tiles = 6;
    let prepared = prepare(&module, &metadata.name, &case(300, 250, 128, 128, 1)).unwrap();
    let ahead = policies(20).filter(|&policy| {
        let options = emulator::RunOptions::default().policy(policy).trace(1 << 22);
        let outcome = prepared.run(&ptx, metadata, &target, &options).unwrap();
        assert!(outcome.passed(), "{policy:?}\n{}", outcome.report);
        let begins = |is: &dyn Fn(&str) -> bool| {
            let events = outcome.report.trace.iter().filter(|e| e.operation.is_none() && is(&e.opcode));
            let mut begins: Vec<u64> = events.map(|e| e.begin).collect();
            begins.sort_unstable();
            begins
        };
        let products = begins(&|opcode| opcode.starts_with("wgmma.mma_async"));
        let stores = begins(&|o| o.starts_with("cp.async.bulk.tensor") && o.contains(".global.shared"));
        assert!(products.len() % tiles == 0 && stores.len() % tiles == 0 && !stores.is_empty());
        let (each, sent) = (products.len() / tiles, stores.len() / tiles);
        (1..tiles).any(|tile| products[tile * each] < stores[(tile - 1) * sent])
    });
    let ahead = ahead.count();
    assert!(ahead > 0, "no interleaving has a product of the next tile before the stores of this one");
}
