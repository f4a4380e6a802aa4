//! The question and the answer: an operation in plain numbers, and what it costs.

use serde::{Deserialize, Serialize};

use super::{OpKind, Origin};
use crate::Element;
use crate::mma::{MmaInstruction, OperandPlace};

/// An operation on a whole tile, as far as its cost goes. Sizes are those of the tile in one CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Op {
    /// Copy from global to shared memory by the copy engine.
    TmaLoad {
        /// Bytes of the tile.
        bytes: u64,
        /// Bytes of one row, along the innermost dimension.
        inner_bytes: u64,
    },
    /// Copy or reduction from shared to global memory by the copy engine.
    TmaStore {
        /// Bytes of the tile.
        bytes: u64,
    },
    /// Per-thread asynchronous copy from global to shared memory.
    CpAsync {
        /// Bytes of the tile.
        bytes: u64,
        /// How lanes reach it.
        lanes: Access,
    },
    /// Load from global memory into registers.
    GlobalLoad {
        /// Bytes of the tile.
        bytes: u64,
        /// How lanes reach it.
        lanes: Access,
    },
    /// Store from registers into global memory.
    GlobalStore {
        /// Bytes of the tile.
        bytes: u64,
        /// How lanes reach it.
        lanes: Access,
    },
    /// Atomic on global memory.
    GlobalAtomic {
        /// Bytes of the tile.
        bytes: u64,
        /// How lanes reach it.
        lanes: Access,
    },
    /// Load or store of shared memory.
    Shared {
        /// Bytes of the tile.
        bytes: u64,
    },
    /// Tensor-core product.
    Mma(MmaOp),
    /// Tensor memory to registers.
    TmemLoad {
        /// Elements of the tile.
        elements: u64,
    },
    /// Registers to tensor memory.
    TmemStore {
        /// Elements of the tile.
        elements: u64,
    },
    /// Multiplication of each element.
    Mul {
        /// Elements of the tile.
        elements: u64,
    },
    /// Addition or other cheap arithmetic of floats on each element.
    Elementwise {
        /// Elements of the tile.
        elements: u64,
    },
    /// Comparison, selection, logic or whole numbers on each element.
    Logic {
        /// Elements of the tile.
        elements: u64,
    },
    /// Shift to the left of each element by numbers that are known.
    Shift {
        /// Elements of the tile.
        elements: u64,
    },
    /// Maximum or minimum on each element.
    MinMax {
        /// Elements of the tile.
        elements: u64,
    },
    /// exp2, sqrt, rsqrt, tanh or another single special-function instruction for each element.
    Exp2 {
        /// Elements of the tile.
        elements: u64,
    },
    /// log2 of each element.
    Log2 {
        /// Elements of the tile.
        elements: u64,
    },
    /// Conversion of each element between whole number and float, or of floats of any other size.
    Convert {
        /// Elements of the tile.
        elements: u64,
    },
    /// Conversion of each element to a float of half as many bits.
    Narrow {
        /// Elements of the tile.
        elements: u64,
    },
    /// Conversion of each element to a float of twice as many bits, from bf16.
    Widen {
        /// Elements of the tile.
        elements: u64,
    },
    /// The same from f16.
    WidenHalf {
        /// Elements of the tile.
        elements: u64,
    },
    /// Conversion of each element from a float of 8 bits.
    Widen8 {
        /// Elements of the tile.
        elements: u64,
    },
    /// Conversion of each element to a float of 8 bits.
    Narrow8 {
        /// Elements of the tile.
        elements: u64,
    },
    /// Reduction along an axis.
    Reduce {
        /// Elements of the input.
        elements: u64,
        /// Lanes of a warp that share a row along the last axis.
        sharing: u64,
        /// Rows that are reduced: elements of the result.
        rows: u64,
        /// How two elements are combined.
        combine: Combine,
        /// Whether the axis is the last one.
        last_axis: bool,
    },
    /// Exchange of elements between threads.
    Layout {
        /// Bytes of the tile.
        bytes: u64,
    },
    /// Hand-over to another partition through an mbarrier.
    Mbarrier,
    /// Hand-over to another partition through a named barrier.
    NamedBarrier,
    /// Registers to shared memory to another partition's registers.
    RegSmemReg {
        /// Bytes handed over.
        bytes: u64,
    },
    /// Waiting on a barrier that is already complete.
    BarrierWait,
    /// Arriving at a barrier.
    BarrierArrive,
    /// What a trip of a partition's loop takes beside its operations and its rings.
    Trip {
        /// Lanes that run the loop.
        lanes: u64,
    },
    /// Waiting for a slot of a ring.
    RingWait {
        /// Lanes that wait.
        lanes: u64,
    },
    /// Handing a slot of a ring over.
    RingArrive {
        /// Lanes that run it.
        lanes: u64,
    },
    /// Going on to the next slot of a ring, and its phase.
    RingAdvance {
        /// Lanes that run it.
        lanes: u64,
    },
    /// Waiting for one's own threads' copies or fencing their writes; going on to the next slot of such a ring.
    RingSync {
        /// Lanes that wait.
        lanes: u64,
    },
    /// Scalar arithmetic, a branch, an index function.
    Control,
    /// An operation nobody has a cost for: one issue slot, and [`Origin::Unverified`] as the note (T33).
    Unknown,
}

