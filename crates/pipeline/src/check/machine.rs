//! What partitions share while a program runs: mbarriers, slots, copies in flight, named barriers.

use warploom_ir::ValueId;

use super::model::Model;

/// An mbarrier: it completes a phase when all arrivals came and all announced bytes landed.
#[derive(Clone, Debug)]
pub(super) struct Mbarrier {
    count: u64,
    pending: u64,
    bytes: i128,
    /// Phases completed.
    phases: u64,
}

impl Mbarrier {
    fn new(count: u64) -> Mbarrier {
        Mbarrier { count, pending: count, bytes: 0, phases: 0 }
    }

    /// One arrival that announces `bytes` more; false when the phase has all its arrivals already.
    pub fn arrive(&mut self, bytes: u64) -> bool {
        if self.pending == 0 {
            return false;
        }
        self.pending -= 1;
        self.bytes += i128::from(bytes);
        self.end_phase();
        true
    }

    /// Bytes that landed.
    pub fn land(&mut self, bytes: u64) {
        self.bytes -= i128::from(bytes);
        self.end_phase();
    }

    fn end_phase(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.phases += 1;
            self.pending = self.count;
        }
    }

    /// Whether a wait for this parity passes: the phase of that parity is complete.
    pub fn passes(&self, parity: u64) -> bool {
        self.phases & 1 != parity & 1
    }

    /// What is missing in the phase under way.
    pub fn missing(&self) -> String {
        format!(
            "{} of {} arrivals and {} B missing in phase {}",
            self.pending, self.count, self.bytes, self.phases
        )
    }

    /// Whether bytes were announced that never landed, or the other way round.
    pub fn unbalanced(&self) -> bool {
        self.bytes != 0
    }
}

/// A tile of a slot, by its position in [`Machine::places`].
pub(super) type PlaceId = usize;

/// A tile of a slot.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub ring: usize,
    pub slot: u64,
    /// Which write of its payload, counted over the ring, it holds; `None` while being written or spoilt.
    pub holds: Option<u64>,
    /// Places that share bytes with it, itself included.
    pub overlaps: Vec<PlaceId>,
    /// Warps that have waited for the slot since it was written last.
    pub taken: std::collections::BTreeSet<usize>,
}

/// A copy from global memory under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyInFlight {
    pub place: PlaceId,
    pub version: u64,
    pub bytes: u64,
    /// The descriptor that it goes by.
    pub map: Option<ValueId>,
}

/// What a lane that issues products left to the tensor core, in order.
#[derive(Clone, Debug)]
pub(super) enum Issued {
    /// A product: what it reads, where it adds up, and for which filling of that place.
    Product { reads: Vec<PlaceId>, accumulator: PlaceId, version: u64 },
    /// An arrival on a barrier of a ring once everything before is done.
    Commit { ring: usize, slot: usize, full: bool },
}

/// How far a warp's part of a tile has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// On its way.
    Flies,
    /// There for the warp that copied it.
    Landed,
    /// There for everybody.
    Public,
}

impl State {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            State::Flies => "under way",
            State::Landed => "waited for by itself alone",
            State::Public => "there",
        }
    }
}

/// What a warp copied of a tile: which copy of its ring it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub version: u64,
    pub state: State,
    /// Whether the warp has made it known to the asynchronous proxy, before it came to a barrier.
    pub fenced: bool,
}

/// What a warp wrote of a tile in tensor memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    /// How many tiles of its ring the warp had handed over before.
    pub version: u64,
    /// Whether the warp has handed it over.
    pub public: bool,
    /// Whether a product has taken it.
    pub read: bool,
}

/// A named barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Named {
    /// Threads that came to the generation under way.
    pub arrived: u64,
    /// Generations completed.
    pub generation: u64,
}

