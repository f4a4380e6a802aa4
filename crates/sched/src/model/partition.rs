//! What a chip allows partitions, and what crossings cost (S63, S64).

use serde::{Deserialize, Serialize};

/// Cycles that a crossing may cost, in each of its parts.
const MOST_COST: i64 = (1 << 31) - 1;
/// Partitions, and warps, that there may be.
const MOST_COUNT: usize = 64;

/// What a chip allows partitions, and what it costs to cross between them (S63, S64). The defaults are those of
/// B200 with the costs of Meta's calibrated model.
///
/// Read from JSON, what is left out has its default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PartitionModel {
    /// Warps of all partitions together. Default: 16.
    pub max_warps: u32,
    /// Registers of a block. Default: 65,536.
    pub registers: u64,
    /// Cycles from one partition's arrival to the other's wake-up. Default: 92 (mbarrier).
    pub barrier: i64,
    /// Cycles for a payload that leaves registers: `payload + ceil(payload_per_10240 * bytes / 10240)`, on top
    /// of the barrier. Default: 61.
    pub payload: i64,
    /// See [`payload`](Self::payload). Default: 161.
    pub payload_per_10240: i64,
    /// The memory space that means registers. Default: `reg`.
    pub register_space: String,
    /// At most so many partitions are made. Default: 4.
    pub max_partitions: usize,
}

impl Default for PartitionModel {
    fn default() -> Self {
        PartitionModel {
            max_warps: 16,
            registers: 65_536,
            barrier: 92,
            payload: 61,
            payload_per_10240: 161,
            register_space: "reg".to_owned(),
            max_partitions: 4,
        }
    }
}

impl PartitionModel {
    /// Sets the cycles of a crossing barrier.
    #[must_use]
    pub fn barrier(mut self, cycles: i64) -> Self {
        self.barrier = cycles;
        self
    }

    /// Sets the most partitions made.
    #[must_use]
    pub fn max_partitions(mut self, partitions: usize) -> Self {
        self.max_partitions = partitions;
        self
    }

    /// Sets the most warps of all partitions together.
    #[must_use]
    pub fn max_warps(mut self, warps: u32) -> Self {
        self.max_warps = warps;
        self
    }

    /// Sets the registers of a block.
    #[must_use]
    pub fn registers(mut self, registers: u64) -> Self {
        self.registers = registers;
        self
    }

    /// Sets the cycles of a payload that leaves registers, and those more for each 10,240 bytes.
    #[must_use]
    pub fn payload(mut self, cycles: i64, per_10240: i64) -> Self {
        (self.payload, self.payload_per_10240) = (cycles, per_10240);
        self
    }

    /// Sets the memory space that means registers.
    #[must_use]
    pub fn register_space(mut self, space: impl Into<String>) -> Self {
        self.register_space = space.into();
        self
    }

    /// What is out of range: the field, and why.
    pub(crate) fn fault(&self) -> Option<String> {
        let costs = [
            ("barrier", self.barrier),
            ("payload", self.payload),
            ("payload_per_10240", self.payload_per_10240),
        ];
        let cost = costs.into_iter().find(|(_, cost)| !(0..=MOST_COST).contains(cost));
        if let Some((name, cost)) = cost {
            return Some(format!("{name} is {cost}, expected 0 to {MOST_COST}"));
        }
        let counts = [("max_partitions", self.max_partitions), ("max_warps", self.max_warps as usize)];
        let count = counts.into_iter().find(|(_, count)| !(1..=MOST_COUNT).contains(count));
        count.map(|(name, count)| format!("{name} is {count}, expected 1 to {MOST_COUNT}"))
    }
}
