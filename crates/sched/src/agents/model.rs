//! What a chip allows agents, and what crossings cost (S63, S64).

use crate::bounds::div_ceil;
use crate::graph::LoopGraph;

/// What a chip allows agents, and what it costs to cross between them (S63, S64). The defaults are those of
/// B200 with the costs of Meta's calibrated model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentModel {
    /// Warps of all agents together. Default: 16.
    pub max_warps: u32,
    /// Registers of a block. Default: 65,536.
    pub registers: u64,
    /// Cycles from one agent's arrival to the other's wake-up. Default: 92 (mbarrier).
    pub barrier: i64,
    /// Cycles for a payload that leaves registers: `payload + ceil(payload_per_10240 * bytes / 10240)`, on top
    /// of the barrier. Default: 61.
    pub payload: i64,
    /// See [`payload`](Self::payload). Default: 161.
    pub payload_per_10240: i64,
    /// The memory space that means registers. Default: `reg`.
    pub register_space: String,
    /// At most so many agents are made. Default: 4.
    pub max_agents: usize,
    /// At most so many assignments are scheduled. Default: 60.
    pub max_candidates: usize,
    /// Up to so many clusters (components, single operations) all assignments are looked at (S68). Default: 12.
    pub exhaustive: usize,
}

impl Default for AgentModel {
    fn default() -> Self {
        AgentModel {
            max_warps: 16,
            registers: 65_536,
            barrier: 92,
            payload: 61,
            payload_per_10240: 161,
            register_space: "reg".to_owned(),
            max_agents: 4,
            max_candidates: 60,
            exhaustive: 12,
        }
    }
}

impl AgentModel {
    /// Sets the cycles of a crossing barrier.
    #[must_use]
    pub fn barrier(mut self, cycles: i64) -> Self {
        self.barrier = cycles;
        self
    }

    /// Sets the most agents made.
    #[must_use]
    pub fn max_agents(mut self, agents: usize) -> Self {
        self.max_agents = agents;
        self
    }

    /// Sets the most warps of all agents together.
    #[must_use]
    pub fn max_warps(mut self, warps: u32) -> Self {
        self.max_warps = warps;
        self
    }

    /// Sets up to how many clusters all assignments are looked at.
    #[must_use]
    pub fn exhaustive(mut self, clusters: usize) -> Self {
        self.exhaustive = clusters;
        self
    }

    /// Sets the registers of a block.
    #[must_use]
    pub fn registers(mut self, registers: u64) -> Self {
        self.registers = registers;
        self
    }

    /// Cycles that a crossing adds to an edge from `src` to `dst` (S66).
    pub(super) fn crossing(&self, graph: &LoopGraph, src: usize, dst: usize) -> i64 {
        let in_registers = graph.values.iter().filter(|v| {
            v.def == src && v.space == self.register_space && v.uses.iter().any(|u| u.node == dst)
        });
        let bytes = in_registers.map(|v| v.bytes).fold(0, u64::saturating_add);
        if bytes == 0 {
            return self.barrier;
        }
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX / 1024);
        self.barrier + self.payload + div_ceil(self.payload_per_10240.saturating_mul(bytes), 10_240)
    }
}
