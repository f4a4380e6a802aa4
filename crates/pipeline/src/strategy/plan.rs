//! A strategy with everything decided but its program, as data.

use std::collections::BTreeMap;

use warploom_bufassign::{Assignment, Problem};
use warploom_ir::diag::Diagnostic;
use warploom_ir::{Module, OpId};

use super::types::Strategy;
use crate::buffers::depth::{RingDepth, ScheduledLoop};
use crate::buffers::planned::Planned;
use crate::buffers::problem::filled;
use crate::engines::PartitionShape;
use crate::expand::order::Meeting;
use crate::layout::ProgramLayout;
use crate::select::Selection;

/// A kernel with everything decided but its program.
pub(crate) struct Plan {
    pub strategy: Strategy,
    /// The kernel in normal form, as the strategy wants it.
    pub kernel: Module,
    pub func: OpId,
    /// Its pipelined loops with their schedules, in the order of the text.
    pub loops: Vec<ScheduledLoop>,
    /// The assignment problem and its answer; none where nothing is copied.
    pub buffers: Option<(Problem, Assignment)>,
    /// How deep rings are, and why.
    pub depths: Vec<RingDepth>,
    /// Pipelines, barriers and partitions of the program.
    pub layout: ProgramLayout,
    pub work: Work,
    /// Why it does not multiply asynchronously, where the chip does.
    pub synchronous: Option<String>,
    /// Things worth telling.
    pub remarks: Vec<Diagnostic>,
}

/// How the kernel is shared out.
pub(crate) enum Work {
    /// Each partition runs what it needs of the kernel.
    Specialized(Box<Selection>),
    /// One partition runs all of it, its loops expanded.
    Expanded {
        shape: PartitionShape,
        planned: Box<Planned>,
        /// Where its warps meet for what they write to global memory.
        meetings: BTreeMap<OpId, Meeting>,
    },
}

impl Plan {
    /// The operations that fill a buffer, each with the number of its value in the assignment.
    pub fn filled(&self) -> Vec<(OpId, u64)> {
        match &self.work {
            Work::Specialized(selection) => filled(selection),
            Work::Expanded { planned, .. } => {
                (planned.loops.iter().flat_map(|l| &l.tiles).map(|t| t.op)).zip(0..).collect()
            }
        }
    }
}
