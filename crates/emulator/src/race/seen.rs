//! The accesses that a granule remembers. A copy or a product touches long ranges, whose granules then remember the same:
//! they share one list until one of them differs, and what the next one finds there is found once.

use super::access::{Access, Act};
use smallvec::SmallVec;
use std::ops::Range;
use std::rc::Rc;

/// Writes and atomics first, then reads, which often are many: another read need not look at them. Each part by cluster,
/// and those of a cluster in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct List {
    all: SmallVec<[Access; 2]>,
    /// How many are writes or atomics.
    changes: usize,
}

impl List {
    /// Where those of a cluster stand in the part that holds accesses of a kind.
    fn of_cluster(&self, act: Act, home: u32) -> Range<usize> {
        let part = if act == Act::Read { self.changes..self.all.len() } else { 0..self.changes };
        let accesses = self.all.get(part.clone()).unwrap_or_default();
        // Clusters begin in order, so that most belong at the end.
        let up_to = |last: u32| match accesses.last() {
            Some(access) if access.home > last => accesses.partition_point(|a| a.home <= last),
            _ => accesses.len(),
        };
        let from = home.checked_sub(1).map_or(0, up_to);
        part.start + from..part.start + up_to(home)
    }

    fn put(&mut self, new: Access) {
        let at = self.of_cluster(new.act, new.home).end;
        self.changes += usize::from(new.act != Act::Read);
        self.all.insert(at, new);
    }

    fn count(&mut self) {
        self.changes = self.all.partition_point(|a| a.act != Act::Read);
    }
}

/// What a granule remembers: nothing, or a list that others may have too. One pointer, for there are many granules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(Option<Rc<List>>);

impl Seen {
    /// All that is remembered.
    pub(crate) fn list(&self) -> &[Access] {
        self.0.as_ref().map_or(&[], |list| &list.all)
    }

    /// What an access of a kind may collide with.
    pub(crate) fn against(&self, act: Act) -> &[Access] {
        let Some(list) = &self.0 else { return &[] };
        let end = if act == Act::Read { list.changes } else { list.all.len() };
        list.all.get(..end).unwrap_or_default()
    }

    /// The list, no longer shared, with room for one more.
    fn own(&mut self) -> &mut List {
        let list = self.0.get_or_insert_default();
        if Rc::get_mut(list).is_none() {
            let mut all = SmallVec::with_capacity(list.all.len() + 1);
            all.extend_from_slice(&list.all);
            *list = Rc::new(List { all, ..**list });
        }
        Rc::make_mut(list)
    }

    /// Remembers one more.
    pub(crate) fn put(&mut self, new: Access) {
        self.own().put(new);
    }

    /// Remembers an access instead of the one of its cluster and kind for which `same` holds, or one more.
    pub(crate) fn put_for(&mut self, new: Access, same: impl Fn(&Access) -> bool) {
        let list = self.own();
        let range = list.of_cluster(new.act, new.home);
        match list.all.get_mut(range).and_then(|old| old.iter_mut().find(|old| same(old))) {
            Some(old) => *old = new,
            None => list.put(new),
        }
    }

    /// Forgets what was done to the bytes of `mask`.
    pub(crate) fn forget(&mut self, mask: u32) {
        let list = self.0.get_or_insert_default();
        match Rc::get_mut(list) {
            Some(own) => {
                own.all.retain(|old| {
                    old.mask &= !mask;
                    old.mask != 0
                });
                own.count();
            }
            // What goes is not copied first.
            None => {
                let cut = |old: &Access| Access { mask: old.mask & !mask, ..*old };
                let all = list.all.iter().map(cut).filter(|old| old.mask != 0).collect();
                *list = Rc::new(List { all, changes: 0 });
                Rc::make_mut(list).count();
            }
        }
    }

    /// Keeps those for which `keep` holds.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Access) -> bool) {
        let list = self.own();
        list.all.retain(|old| keep(old));
        list.count();
    }

    /// Whether other granules may have the same: those of one alone will hardly be met again.
    pub(crate) fn common(&self) -> bool {
        self.0.as_ref().is_none_or(|list| Rc::strong_count(list) > 1)
    }

    fn same(&self, other: &Seen) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }
}

