//! Goes on from whichever form a file holds, and what that leads to.

use warploom_bufassign::Assignment;
use warploom_ir::Module;
use warploom_ir::diag::Diagnostic;

use crate::compiled::Compiled;
use crate::strategy::{SplitCandidate, Strategy};

/// What a file of any form leads to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Resumed {
    /// A kernel, with or without schedule and assignment, compiled.
    Compiled(Box<Compiled>),
    /// A program, checked.
    Program(Box<Module>),
}

impl Resumed {
    /// The strategy that was taken; nothing is known of a program that was read.
    pub fn strategy(&self) -> Option<Strategy> {
        match self {
            Resumed::Compiled(compiled) => Some(compiled.strategy),
            Resumed::Program(_) => None,
        }
    }

    /// The program.
    pub fn program(&self) -> &Module {
        match self {
            Resumed::Compiled(compiled) => &compiled.program,
            Resumed::Program(program) => program,
        }
    }

    /// The scheduled form; programs have none any more.
    pub fn scheduled(&self) -> Option<&Module> {
        match self {
            Resumed::Compiled(compiled) => Some(&compiled.scheduled),
            Resumed::Program(_) => None,
        }
    }

    /// The assigned form; programs have none any more.
    pub fn assigned(&self) -> Option<&Module> {
        match self {
            Resumed::Compiled(compiled) => Some(&compiled.assigned),
            Resumed::Program(_) => None,
        }
    }

    /// The assignment of buffers, where there are any.
    pub fn assignment(&self) -> Option<&Assignment> {
        match self {
            Resumed::Compiled(compiled) => compiled.assignment(),
            Resumed::Program(_) => None,
        }
    }

    /// Things worth telling.
    pub fn remarks(&self) -> &[Diagnostic] {
        match self {
            Resumed::Compiled(compiled) => &compiled.remarks,
            Resumed::Program(_) => &[],
        }
    }

    /// The ways to split its loops among partitions that were looked at, the one that was taken first.
    pub fn candidates(&self) -> &[SplitCandidate] {
        match self {
            Resumed::Compiled(compiled) => &compiled.candidates,
            Resumed::Program(_) => &[],
        }
    }

    /// Slots of the deepest ring.
    pub fn depth(&self) -> Option<u64> {
        match self {
            Resumed::Compiled(compiled) => compiled.depths.iter().map(|d| d.slots).max(),
            Resumed::Program(_) => None,
        }
    }

    /// What was decided and why; nothing is known of a program that was read.
    pub fn explain(&self) -> Option<String> {
        match self {
            Resumed::Compiled(compiled) => Some(crate::explain::explain(compiled)),
            Resumed::Program(_) => None,
        }
    }
}
