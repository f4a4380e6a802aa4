//! Who touched which bytes: shadow state of shared memory, global memory and TMEM (E62).

use super::clock::Clock;
use super::mask::lanes;
use super::scope::Scope;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Bytes (or TMEM lanes) of one granule.
pub(crate) const GRANULE: u64 = 32;
/// Set in `Access::who` when the actor is an asynchronous operation's channel and not a warp.
pub(crate) const OPERATION: u32 = 1 << 31;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Read,
    Write,
    /// Atomics and mbarrier operations: they do not race with each other.
    Atomic,
}

/// One access to some bytes of a granule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// The cluster.
    pub home: u32,
    /// A warp of the cluster, or `OPERATION | channel`.
    pub who: u32,
    /// The warp's time, or the operation's number.
    pub time: u32,
    /// Instruction index.
    pub pc: u32,
    /// The synchronisation before it, as an instruction index plus one: 0 at the start.
    pub since: u32,
    /// How often the warp had executed that instruction.
    pub visit: u32,
    /// Lanes of a warp; for an operation, what it is pipelined with (0 for nothing).
    pub lanes: u32,
    /// Bytes of the granule.
    pub mask: u32,
    /// First byte, and bytes for each lane; 0 if every lane touches all of them.
    pub first: u8,
    pub stride: u8,
    /// The CTA's rank in its cluster.
    pub rank: u8,
    pub act: Act,
    /// Whom a strong access counts for.
    pub scope: Scope,
    /// Made in the async proxy.
    pub proxy: bool,
    /// A write of what was there already.
    pub same: bool,
    /// To global memory.
    pub global: bool,
}

impl Access {
    /// Who did it, in the grid.
    fn by(&self) -> (u32, u32) {
        (self.home, self.who)
    }

    /// Whether two strong accesses count for each other (E99).
    fn morally_strong(&self, other: &Access) -> bool {
        let between = Scope::between((self.home, self.rank.into()), (other.home, other.rank.into()));
        self.scope >= between && other.scope >= between
    }

    /// The lanes that touch some of these bytes.
    fn lanes_at(&self, bytes: u32) -> u32 {
        if self.stride == 0 || bytes == 0 {
            return self.lanes;
        }
        let lane0 = self.lanes.trailing_zeros();
        let at = |b: u32| b.saturating_sub(u32::from(self.first)) / u32::from(self.stride) + lane0;
        let (low, high) = (at(bytes.trailing_zeros()).min(31), at(31 - bytes.leading_zeros()).min(31));
        (u32::MAX >> (31 - high)) & (u32::MAX << low)
    }

    /// The bytes that one of the lanes touches.
    fn bytes_of(&self, lane: u32) -> u32 {
        if self.stride == 0 {
            return self.mask;
        }
        let start = u32::from(self.first) + (lane - self.lanes.trailing_zeros()) * u32::from(self.stride);
        let run = if self.stride >= 32 { u32::MAX } else { (1 << self.stride) - 1 };
        run.checked_shl(start).unwrap_or(0)
    }

    /// Whether this access happened before one by `other` that has `clock`, for the bytes both touch.
    pub(crate) fn before(&self, other: &Access, clock: &Clock, bytes: u32) -> bool {
        if self.who & OPERATION != 0 {
            // Products on the same accumulators keep their issue order (E52); `lanes` is their key.
            let pipelined = self.lanes != 0 && self.lanes == other.lanes && self.time < other.time;
            let same = self.by() == other.by() && (self.time == other.time || pipelined);
            return same || clock.seen.knows(self.home, self.who & !OPERATION, self.time);
        }
        // Lanes of one instruction do not race with each other.
        let (here, there) =
            ((self.by(), self.time, self.pc, self.visit), (other.by(), other.time, other.pc, other.visit));
        if here == there {
            return true;
        }
        let unknown = clock.seen.behind(self.home, self.who, self.lanes_at(bytes), self.time);
        // A lane's own accesses are in program order.
        let own = |l| {
            let who = other.lanes_at(bytes & self.bytes_of(l));
            who == 1 << l || clock.within.as_ref().is_some_and(|k| k.knows(who, l, self.time))
        };
        unknown == 0 || self.by() == other.by() && lanes(unknown).all(own)
    }

    /// Whether a later access, which is no write, is of the same lanes to the same bytes: ordering it orders this one too.
    fn repeated_by(&self, new: &Access) -> bool {
        let lanes = self.by() == new.by() && self.lanes == new.lanes && self.stride == new.stride;
        let bytes = (self.act, self.scope) == (new.act, new.scope)
            && self.mask == new.mask
            && self.proxy == new.proxy;
        lanes && bytes && new.who & OPERATION == 0
    }

    /// Whether a proxy fence stands between this generic access and `other` in the async proxy.
    fn fenced(&self, clock: &Clock, bytes: u32) -> bool {
        let [shared, global] = &clock.fenced;
        let fenced = if self.global { global } else { shared };
        if self.who & OPERATION != 0 {
            return fenced.knows(self.home, self.who & !OPERATION, self.time);
        }
        fenced.behind(self.home, self.who, self.lanes_at(bytes), self.time) == 0
    }
}

