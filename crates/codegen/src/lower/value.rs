//! What a value of the program is while code is made, and the coordinates tiles are evaluated at.

use std::rc::Rc;

use inkwell::values::IntValue;
use smallvec::SmallVec;
use warploom_ir::{Type, ValueId};

use crate::llvm::Val;

/// Where a coordinate starts: zero, or a value that differs between lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Base {
    /// Nothing: the coordinate is its offset.
    Zero,
    /// Row of the lane's first accumulator in the tile (C61).
    Row,
    /// Column of the lane's first accumulator in the tile (C61).
    Col,
}

/// Position along one dimension of a tile: a base and a constant, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Coord {
    /// The part that differs between lanes.
    pub base: Base,
    /// The constant part.
    pub offset: u32,
}

impl Coord {
    /// The first position.
    pub const ZERO: Coord = Coord { base: Base::Zero, offset: 0 };
}

/// Position in a tile, outermost dimension first.
pub(crate) type Coords = SmallVec<[Coord; 3]>;

/// A value at a position.
pub(crate) type Key = (ValueId, Coords);

/// A tile in registers, in the accumulator layout of its agent: for each block of 64 rows per warpgroup,
/// accumulator after accumulator (C61). 16-bit elements are packed in pairs of columns.
#[derive(Clone, Debug)]
pub(crate) struct Fragment<'c> {
    /// Columns of the tile.
    pub cols: u64,
    /// Whether a register holds two columns.
    pub packed: bool,
    /// The registers: `blocks * cols / 2` elements, or half as many pairs.
    pub registers: Rc<[Val<'c>]>,
}

/// A tile in a slot of a ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'c> {
    /// Which ring.
    pub ring: usize,
    /// Which payload of it.
    pub payload: usize,
    /// Which slot.
    pub slot: IntValue<'c>,
    /// Whether rows and columns are exchanged.
    pub transposed: bool,
}

/// What is known of a value.
#[derive(Clone, Debug)]
pub(crate) enum Bound<'c> {
    /// A scalar or pointer.
    Scalar(Val<'c>),
    /// A descriptor: a pointer to its parameter.
    Descriptor(Val<'c>),
    /// A tile in registers.
    Fragment(Fragment<'c>),
    /// A tile in shared memory.
    View(View<'c>),
    /// A tile whose elements are computed where they are used.
    Lazy(Lazy),
    /// A value that was refused.
    Poison,
}

/// What an unevaluated tile depends on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Lazy {
    /// One bit per dimension along which elements may differ.
    pub varies: u8,
    /// Memory it reads when it is evaluated.
    pub reads: Memory,
}

/// A set of memories: global, and each ring's slots. Rings beyond the 62nd count as one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Memory(u64);

impl Memory {
    /// None.
    pub const NONE: Memory = Memory(0);
    /// Global memory.
    pub const GLOBAL: Memory = Memory(1);

    /// The slots of a ring.
    pub fn ring(index: usize) -> Memory {
        Memory(2 << index.min(62))
    }

    /// Both sets.
    pub fn union(self, other: Memory) -> Memory {
        Memory(self.0 | other.0)
    }

    /// The first set less the second.
    pub fn without(self, other: Memory) -> Memory {
        Memory(self.0 & !other.0)
    }

    /// Whether the sets meet.
    pub fn meets(self, other: Memory) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether slots of a ring are among it.
    pub fn is_shared(self) -> bool {
        self.0 & !1 != 0
    }
}

/// Bits of a stored element of this type; `None` where it cannot be stored.
pub(crate) fn element_bits(ty: &Type) -> Option<u32> {
    match ty.elem_bits()? {
        1 => None,
        bits => Some(bits),
    }
}
