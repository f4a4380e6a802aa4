//! Accumulators of wgmma are written while other instructions run. This check follows every path of a
//! function and says where an accumulator is touched too early (C30, C46).
//!
//! Each register that is an accumulator somewhere has a set of possible states: untouched since the last
//! `wgmma.fence`; touched since; written by a multiplication that is not committed; in a group with `k` groups
//! committed after it. `wait_group n` settles groups with at least `n` later ones. Sets of states are joined
//! where paths meet, until nothing changes; then every instruction is judged.
//!
//! A second pass watches registers that multiplications read (A from registers): they may be read by others, but
//! not written before the multiplication is waited for, and not without a fence before it.

use std::collections::BTreeMap;

use warploom_ptx::{Code, Flow, Instruction, Operand};

use super::finding::Finding;
use super::forward::{State, ends, forward, registers};

/// Untouched since the last fence.
const CLEAN: u16 = 1;
/// Touched since the last fence.
const TOUCHED: u16 = 2;
/// Written by an uncommitted multiplication.
const ISSUED: u16 = 4;
/// In the group committed last; the next bit is the group before, and so on.
const COMMITTED: u16 = 8;
/// States of unfinished multiplications.
const FLYING: u16 = !(CLEAN | TOUCHED);

/// What an instruction does to accumulators, by their number.
enum Action {
    Multiply(Vec<usize>),
    Fence,
    Commit,
    Wait(u32),
    Touch(Vec<usize>),
    Leave,
}

/// Which registers of multiplications a pass watches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watch {
    /// What they write: the first list in braces.
    Accumulators,
    /// What they read: the second.
    Sources,
}

/// The possible states of each watched register.
impl State for Vec<u16> {
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (old, new) in self.iter_mut().zip(other) {
            changed |= *old | new != *old;
            *old |= new;
        }
        changed
    }
}

/// Every fault of a function.
pub(super) fn check(code: &Code<'_, '_>) -> Vec<Finding> {
    if !code.steps().iter().any(|step| multiplies(step.instruction)) {
        return Vec::new();
    }
    let flow = Flow::of(code);
    let mut findings = pass(code, &flow, Watch::Accumulators);
    findings.extend(pass(code, &flow, Watch::Sources));
    findings
}

fn multiplies(instruction: &Instruction<'_>) -> bool {
    instruction.opcode.starts_with("wgmma.mma_async")
}

fn pass(code: &Code<'_, '_>, flow: &Flow, watch: Watch) -> Vec<Finding> {
    let watched = watched(code, watch);
    if watched.is_empty() {
        return Vec::new();
    }
    let actions: Vec<Option<Action>> =
        code.steps().iter().map(|step| action(step.instruction, &watched, watch)).collect();
    let entry = forward(flow, vec![TOUCHED; watched.len()], |state, i| {
        if let Some(action) = &actions[i] {
            step(state, action);
        }
    });
    let mut findings = Vec::new();
    for (block, state) in flow.blocks().iter().zip(entry) {
        let Some(mut state) = state else { continue };
        for i in block.instructions.clone() {
            let Some(action) = &actions[i] else { continue };
            let fault = judge(&state, action, watch);
            findings.extend(fault.map(|(rule, text)| Finding::at(rule, text, code.steps()[i].instruction)));
            step(&mut state, action);
        }
    }
    findings
}

/// What is wrong with an action in a state.
fn judge(state: &[u16], action: &Action, watch: Watch) -> Option<(&'static str, &'static str)> {
    let any = |which: &[usize], bits: u16| which.iter().any(|&i| state[i] & bits != 0);
    match action {
        Action::Multiply(which) if watch == Watch::Sources => any(which, TOUCHED).then_some((
            "C30",
            "a multiplication without wgmma.fence after writes of registers that it reads",
        )),
        Action::Touch(which) if watch == Watch::Sources => any(which, FLYING)
            .then_some(("C46", "a register is written before the wait for the multiplication that reads it")),
        _ if watch == Watch::Sources => None,
        Action::Multiply(which) if any(which, TOUCHED) => {
            Some(("C30", "a multiplication without wgmma.fence after other accesses to its accumulators"))
        }
        Action::Touch(which) if any(which, FLYING) => {
            Some(("C46", "an accumulator is used before the wait for its multiplication"))
        }
        Action::Wait(_) if state.iter().any(|s| s & ISSUED != 0) => {
            Some(("C46", "a wait behind multiplications that are not committed"))
        }
        Action::Leave if state.iter().any(|s| s & FLYING != 0) => {
            Some(("C46", "the kernel ends with multiplications nobody waited for"))
        }
        _ => None,
    }
}

