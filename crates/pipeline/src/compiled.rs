//! A compiled kernel, with everything that was decided.

use warploom_bufassign::{Assignment, Problem};
use warploom_ir::diag::Diagnostic;
use warploom_ir::{Module, OpId};

use crate::buffers::depth::{RingDepth, ScheduledLoop};
use crate::engines::PartitionShape;
use crate::layout::ProgramLayout;
use crate::select::Selection;
use crate::strategy::{SplitCandidate, Strategy};
use crate::transports::{BlockingLoads, OperandStores, PipelinedLoads};

/// A compiled kernel with everything that was decided.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The kernel in normal form, as its strategy wants it.
    pub kernel: Module,
    /// Its function.
    pub func: OpId,
    /// The strategy that was taken.
    pub strategy: Strategy,
    /// All pipelined loops with their schedules, in the order of the text.
    pub loops: Vec<ScheduledLoop>,
    /// The assignment problem and its answer; none where nothing is copied.
    pub buffers: Option<(Problem, Assignment)>,
    /// How deep every ring is, and why: in the order of [`Selection::rings`], or of the loops of one partition.
    pub depths: Vec<RingDepth>,
    /// What its partitions do.
    pub parts: Parts,
    /// The ways to split its loops among partitions that were looked at; none where it was resumed from a later form.
    pub candidates: Vec<SplitCandidate>,
    /// Why one partition does not multiply asynchronously, where the chip does.
    pub synchronous: Option<String>,
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

/// What the partitions of a kernel do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Parts {
    /// Each runs what it needs of the kernel, as it was taken apart.
    Specialized(Box<Selection>),
    /// One runs all of it, its loops expanded.
    Expanded(Box<Expanded>),
}

/// What one partition does.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Expanded {
    /// Its warps, registers and the layout of its tiles.
    pub shape: PartitionShape,
    /// Its pipelined loads, loop by loop.
    pub loads: Vec<PipelinedLoads>,
    /// Operands of products that are copied where they stand.
    pub blocking: Vec<BlockingLoads>,
    /// Operands of products that are computed, and stored in front of them.
    pub stored: Vec<OperandStores>,
}

impl Compiled {
    /// The assignment problem, where there are buffers.
    pub fn problem(&self) -> Option<&Problem> {
        self.buffers.as_ref().map(|(problem, _)| problem)
    }

    /// The assignment, where there are buffers.
    pub fn assignment(&self) -> Option<&Assignment> {
        self.buffers.as_ref().map(|(_, assignment)| assignment)
    }

    /// The kernel as it was taken apart, where several partitions run it.
    pub fn selection(&self) -> Option<&Selection> {
        match &self.parts {
            Parts::Specialized(selection) => Some(selection),
            Parts::Expanded(_) => None,
        }
    }

    /// What the partition does that runs all of the kernel, where one does.
    pub fn expanded(&self) -> Option<&Expanded> {
        match &self.parts {
            Parts::Specialized(_) => None,
            Parts::Expanded(expanded) => Some(expanded),
        }
    }
}
