//! Where everything of a program lies, as data.

use warploom_ir::{Attr, Type};

use crate::emit::number;
use crate::engines::RegisterLayout;
use crate::loops::PartitionRole;

/// What a pipeline is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RingUse {
    /// Ring number n of the kernel.
    Ring(usize),
    /// Staging buffer number n: those of all stores for the first computing partition, then for the next.
    Staging(usize),
    /// Accumulator number n in tensor memory; offset and stride of its payload count columns.
    Accumulator(usize),
    /// Operand number n in tensor memory, likewise.
    Operand(usize),
    /// Tiles of loop number n that take turns with those of its ring: they are copied while these are read.
    Late(usize),
    /// Tiles copied where they are read, group number n.
    InPlace(usize),
    /// Operands that lanes store to shared memory, group number n.
    Stored(usize),
    /// Tile number n of those that the copy engine brings once.
    Once(usize),
}

/// A pipeline of the program (C22).
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    pub usage: RingUse,
    pub name: String,
    /// The row of C24, or `none`.
    pub handshake: &'static str,
    pub depth: u64,
    pub payloads: Vec<Payload>,
    /// Transaction bytes of one phase.
    pub bytes: u64,
    /// Offset of the first full mbarrier.
    pub full: Option<u64>,
    /// Offset of the first empty mbarrier; none where no slot is written twice.
    pub empty: Option<u64>,
    pub arrive_full: u32,
    pub arrive_empty: u32,
    /// The ring of operands that lies over these accumulators: a slot is free for the next product when both have been
    /// read.
    pub under: Option<usize>,
    /// Rows of tensor memory that a product takes, where its ring says so.
    pub rows: Option<u64>,
}

impl Ring {
    /// Whether its slots lie in tensor memory.
    pub fn tensor(&self) -> bool {
        matches!(self.usage, RingUse::Accumulator(_) | RingUse::Operand(_))
    }
}

/// One tile of a slot.
#[derive(Clone, Debug)]
pub(crate) struct Payload {
    pub name: String,
    pub tile: Type,
    pub swizzle: u32,
    pub offset: u64,
    pub stride: u64,
}

/// A named barrier.
#[derive(Clone, Debug)]
pub(crate) struct Barrier {
    /// The staging buffer that it guards; none where a partition meets there.
    pub staging: Option<usize>,
    pub name: String,
    pub id: u32,
    pub threads: u32,
}

/// Replicas of the computing partition that take turns: each has a named barrier (Q41, Q50).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turns {
    /// Name of the declaration.
    pub name: &'static str,
    /// The named barrier of the first replica; the others follow.
    pub id: u32,
    pub replicas: u64,
}

/// Bytes of shared memory from an offset on, and the barrier at which the warps meet that use them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scratch {
    pub offset: u64,
    pub bytes: u64,
    pub barrier: &'static str,
}

/// A partition.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    pub name: &'static str,
    pub role: PartitionRole,
    pub warp: u32,
    pub warps: u32,
    pub registers: u32,
    /// How its tiles lie, where that is not what its products say.
    pub layout: Option<RegisterLayout>,
    /// By which its warps exchange what they do together (C65).
    pub scratch: Option<Scratch>,
}

impl Partition {
    /// The attributes of `warploom.partition`.
    pub fn attributes(&self) -> Vec<(&'static str, Attr)> {
        let mut attributes = vec![
            ("sym_name", Attr::string(self.name)),
            ("warp", number(self.warp)),
            ("warps", number(self.warps)),
            ("registers", number(self.registers)),
        ];
        let array = |elem: Type, values: &[u64]| Attr::DenseArray {
            elem,
            values: values.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect(),
        };
        if let Some(layout) = self.layout {
            let (name, tiling) = match layout {
                RegisterLayout::MmaSync { m, n } => ("mma_sync", vec![m, n]),
                RegisterLayout::Wgmma { columns: 1 } | RegisterLayout::TensorHalves { columns: 1 } => {
                    ("wgmma", Vec::new())
                }
                RegisterLayout::Wgmma { columns } | RegisterLayout::TensorHalves { columns } => {
                    ("wgmma", vec![u64::from(self.warps) / 4 / columns.max(1), columns])
                }
                RegisterLayout::TensorPairs => ("wgmma_pairs", Vec::new()),
                RegisterLayout::TensorRows => ("rows", Vec::new()),
                RegisterLayout::Blocked { vector, across } => ("blocked", vec![vector, across]),
            };
            attributes.push(("layout", Attr::string(name)));
            if !tiling.is_empty() {
                attributes.push(("tiling", array(Type::I32, &tiling)));
            }
        }
        if let Some(scratch) = self.scratch {
            attributes.push(("scratch", array(Type::I64, &[scratch.offset, scratch.bytes])));
            attributes.push(("barrier", Attr::symbol(scratch.barrier)));
        }
        attributes
    }
}

/// The layout of a program.
#[derive(Clone, Debug)]
pub(crate) struct ProgramLayout {
    pub warps: u32,
    /// Registers per thread at launch.
    pub max_registers: u32,
    /// Why registers are split between the partitions as they are.
    pub split: String,
    /// Bytes of dynamic shared memory.
    pub shared: u64,
    /// Columns of tensor memory, and where in shared memory their address is put.
    pub tmem: Option<(u64, u64)>,
    pub rings: Vec<Ring>,
    pub barriers: Vec<Barrier>,
    pub turns: Option<Turns>,
    /// By first warp: the loading partition, the issuing one where products go to tensor memory, the computing one.
    pub partitions: Vec<Partition>,
    /// Records of the descriptor arguments, for the launch (C12).
    pub records: Vec<Attr>,
    /// Where in shared memory tensor maps are put together, where the kernel makes any (C16).
    pub maps: Option<u64>,
}
