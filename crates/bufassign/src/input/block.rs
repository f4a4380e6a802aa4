//! What blocks of threads have on the machines that run them, and the built-in chips as such machines (B82).

use super::machine::{MachineSpec, RoleSpec, SpaceSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;
use warploom_chips::{Feature, Target};

/// Threads, barriers and descriptors of a block; its memory is the space `smem`, and a space `tmem` may have columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockSpec {
    /// Threads of a warp.
    pub threads_per_warp: u32,
    /// Most threads of a block.
    pub threads: u32,
    /// Bytes of its memory that a block may take without asking for more at its launch.
    pub default_bytes: u64,
    /// Bytes of memory that the blocks of one multiprocessor share.
    pub shared_bytes: u64,
    /// Bytes that every block takes of those beside its own.
    pub reserved_bytes: u64,
    /// Named barriers: ids from 0 on.
    pub barriers: u32,
    /// Ids among them that are not to be given out.
    #[serde(default)]
    pub reserved_barriers: Vec<u32>,
    /// Barriers in memory, of which a ring takes one or two for each slot.
    pub ring_barriers: RingBarrierSpec,
    /// Descriptor slots, where there are any.
    #[serde(default)]
    pub descriptors: DescriptorSpec,
}

/// A barrier in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RingBarrierSpec {
    /// Its size and alignment, a power of two.
    pub bytes: u64,
    /// Most bytes of copies that it counts in one phase.
    pub counts: u64,
}

/// Slots of descriptors; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DescriptorSpec {
    /// How many there are.
    pub slots: u64,
    /// Bytes of one.
    pub bytes: u64,
    /// Alignment in bytes of one that the device builds.
    pub align: u64,
}

/// A memory of columns: every column has a cell in each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnsSpec {
    /// Lanes; a tile takes all of them or half.
    pub lanes: u64,
    /// Columns.
    pub columns: u64,
    /// Bits of one cell.
    pub cell_bits: u64,
    /// Columns are allocated in powers of two from this on.
    pub min_alloc: u64,
}

/// Roles of all built-in chips (B5).
static ROLES: LazyLock<Result<Vec<RoleSpec>, String>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../data/chip_roles.json")).map_err(|e| e.to_string())
});

impl MachineSpec {
    /// A built-in chip, such as `sm_90a`, as the description that it is to the assigner.
    ///
    /// # Errors
    /// There is no such chip.
    pub fn chip(name: &str) -> Result<MachineSpec, String> {
        MachineSpec::of_chip(&Target::named(name).map_err(|e| e.to_string())?)
    }

    /// A chip's record as a description.
    pub(crate) fn of_chip(target: &Target) -> Result<MachineSpec, String> {
        let name = |n: &str| n.parse().map_err(|e: super::NameTooLong| e.to_string());
        let space = |n, bytes, columns| {
            Ok::<_, String>(SpaceSpec { name: name(n)?, bytes, align: 1, base: None, columns })
        };
        let mut spaces = vec![space("smem", target.smem.per_cta, None)?];
        let mut without = Vec::new();
        match target.tmem.as_ref().filter(|_| target.has(Feature::Tcgen05)) {
            Some(t) => {
                let (lanes, columns, cell_bits) = (t.lanes.into(), t.columns.into(), t.cell_bits.into());
                let spec = ColumnsSpec { lanes, columns, cell_bits, min_alloc: t.min_alloc.into() };
                spaces.push(space("tmem", spec.bytes().unwrap_or(0), Some(spec))?);
            }
            None => without.push(name("tmem")?),
        }
        let barriers = &target.barriers;
        let block = BlockSpec {
            threads_per_warp: target.threads.per_warp,
            threads: target.threads.per_cta,
            default_bytes: target.smem.per_cta_default,
            shared_bytes: target.smem.per_sm,
            reserved_bytes: target.smem.reserved_per_cta,
            barriers: barriers.named,
            reserved_barriers: barriers.reserved.clone(),
            ring_barriers: RingBarrierSpec {
                bytes: barriers.mbarrier_bytes.into(),
                counts: barriers.mbarrier_tx_bytes.into(),
            },
            descriptors: DescriptorSpec {
                slots: target.descriptors.slots.into(),
                bytes: target.descriptors.bytes.into(),
                align: target.descriptors.align_device_built.into(),
            },
        };
        let machine = MachineSpec::new(target.name(), 0);
        Ok(MachineSpec { spaces, roles: ROLES.clone()?, block: Some(block), without, ..machine })
    }
}

impl ColumnsSpec {
    /// Bytes of all cells, unless that overflows.
    pub(crate) fn bytes(&self) -> Option<u64> {
        Some(self.lanes.checked_mul(self.columns)?.checked_mul(self.cell_bits)? / 8)
    }
}