/// What an access ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub other: Access,
    pub kind: ConflictKind,
    /// Bytes of the granule.
    pub bytes: u32,
}

/// How two accesses collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConflictKind {
    /// Unordered (R01-R03).
    Race,
    /// Ordered, but without a proxy fence (R04).
    Proxy,
    /// A generic read before an async write without a proxy fence: only a note.
    ProxyRead,
}

/// Shadow state of one granule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Granule {
    pub seen: SmallVec<[Access; 2]>,
    /// Bytes that were read before they were written, of global memory.
    pub read: u32,
    /// Bytes that were written.
    pub defined: u32,
    /// Bytes whose last write was of a value that was never defined.
    pub poison: u32,
}

impl Granule {
    /// Records an access and returns the worst collision with an earlier one.
    pub(crate) fn access(&mut self, new: Access, clock: &Clock) -> Option<Conflict> {
        let worst = self.conflict(&new, clock);
        if new.act == Act::Write {
            self.seen.retain(|old| {
                old.mask &= !new.mask;
                old.mask != 0
            });
            self.defined |= new.mask;
            self.poison &= !new.mask;
            self.seen.push(new);
            return worst;
        }
        if new.act == Act::Read {
            self.read |= new.mask & !self.defined;
        }
        if let Some(old) = self.seen.iter_mut().find(|old| old.repeated_by(&new)) {
            *old = new;
        } else {
            self.seen.push(new);
        }
        worst
    }

    /// The worst collision of an access with an earlier one.
    fn conflict(&self, new: &Access, clock: &Clock) -> Option<Conflict> {
        let mut worst: Option<Conflict> = None;
        let mut read_before = None;
        for old in &self.seen {
            let bytes = old.mask & new.mask;
            let quiet = match (old.act, new.act) {
                (Act::Read, Act::Read) => true,
                (Act::Atomic, Act::Atomic) => old.morally_strong(new),
                _ => false,
            };
            if bytes == 0 || quiet {
                continue;
            }
            let both_write = old.act == Act::Write && new.act == Act::Write;
            // Threads may write the same value in any order: the bytes are the same afterwards.
            let mut ordered = both_write && new.same || old.before(new, clock, bytes);
            if !ordered && both_write {
                ordered = bytes & !*read_before.get_or_insert_with(|| self.read_before(new, clock)) == 0;
            }
            if !ordered {
                if worst.is_none_or(|w| w.kind != ConflictKind::Race) {
                    worst = Some(Conflict { other: *old, kind: ConflictKind::Race, bytes });
                }
            } else if new.proxy && !old.proxy && worst.is_none() && !old.fenced(clock, bytes) {
                let kind = if old.act == Act::Read { ConflictKind::ProxyRead } else { ConflictKind::Proxy };
                worst = Some(Conflict { other: *old, kind, bytes });
            }
        }
        worst
    }

    /// The bytes with a read that happened before a write. Such a write is ordered after the write that was read, even
    /// if no chain of knowledge leads back to it: completion of a product does not carry the copy it waited for.
    fn read_before(&self, new: &Access, clock: &Clock) -> u32 {
        let reads = self.seen.iter().filter(|old| old.act != Act::Write && old.mask & new.mask != 0);
        let before = reads.filter(|old| old.before(new, clock, old.mask & new.mask));
        before.fold(0, |bytes, old| bytes | old.mask)
    }
}

/// A flat shadow for a memory whose size is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flat {
    pub granules: Vec<Granule>,
    /// Granules there are: they are made when the first is touched.
    count: usize,
}

/// A sparse shadow for global memory: pages of 128 granules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sparse {
    pub pages: BTreeMap<u64, Vec<Granule>>,
}

/// Bytes of a page of `Sparse`.
pub(crate) const PAGE: u64 = 4096;

/// Splits a byte range into granule number, first byte and mask.
pub(crate) fn granules(start: u64, len: u64) -> impl Iterator<Item = (u64, u32)> {
    let end = start + len;
    (start / GRANULE..end.div_ceil(GRANULE)).map(move |g| {
        let low = start.max(g * GRANULE) - g * GRANULE;
        let high = end.min((g + 1) * GRANULE) - g * GRANULE;
        let mask = if high - low >= 32 { u32::MAX } else { ((1_u32 << (high - low)) - 1) << low };
        (g, mask)
    })
}

impl Flat {
    pub(crate) fn new(bytes: u64) -> Self {
        Flat { granules: Vec::new(), count: bytes.div_ceil(GRANULE) as usize }
    }

    pub(crate) fn at(&mut self, granule: u64) -> Option<&mut Granule> {
        if self.granules.is_empty() {
            self.granules = vec![Granule::default(); self.count];
        }
        self.granules.get_mut(granule as usize)
    }
}

impl Sparse {
    pub(crate) fn at(&mut self, granule: u64) -> Option<&mut Granule> {
        let per = PAGE / GRANULE;
        let page = self.pages.entry(granule / per).or_insert_with(|| vec![Granule::default(); per as usize]);
        page.get_mut((granule % per) as usize)
    }
}
