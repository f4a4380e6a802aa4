//! A chip as one plain value.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::Feature;
use crate::cost::{Native, OpEntry, OpKind, Unit};
use crate::limits::{
    Barriers, Chip, Cluster, Descriptors, Grid, RegisterFile, SharedMemory, TensorMemory, Threads,
};
use crate::mma::MmaInstruction;

/// What the compiler knows about a chip. Its fields are the tables of a data file, so a target can be
/// stored, changed and read back like any other data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Dotted keys of this file that nobody has verified yet ("U" in the specification).
    pub unverified: Vec<String>,
    /// What it can do; see [`Target::has`].
    pub features: BTreeSet<Feature>,
    /// Name, product, clock, PTX versions.
    pub chip: Chip,
    /// Shared memory.
    pub smem: SharedMemory,
    /// Registers.
    pub registers: RegisterFile,
    /// Threads, warps and CTAs.
    pub threads: Threads,
    /// Grid extents.
    pub grid: Grid,
    /// Clusters, where the chip has them.
    pub cluster: Option<Cluster>,
    /// Named barriers and mbarriers.
    pub barriers: Barriers,
    /// Tensor memory, where the chip has it.
    pub tmem: Option<TensorMemory>,
    /// Kernel parameters and TMA descriptors.
    pub descriptors: Descriptors,
    /// Functional units of an SM, by name (T30).
    pub unit: BTreeMap<String, Unit>,
    /// What native instructions take, by class (T42).
    pub instruction: BTreeMap<String, Native>,
    /// Costs, by kind of operation (T33); a kind that is absent is one the chip cannot do.
    pub op: BTreeMap<OpKind, OpEntry>,
}

impl Target {
    /// Whether the chip has this capability (T5).
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    /// Name of the chip, as in `.target`.
    pub fn name(&self) -> &str {
        &self.chip.name
    }

    /// This target with copies as fast as they are when every SM of the chip pulls at once, where that is
    /// known (T37).
    pub fn with_all_sms_pulling(mut self) -> Target {
        for unit in self.unit.values_mut() {
            if let Some(shared) = unit.chip_bytes_per_clk {
                unit.bytes_per_clk = Some(unit.bytes_per_clk.map_or(shared, |own| own.min(shared)));
            }
        }
        self
    }

    /// The fastest tensor-core family of the chip.
    pub fn mma_instruction(&self) -> MmaInstruction {
        if self.has(Feature::Tcgen05) {
            MmaInstruction::Tcgen05
        } else if self.has(Feature::Wgmma) {
            MmaInstruction::Wgmma
        } else {
            MmaInstruction::MmaSync
        }
    }
}
