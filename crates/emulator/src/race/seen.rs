//! The accesses that a granule remembers. A copy or a product touches long ranges, whose granules then remember the same:
//! they share one list until one of them differs, and what the next one finds there is found once.

use super::access::Access;
use smallvec::SmallVec;
use std::rc::Rc;

/// Accesses to a granule, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Empty while there is a shared list.
    own: SmallVec<[Access; 2]>,
    shared: Option<Rc<Vec<Access>>>,
}

impl Seen {
    pub(crate) fn list(&self) -> &[Access] {
        self.shared.as_ref().map_or(&self.own, |list| list)
    }

    /// The list, no longer shared.
    pub(crate) fn own(&mut self) -> &mut SmallVec<[Access; 2]> {
        if let Some(list) = self.shared.take() {
            self.own = SmallVec::from_slice(&list);
        }
        &mut self.own
    }

    /// Whether other granules may have the same: those of one alone will hardly be met again.
    pub(crate) fn common(&self) -> bool {
        self.shared.is_some() || self.own.is_empty()
    }
}

/// What an access to a range did to the granule before, where it collided with nothing.
#[derive(Clone, Debug)]
struct Done {
    before: Seen,
    mask: u32,
    after: Rc<Vec<Access>>,
}

/// Kinds of granules that an access to a range keeps apart: the parts of a line that products read one by one.
const KINDS: usize = 8;

/// An access to a range, granule by granule: what it did to those so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Along {
    done: SmallVec<[Done; KINDS]>,
    /// Which of them the next one replaces.
    next: usize,
}

impl Along {
    /// What a granule that remembers `before` remembers behind this access, if there was one like it.
    pub(crate) fn again(&self, before: &Seen, mask: u32) -> Option<Seen> {
        let same = |d: &&Done| {
            d.mask == mask
                && match (&before.shared, &d.before.shared) {
                    (Some(a), Some(b)) => Rc::ptr_eq(a, b),
                    (None, None) => before.own.is_empty(),
                    _ => false,
                }
        };
        let done = self.done.iter().find(same)?;
        Some(Seen { own: SmallVec::new(), shared: Some(Rc::clone(&done.after)) })
    }

    /// A granule that remembered `before`, which is `common`, remembers `now`, which is shared from here on: another may
    /// be like it.
    pub(crate) fn note(&mut self, before: Seen, mask: u32, now: &mut Seen) {
        let same = |d: &&Done| d.after.as_slice() == now.list();
        let after =
            self.done.iter().find(same).map_or_else(|| Rc::new(now.list().to_vec()), |d| Rc::clone(&d.after));
        *now = Seen { own: SmallVec::new(), shared: Some(Rc::clone(&after)) };
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
    use crate::race::clock::{Clock, Kind, channel};
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
