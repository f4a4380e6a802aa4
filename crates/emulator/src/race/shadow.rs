//! Who touched which bytes: shadow state of shared memory, global memory and TMEM (E62).

use super::access::{Access, Act};
use super::clock::Clock;
use super::seen::{Along, Seen};
use std::collections::BTreeMap;

/// Bytes (or TMEM lanes) of one granule.
pub(crate) const GRANULE: u64 = 32;
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
    pub seen: Seen,
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
        self.mark(new.act, new.mask);
        if new.act == Act::Write {
            self.seen.forget(new.mask);
            self.seen.put(new);
        } else if new.takes && self.seen.against(Act::Read).iter().any(|old| old.taken_by(&new)) {
            self.seen.retain(|old| !old.taken_by(&new));
            self.seen.put(new);
        } else {
            self.seen.put_for(new, |old| old.repeated_by(&new, clock));
        }
        worst
    }

    /// Does to the bytes of `mask` what the access of a range did to another granule that remembered the same; false if
    /// there was none.
    pub(crate) fn again(&mut self, act: Act, mask: u32, range: &mut Along) -> bool {
        let Some(after) = range.again(&self.seen, mask) else { return false };
        self.mark(act, mask);
        self.seen = after;
        true
    }

    /// As `access`, for the next granule of a range.
    pub(crate) fn access_along(&mut self, new: Access, clock: &Clock, range: &mut Along) -> Option<Conflict> {
        if self.again(new.act, new.mask, range) {
            return None;
        }
        let before = self.seen.common().then(|| self.seen.clone());
        let worst = self.access(new, clock);
        if let Some(before) = before.filter(|_| worst.is_none()) {
            range.note(before, new.mask, &mut self.seen);
        }
        worst
    }

    /// What an access makes of the bytes.
    fn mark(&mut self, act: Act, mask: u32) {
        match act {
            Act::Write => {
                self.defined |= mask;
                self.poison &= !mask;
            }
            Act::Read => self.read |= mask & !self.defined,
            Act::Atomic => {}
        }
    }

    /// The worst collision of an access with an earlier one.
    fn conflict(&self, new: &Access, clock: &Clock) -> Option<Conflict> {
        let mut worst: Option<Conflict> = None;
        let mut read_before = None;
        for old in self.seen.against(new.act) {
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
        let reads = self.seen.list().iter().filter(|old| old.act != Act::Write && old.mask & new.mask != 0);
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

/// A sparse shadow for global memory, in pages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sparse {
    pages: Vec<Box<[Granule]>>,
    /// The number of a page, and where it is.
    places: BTreeMap<u64, usize>,
    /// The page that was asked for last.
    last: Option<(u64, usize)>,
}

/// Bytes of a page of `Sparse`.
pub(crate) const PAGE: u64 = 4096;
/// Granules of a page.
pub(crate) const PER_PAGE: usize = (PAGE / GRANULE) as usize;

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

/// The first lane and the first address, if the lanes of an access follow each other, as their bytes do, and none of
/// them goes into two granules.
pub(crate) fn side_by_side(list: &[(u32, u64)], size: u64) -> Option<(u32, u64)> {
    let &(lane, start) = list.first()?;
    let fine = size.is_power_of_two() && size <= GRANULE && start.is_multiple_of(size);
    let follows = |((l, at), i): (&(u32, u64), u32)| *l == lane + i && *at == start + u64::from(i) * size;
    (fine && list.iter().zip(0..).all(follows)).then_some((lane, start))
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
        let number = granule / PER_PAGE as u64;
        let place = match self.last {
            Some((last, place)) if last == number => place,
            _ => {
                let place = *self.places.entry(number).or_insert(self.pages.len());
                if place == self.pages.len() {
                    self.pages.push(vec![Granule::default(); PER_PAGE].into_boxed_slice());
                }
                self.last = Some((number, place));
                place
            }
        };
        self.pages.get_mut(place)?.get_mut((granule % PER_PAGE as u64) as usize)
    }

    /// Its pages, by number, in order.
    pub(crate) fn pages(&self) -> impl Iterator<Item = (u64, &[Granule])> {
        self.places.iter().filter_map(|(number, place)| Some((*number, &**self.pages.get(*place)?)))
    }
}
