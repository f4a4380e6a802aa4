//! Registers of `tcgen05.ld` are written while other instructions run, products while nobody looks. This check
//! follows every path of a function and says where such a register is touched before `tcgen05.wait::ld`, and
//! where a function ends with products behind its last commit (C46), and where others are told of what
//! `tcgen05.st` writes before `tcgen05.wait::st` (C24).

use std::collections::BTreeSet;

use warploom_ptx::{Code, Flow, Instruction};

use super::finding::Finding;
use super::forward::{State, ends, forward, registers};

/// What is under way at a point: registers of loads, whether there are stores, and whether products were issued
/// since the last commit.
#[derive(Clone, Default)]
struct UnderWay<'a> {
    loading: BTreeSet<&'a str>,
    storing: bool,
    uncommitted: bool,
}

impl State for UnderWay<'_> {
    fn join(&mut self, other: &Self) -> bool {
        let before = (self.loading.len(), self.storing, self.uncommitted);
        self.loading.extend(&other.loading);
        self.storing |= other.storing;
        self.uncommitted |= other.uncommitted;
        before != (self.loading.len(), self.storing, self.uncommitted)
    }
}

impl<'a> UnderWay<'a> {
    /// What is wrong with an instruction here, by rule; then the state behind it.
    fn step(&mut self, instruction: &Instruction<'a>) -> Option<(&'static str, &'static str)> {
        let opcode = instruction.opcode;
        let mut wrong = None;
        if opcode.starts_with("tcgen05.wait::ld") {
            self.loading.clear();
            return None;
        }
        if opcode.starts_with("tcgen05.wait::st") {
            self.storing = false;
            return None;
        }
        let tells = ["tcgen05.fence::before", "mbarrier.arrive", "bar.sync", "barrier."];
        if self.storing && (ends(instruction) || tells.iter().any(|t| opcode.starts_with(t))) {
            wrong = Some(("C24", "a tcgen05.st is under way: tcgen05.wait::st must come before"));
        }
        if !self.loading.is_empty() && instruction.names().any(|name| self.loading.contains(name)) {
            wrong = Some(("C46", "a register of a tcgen05.ld is used before tcgen05.wait::ld"));
        }
        if opcode.starts_with("tcgen05.ld") {
            self.loading.extend(instruction.operands.first().into_iter().flat_map(registers));
        } else if opcode.starts_with("tcgen05.st") {
            self.storing = true;
        } else if opcode.starts_with("tcgen05.mma") {
            self.uncommitted = true;
        } else if opcode.starts_with("tcgen05.commit") {
            self.uncommitted = false;
        } else if ends(instruction) && self.uncommitted {
            wrong = Some(("C46", "the kernel ends with products that no tcgen05.commit covers"));
        }
        wrong
    }
}

/// Every fault of a function.
pub(super) fn check(code: &Code<'_, '_>) -> Vec<Finding> {
    let steps = code.steps();
    if !steps.iter().any(|step| step.instruction.opcode.starts_with("tcgen05.")) {
        return Vec::new();
    }
    let flow = Flow::of(code);
    let entry = forward(&flow, UnderWay::default(), |state, i| {
        state.step(steps[i].instruction);
    });
    let mut findings = Vec::new();
    for (block, state) in flow.blocks().iter().zip(entry) {
        let Some(mut state) = state else { continue };
        for step in &steps[block.instructions.clone()] {
            if let Some((rule, text)) = state.step(step.instruction) {
                findings.push(Finding::at(rule, text, step.instruction));
            }
        }
    }
    findings
}
