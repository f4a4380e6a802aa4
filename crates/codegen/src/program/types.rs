//! The declarations of a program, as data.

use hashbrown::HashMap;
use warploom_ir::diag::Code;
use warploom_ir::{BlockId, Module, OpId, Opcode, Type, ValueId};

use crate::error::{Result, refuse};
use crate::family::Family;
use crate::layout::TileLayout;
use crate::metadata::TensorDescriptor;

/// Bytes of a tensor map, and what its address is a multiple of while it is made (T11).
pub(crate) const MAP_BYTES: u64 = 128;

/// A tensor map that the kernel makes.
#[derive(Clone, Debug)]
pub(crate) struct MadeMap {
    /// What copies by it are like.
    pub record: TensorDescriptor,
    /// Its number in the CTA's part of the scratch memory.
    pub slot: u64,
    /// Byte offset in shared memory where it is put together.
    pub staging: u64,
    /// Whether elements outside the tensor are NaN.
    pub nan: bool,
}

/// The allocation of tensor memory (C27).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tmem {
    /// Columns: a power of two.
    pub columns: u64,
    /// Byte offset in shared memory where its address is put.
    pub slot: u64,
}

/// A named barrier (C32).
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedBarrier {
    /// Hardware number, 1..15.
    pub id: u64,
    /// Participating threads.
    pub threads: u64,
}

/// A declaration of turns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turns {
    /// The named barrier of the first replica; the others follow.
    pub id: u64,
    /// How many there are.
    pub replicas: u64,
}

/// A function in program form.
#[derive(Debug)]
pub(crate) struct Program<'m> {
    /// The function.
    pub func: OpId,
    /// Its name, which is the entry's.
    pub name: &'m str,
    /// Its body.
    pub body: BlockId,
    /// Its parameters.
    pub params: Vec<ValueId>,
    /// Warps of the CTA.
    pub warps: u64,
    /// Registers per thread at launch.
    pub max_registers: u64,
    /// Bytes of shared memory.
    pub shared: u64,
    /// Tensor memory, where the program uses any.
    pub tmem: Option<Tmem>,
    /// One record per descriptor parameter, in order (C12).
    pub descriptors: Vec<TensorDescriptor>,
    /// Tensor maps that the program makes itself (C16).
    pub maps: HashMap<ValueId, MadeMap>,
    /// Rings by order of declaration.
    pub rings: Vec<Ring>,
    /// Named barriers by order of declaration.
    pub barriers: Vec<NamedBarrier>,
    /// Turns by order of declaration.
    pub turns: Vec<Turns>,
    /// Partitions by first warp.
    pub partitions: Vec<Partition>,
    pub(crate) ring_of: HashMap<&'m str, usize>,
    pub(crate) barrier_of: HashMap<&'m str, usize>,
    pub(crate) turns_of: HashMap<&'m str, usize>,
}

/// One value of a slot: a tile that TMA or stores put there.
#[derive(Clone, Debug)]
pub(crate) struct Payload {
    /// Type of the tile.
    pub tile: Type,
    /// How its bytes lie.
    pub layout: TileLayout,
    /// Byte offset of slot 0 in shared memory.
    pub offset: u64,
    /// Bytes from one slot to the next.
    pub stride: u64,
    /// Where it lies in tensor memory, if it does; offset and stride mean nothing then.
    pub columns: Option<Columns>,
}

/// Rows of a tile that takes half of the lanes of tensor memory: 16 of each 32 (E44).
pub(crate) const HALF_ROWS: u64 = 64;

/// Columns of tensor memory (C66), 32 bits each: narrower elements lie packed. A tile lies there in blocks of 128 rows
/// side by side, or of [`HALF_ROWS`], each with 16 of them in each quarter of the lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Columns {
    /// First column of slot 0, counted from the start of the allocation.
    pub first: u64,
    /// Columns from one slot to the next.
    pub stride: u64,
    /// Columns of a block of rows.
    pub width: u64,
    /// Rows of a block: those of one instruction.
    pub rows: u64,
}

/// Who hands slots to whom: a row of C24.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Handshake {
    /// One partition, ordered by named barriers.
    None,
    /// Copies to wgmma.
    TmaToWgmma,
    /// Copies to reads into registers.
    TmaToGeneric,
    /// Copies to tcgen05.mma.
    TmaToMma,
    /// tcgen05.mma to tcgen05.ld.
    MmaToGeneric,
    /// tcgen05.st to tcgen05.mma, which reads A from tensor memory.
    GenericToMma,
    /// `cp.async` within one partition.
    CpAsync,
    /// The same where a commit of products gives the slots back.
    CpAsyncToMma,
}

