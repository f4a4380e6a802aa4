//! Costs: the numbers of T34-T37 and T41, the laws of T31 and T32, and refusals of T39.

#![allow(clippy::unwrap_used, clippy::panic)] // Helpers outside of test functions.

mod files;
mod kinds;
mod laws;
mod numbers;

use warploom_chips::cost::{MmaOp, Op};
use warploom_chips::mma::{MmaInstruction, OperandPlace};
use warploom_chips::{Element, Target};

fn target(name: &str) -> Target {
    Target::named(name).unwrap()
}

/// Latency and duration on a unit, for four warps.
fn cost(chip: &str, op: Op, on: &str) -> (u64, u64) {
    let cost = target(chip).cost(&op, 4).unwrap();
    (cost.latency, cost.duration_on(on))
}

fn product(instruction: MmaInstruction, m: u32, n: u32, k: u32, element: Element) -> Op {
    Op::Mma(MmaOp { instruction, m, n, k, element, a: OperandPlace::Shared, split: [1, 1] })
}

fn wgmma(m: u32, n: u32, k: u32, element: Element) -> Op {
    product(MmaInstruction::Wgmma, m, n, k, element)
}
