//! Who follows whom in a slot, at the ends of a loop too (B51).
//!
//! Around a slot's circle each member is followed by the next, and orders between members further apart follow
//! from those, as long as the members between them are there. At the head and at the end of a loop they may
//! not be: where a later stage stands between two members of the first one, its version of an earlier turn
//! does not exist. Such a pair needs an order of its own.

/// The versions that must be ordered directly against one member's version of turn 0: all members that
/// follow it (or, backward, that it follows) which no nearer one stands in for. The first is its neighbour.
pub(crate) struct Succession<'a> {
    /// Slots of the ring: one wrap later the circle begins again.
    pub wrap: i64,
    /// Furthest use of the member itself, in turns.
    pub reach: i64,
    /// Other members on the circle.
    pub others: usize,
    /// The k-th member away from it: who, the turns between the two, and the furthest use of the member.
    pub at: &'a dyn Fn(usize) -> (usize, i64, i64),
    /// Whether the members precede it, walking backward.
    pub backward: bool,
}

impl Succession<'_> {
    /// Members and distances, nearest first.
    pub fn pairs(&self) -> Vec<(usize, i64)> {
        let mut out = Vec::new();
        // Turns at which a version known to be ordered begins and is last read.
        let mut known: Vec<(i64, i64)> = Vec::new();
        let mut done = vec![false; self.others];
        let mut base = 0;
        while done.contains(&false) {
            for (k, done) in done.iter_mut().enumerate().filter(|d| !*d.1) {
                let (who, first, reach) = (self.at)(k);
                let distance = first + base;
                let turn = if self.backward { -distance } else { distance };
                let inside = |&(from, to): &(i64, i64)| from >= turn.min(0) && to <= turn.max(0);
                if !known.iter().any(inside) {
                    out.push((who, distance));
                    known.push((turn, turn.saturating_add(reach)));
                    if known.contains(&(0, 0)) {
                        return out;
                    }
                }
                // From here on the op follows its own earlier turns; far back nothing is ordered at all.
                *done = !(-crate::order::MOST_TURNS..0).contains(&distance);
            }
            base += self.wrap;
            let own = if self.backward { -base } else { base };
            known.push((own, own.saturating_add(self.reach)));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::Succession;

    fn pairs(wrap: i64, distances: &[i64]) -> Vec<(usize, i64)> {
        Succession { wrap, reach: 0, others: distances.len(), at: &|k| (k, distances[k], 0), backward: false }
            .pairs()
    }

    #[test]
    fn neighbours_suffice_where_all_turns_are_there() {
        assert_eq!(pairs(1, &[0, 0, 0]), [(0, 0)]);
        assert_eq!(pairs(3, &[1, 2, 2]), [(0, 1)]);
    }

    #[test]
    fn a_version_before_the_head_stands_in_for_nobody() {
        // The neighbour is a turn back: at the head the next member follows directly, and so does the
        // neighbour's own version of turn 0.
        assert_eq!(pairs(1, &[-1, 0]), [(0, -1), (1, 0)]);
        assert_eq!(pairs(1, &[-2]), [(0, -2), (0, -1), (0, 0)]);
        assert_eq!(pairs(2, &[-1]), [(0, -1), (0, 1)]);
    }
}
