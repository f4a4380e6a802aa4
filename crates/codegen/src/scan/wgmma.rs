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

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::block::blocks;
use super::statement::{Line, registers};

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

/// Every fault of the functions in these lines.
pub(super) fn check(lines: &[Line]) -> Vec<Finding> {
    let mut findings = pass(lines, Watch::Accumulators);
    findings.extend(pass(lines, Watch::Sources));
    findings
}

fn pass(lines: &[Line], watch: Watch) -> Vec<Finding> {
    let accumulators = watched(lines, watch);
    if accumulators.is_empty() {
        return Vec::new();
    }
    let actions: Vec<Option<Action>> = lines.iter().map(|line| action(line, &accumulators, watch)).collect();
    let blocks = blocks(lines);
    let start = vec![TOUCHED; accumulators.len()];
    let mut entry: BTreeMap<usize, Vec<u16>> = BTreeMap::new();
    let mut work: BTreeSet<usize> = BTreeSet::new();
    for (first, block) in blocks.iter().filter(|(_, block)| block.entry) {
        entry.insert(*first, start.clone());
        work.insert(*first);
        debug_assert!(block.end > *first);
    }
    while let Some(first) = work.pop_first() {
        let Some(block) = blocks.get(&first) else { continue };
        let mut state = entry.get(&first).cloned().unwrap_or_else(|| start.clone());
        for action in actions[first..block.end].iter().flatten() {
            step(&mut state, action);
        }
        for next in &block.next {
            let joined = entry.entry(*next).or_insert_with(|| vec![0; accumulators.len()]);
            let mut changed = false;
            for (old, new) in joined.iter_mut().zip(&state) {
                changed |= *old | new != *old;
                *old |= new;
            }
            if changed {
                work.insert(*next);
            }
        }
    }
    let mut findings = Vec::new();
    for (first, state) in &entry {
        let Some(block) = blocks.get(first) else { continue };
        let mut state = state.clone();
        for (line, action) in lines[*first..block.end].iter().zip(&actions[*first..block.end]) {
            let Some(action) = action else { continue };
            findings.extend(judge(&state, action, watch).map(|(rule, text)| {
                let text = format!("{text}: {}", line.text.chars().take(60).collect::<String>());
                Finding { rule, line: line.number, text }
            }));
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
fn watched<'a>(lines: &[Line<'a>], watch: Watch) -> BTreeMap<&'a str, usize> {
    let mut all = BTreeMap::new();
    for line in lines {
        if let Some((_, operands)) = line.instruction().filter(|(o, _)| o.starts_with("wgmma.mma_async")) {
            for register in registers(list(operands, watch)) {
                let next = all.len();
                all.entry(register).or_insert(next);
            }
        }
    }
    all
}

/// The list in braces that holds the registers of this kind; the second, of A, is not always there.
fn list(operands: &str, watch: Watch) -> &str {
    let mut lists =
        operands.split('{').skip(1).map(|rest| rest.split_once('}').map_or(rest, |(list, _)| list));
    let list = match watch {
        Watch::Accumulators => lists.next(),
        Watch::Sources => lists.nth(1),
    };
    list.unwrap_or("")
}

/// The operands that an instruction may write: its first, unless that is an address.
fn written(operands: &str) -> &str {
    let end = if operands.starts_with('{') { operands.find('}') } else { operands.find(',') };
    let first = &operands[..end.unwrap_or(operands.len())];
    if first.contains('[') { "" } else { first }
}

fn action(line: &Line, accumulators: &BTreeMap<&str, usize>, watch: Watch) -> Option<Action> {
    let (opcode, operands) = line.instruction()?;
    let numbers = |text| registers(text).filter_map(|r| accumulators.get(r).copied()).collect::<Vec<_>>();
    if line.ends() {
        return Some(Action::Leave);
    }
    if opcode.starts_with("wgmma.mma_async") {
        return Some(Action::Multiply(numbers(list(operands, watch))));
    }
    if opcode.starts_with("wgmma.fence") {
        return Some(Action::Fence);
    }
    if opcode.starts_with("wgmma.commit_group") {
        return Some(Action::Commit);
    }
    if opcode.starts_with("wgmma.wait_group") {
        return Some(Action::Wait(operands.trim().parse().unwrap_or(0)));
    }
    let touched = numbers(if watch == Watch::Sources { written(operands) } else { operands });
    (!touched.is_empty()).then_some(Action::Touch(touched))
}
