//! What a value of the program is while code is made, and the coordinates tiles are evaluated at.

use std::rc::Rc;

use inkwell::values::IntValue;
use smallvec::SmallVec;
use warploom_ir::{Type, ValueId};

use super::bits::sum;
use crate::family::{Axis, Family};
use crate::llvm::Val;

/// Where a coordinate starts: zero, or a value that differs between lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Base {
    /// Nothing: the coordinate is its offset.
    Zero,
    /// The lane's own first row or column in a family of layouts.
    Lane(Family, Axis),
    /// The lane's own first column where the lanes of a quad have dealt out so many groups of eight columns
    /// of accumulators.
    Quad(u8),
    /// Some bits of the lane's number in its partition, as the lowest.
    Flat {
        /// The first.
        shift: u8,
        /// How many.
        bits: u8,
    },
    /// A sum (xor) of what each bit of the lane's number in its partition gives.
    Images(Images),
    /// A number that code computes: which of [`Lower::places`].
    Computed(u32),
}

/// What the bits of a lane's number in its partition give, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Images([u16; Images::BITS]);

impl Images {
    /// Bits of the number of a thread of a CTA.
    pub const BITS: usize = 10;

    /// Of so many bits; none where one gives more than a coordinate holds.
    pub fn new(images: &[u64]) -> Option<Images> {
        let mut all = [0; Images::BITS];
        for (at, &image) in images.iter().enumerate() {
            *all.get_mut(at)? = u16::try_from(image).ok()?;
        }
        Some(Images(all))
    }

    /// One for each bit.
    pub fn each(self) -> [u64; Images::BITS] {
        self.0.map(u64::from)
    }
}

impl Base {
    /// A power of two of which every lane's start is a multiple.
    pub fn multiple(self) -> u32 {
        match self {
            Base::Zero => 1 << 31,
            Base::Lane(family, Axis::Col) => family.run() as u32,
            Base::Images(images) => {
                let lowest = images.each().iter().fold(0, |all, image| all | image).trailing_zeros();
                1 << lowest.min(31)
            }
            Base::Lane(_, Axis::Row) | Base::Quad(_) | Base::Flat { .. } | Base::Computed(_) => 1,
        }
    }

    /// Where thread number `thread` of a partition starts; `None` where code computes it.
    pub fn of(self, thread: u64) -> Option<u64> {
        match self {
            Base::Zero => Some(0),
            Base::Lane(family, axis) => {
                let (row, col) = family.first_of(thread);
                Some(if axis == Axis::Row { row } else { col })
            }
            Base::Quad(groups) => {
                let groups = u64::from(groups);
                Some((thread & (groups - 1)) << 3 | (thread & 3 & !(groups - 1)) << 1)
            }
            Base::Flat { shift, bits } => Some(thread >> shift & ((1 << bits) - 1)),
            Base::Images(images) => Some(sum(images.each(), thread)),
            Base::Computed(_) => None,
        }
    }
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

    /// A position relative to the lane's own first row or column.
    pub fn lane(family: Family, axis: Axis, offset: u32) -> Coord {
        Coord { base: family.base(axis), offset }
    }
}

impl Family {
    /// The lane's own first row, or column of the tiles that the family is [sized](Family::sized) for.
    pub fn base(self, axis: Axis) -> Base {
        match axis {
            Axis::Row => Base::Lane(self.bare(), axis),
            Axis::Col => Base::Lane(self, axis),
        }
    }

    /// A position along a dimension, `offset` from the lane's own first.
    pub fn coord(self, axis: Axis, offset: u64) -> Coord {
        Coord::lane(self, axis, offset as u32)
    }
}

/// Position in a tile, outermost dimension first.
pub(crate) type Coords = SmallVec<[Coord; 3]>;

/// A value at a position.
pub(crate) type Key = (ValueId, Coords);

/// Which elements of a value a lane holds in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// A matrix: the elements of [`Family::place`] in order, 16-bit ones in pairs where `packed`.
    Tile {
        /// Columns of the tile.
        cols: u64,
        /// Whether a register holds two columns.
        packed: bool,
    },
    /// A vector along one dimension of the matrices: the elements of [`Family::held`] in order.
    Slice {
        /// The dimension.
        axis: Axis,
        /// Its extent.
        extent: u64,
    },
    /// Every element, row by row.
    Whole,
    /// Elements numbered row by row, which the lanes of the partition hold in turn.
    Flat,
    /// Another layout: which of [`Lower::layouts`](super::Lower).
    Linear(u32),
}

/// A tile in registers, in a layout of its partition.
#[derive(Clone, Debug)]
pub(crate) struct Fragment<'c> {
    /// The layout.
    pub family: Family,
    /// Which elements.
    pub form: Form,
    /// The registers.
    pub registers: Rc<[Val<'c>]>,
    /// Where a product is in flight: its number, and the registers it reads until it is waited for (C46).
    pub flight: Option<Flight<'c>>,
}

impl<'c> Fragment<'c> {
    /// A fragment that nothing asynchronous writes.
    pub fn finished(family: Family, form: Form, registers: Rc<[Val<'c>]>) -> Fragment<'c> {
        Fragment { family, form, registers, flight: None }
    }
}

/// A product that may be unfinished.
#[derive(Clone, Debug)]
pub(crate) struct Flight<'c> {
    /// Its number in the order of the text.
    pub number: u64,
    /// Registers that it reads.
    pub reads: Rc<[Val<'c>]>,
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
    /// Whether the slot was written, where that is known at run time only; it reads as zeros otherwise.
    pub written: Option<IntValue<'c>>,
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
    pub varies: u32,
    /// Memory it reads when it is evaluated.
    pub reads: Memory,
    /// Along the last dimension but one and the last: aligned groups of elements that one load brings, as powers of two.
    pub alike: [u8; 2],
}

/// A set of memories: global, each ring's slots (those beyond the 61st count as one), and tiles in registers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Memory(u64);

impl Memory {
    /// None.
    pub const NONE: Memory = Memory(0);
    /// Global memory.
    pub const GLOBAL: Memory = Memory(1);

    /// Tiles in registers, whose values do not change; what they are used for has its place beside products.
    pub const REGISTERS: Memory = Memory(1 << 63);

    /// The slots of a ring.
    pub fn ring(index: usize) -> Memory {
        Memory(2 << index.min(61))
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
        self.without(Memory::REGISTERS).0 & !1 != 0
    }
}

/// Bits of a stored element of this type; `None` where it cannot be stored.
pub(crate) fn element_bits(ty: &Type) -> Option<u32> {
    match ty.elem_bits()? {
        1 => None,
        bits => Some(bits),
    }
}
