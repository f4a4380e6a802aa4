//! A loop graph with what each node is in the kernel, and what shapes it.

use warploom_chips::mma::MmaInstruction;
use warploom_ir::OpId;
use warploom_sched::LoopGraph;

use super::TripPrices;

/// Which partition issues an operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum PartitionRole {
    /// The partition that copies tiles.
    Load,
    /// The partition that issues products whose result is in tensor memory.
    Mma,
    /// The partition that computes on register tiles.
    Math,
}

impl PartitionRole {
    /// Name of the partition in every text form.
    pub fn name(self) -> &'static str {
        match self {
            PartitionRole::Load => "load",
            PartitionRole::Mma => "mma",
            PartitionRole::Math => "math",
        }
    }
}

/// Which part of an operation a node is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Part {
    /// The operation itself.
    Whole,
    /// Reading what it copied to shared memory into registers.
    Read,
    /// Reading its product out of tensor memory.
    TmemLoad,
    /// Writing its result into tensor memory, for a product.
    TmemStore,
    /// Writing its result into shared memory, for a product.
    Write,
}

/// A node of a loop graph: what it is in the kernel, and who issues it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LoopNode {
    /// The operation of the kernel.
    pub op: OpId,
    /// Which part of it.
    pub part: Part,
    /// The partition.
    pub role: PartitionRole,
    /// Which replica of the partition issues it, from 0 (Q40).
    pub replica: u64,
}

/// A loop graph and which operation of the kernel each node is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PipelinedLoop {
    /// The loop.
    pub scf_for: OpId,
    /// The graph for the scheduler; nodes in program order.
    pub graph: LoopGraph,
    /// Operation and partition of each node.
    pub nodes: Vec<LoopNode>,
    /// The copies whose tile each value of the graph is; none for values in registers and tensor memory.
    pub copies: Vec<Option<OpId>>,
    /// Products that may be unfinished when slots are given back: 1, or 0 for a ring of one slot.
    pub pending: u64,
    /// Cycles from an arrival in one partition to the wake-up of the other.
    pub synchronisation: u64,
    /// What a trip holds beside operations.
    pub trip: TripPrices,
    /// One partition issues everything.
    pub one_partition: bool,
    /// Replicas of the computing partition.
    pub replicas: Replicas,
}

/// The replicas of a partition, each of which has its share of the rows and does the same as the one before, later (Q40).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Replicas {
    /// How many; 1 has all rows.
    pub count: u64,
    /// Cycles from one to the next.
    pub apart: u64,
}

impl Replicas {
    /// One partition that has all rows.
    pub const ONE: Replicas = Replicas { count: 1, apart: 0 };

    /// Cycles from the first to the last.
    pub fn span(self) -> u64 {
        self.apart.saturating_mul(self.count.saturating_sub(1))
    }
}

impl PipelinedLoop {
    /// The name of the partition that issues a node, in every text form.
    pub fn partition(&self, node: &LoopNode) -> &'static str {
        if self.one_partition { "main" } else { node.role.name() }
    }

    /// The name of the stream that issues a node: each replica of a partition has its own.
    pub fn stream(&self, node: &LoopNode) -> String {
        match node.replica {
            0 => self.partition(node).to_owned(),
            replica => format!("{} {replica}", self.partition(node)),
        }
    }

    /// The node of an operation.
    pub fn node(&self, op: OpId, part: Part) -> Option<usize> {
        self.nodes.iter().position(|n| n.op == op && n.part == part)
    }
}

/// What shapes the graph beside the kernel.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct GraphOptions {
    /// Products that may be unfinished when slots are given back (C30).
    pub pending: u64,
    /// The most slots a ring in shared memory may have (C6, S55).
    pub max_depth: Option<u64>,
    /// The most copies of a register tile (C29): 1 keeps the loop from being unrolled.
    pub register_copies: Option<u64>,
    /// How products are issued; by default the fastest way of the chip.
    pub instruction: Option<MmaInstruction>,
    /// One partition issues everything, so that nothing is handed over (S66).
    pub one_partition: bool,
    /// The graph is that of one of so many replicas, which shares the rows with the others (Q40).
    pub replicas: u64,
}

impl Default for GraphOptions {
    fn default() -> GraphOptions {
        GraphOptions {
            pending: 1,
            max_depth: None,
            register_copies: Some(1),
            instruction: None,
            one_partition: false,
            replicas: 1,
        }
    }
}

impl GraphOptions {
    /// At most so many slots in a ring of shared memory; none is no limit.
    #[must_use]
    pub fn max_depth(self, slots: Option<u64>) -> GraphOptions {
        GraphOptions { max_depth: slots, ..self }
    }

    /// Sets the products that may be unfinished when slots are given back (C30).
    #[must_use]
    pub fn pending(self, pending: u64) -> Self {
        GraphOptions { pending, ..self }
    }

    /// At most so many copies of a register tile (C29); none is no limit.
    #[must_use]
    pub fn register_copies(self, register_copies: Option<u64>) -> Self {
        GraphOptions { register_copies, ..self }
    }

    /// Sets how products are issued; none is the fastest way of the chip.
    #[must_use]
    pub fn instruction(self, instruction: Option<MmaInstruction>) -> Self {
        GraphOptions { instruction, ..self }
    }

    /// Has one partition issue everything (S66), or not.
    #[must_use]
    pub fn one_partition(self, one_partition: bool) -> Self {
        GraphOptions { one_partition, ..self }
    }

    /// Has the graph be that of one of so many replicas (Q40).
    #[must_use]
    pub fn replicas(self, replicas: u64) -> Self {
        GraphOptions { replicas, ..self }
    }
}
