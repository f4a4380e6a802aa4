//! A split of a kernel's loops among partitions, and the keys by which splits are compared (S66, S69).

use warploom_chips::mma::MmaInstruction;

/// A split of a kernel's loops among partitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PartitionSplit {
    /// One partition copies, multiplies and computes; otherwise copies have a partition of their own, and so have
    /// products into tensor memory.
    pub one_partition: bool,
    /// Two computing partitions take the trips of a loop over tiles in turn (Q50).
    pub turns: bool,
    /// How it multiplies; none where the kernel does not.
    pub instruction: Option<MmaInstruction>,
}

/// What a split costs: the sums over all loops of what S69 compares, most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub struct SplitCost {
    /// Cycles between the starts of two trips.
    pub ii: i64,
    /// Cycles of synchronisation between partitions in each trip.
    pub synchronisation: i64,
    /// Bytes of everything that lives from operation to operation.
    pub bytes: u64,
    /// Cycles of a trip alone.
    pub length: i64,
}

impl PartitionSplit {
    /// The split as text.
    pub fn name(&self) -> String {
        let by = self.instruction.map_or(String::new(), |mma| format!(" by {}", mma.name()));
        match (self.one_partition, self.instruction) {
            (true, _) => format!("one partition{by}"),
            (false, Some(MmaInstruction::Tcgen05)) => format!("load, mma, math{by}"),
            (false, _) if self.turns => format!("load, math in turns{by}"),
            (false, _) => format!("load, math{by}"),
        }
    }
}
