//! The loops of one partition with their schedules and places, as data.

use warploom_bufassign::{Assignment, Problem};

use crate::buffers::depth::ScheduledLoop;
use crate::engines::tensor::Tensor;
use crate::transports::PipelinedLoads;
use crate::transports::blocking::BlockingLoads;
use crate::transports::engine::Engine;
use crate::transports::operand_stores::OperandStores;
use crate::transports::operands::DotOperand;

/// What a kernel needs beside the rings of its loops.
pub(crate) struct Beside {
    pub blocking: Vec<BlockingLoads>,
    pub stored: Vec<OperandStores>,
    pub operands: Vec<DotOperand>,
    pub engine: Engine,
    pub tensor: Tensor,
}

/// The loops with their schedules, and where their rings lie.
pub(crate) struct Planned {
    pub loops: Vec<PipelinedLoads>,
    /// Their graphs and schedules.
    pub schedules: Vec<ScheduledLoop>,
    pub beside: Beside,
    /// Bytes of shared memory.
    pub shared: u64,
    pub buffers: Option<(Problem, Assignment)>,
}

impl Planned {
    /// The number of the first value of loop number `index` in the assignment.
    pub fn first_value(&self, index: usize) -> u64 {
        self.loops.iter().take(index).map(|l| l.tiles.len() as u64).sum()
    }
}