impl Handshake {
    /// The row of this name.
    pub(super) fn named(name: &str) -> Option<Handshake> {
        Some(match name {
            "none" => Handshake::None,
            "tma_to_wgmma" => Handshake::TmaToWgmma,
            "tma_to_generic" => Handshake::TmaToGeneric,
            "tma_to_mma" => Handshake::TmaToMma,
            "mma_to_generic" => Handshake::MmaToGeneric,
            "generic_to_mma" => Handshake::GenericToMma,
            "cp_async" => Handshake::CpAsync,
            "cp_async_to_mma" => Handshake::CpAsyncToMma,
            _ => return None,
        })
    }

    /// Whether a warp that gives slots back meets first: its lanes read them one by one (C24).
    pub fn meets_before_release(self) -> bool {
        matches!(self, Handshake::TmaToGeneric | Handshake::MmaToGeneric)
    }

    /// Whether the waits order tcgen05 work of other threads (C25).
    pub fn orders_tensor_memory(self) -> bool {
        matches!(self, Handshake::MmaToGeneric | Handshake::GenericToMma)
    }

    /// Whether products read the slots, so that a commit gives them back (C24).
    pub fn feeds_products(self) -> bool {
        matches!(self, Handshake::TmaToMma | Handshake::GenericToMma | Handshake::CpAsyncToMma)
    }
}

/// A ring of slots with its mbarriers (C22).
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    /// Number of slots.
    pub depth: u64,
    /// What a slot holds.
    pub payloads: Vec<Payload>,
    /// Byte offset of the first `full` barrier.
    pub full: Option<u64>,
    /// Byte offset of the first `empty` barrier.
    pub empty: Option<u64>,
    /// Arrivals of one phase of `full`.
    pub arrive_full: u64,
    /// Arrivals of one phase of `empty`.
    pub arrive_empty: u64,
    /// Who hands slots to whom.
    pub handshake: Handshake,
    /// Whether nothing in a loop touches its slots, so that no copy can go on beside other work of one.
    pub straight: bool,
}

/// Warps that run one region (C21).
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    /// The operation.
    pub op: OpId,
    /// First warp.
    pub warp: u64,
    /// Number of warps.
    pub warps: u64,
    /// Registers per thread, for `setmaxnreg`.
    pub registers: u64,
    /// How its tiles lie in registers.
    pub family: Family,
    /// Shared memory for exchanges between its warps.
    pub scratch: Option<Scratch>,
    /// The region.
    pub body: BlockId,
}

/// Bytes that nothing else uses while the partition runs, and the barrier of its warps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scratch {
    /// Byte offset in shared memory.
    pub offset: u64,
    /// Its size.
    pub bytes: u64,
    /// Where all warps of the partition meet, and nobody else.
    pub barrier: NamedBarrier,
}

/// The declaration that the operation's symbol attribute names.
pub(super) fn symbol(module: &Module, op: OpId, table: &HashMap<&str, usize>, kind: &str) -> Result<usize> {
    let operation = &module.ops[op];
    let name = operation.props.iter().chain(operation.attrs.iter()).find_map(|(_, attr)| attr.as_symbol());
    let name = name.ok_or_else(|| refuse(Code::Verify, format!("no {kind} named")).rule("C35"))?;
    table
        .get(name)
        .copied()
        .ok_or_else(|| refuse(Code::Verify, format!("no {kind} @{name}")).rule("C35").into())
}

impl Program<'_> {
    /// The ring an operation names.
    pub fn ring(&self, module: &Module, op: OpId) -> Result<usize> {
        symbol(module, op, &self.ring_of, "warploom.pipeline")
    }

    /// Notes which rings are used in no loop.
    pub(super) fn find_straight(&mut self, module: &Module) {
        let mut stack = vec![(self.func, false)];
        while let Some((op, looped)) = stack.pop() {
            let data = &module.ops[op];
            let looped = looped || matches!(data.opcode, Opcode::For | Opcode::While);
            let names = data.props.iter().chain(data.attrs.iter()).filter_map(|(_, attr)| attr.as_symbol());
            for ring in names.filter_map(|name| self.ring_named(name)).collect::<Vec<_>>() {
                self.rings[ring].straight &= !looped;
            }
            let blocks = data.regions.iter().flat_map(|&region| &module.regions[region].blocks);
            stack.extend(blocks.flat_map(|&block| &module.blocks[block].ops).map(|&op| (op, looped)));
        }
    }

    /// The ring of this name.
    pub fn ring_named(&self, name: &str) -> Option<usize> {
        self.ring_of.get(name).copied()
    }

    /// The named barrier an operation names.
    pub fn barrier(&self, module: &Module, op: OpId) -> Result<NamedBarrier> {
        symbol(module, op, &self.barrier_of, "warploom.named_barrier").map(|at| self.barriers[at])
    }
}