/// The shared state.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// Full mbarriers by ring and slot; none where a ring has none.
    pub full: Vec<Vec<Mbarrier>>,
    /// Empty mbarriers.
    pub empty: Vec<Vec<Mbarrier>>,
    pub places: Vec<Place>,
    /// First place of each ring's payloads.
    first_place: Vec<Vec<PlaceId>>,
    /// Copies issued so far, by ring and payload.
    pub issued: Vec<Vec<u64>>,
    pub copies: Vec<CopyInFlight>,
    /// Products and commits under way, by warp, oldest first.
    pub tensor: Vec<std::collections::VecDeque<Issued>>,
    /// Fillings of each ring of tensor memory that were committed.
    pub fillings: Vec<u64>,
    pub named: Vec<Named>,
    /// Tile writes from registers by (place, warp): whether they were fenced since.
    pub written: std::collections::BTreeMap<(PlaceId, usize), bool>,
    /// Rows of tensor memory that lanes wrote, by (place, warp).
    pub rows: std::collections::BTreeMap<(PlaceId, usize), Row>,
    /// Places of tensor memory over which a warp has written its rows of another one.
    pub lost: std::collections::BTreeSet<(PlaceId, usize)>,
    /// Parts of tiles copied by all lanes, by (place, warp).
    pub parts: std::collections::BTreeMap<(PlaceId, usize), Part>,
}

impl Machine {
    /// The state after set-up: every barrier initialised, nothing in any slot.
    pub fn new(model: &Model<'_>, warps: usize) -> Machine {
        let barriers = |present: bool, count: u64, depth: u64| -> Vec<Mbarrier> {
            (0..if present { depth } else { 0 }).map(|_| Mbarrier::new(count)).collect()
        };
        let mut spans = Vec::new();
        let mut places = Vec::new();
        let mut first_place = Vec::new();
        for (ring, data) in model.rings.iter().enumerate() {
            let mut firsts = Vec::new();
            for payload in &data.payloads {
                firsts.push(places.len());
                for slot in 0..data.depth {
                    let (first, end) = payload.span(slot);
                    spans.push((data.tensor, first, end));
                    places.push(Place {
                        ring,
                        slot,
                        holds: None,
                        overlaps: Vec::new(),
                        taken: Default::default(),
                    });
                }
            }
            first_place.push(firsts);
        }
        for (place, a) in places.iter_mut().zip(&spans) {
            let meets = |b: &(bool, u64, u64)| a.0 == b.0 && a.1 < b.2 && b.1 < a.2;
            place.overlaps = spans.iter().enumerate().filter(|(_, b)| meets(b)).map(|(i, _)| i).collect();
        }
        Machine {
            full: model.rings.iter().map(|r| barriers(r.full.is_some(), r.arrive_full, r.depth)).collect(),
            empty: model.rings.iter().map(|r| barriers(r.empty.is_some(), r.arrive_empty, r.depth)).collect(),
            places,
            first_place,
            issued: model.rings.iter().map(|r| vec![0; r.payloads.len()]).collect(),
            copies: Vec::new(),
            tensor: vec![std::collections::VecDeque::new(); warps],
            fillings: vec![0; model.rings.len()],
            named: vec![Named::default(); model.named()],
            written: std::collections::BTreeMap::new(),
            rows: std::collections::BTreeMap::new(),
            lost: std::collections::BTreeSet::new(),
            parts: std::collections::BTreeMap::new(),
        }
    }

    /// The place of a payload in a slot.
    pub fn place(&self, ring: usize, payload: usize, slot: u64) -> Option<PlaceId> {
        let first = *self.first_place.get(ring)?.get(payload)?;
        Some(first + usize::try_from(slot).ok()?)
    }

    /// Marks everything that shares bytes with a place as spoilt.
    pub fn spoil(&mut self, place: PlaceId) {
        let overlaps = self.places.get(place).map(|p| p.overlaps.clone()).unwrap_or_default();
        self.written.retain(|(other, _), _| *other == place || !overlaps.contains(other));
        for other in overlaps {
            if let Some(other) = self.places.get_mut(other) {
                other.holds = None;
            }
        }
    }

    /// Forgets what warps copied to other places that share bytes with this one.
    pub fn forget_parts(&mut self, place: PlaceId) {
        for other in self.others(place) {
            let copied: Vec<_> = self.parts_of(other).map(|(&key, _)| key).collect();
            copied.iter().for_each(|key| _ = self.parts.remove(key));
        }
    }

