//! Restarts of the search of one component: node limits after Luby's sequence, under a rotation of block
//! orders that are shuffled more or less.

use super::skyline::Skyline;

/// Unit of the node limits.
const UNIT: u64 = 512;
/// Up to this many blocks proofs are likely: limits double.
pub(super) const SMALL: usize = 64;
/// Orders are shuffled by up to this many 256ths, in turn.
const SHUFFLE: [u64; 4] = [96, 160, 224, 32];

/// By what blocks are ranked, largest first.
#[derive(Clone, Copy)]
enum Rank {
    /// Lifetime, then size.
    Width,
    /// Size times lifetime.
    Area,
    /// Size squared times lifetime.
    Bulk,
}

/// The rotation of orders.
const ROTATION: [Rank; 3] = [Rank::Width, Rank::Area, Rank::Bulk];

/// Restarts of the search of one component.
pub(super) struct Restarts {
    round: u64,
    seed: u64,
}

impl Restarts {
    /// Restarts whose shuffles differ from those of other seeds.
    pub fn seeded(seed: u64) -> Restarts {
        Restarts { round: 0, seed: 0x9E37_79B9_7F4A_7C15u64.rotate_left(7 * seed as u32 % 64) }
    }

    /// Goes on until the budget is spent. `Some(true)` found, `Some(false)` proved, `None` gave up.
    pub fn run(&mut self, sky: &mut Skyline<'_>, budget: &mut u64) -> Option<bool> {
        while *budget > 0 && !sky.stopped() {
            let (answer, nodes) = self.step(sky, *budget);
            *budget = budget.saturating_sub(nodes);
            if answer.is_some() {
                return answer;
            }
        }
        None
    }

    /// One run of at most so many nodes; also the nodes that it took.
    pub fn step(&mut self, sky: &mut Skyline<'_>, most: u64) -> (Option<bool>, u64) {
        let turn = (self.round % ROTATION.len() as u64) as usize;
        let cycle = self.round / ROTATION.len() as u64;
        let shuffle = if cycle == 0 { 0 } else { SHUFFLE[(cycle % SHUFFLE.len() as u64) as usize] };
        sky.reset();
        sky.rank = ranks(sky, ROTATION[turn], shuffle, &mut self.seed);
        let long = turn == 0 && sky.size.len() <= SMALL;
        let share = if long { 1 << cycle.min(40) } else { luby(cycle + 1) };
        self.round += 1;
        sky.solve_within(share.saturating_mul(UNIT).min(most))
    }
}

/// Rank of every block, 0 first, disturbed by up to `shuffle` 256ths.
fn ranks(sky: &Skyline<'_>, by: Rank, shuffle: u64, seed: &mut u64) -> Vec<u32> {
    let mut keyed: Vec<(u128, u32)> = (0..sky.size.len())
        .map(|k| {
            let (size, width) = (u128::from(sky.size[k]), sky.sections[k].len() as u128);
            let score = match by {
                Rank::Width => (width << 64) | (size << 8),
                Rank::Area => (size * width) << 16,
                Rank::Bulk => size.saturating_mul(size * width),
            };
            *seed ^= *seed << 13;
            *seed ^= *seed >> 7;
            *seed ^= *seed << 17;
            let keep = 256 - seed.checked_rem(shuffle).unwrap_or(0);
            (score / 256 * u128::from(keep), k as u32)
        })
        .collect();
    keyed.sort_unstable_by_key(|&(score, k)| (std::cmp::Reverse(score), k));
    let mut ranks = vec![0; keyed.len()];
    for (rank, &(_, k)) in keyed.iter().enumerate() {
        ranks[k as usize] = rank as u32;
    }
    ranks
}

/// Luby's sequence 1, 1, 2, 1, 1, 2, 4, .. from i = 1.
pub(super) fn luby(mut i: u64) -> u64 {
    loop {
        let bits = u64::BITS - i.leading_zeros();
        if i.count_ones() == bits || bits == 0 {
            return 1 << bits.saturating_sub(1);
        }
        i -= (1 << (bits - 1)) - 1;
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn luby_sequence() {
        let first: Vec<u64> = (1..=15).map(super::luby).collect();
        assert_eq!(first, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }
}
