//! What was decided about one value (B10).

use crate::input::{OwnName, Space};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything decided about one value (B10).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Value id.
    pub value: u64,
    /// Its name.
    pub name: String,
    /// Region of its producer (or of its first use, if it is live on entry).
    pub region: u64,
    /// Producing op.
    pub producer: Option<u64>,
    /// Consuming ops, those of its views included.
    pub consumers: Vec<u64>,
    /// First live moment as [stage, cycle].
    pub start: [u64; 2],
    /// End of the lifetime (exclusive) as [stage, cycle].
    pub end: [u64; 2],
    /// Lifetime in cycles.
    pub length: u64,
    /// Steady-state stages of the region; 1 in a line.
    pub stages: u64,
    /// Ring slots of the storage.
    pub depth: u64,
    /// Whether a ring is built at all (B10).
    pub pipelined: bool,
    /// How producer and consumers agree (B27).
    pub handshake: Handshake,
    /// The named barrier, if one is needed.
    pub barrier: Option<NamedBarrier>,
    /// Storage class.
    pub class: Class,
    /// Why that class.
    pub why: Option<Why>,
    /// The space of a machine given as data; `offset` is its address there (B82).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<OwnName>,
    /// SMEM offset of slot 0 in bytes; slot k of iteration i is
    /// `offset + ((i + slot_shift) mod depth) * stride`.
    pub offset: Option<u64>,
    /// Bytes of one stage.
    pub stage_bytes: Option<u64>,
    /// Bytes from one slot to the next (B38).
    pub stride: Option<u64>,
    /// Bytes of the whole storage class.
    pub bytes: Option<u64>,
    /// Alignment in bytes.
    pub align: Option<u64>,
    /// Place in tensor memory.
    pub tmem: Option<TmemPlace>,
    /// TMA descriptor slot.
    pub desc: Option<DescPlace>,
    /// Pipe whose mbarriers are used.
    pub pipe: Option<u64>,
    /// Offset of the full mbarriers, `depth` words of 8 bytes.
    pub full: Option<u64>,
    /// Offset of the empty mbarriers.
    pub empty: Option<u64>,
    /// Bytes the pipe's copies bring per phase.
    pub tx_bytes: Option<u64>,
    /// A generic write is read by the async proxy: a proxy fence is due.
    pub proxy_fence: bool,
    /// Lowest value id of the storage class.
    pub parent: u64,
    /// Rotation in a joint ring (B50).
    pub slot_shift: Option<u64>,
    /// Slot of the last write, for values read after their loop.
    pub last_slot: Option<LastSlot>,
    /// Offset in the owner, for views.
    pub byte_offset: Option<u64>,
}

/// How producer and consumers agree that data is there and storage is free (B27).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Handshake {
    /// Full and empty mbarriers.
    Pair,
    /// Full mbarriers; program order frees the storage.
    Full,
    /// A `cp.async` group wait.
    Group,
    /// A named barrier.
    Named,
    /// Program order alone.
    Order,
}

/// A named barrier given to a value (B28, B31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedBarrier {
    /// Slot of the pool.
    pub slot: u32,
    /// Hardware id; none for a slot the hardware does not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    /// Participating threads.
    pub threads: u32,
    /// What the producer does.
    pub mode: BarrierMode,
}

/// What the producer does at a named barrier (B31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BarrierMode {
    /// Arrives and goes on.
    Arrive,
    /// Waits like everyone else.
    Sync,
}

/// Storage class (B35).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Class {
    /// Shared memory.
    Smem,
    /// Tensor memory.
    Tmem,
    /// A TMA descriptor slot.
    Desc,
    /// No storage.
    BarrierOnly,
}

/// Why a class was chosen (B10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Why {
    /// The roles allow nothing else.
    Role,
    /// Both spaces were legal and the size rule decided.
    Size,
    /// Both spaces were legal and the chip has no tensor memory.
    Feature,
    /// The author bound it.
    Forced,
    /// Its layout is there.
    Layout,
    /// The preset's size rule, whatever the roles.
    Preset,
    /// Several spaces of the machine were legal, and it is the first of them (B82).
    First,
}

/// A place in tensor memory (B41..B44).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TmemPlace {
    /// First column of slot 0.
    pub column: u64,
    /// Columns of one stage.
    pub columns: u64,
    /// Columns from one slot to the next.
    pub stride: u64,
    /// Which lanes.
    pub lanes: Lanes,
}

/// Which lanes a tile occupies (B43).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Lanes {
    /// All 128.
    All,
    /// The lower 16 of every 32.
    H0,
    /// The upper 16 of every 32.
    H1,
}

/// A TMA descriptor slot (B45).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DescPlace {
    /// Slot in the parameter block, 128 bytes each.
    pub slot: u64,
    /// Offset of the device-built copy in the workspace, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<u64>,
}

/// Slot of the last write after N iterations: `(N + add) mod modulo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastSlot {
    /// `slot_shift - 1`.
    pub add: i64,
    /// Depth.
    pub modulo: u64,
}

impl Class {
    /// The space a class with storage lives in.
    pub fn space(self) -> Option<Space> {
        match self {
            Class::Smem => Some(Space::Smem),
            Class::Tmem => Some(Space::Tmem),
            Class::Desc | Class::BarrierOnly => None,
        }
    }
}
