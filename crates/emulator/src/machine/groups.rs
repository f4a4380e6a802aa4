//! Groups of copies and products that a thread commits and waits for.

use smallvec::SmallVec;

/// Committed groups of one kind of copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// Operations not yet committed: number and lanes.
    pub open: Vec<(u32, u32)>,
    /// Committed groups, oldest first: operations and the lanes that committed.
    pub closed: Vec<(SmallVec<[u32; 4]>, u32)>,
}

impl Groups {
    /// Closes a group for these lanes; what other lanes issued stays open for them.
    pub(crate) fn commit(&mut self, lanes: u32) {
        let mut ops = SmallVec::new();
        self.open.retain_mut(|(n, l)| {
            if *l & lanes != 0 {
                ops.push(*n);
                *l &= !lanes;
            }
            *l != 0
        });
        self.closed.push((ops, lanes));
    }

    /// The operations that must be complete so that these lanes have at most `keep` groups left.
    pub(crate) fn covered(&self, keep: u32, lanes: u32) -> Vec<u32> {
        let mine = || self.closed.iter().filter(|(_, l)| l & lanes != 0);
        if mine().all(|(_, l)| l & lanes == lanes) {
            // They committed together.
            return mine().rev().skip(keep as usize).flat_map(|(ops, _)| ops.iter().copied()).collect();
        }
        let mut newer = [0_u32; 32];
        let mut out = Vec::new();
        for (ops, l) in self.closed.iter().rev() {
            let mine = l & lanes;
            if mine == 0 {
                continue;
            }
            let mut old = false;
            for (i, n) in newer.iter_mut().enumerate() {
                if mine >> i & 1 == 1 {
                    old |= *n >= keep;
                    *n += 1;
                }
            }
            if old {
                out.extend(ops.iter().copied());
            }
        }
        out
    }

    /// Forgets groups that have been waited for by all their lanes: each lane keeps its own newest ones.
    pub(crate) fn forget(&mut self, keep: u32, lanes: u32) {
        let mut newer = [0_u32; 32];
        for (_, l) in self.closed.iter_mut().rev() {
            let mine = *l & lanes;
            for (i, n) in newer.iter_mut().enumerate().filter(|(i, _)| mine >> i & 1 == 1) {
                if *n >= keep {
                    *l &= !(1 << i);
                }
                *n += 1;
            }
        }
        self.closed.retain(|(_, l)| *l != 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOW: u32 = 0xffff;

    /// Lanes that have gone apart count groups of their own.
    #[test]
    fn groups_of_lanes_that_commit_apart() {
        let mut groups = Groups::default();
        for n in 0..3 {
            groups.open.push((n, !0));
            groups.commit(LOW);
            groups.commit(!LOW);
        }
        assert_eq!(groups.covered(1, LOW), [1, 0]);
        assert_eq!(groups.covered(1, !LOW), [1, 0]);
        groups.forget(1, LOW);
        assert_eq!((groups.covered(0, LOW), groups.covered(1, !LOW)), (vec![2], vec![1, 0]));
        groups.forget(1, !LOW);
        assert_eq!(groups.covered(0, !0), [2, 2]);
        groups.forget(0, !0);
        assert!(groups.closed.is_empty() && groups.open.is_empty());
    }
}
