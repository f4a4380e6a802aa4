//! The capacities of a chip (T2, T3, T7, T8, T14, T15), one struct per table of its data file.

use serde::{Deserialize, Serialize};

use crate::PtxVersion;

/// Which chip this is, and the part its rates were computed for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chip {
    /// Name for `.target`, one of the nine of T1.
    pub name: String,
    /// Product whose multiprocessor count and clock stand here.
    pub device: String,
    /// Compute capability times ten: 90 for 9.0.
    pub capability: u32,
    /// Streaming multiprocessors (SMs) of that product.
    pub sms: u32,
    /// Boost clock in MHz; all costs are in clocks of it.
    pub clock_mhz: u32,
    /// Lowest PTX version that LLVM 22 and ptxas both take for this chip (T2).
    pub ptx_min: PtxVersion,
    /// PTX version to emit unless told otherwise (C42).
    pub ptx_default: PtxVersion,
}

/// Shared memory, in bytes (T2, T3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedMemory {
    /// Most dynamic shared memory of one CTA, with the launch's opt-in.
    pub per_cta: u64,
    /// Most that may be declared as a static array; ptxas rejects more.
    pub per_cta_static: u64,
    /// Most dynamic shared memory of one CTA without the opt-in.
    pub per_cta_default: u64,
    /// Shared memory of one SM, for all its resident CTAs.
    pub per_sm: u64,
    /// What the system keeps of `per_sm` for each resident CTA.
    pub reserved_per_cta: u64,
}

/// The register file: 32-bit registers (T3, T15).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterFile {
    /// Registers of one SM.
    pub per_sm: u32,
    /// Most registers of one CTA.
    pub per_cta: u32,
    /// Most registers one thread can name.
    pub per_thread: u32,
    /// Least value `.maxnreg` is obeyed with; less is raised to it.
    pub min_per_thread: u32,
    /// Registers are given to a warp in multiples of this.
    pub warp_unit: u32,
    /// Range of `setmaxnreg`, where the chip has it.
    pub setmaxnreg: Option<SetMaxNReg>,
}

/// Operand range of `setmaxnreg`, in registers per thread (T15).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetMaxNReg {
    /// Least operand.
    pub min: u32,
    /// Greatest operand.
    pub max: u32,
    /// Operands are multiples of this.
    pub step: u32,
}

/// Threads, warps and CTAs (T2, T3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threads {
    /// Threads of a warp.
    pub per_warp: u32,
    /// Warps of a warpgroup, the unit of wgmma and setmaxnreg.
    pub warps_per_group: u32,
    /// Most threads of one CTA.
    pub per_cta: u32,
    /// Most resident threads of one SM.
    pub per_sm: u32,
    /// Most resident CTAs of one SM.
    pub ctas_per_sm: u32,
}

impl Threads {
    /// Most warps of one CTA.
    pub fn warps_per_cta(&self) -> u32 {
        self.per_cta.checked_div(self.per_warp).unwrap_or(0)
    }
}

/// Greatest grid extents, in CTAs (T3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Along x.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

/// Thread-block clusters, in CTAs (T2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Largest cluster every device of the chip takes.
    pub portable: u32,
    /// Largest cluster with the non-portable opt-in; equal to `portable` where there is none.
    pub opt_in: u32,
}

/// Named barriers and mbarriers (T7, T8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Barriers {
    /// Named-barrier ids of a CTA: `0..named`.
    pub named: u32,
    /// Ids among them that are not to be given out; 0 belongs to `bar.sync 0`.
    pub reserved: Vec<u32>,
    /// Thread counts of a named barrier are multiples of this.
    pub count_step: u32,
    /// Bytes of one mbarrier, and its alignment.
    pub mbarrier_bytes: u32,
    /// Greatest expected arrival count of an mbarrier.
    pub mbarrier_count: u32,
    /// Greatest magnitude of an mbarrier's pending transaction count, in bytes; 0 without tx-counts.
    pub mbarrier_tx_bytes: u32,
}

impl Barriers {
    /// The named-barrier ids that may be given out, ascending.
    pub fn free_ids(&self) -> Vec<u32> {
        (0..self.named).filter(|id| !self.reserved.contains(id)).collect()
    }
}

/// Tensor memory of one SM (T2, T14).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorMemory {
    /// Rows ("lanes").
    pub lanes: u32,
    /// Columns.
    pub columns: u32,
    /// Bits of one cell.
    pub cell_bits: u32,
    /// Least columns of an allocation; allocations are powers of two from here to `columns`.
    pub min_alloc: u32,
    /// The lane sets a 64-row tile can take.
    pub half_sets: Vec<LaneSet>,
}

/// A periodic set of tensor-memory lanes: `first + period*i .. first + period*i + run` for all i.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaneSet {
    /// Name in diagnostics.
    pub name: String,
    /// First lane.
    pub first: u32,
    /// Lanes in a row.
    pub run: u32,
    /// Distance between the starts of two runs, in lanes.
    pub period: u32,
}

impl LaneSet {
    /// Whether the set holds this lane.
    pub fn contains(&self, lane: u32) -> bool {
        let offset = lane.checked_sub(self.first).and_then(|o| o.checked_rem(self.period));
        offset.is_some_and(|offset| offset < self.run)
    }
}

/// Kernel parameters and TMA descriptors (B45).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descriptors {
    /// Bytes of kernel parameters a launch can pass, at `ptx_default`.
    pub param_bytes: u32,
    /// Bytes of one TMA descriptor ("tensor map").
    pub bytes: u32,
    /// Alignment of a descriptor, in bytes.
    pub align: u32,
    /// Alignment of a descriptor that `tensormap.replace` writes, in bytes.
    pub align_device_built: u32,
    /// Most descriptors of one kernel; 0 without TMA.
    pub slots: u32,
}