/// What an access to a range did to the granule before, where it collided with nothing.
#[derive(Clone, Debug)]
struct Done {
    before: Seen,
    mask: u32,
    after: Seen,
}

/// Kinds of granules that an access to a range keeps apart: the parts of a line that products read one by one.
const KINDS: usize = 8;

/// An access to a range, granule by granule: what it did to those so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Along {
    done: SmallVec<[Done; KINDS]>,
    /// Which of them the last granule was like.
    last: usize,
    /// Which of them the next one replaces.
    next: usize,
}

impl Along {
    /// What a granule that remembers `before` remembers behind this access, if there was one like it.
    pub(crate) fn again(&mut self, before: &Seen, mask: u32) -> Option<Seen> {
        let like = |d: &Done| d.mask == mask && d.before.same(before);
        if !self.done.get(self.last).is_some_and(like) {
            self.last = self.done.iter().position(like)?;
        }
        self.done.get(self.last).map(|d| d.after.clone())
    }

    /// A granule that remembered `before`, which is `common`, remembers `now`, which is shared from here on: another may
    /// be like it.
    pub(crate) fn note(&mut self, before: Seen, mask: u32, now: &mut Seen) {
        if let Some(like) = self.done.iter().find(|d| d.after.list() == now.list()) {
            *now = like.after.clone();
        }
        let after = now.clone();
        let done = Done { before, mask, after };
        if self.done.len() < KINDS {
            self.done.push(done);
        } else if let Some(old) = self.done.get_mut(self.next) {
            *old = done;
            self.next = (self.next + 1) % KINDS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Along;
    use crate::race::access::{Access, Act, OPERATION};
    use crate::race::channel::{Kind, channel};
    use crate::race::clock::Clock;
    use crate::race::scope::Scope;
    use crate::race::shadow::Granule;
    use proptest::prelude::*;

    fn access((act, who, time, mask): (u8, u32, u32, u32)) -> Access {
        let act = [Act::Read, Act::Write, Act::Atomic][usize::from(act % 3)];
        let who = if who > 1 { OPERATION | channel(who % 2, Kind::BulkLoad) } else { who };
        let (proxy, first, stride, rank) = (who & OPERATION != 0, 0, 0, 0);
        let (home, pc, since, visit, lanes) = (0, time, 0, 0, if proxy { 0 } else { 1 });
        let (scope, same, global) = (Scope::Gpu, false, false);
        let (publishes, takes) = (act == Act::Atomic && time % 2 == 1, act == Act::Atomic && time % 3 == 0);
        Access {
            home,
            who,
            time,
            pc,
            since,
            visit,
            lanes,
            mask,
            first,
            stride,
            rank,
            act,
            scope,
            element: 0,
            proxy,
            same,
            global,
            publishes,
            takes,
        }
    }

    proptest! {
        /// Granules that share their lists find and remember what those do that are touched one by one.
        #[test]
        fn ranges_are_as_their_granules(
            ranges in prop::collection::vec(
                (((0_u8..3), (0_u32..4), (1_u32..6), prop::sample::select(vec![!0, 0xffff, 0xff00_0000])),
                 0_usize..8, 1_usize..8), 1..40),
        ) {
            let mut clock = Clock::new(0, 64, 64);
            clock.tick(1, !0, 3);
            clock.complete(channel(0, Kind::BulkLoad), 2);
            let (mut apart, mut along) = (vec![Granule::default(); 16], vec![Granule::default(); 16]);
            for (what, first, count) in ranges {
                let (new, mut range) = (access(what), Along::default());
                for (one, other) in apart.iter_mut().zip(&mut along).skip(first).take(count) {
                    prop_assert_eq!(one.access(new, &clock), other.access_along(new, &clock, &mut range));
                    prop_assert_eq!(one.seen.list(), other.seen.list());
                    prop_assert_eq!((one.read, one.defined, one.poison), (other.read, other.defined, other.poison));
                }
            }
        }
    }
}
