//! One partition's walk through the kernel, as data.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use warploom_ir::{BlockId, OpId, ValueId};

use crate::loops::PartitionRole;
use crate::specialize::builder::Builder;
use crate::specialize::copy::Scope;
use crate::specialize::needed::Needed;

/// The (index, phase) of a ring (C23).
pub(super) type Iterator2 = [ValueId; 2];

/// A partition under construction. `scopes[0]` holds the iteration under way; a rotated loop has the next one beside
/// it.
pub(super) struct Walker<'b, 'a> {
    pub b: &'b mut Builder<'a>,
    pub role: PartitionRole,
    pub needed: Needed,
    /// Where operations go.
    pub at: BlockId,
    pub scopes: Vec<Scope>,
    /// Iterators of the rings used so far; others are at their start.
    pub iterators: BTreeMap<usize, Iterator2>,
    /// Slots waited for and not yet given back.
    pub open: Vec<Open>,
    /// Accumulators in tensor memory waited for and not yet given back.
    pub reading: Vec<Reading>,
    /// Rings of the products in tensor memory that this trip has read and not yet given back.
    pub products: Vec<usize>,
    /// In the issuing partition, whether a trip is not the first of its loop.
    pub later: Option<ValueId>,
    /// Products that may be unfinished, oldest first.
    pub issued: VecDeque<Issued>,
    /// Rings whose slots the loop under way gives back a trip late.
    pub lagging: BTreeSet<usize>,
    /// What values have become behind a wait.
    pub waited: BTreeMap<ValueId, ValueId>,
    /// The turns of the replicas in the loop under way.
    pub turns: Option<LoopTurns>,
    /// Whether a store of the last turn of a loop may still read its staging.
    pub storing: bool,
    /// Reads of global memory that were passed and that nobody has asked for yet: they come before the next write.
    pub passed: Vec<OpId>,
    /// Copies have no names of their own: a rotated loop has several of each value, one inside the other.
    pub nameless: bool,
    /// For a rotated loop: what the arguments of the next iteration are in this one.
    pub next_of: BTreeMap<ValueId, ValueId>,
}

/// A slot that was waited for.
pub(super) struct Open {
    pub ring: usize,
    /// The iteration that reads it.
    pub tag: usize,
    /// Products that have yet to finish with it.
    pub readers: BTreeSet<OpId>,
}

/// A product that may be unfinished.
pub(super) struct Issued {
    pub dot: OpId,
    pub tag: usize,
    /// Its result in the program.
    pub result: ValueId,
    /// The operand that it reads from registers, as the kernel has it.
    pub operand: Option<ValueId>,
    /// A later product goes on in its registers.
    pub superseded: bool,
}

/// An accumulator that was waited for and not yet given back.
pub(super) struct Reading {
    /// Which of the selection's accumulators.
    pub accumulator: usize,
    /// Where it stands in the layout.
    pub ring: usize,
}

/// The turns of a loop under way.
#[derive(Clone, Debug)]
pub(super) struct LoopTurns {
    /// Products behind which it is the next replica's turn.
    pub ends: BTreeSet<OpId>,
    /// Whether the turn is the replica's own where a trip begins.
    pub across: bool,
    /// Whether it is its own now.
    pub own: bool,
}
