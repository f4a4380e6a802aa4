//! Conversions between distributed layouts (G12): a plan is data that a lowering follows step by step.

mod cost;
mod exchange;
mod flags;
mod plan;
mod shuffle;
mod source;
mod transfer;

pub use cost::{Counts, Prices};
pub use plan::convert;

use crate::access::Access;
use crate::dim::Dim;
use crate::layout::Layout;

/// How to go from one distributed layout to another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Plan {
    /// Every lane has each element in the right register already.
    Nothing,
    /// Every lane has its elements, in other registers.
    Moves(Moves),
    /// Lanes of a warp exchange words.
    Shuffles(Shuffles),
    /// Through shared memory.
    Exchange(Exchange),
}

impl Plan {
    /// The name in one word.
    pub fn name(&self) -> &'static str {
        match self {
            Plan::Nothing => "nothing",
            Plan::Moves(_) => "moves",
            Plan::Shuffles(_) => "shuffles",
            Plan::Exchange(_) => "exchange",
        }
    }
}

/// A plan with what it takes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Conversion {
    /// The steps.
    pub plan: Plan,
    /// Instructions, transactions and bytes.
    pub counts: Counts,
}

/// Moves of registers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Moves {
    /// (register of the target, lane, warp, cta) onto the register of the source that has its element. Where it depends
    /// on lane or warp, the lane selects.
    pub source: Layout,
}

/// Warp shuffles. In each round every lane puts one word together from registers of its own, every lane takes the word
/// of one lane of its warp, and puts the elements into registers of the target.
///
/// All numbers are sums (xor) of a part that is linear in (lane, warp, cta), the same in all rounds, and a constant of
/// the round.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shuffles {
    /// The first register of the source that a lane sends: (lane, warp, cta) onto register.
    pub send: Layout,
    /// The lane whose word a lane takes: (lane, warp, cta) onto lane.
    pub from: Layout,
    /// The first register of the target that a lane fills: (lane, warp, cta) onto register.
    pub into: Layout,
    /// The elements of a word: register masks of the source, and where each goes, of the target.
    pub pack: Vec<Packed>,
    /// The rounds.
    pub rounds: Vec<Round>,
    /// Register of the target onto the register whose value it has: itself but for copies, which are filled last.
    pub copies: Layout,
}

/// One bit of the number of an element in a word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Packed {
    /// Added to the register that is sent.
    pub send: u64,
    /// Added to the register that is filled.
    pub into: u64,
}

/// The constants of a round.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Round {
    /// Added to [`Shuffles::send`].
    pub send: u64,
    /// Added to [`Shuffles::from`].
    pub from: u64,
    /// Added to [`Shuffles::into`].
    pub into: u64,
    /// Whether every lane takes its own word: no shuffle.
    pub home: bool,
}

/// Who exchanges through shared memory, and so who waits for whom: before the stores (others may still read what lay
/// there) and between stores and loads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Scope {
    /// The lanes of each warp.
    Warp,
    /// The warps of the partition.
    Warps,
}

/// An exchange through shared memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Exchange {
    /// Who waits for whom.
    pub scope: Scope,
    /// Bytes of scratch memory, aligned to 128.
    pub bytes: u64,
    /// Writing.
    pub store: Transfer,
    /// Reading.
    pub load: Transfer,
    /// Register of the target onto the register whose value it has: itself but for copies, which are filled last.
    pub copies: Layout,
}

/// One direction of an exchange.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Transfer {
    /// (register, lane, warp, cta) onto the offset in the scratch memory of the CTA, in elements.
    pub to: Layout,
    /// The instruction.
    pub kind: TransferKind,
    /// The registers of each instruction; for matrices `vector` is what shares a 32-bit register.
    pub access: Access,
    /// Bits of lane and warp that must be zero for a lane to act: copies do not write (G11).
    pub idle: Vec<(Dim, u64)>,
}

/// The instruction of a transfer. Exhaustive: who writes instructions must know each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TransferKind {
    /// `ld.shared`, `st.shared` of a piece.
    Pieces,
    /// `ldmatrix`, `stmatrix`: so many matrices at once, one for each of as many pieces in order.
    Matrices {
        /// 1, 2 or 4.
        count: u64,
        /// `.trans`.
        trans: bool,
    },
}
