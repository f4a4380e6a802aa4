//! Where everything of a program lies, as data.

use warploom_ir::{Attr, Type};

use crate::loops::PartitionRole;

/// What a pipeline is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RingUse {
    /// Ring number n of the kernel.
    Ring(usize),
    /// The staging buffer of store number n.
    Staging(usize),
    /// Accumulator number n in tensor memory; offset and stride of its payload count columns.
    Accumulator(usize),
    /// Operand number n in tensor memory, likewise.
    Operand(usize),
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
    /// The store whose staging it guards.
    pub store: usize,
    pub name: String,
    pub id: u32,
    pub threads: u32,
}

/// Replicas of the computing partition that take turns: each has a named barrier (Q41).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turns {
    /// Name of the declaration.
    pub name: &'static str,
    /// The named barrier of the first replica; the others follow.
    pub id: u32,
    pub replicas: u64,
}

/// A partition.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    pub role: PartitionRole,
    pub warp: u32,
    pub warps: u32,
    pub registers: u32,
    /// Whether its tiles lie as tensor memory gives them: a row to each lane (C66).
    pub rows: bool,
}

impl Partition {
    /// The attributes of `warploom.partition`.
    pub fn attributes(&self) -> Vec<(&'static str, Attr)> {
        let number = |n: u32| Attr::i32(i32::try_from(n).unwrap_or(i32::MAX));
        let mut attributes = vec![
            ("sym_name", Attr::string(self.role.name())),
            ("warp", number(self.warp)),
            ("warps", number(self.warps)),
            ("registers", number(self.registers)),
        ];
        if self.rows {
            attributes.push(("layout", Attr::string("rows")));
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
}