/// How lanes reach a tile in global memory, all lanes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Instructions that move bytes.
    pub moves: u64,
    /// Addresses: of neighbours that stand side by side there is one.
    pub addresses: u64,
    /// Masks of whole moves that change from trip to trip.
    pub masks: u64,
    /// The same of moves of which a part may be masked.
    pub partial: u64,
}

/// Bytes that one lane moves at a time at most.
pub(super) const WIDEST: u64 = 16;

impl Access {
    /// The widest moves, none masked.
    pub fn widest(bytes: u64) -> Access {
        let moves = bytes.div_ceil(WIDEST);
        Access { moves, addresses: moves, masks: 0, partial: 0 }
    }
}

/// How a reduction combines two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Combine {
    /// Addition, and anything else that is arithmetic.
    Sum,
    /// Maximum or minimum.
    Max,
}

/// A tile product D[m, n] += A[m, k] * B[k, n].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MmaOp {
    /// The instruction family that computes it.
    pub instruction: MmaInstruction,
    /// Rows of A and D, elements.
    pub m: u32,
    /// Columns of B and D, elements.
    pub n: u32,
    /// Columns of A, elements.
    pub k: u32,
    /// Type of A and B.
    pub element: Element,
    /// Where A lies.
    pub a: OperandPlace,
    /// Warps along M and along N that share an mma.sync product: each reads its rows of A and its columns of B into registers
    /// itself. Other families read operands once per instruction, whoever issues it.
    #[serde(default = "undivided")]
    pub split: [u32; 2],
}

/// A product that nobody shares.
fn undivided() -> [u32; 2] {
    [1, 1]
}

