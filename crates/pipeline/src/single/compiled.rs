//! A kernel compiled for one partition, as data.

use warploom_bufassign::{Assignment, Problem};
use warploom_ir::Module;
use warploom_ir::diag::Diagnostic;

use crate::candidates::SplitCandidate;
use crate::single::{BlockingLoads, OperandStores, PartitionShape, PipelinedLoads};

/// A kernel compiled for one partition, with everything that was decided.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Single {
    /// The kernel in normal form.
    pub kernel: Module,
    /// Its warps, registers and the layout of its tiles.
    pub shape: PartitionShape,
    /// Its pipelined loops, in the order of the text.
    pub loops: Vec<PipelinedLoads>,
    /// Operands of products that are copied where they stand.
    pub blocking: Vec<BlockingLoads>,
    /// Operands of products that are computed, and stored in front of them.
    pub stored: Vec<OperandStores>,
    /// The assignment problem and its answer; none where nothing is copied.
    pub buffers: Option<(Problem, Assignment)>,
    /// The ways to split its loops among partitions that were looked at.
    pub candidates: Vec<SplitCandidate>,
    /// Why it does not multiply asynchronously, where the chip does.
    pub synchronous: Option<String>,
    /// The scheduled form.
    pub scheduled: Module,
    /// The assigned form.
    pub assigned: Module,
    /// The program form.
    pub program: Module,
    /// Things worth telling.
    pub remarks: Vec<Diagnostic>,
}
