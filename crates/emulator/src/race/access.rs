//! An access to some bytes: who made it, when, and what it is ordered with (E60-E65).

use super::channel::{KINDS, Kind};
use super::clock::Clock;
use super::mask::lanes;
use super::scope::Scope;

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
    /// Lanes of a warp; for `cp.async` the lane that it is of, for another operation what it is pipelined with (0 for
    /// nothing).
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
    /// Bytes of each element of a strong access; 0 where they do not matter.
    pub element: u8,
    /// Made in the async proxy.
    pub proxy: bool,
    /// A write of what was there already.
    pub same: bool,
    /// To global memory.
    pub global: bool,
    /// An atomic that publishes: what came before it, and itself, is found by whoever takes its value.
    pub publishes: bool,
    /// An atomic that takes the old value, and with it what was published.
    pub takes: bool,
}

impl Access {
    /// Who did it, in the grid.
    fn by(&self) -> (u32, u32) {
        (self.home, self.who)
    }

    /// Whether two strong accesses that overlap do so only in part: of different sizes, neither is atomic for the other.
    pub(crate) fn overlaps_in_part(&self, other: &Access) -> bool {
        self.element != other.element && self.element != 0 && other.element != 0
    }

    /// Whether two strong accesses count for each other (E99).
    pub(crate) fn morally_strong(&self, other: &Access) -> bool {
        let between = Scope::between((self.home, self.rank.into()), (other.home, other.rank.into()));
        self.scope >= between && other.scope >= between && !self.overlaps_in_part(other)
    }

    /// Whether a later atomic takes what this one published: whatever is ordered behind that one is behind this one too.
    pub(crate) fn taken_by(&self, new: &Access) -> bool {
        self.publishes && new.takes && self.mask & !new.mask == 0 && self.morally_strong(new)
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

    /// Whether whoever has this clock knows that the access is over.
    pub(crate) fn known(&self, clock: &Clock) -> bool {
        if self.who & OPERATION != 0 {
            return clock.seen.knows(self.home, self.who & !OPERATION, self.time);
        }
        clock.seen.behind(self.home, self.who, self.lanes, self.time) == 0
    }

    /// Whether this access happened before one by `other` that has `clock`, for the bytes both touch.
    pub(crate) fn before(&self, other: &Access, clock: &Clock, bytes: u32) -> bool {
        if self.who & OPERATION != 0 {
            let channel = self.who & !OPERATION;
            let copy = channel % KINDS == Kind::CpAsync as u32;
            // Products on the same accumulators keep their issue order (E52); `lanes` is their key.
            let pipelined = !copy && self.lanes != 0 && self.lanes == other.lanes && self.time < other.time;
            let same = self.by() == other.by() && (self.time == other.time || pipelined);
            return same
                || clock.seen.knows(self.home, channel, self.time)
                || clock.told.as_ref().is_some_and(|told| {
                    let mine = copy && other.lanes_at(bytes) == self.lanes;
                    let told_of = told.of(other.lanes_at(bytes));
                    mine && told.copied(channel / KINDS, self.time)
                        || told_of.is_some_and(|c| c.seen.knows(self.home, channel, self.time))
                });
        }
        // Lanes of one instruction do not race with each other.
        let (here, there) =
            ((self.by(), self.time, self.pc, self.visit), (other.by(), other.time, other.pc, other.visit));
        if here == there {
            return true;
        }
        let unknown = clock.seen.behind(self.home, self.who, self.lanes_at(bytes), self.time);
        // A lane's own accesses are in program order.
        let own = |who: u32, l: u32| {
            let within = || clock.within.as_ref().is_some_and(|k| k.knows(who, l, self.time));
            self.by() == other.by() && (who == 1 << l || within())
        };
        let told = |who: u32, l: u32| {
            let told = clock.told.as_ref().and_then(|t| t.of(who));
            told.is_some_and(|c| c.seen.behind(self.home, self.who, 1 << l, self.time) == 0)
        };
        let known = |l: u32| {
            let who = other.lanes_at(bytes & self.bytes_of(l));
            own(who, l) || told(who, l)
        };
        unknown == 0 || lanes(unknown).all(known)
    }

    /// Whether a later access, which is no write, is of the same lanes to the same bytes: ordering it orders this one too.
    pub(crate) fn repeated_by(&self, new: &Access, clock: &Clock) -> bool {
        let lanes = self.by() == new.by() && self.lanes == new.lanes && self.stride == new.stride;
        let bytes = (self.act, self.scope) == (new.act, new.scope)
            && self.mask == new.mask
            && self.proxy == new.proxy;
        // Whoever knows that a product of a warp is over has it from that warp, which knew of those before it.
        let channel = new.who & !OPERATION;
        let product =
            channel % KINDS == Kind::Wgmma as u32 && clock.seen.knows(self.home, channel, self.time);
        lanes && bytes && (new.who & OPERATION == 0 || product)
    }

    /// Whether a proxy fence stands between this generic access and `other` in the async proxy.
    pub(crate) fn fenced(&self, clock: &Clock, bytes: u32) -> bool {
        let [shared, global] = &clock.fenced;
        let fenced = if self.global { global } else { shared };
        if self.who & OPERATION != 0 {
            return fenced.knows(self.home, self.who & !OPERATION, self.time);
        }
        fenced.behind(self.home, self.who, self.lanes_at(bytes), self.time) == 0
    }
}