impl Op {
    /// The data-file entry that prices this operation.
    pub fn kind(&self) -> OpKind {
        match self {
            Op::TmaLoad { .. } => OpKind::TmaLoad,
            Op::TmaStore { .. } => OpKind::TmaStore,
            Op::CpAsync { .. } => OpKind::CpAsync,
            Op::GlobalLoad { .. } => OpKind::GlobalLoad,
            Op::GlobalStore { .. } => OpKind::GlobalStore,
            Op::GlobalAtomic { .. } => OpKind::GlobalAtomic,
            Op::Shared { .. } => OpKind::Shared,
            Op::Mma(mma) => match mma.instruction {
                MmaInstruction::MmaSync => OpKind::MmaSync,
                MmaInstruction::Wgmma => OpKind::Wgmma,
                MmaInstruction::Tcgen05 => OpKind::Tcgen05,
            },
            Op::TmemLoad { .. } => OpKind::TmemLd,
            Op::TmemStore { .. } => OpKind::TmemSt,
            Op::Mul { .. } => OpKind::Mul,
            Op::Elementwise { .. } => OpKind::Elementwise,
            Op::Logic { .. } => OpKind::Logic,
            Op::Shift { .. } => OpKind::Shift,
            Op::MinMax { .. } => OpKind::MinMax,
            Op::Exp2 { .. } => OpKind::Exp2,
            Op::Log2 { .. } => OpKind::Log2,
            Op::Convert { .. } => OpKind::Convert,
            Op::Narrow { .. } => OpKind::Narrow,
            Op::Widen { .. } => OpKind::Widen,
            Op::WidenHalf { .. } => OpKind::WidenHalf,
            Op::Widen8 { .. } => OpKind::Widen8,
            Op::Narrow8 { .. } => OpKind::Narrow8,
            Op::Trip { .. } => OpKind::Trip,
            Op::RingWait { .. } => OpKind::RingWait,
            Op::RingArrive { .. } => OpKind::RingArrive,
            Op::RingAdvance { .. } => OpKind::RingAdvance,
            Op::RingSync { .. } => OpKind::RingSync,
            Op::Reduce { combine, last_axis, .. } => match (combine, last_axis) {
                (Combine::Sum, true) => OpKind::ReduceSumLast,
                (Combine::Sum, false) => OpKind::ReduceSumOuter,
                (Combine::Max, true) => OpKind::ReduceMaxLast,
                (Combine::Max, false) => OpKind::ReduceMaxOuter,
            },
            Op::Layout { .. } => OpKind::Layout,
            Op::Mbarrier => OpKind::Mbarrier,
            Op::NamedBarrier => OpKind::NamedBarrier,
            Op::RegSmemReg { .. } => OpKind::RegSmemReg,
            Op::BarrierWait => OpKind::BarrierWait,
            Op::BarrierArrive => OpKind::BarrierArrive,
            Op::Control | Op::Unknown => OpKind::Control,
        }
    }
}

/// What an operation costs, in whole clocks of the SM (T31).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpCost {
    /// From issue to visible result; feeds dependence edges.
    pub latency: u64,
    /// Units held; feeds resource bounds.
    pub uses: Vec<Use>,
    /// How long the issuing partition's instruction stream is held (S65).
    pub issue: u64,
    /// The weakest source among the numbers that went in.
    pub origin: Origin,
}

/// One unit held for some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    /// Name of the unit; see [`unit`](crate::cost::unit).
    pub unit: String,
    /// Clocks it is held.
    pub duration: u64,
    /// Clocks from the operation's issue until it is first held.
    pub start: u64,
}

impl OpCost {
    /// Clocks the unit is held in all; 0 for a unit the operation does not use.
    pub fn duration_on(&self, unit: &str) -> u64 {
        self.uses
            .iter()
            .filter(|held| held.unit == unit)
            .map(|held| held.duration)
            .fold(0, u64::saturating_add)
    }
}

/// Why an operation has no cost on a chip.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// The chip's file has no such entry: it cannot do this.
    #[error(
        "{chip} has no cost for `{kind}`: it has no such operation; choose another or add [op.{kind}] to a cost file"
    )]
    NoEntry {
        /// Name of the chip.
        chip: String,
        /// The entry asked for.
        kind: OpKind,
    },
    /// The unit multiplies no such type.
    #[error("unit {unit} of {chip} has no rate for {element}; it has {known}")]
    NoRate {
        /// Name of the chip.
        chip: String,
        /// The unit asked for.
        unit: String,
        /// The operand type.
        element: Element,
        /// The types it has a rate for.
        known: String,
    },
    /// The target was changed by hand and no longer holds together (T38).
    #[error("the cost data of {chip} is incomplete: `{key}`")]
    Incomplete {
        /// Name of the chip.
        chip: String,
        /// What is missing.
        key: String,
    },
    /// No warps to run on.
    #[error("an operation needs at least one warp")]
    NoWarps,
}

impl CostError {
    /// The rule that was broken (`docs/rules/T.md`).
    pub fn rule(&self) -> &'static str {
        match self {
            CostError::NoEntry { .. } => "T33",
            CostError::NoRate { .. } => "T35",
            CostError::Incomplete { .. } => "T38",
            CostError::NoWarps => "T32",
        }
    }
}
