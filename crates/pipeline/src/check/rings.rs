//! Pipelines as the checker reads them.

use std::collections::BTreeMap;

use warploom_ir::Type;

/// A declared pipeline.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    pub name: String,
    pub handshake: String,
    pub depth: u64,
    pub payloads: Vec<Payload>,
    pub bytes: u64,
    pub full: Option<u64>,
    pub empty: Option<u64>,
    pub arrive_full: u64,
    pub arrive_empty: u64,
    /// Whether its slots lie in tensor memory.
    pub tensor: bool,
    /// Rows of one block of a tile there: those of an instruction.
    pub rows: u64,
    /// Whether partitions read its slots in turn: each skips what others read.
    pub in_turns: bool,
    /// Partitions that write tiles into its slots, in order.
    pub writers: Vec<usize>,
    /// How often the text of a partition copies a payload, by `(partition, payload)`; in a loop that is more than once.
    pub copied: BTreeMap<(usize, usize), u64>,
}

impl Ring {
    /// Whether products read its slots, and a commit of products gives them back.
    pub fn is_operands(&self) -> bool {
        matches!(self.handshake.as_str(), "tma_to_mma" | "cp_async_to_mma")
    }

    /// Whether all lanes fill its slots, by copies in groups or from registers.
    pub fn is_grouped(&self) -> bool {
        matches!(self.handshake.as_str(), "cp_async" | "cp_async_to_mma")
    }

    /// Whether products fill its slots, and a commit of products hands them over.
    pub fn is_accumulators(&self) -> bool {
        self.handshake == "mma_to_generic"
    }

    /// Whether lanes write its slots in tensor memory for products, and a commit of products gives them back.
    pub fn is_tmem_operands(&self) -> bool {
        self.handshake == "generic_to_mma"
    }
}

/// A tile of each slot of a ring. In tensor memory, `bytes`, `offset` and `stride` count columns.
#[derive(Clone, Debug)]
pub(super) struct Payload {
    pub tile: Type,
    pub bytes: u64,
    pub swizzle: u64,
    pub offset: u64,
    pub stride: u64,
}

impl Payload {
    /// The bytes of a slot.
    pub fn span(&self, slot: u64) -> (u64, u64) {
        let start = self.offset.saturating_add(self.stride.saturating_mul(slot));
        (start, start.saturating_add(self.bytes))
    }
}