/// The states after an action.
fn step(state: &mut [u16], action: &Action) {
    match action {
        Action::Multiply(which) => which.iter().for_each(|&i| state[i] = ISSUED),
        Action::Touch(which) => which.iter().for_each(|&i| state[i] = TOUCHED),
        Action::Fence => {
            for s in state.iter_mut().filter(|s| **s & TOUCHED != 0) {
                *s = *s & !TOUCHED | CLEAN;
            }
        }
        Action::Commit => {
            for s in state.iter_mut() {
                let last = *s & 1 << 15;
                let older = (*s & FLYING & !ISSUED) << 1;
                let newest = if *s & ISSUED != 0 { COMMITTED } else { 0 };
                *s = *s & !FLYING | older | last | newest;
            }
        }
        Action::Wait(n) => {
            let settled = u16::MAX.checked_shl(3 + n).unwrap_or(0);
            for s in state.iter_mut().filter(|s| **s & settled != 0) {
                *s = *s & !settled | CLEAN;
            }
        }
        Action::Leave => {}
    }
}

/// Registers that some multiplication writes or reads, numbered.
fn watched<'a>(code: &Code<'_, 'a>, watch: Watch) -> BTreeMap<&'a str, usize> {
    let mut all = BTreeMap::new();
    for step in code.steps().iter().filter(|step| multiplies(step.instruction)) {
        for register in list(step.instruction, watch) {
            let next = all.len();
            all.entry(register).or_insert(next);
        }
    }
    all
}

/// The registers of this kind in a multiplication; A may stand in memory.
fn list<'a>(multiplication: &Instruction<'a>, watch: Watch) -> Vec<&'a str> {
    let operand = match watch {
        Watch::Accumulators => multiplication.operands.first(),
        Watch::Sources => multiplication.operands.get(1),
    };
    match operand {
        Some(vector @ Operand::Vector(_)) => registers(vector).collect(),
        _ => Vec::new(),
    }
}

/// What an instruction may write: its first operand, unless that is an address.
fn written<'a>(instruction: &Instruction<'a>) -> Vec<&'a str> {
    match instruction.operands.first() {
        None | Some(Operand::Address(_)) => Vec::new(),
        Some(first) => registers(first).collect(),
    }
}

fn action(instruction: &Instruction<'_>, watched: &BTreeMap<&str, usize>, watch: Watch) -> Option<Action> {
    let numbers =
        |names: Vec<&str>| names.iter().filter_map(|name| watched.get(name).copied()).collect::<Vec<_>>();
    let opcode = instruction.opcode;
    if ends(instruction) {
        return Some(Action::Leave);
    }
    if multiplies(instruction) {
        return Some(Action::Multiply(numbers(list(instruction, watch))));
    }
    if opcode.starts_with("wgmma.fence") {
        return Some(Action::Fence);
    }
    if opcode.starts_with("wgmma.commit_group") {
        return Some(Action::Commit);
    }
    if opcode.starts_with("wgmma.wait_group") {
        let keep = match instruction.operands.first() {
            Some(Operand::Int(n)) => u32::try_from(*n).unwrap_or(0),
            _ => 0,
        };
        return Some(Action::Wait(keep));
    }
    let touched =
        numbers(if watch == Watch::Sources { written(instruction) } else { instruction.names().collect() });
    (!touched.is_empty()).then_some(Action::Touch(touched))
}
