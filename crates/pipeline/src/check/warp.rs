//! One warp: where it is in its partition's region, what its values are, what it has under way.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use warploom_ir::{BlockId, OpId, SecondaryMap, ValueId};

use super::machine::PlaceId;

/// What the checker knows of a value.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Val {
    /// An integer.
    Int(i64),
    /// An integer that the program leaves undefined: divided by zero, or past the greatest number.
    Undefined,
    /// A pointer: which argument, and how many elements behind it.
    Pointer { key: u64, offset: i64 },
    /// A view of a slot: where, and which write it should show.
    View { place: PlaceId, version: u64 },
    /// The result of product number n of this warp.
    Product(u64),
    /// Anything else.
    #[default]
    Other,
}

/// A block under execution.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub block: BlockId,
    /// Next operation.
    pub at: usize,
    /// The loop it is the body of, and the trip.
    pub scf_for: Option<Trip>,
    /// The branch it is a region of.
    pub scf_if: Option<OpId>,
}

/// A loop under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Trip {
    pub op: OpId,
    /// The trip under way, from 0.
    pub number: u64,
    /// Trips in all.
    pub of: u64,
    pub lower: i64,
    pub step: i64,
}

impl Trip {
    /// The induction variable.
    pub fn induction(&self) -> Val {
        let passed = i64::try_from(self.number).unwrap_or(i64::MAX);
        Val::Int(self.lower.saturating_add(self.step.saturating_mul(passed)))
    }
}

/// A product under way and the places it reads.
#[derive(Clone, Debug)]
pub(super) struct Product {
    pub number: u64,
    pub reads: Vec<PlaceId>,
}

/// One warp of a partition.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    pub partition: usize,
    /// First warp of its partition: the one whose lane is elected.
    pub first: bool,
    pub frames: Vec<Frame>,
    pub values: SecondaryMap<ValueId, Val>,
    /// Products under way, oldest first.
    pub products: VecDeque<Product>,
    /// Products issued so far.
    pub issued: u64,
    /// Whether products were issued into tensor memory since the last commit.
    pub uncommitted: bool,
    /// Waits passed, by ring.
    pub waits: Vec<u64>,
    /// Slots skipped that others wait for, by ring; they count as waits.
    pub skipped: Vec<u64>,
    /// Tiles handed over from registers, by ring.
    pub commits: Vec<u64>,
    /// Slots given back, by ring.
    pub releases: Vec<u64>,
    /// Slots read through the generic proxy since the last proxy fence: (ring, slot).
    pub read_unfenced: BTreeSet<(usize, u64)>,
    /// Stores to global memory under way: of the open group, then of each committed one.
    pub open_stores: Vec<PlaceId>,
    pub stores: VecDeque<Vec<PlaceId>>,
    /// Descriptors of stores that have perhaps been read from, but are not known to have ended.
    pub sent_by: BTreeSet<ValueId>,
    /// Copies of its own under way: of the open group, then of each committed one, with their versions.
    pub open_group: Vec<(PlaceId, u64)>,
    pub groups: VecDeque<Vec<(PlaceId, u64)>>,
    /// Copies made and views taken so far, by ring and payload.
    pub copied: BTreeMap<(usize, usize), u64>,
    pub viewed: BTreeMap<(usize, usize), u64>,
    /// The generation of a named barrier it waits for.
    pub at_barrier: Option<(usize, u64)>,
    /// How often it has asked memory for what others may have changed, by operation.
    pub asked: BTreeMap<OpId, u64>,
}

impl Warp {
    /// A warp at the start of its partition's region.
    pub fn new(partition: usize, first: bool, body: BlockId, rings: usize) -> Warp {
        Warp {
            partition,
            first,
            frames: vec![Frame { block: body, at: 0, scf_for: None, scf_if: None }],
            values: SecondaryMap::new(),
            products: VecDeque::new(),
            issued: 0,
            uncommitted: false,
            waits: vec![0; rings],
            skipped: vec![0; rings],
            commits: vec![0; rings],
            releases: vec![0; rings],
            read_unfenced: BTreeSet::new(),
            open_stores: Vec::new(),
            stores: VecDeque::new(),
            sent_by: BTreeSet::new(),
            open_group: Vec::new(),
            groups: VecDeque::new(),
            copied: BTreeMap::new(),
            viewed: BTreeMap::new(),
            at_barrier: None,
            asked: BTreeMap::new(),
        }
    }

    /// Waits on a ring that it passed itself.
    pub fn waited(&self, ring: usize) -> u64 {
        let of = |counts: &[u64]| counts.get(ring).copied().unwrap_or(0);
        of(&self.waits).saturating_sub(of(&self.skipped))
    }

    /// Whether its region has ended.
    pub fn done(&self) -> bool {
        self.frames.is_empty()
    }

    /// What is known of a value.
    pub fn value(&self, value: ValueId) -> Val {
        self.values[value]
    }

    /// The trip of the innermost loop.
    pub fn trip(&self) -> Option<u64> {
        self.frames.iter().rev().find_map(|f| f.scf_for).map(|trip| trip.number)
    }

    /// Whether product number `n` is finished.
    pub fn finished(&self, n: u64) -> bool {
        !self.products.iter().any(|p| p.number == n)
    }

    /// Places its copies to global memory still read.
    pub fn storing(&self) -> impl Iterator<Item = PlaceId> + '_ {
        self.open_stores.iter().chain(self.stores.iter().flatten()).copied()
    }
}
