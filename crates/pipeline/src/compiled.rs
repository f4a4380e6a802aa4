//! A kernel compiled for several partitions, with everything that was decided.

use warploom_bufassign::{Assignment, Problem};
use warploom_ir::Module;
use warploom_ir::diag::Diagnostic;
use warploom_sched::Answer;

use crate::buffers::depth::{RingDepth, ScheduledLoop};
use crate::candidates::SplitCandidate;
use crate::layout::ProgramLayout;
use crate::loops::PipelinedLoop;
use crate::select::Selection;

/// A compiled kernel with everything that was decided.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The kernel in normal form, with the wait of its loop.
    pub kernel: Module,
    /// Its parts.
    pub selection: Selection,
    /// The graph of the first pipelined loop.
    pub pipelined: PipelinedLoop,
    /// Its schedule.
    pub answer: Answer,
    /// All pipelined loops with their schedules, in the order of the text.
    pub loops: Vec<ScheduledLoop>,
    /// The assignment problem.
    pub problem: Problem,
    /// The assignment.
    pub assignment: Assignment,
    /// How deep the first ring is, and why.
    pub depth: RingDepth,
    /// The same for every ring, in the order of [`Selection::rings`].
    pub depths: Vec<RingDepth>,
    /// The ways to split its loops among partitions that were looked at; none where it was resumed from a later form.
    pub candidates: Vec<SplitCandidate>,
    /// The author's storage, laid out, if she gave one (A44).
    pub storage: Option<warploom_alias::AliasLayout>,
    /// Pipelines, barriers and partitions of the program.
    pub(crate) layout: ProgramLayout,
    /// The scheduled form.
    pub scheduled: Module,
    /// The assigned form.
    pub assigned: Module,
    /// The program form.
    pub program: Module,
    /// Things worth telling.
    pub remarks: Vec<Diagnostic>,
}
