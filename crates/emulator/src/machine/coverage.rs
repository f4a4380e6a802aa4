//! Which synchronising instructions ran (E102).

use crate::code::Code;
use crate::report::Coverage;

/// For each instruction, whether it ran, and whether it ever had to do with another thread or operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(Vec<u8>);

const RAN: u8 = 1;
const MATTERED: u8 = 2;
const CAME: u8 = 4;

impl Seen {
    pub(crate) fn new(code: &Code) -> Seen {
        Seen(vec![0; code.insts.len()])
    }

    /// The instruction ran.
    pub(crate) fn ran(&mut self, pc: u32) {
        self.mark(pc, RAN);
    }

    /// It did more than pass: a wait that saw a phase complete, for one.
    pub(crate) fn mattered(&mut self, pc: u32) {
        self.mark(pc, RAN | MATTERED);
    }

    /// Warps came to these instructions, whatever their guards said.
    pub(crate) fn visited(&mut self, visits: &[u32]) {
        for (s, n) in self.0.iter_mut().zip(visits) {
            *s |= if *n > 0 { CAME } else { 0 };
        }
    }

    /// Whether some lane ran an instruction.
    pub(super) fn has_run(&self, pc: u32) -> bool {
        self.0.get(pc as usize).is_some_and(|s| s & RAN != 0)
    }

    /// Whether some warp came to it.
    pub(super) fn came(&self, pc: u32) -> bool {
        self.0.get(pc as usize).is_some_and(|s| s & CAME != 0)
    }

    fn mark(&mut self, pc: u32, flags: u8) {
        if let Some(s) = self.0.get_mut(pc as usize) {
            *s |= flags;
        }
    }

    /// Adds what another cluster saw.
    pub(crate) fn add(&mut self, other: &Seen) {
        if self.0.is_empty() {
            self.0 = other.0.clone();
        }
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    /// As a part of the report.
    pub(crate) fn coverage(&self, code: &Code) -> Coverage {
        let mut out = Coverage::default();
        for (i, inst) in code.insts.iter().enumerate().filter(|(_, i)| i.op.synchronises()) {
            out.instructions += 1;
            let seen = self.0.get(i).copied().unwrap_or(0);
            if seen & RAN == 0 {
                out.never.push(inst.line);
            } else if inst.op.waits_for_phase() && seen & MATTERED == 0 {
                out.trivial.push(inst.line);
            }
        }
        out
    }
}
