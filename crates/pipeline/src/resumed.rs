//! Goes on from whichever form a file holds, and what that leads to.

use warploom_bufassign::Assignment;
use warploom_ir::Module;
use warploom_ir::diag::Diagnostic;

use crate::candidates::SplitCandidate;
use crate::compiled::Compiled;
use crate::single::{self, Single};

/// What a file of any form leads to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Resumed {
    /// A kernel, with or without schedule and assignment, compiled.
    Compiled(Box<Compiled>),
    /// A kernel that one partition runs, compiled.
    Single(Box<Single>),
    /// A program, checked.
    Program(Box<Module>),
}

impl Resumed {
    /// The program.
    pub fn program(&self) -> &Module {
        match self {
            Resumed::Compiled(compiled) => &compiled.program,
            Resumed::Single(single) => &single.program,
            Resumed::Program(program) => program,
        }
    }

    /// The scheduled form; programs have none any more.
    pub fn scheduled(&self) -> Option<&Module> {
        match self {
            Resumed::Compiled(compiled) => Some(&compiled.scheduled),
            Resumed::Single(single) => Some(&single.scheduled),
            Resumed::Program(_) => None,
        }
    }

    /// The assigned form; programs have none any more.
    pub fn assigned(&self) -> Option<&Module> {
        match self {
            Resumed::Compiled(compiled) => Some(&compiled.assigned),
            Resumed::Single(single) => Some(&single.assigned),
            Resumed::Program(_) => None,
        }
    }

    /// The assignment of buffers, where there are any.
    pub fn assignment(&self) -> Option<&Assignment> {
        match self {
            Resumed::Compiled(compiled) => Some(&compiled.assignment),
            Resumed::Single(single) => single.buffers.as_ref().map(|(_, assignment)| assignment),
            Resumed::Program(_) => None,
        }
    }

    /// Things worth telling.
    pub fn remarks(&self) -> &[Diagnostic] {
        match self {
            Resumed::Compiled(compiled) => &compiled.remarks,
            Resumed::Single(single) => &single.remarks,
            Resumed::Program(_) => &[],
        }
    }

    /// The ways to split its loops among partitions that were looked at, the one that was taken first.
    pub fn candidates(&self) -> &[SplitCandidate] {
        match self {
            Resumed::Compiled(compiled) => &compiled.candidates,
            Resumed::Single(single) => &single.candidates,
            Resumed::Program(_) => &[],
        }
    }

    /// Slots of the deepest ring.
    pub fn depth(&self) -> Option<u64> {
        match self {
            Resumed::Compiled(compiled) => Some(compiled.depth.slots),
            Resumed::Single(single) => single.loops.iter().map(|l| l.depth).max(),
            Resumed::Program(_) => None,
        }
    }

    /// What was decided and why; nothing is known of a program that was read.
    pub fn explain(&self) -> Option<String> {
        match self {
            Resumed::Compiled(compiled) => Some(crate::explain::explain(compiled)),
            Resumed::Single(single) => Some(single::explain(single)),
            Resumed::Program(_) => None,
        }
    }
}