    /// What warps copied to a place, in the order of the warps.
    pub fn parts_of(&self, place: PlaceId) -> impl Iterator<Item = (&(PlaceId, usize), &Part)> {
        self.parts.range((place, 0)..=(place, usize::MAX))
    }

    /// Other places that share bytes with one.
    pub fn others(&self, place: PlaceId) -> Vec<PlaceId> {
        let overlaps = self.places.get(place).map(|p| p.overlaps.clone()).unwrap_or_default();
        overlaps.into_iter().filter(|&other| other != place).collect()
    }

    /// The last filling of a ring that a place, or one of the same ring with the same bytes, holds.
    pub fn held(&self, ring: usize, place: PlaceId) -> Option<u64> {
        let overlaps = self.places.get(place).map(|p| p.overlaps.as_slice()).unwrap_or_default();
        let own = overlaps.iter().filter_map(|&p| self.places.get(p)).filter(|p| p.ring == ring);
        own.filter_map(|p| p.holds).max()
    }

    /// Whether two places share bytes.
    pub fn meet(&self, a: PlaceId, b: PlaceId) -> bool {
        self.places.get(a).is_some_and(|p| p.overlaps.contains(&b))
    }

    /// How many things are under way that can finish next: copies, and the oldest of each warp's products and commits.
    pub fn flying(&self) -> usize {
        self.copies.len() + self.tensor.iter().filter(|queue| !queue.is_empty()).count()
    }

    /// Whether a product under way reads or writes these bytes.
    pub fn multiplying(&self, place: PlaceId) -> bool {
        let uses = |issued: &Issued| match issued {
            Issued::Product { reads, accumulator, .. } => {
                self.meet(*accumulator, place) || reads.iter().any(|&read| self.meet(read, place))
            }
            Issued::Commit { .. } => false,
        };
        self.tensor.iter().flatten().any(uses)
    }

    /// Whether a product of this filling of a place was issued.
    pub fn accumulators(&self, place: PlaceId, filling: u64) -> bool {
        let starts = |issued: &Issued| matches!(issued, Issued::Product { accumulator, version, .. } if *accumulator == place && *version == filling);
        self.places.get(place).is_some_and(|p| p.holds == Some(filling))
            || self.tensor.iter().flatten().any(starts)
    }

    /// Lets the oldest product or commit of a warp finish. False when a barrier has all its arrivals already.
    fn finish(&mut self, warp: usize) -> bool {
        match self.tensor.get_mut(warp).and_then(|queue| queue.pop_front()) {
            Some(Issued::Product { accumulator, version, .. }) => {
                if let Some(place) = self.places.get_mut(accumulator) {
                    place.holds = Some(version);
                }
                true
            }
            Some(Issued::Commit { ring, slot, full }) => {
                let barriers = if full { &mut self.full } else { &mut self.empty };
                barriers.get_mut(ring).and_then(|b| b.get_mut(slot)).is_some_and(|b| b.arrive(0))
            }
            None => true,
        }
    }

    /// Lets copy number `index` of those in flight land, or what the warps left to the tensor core behind the copies.
    /// False when an arrival came too many.
    pub fn land(&mut self, index: usize) -> bool {
        if let Some(number) = index.checked_sub(self.copies.len()) {
            let busy = self.tensor.iter().enumerate().filter(|(_, queue)| !queue.is_empty());
            let warp = busy.map(|(warp, _)| warp).nth(number);
            return warp.is_none_or(|warp| self.finish(warp));
        }
        let copy = self.copies.remove(index);
        let Some(place) = self.places.get_mut(copy.place) else { return true };
        place.holds = Some(copy.version);
        let (ring, slot) = (place.ring, usize::try_from(place.slot).unwrap_or(usize::MAX));
        if let Some(barrier) = self.full.get_mut(ring).and_then(|b| b.get_mut(slot)) {
            barrier.land(copy.bytes);
        }
        true
    }
}
