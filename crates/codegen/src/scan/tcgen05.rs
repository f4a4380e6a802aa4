//! Registers of `tcgen05.ld` are written while other instructions run, products while nobody looks. This check
//! follows every path of a function and says where such a register is touched before `tcgen05.wait::ld`, and
//! where a function ends with products behind its last commit (C46), and where others are told of what
//! `tcgen05.st` writes before `tcgen05.wait::st` (C24).

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::block::blocks;
use super::statement::{Line, registers};

/// What is under way at a point: registers of loads, whether there are stores, and whether products were issued
/// since the last commit.
#[derive(Clone, Default, PartialEq, Eq)]
struct State<'a> {
    loading: BTreeSet<&'a str>,
    storing: bool,
    uncommitted: bool,
}

impl<'a> State<'a> {
    /// Adds what may be under way on another path; whether that was new.
    fn join(&mut self, other: &State<'a>) -> bool {
        let before = (self.loading.len(), self.storing, self.uncommitted);
        self.loading.extend(&other.loading);
        self.storing |= other.storing;
        self.uncommitted |= other.uncommitted;
        before != (self.loading.len(), self.storing, self.uncommitted)
    }

    /// What is wrong with an instruction here, by rule; then the state behind it.
    fn step(&mut self, line: &Line<'a>) -> Option<(&'static str, &'static str)> {
        let (opcode, operands) = line.instruction()?;
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
        if self.storing && (line.ends() || tells.iter().any(|t| opcode.starts_with(t))) {
            wrong = Some(("C24", "a tcgen05.st is under way: tcgen05.wait::st must come before"));
        }
        if !self.loading.is_empty() && registers(operands).any(|r| self.loading.contains(r)) {
            wrong = Some(("C46", "a register of a tcgen05.ld is used before tcgen05.wait::ld"));
        }
        if opcode.starts_with("tcgen05.ld") {
            let list = operands.split_once('}').map_or(operands, |(list, _)| list);
            self.loading.extend(registers(list));
        } else if opcode.starts_with("tcgen05.st") {
            self.storing = true;
        } else if opcode.starts_with("tcgen05.mma") {
            self.uncommitted = true;
        } else if opcode.starts_with("tcgen05.commit") {
            self.uncommitted = false;
        } else if line.ends() && self.uncommitted {
            wrong = Some(("C46", "the kernel ends with products that no tcgen05.commit covers"));
        }
        wrong
    }
}

/// Every fault of the functions in these lines.
pub(super) fn check(lines: &[Line]) -> Vec<Finding> {
    if !lines.iter().any(|line| line.text.contains("tcgen05.")) {
        return Vec::new();
    }
    let blocks = blocks(lines);
    let mut entry: BTreeMap<usize, State> = BTreeMap::new();
    let mut work: BTreeSet<usize> = BTreeSet::new();
    for (&first, _) in blocks.iter().filter(|(_, block)| block.entry) {
        entry.insert(first, State::default());
        work.insert(first);
    }
    while let Some(first) = work.pop_first() {
        let Some(block) = blocks.get(&first) else { continue };
        let mut state = entry.get(&first).cloned().unwrap_or_default();
        for line in &lines[first..block.end] {
            state.step(line);
        }
        for &next in &block.next {
            let fresh = !entry.contains_key(&next);
            if entry.entry(next).or_default().join(&state) || fresh {
                work.insert(next);
            }
        }
    }
    let mut findings = Vec::new();
    for (first, state) in &entry {
        let Some(block) = blocks.get(first) else { continue };
        let mut state = state.clone();
        for line in &lines[*first..block.end] {
            if let Some((rule, text)) = state.step(line) {
                let text = format!("{text}: {}", line.text.chars().take(60).collect::<String>());
                findings.push(Finding { rule, line: line.number, text });
            }
        }
    }
    findings
}
