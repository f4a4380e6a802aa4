//! A loop with pipelined loads, as data.

use warploom_ir::OpId;

use crate::transports::CopiedTile;

/// A loop with pipelined loads.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PipelinedLoads {
    /// The loop in the kernel of the compilation.
    pub scf_for: OpId,
    /// The tiles copied, in order.
    pub tiles: Vec<CopiedTile>,
    /// The loads of tiles that are copied within their iteration, while the others are read; where there is room for
    /// one slot of each tile only.
    pub late: Option<std::collections::BTreeSet<OpId>>,
    /// Products that a trip leaves unfinished: the slots that they read are given back so many trips later (C30).
    pub pending: u64,
    /// Slots of the ring: loads are issued one iteration less ahead of their use.
    pub depth: u64,
    /// What the depth law asks for at the best II.
    pub law: u64,
}

impl PipelinedLoads {
    /// Whether the copy engine brings its tiles (C24).
    pub fn by_engine(&self) -> bool {
        self.tiles.iter().any(|t| t.plan.is_some())
    }
}
