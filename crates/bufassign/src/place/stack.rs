//! Items that are live at the same moments, packed as one.
//!
//! Where thousands of items are all live throughout a region, every two of them conflict, and a packer that
//! looks at pairs is lost. They must be stacked in any plan; here they are stacked first, and the packer places
//! the stacks. Alignments are powers of two, so the most aligned item at the bottom aligns all.

use super::plot::Placed;
use crate::pack::{LiveSpan, PackItem, PackProblem, align_up};
use std::collections::BTreeMap;

/// Packs stacks instead of items. Items have no fixed offsets, and nothing is reserved.
pub(super) fn solve(problem: &PackProblem, pack: impl FnOnce(&PackProblem) -> Placed) -> Placed {
    let (stacks, seats) = stacks(problem);
    let mut placed = pack(&stacks);
    placed.offsets = seats.iter().map(|&(stack, at)| placed.offsets[stack].saturating_add(at)).collect();
    placed
}

/// One item for all that are live at the same moments; and the stack of each item, and its offset there.
fn stacks(problem: &PackProblem) -> (PackProblem, Vec<(usize, u64)>) {
    let mut by_life: BTreeMap<Vec<(usize, i64, i64)>, Vec<usize>> = BTreeMap::new();
    for (k, item) in problem.items.iter().enumerate() {
        let mut life: Vec<_> = item.live.iter().map(|s| (s.segment, s.start, s.len)).collect();
        life.sort_unstable();
        life.dedup();
        by_life.entry(life).or_default().push(k);
    }
    let mut seats = vec![(0, 0); problem.items.len()];
    let mut stacks = PackProblem { segments: problem.segments.clone(), ..PackProblem::default() };
    for (life, mut items) in by_life {
        // The most aligned first: the least is wasted between them.
        items.sort_by_key(|&k| (std::cmp::Reverse(problem.items[k].align), k));
        let mut end = 0u64;
        for &k in &items {
            let item = &problem.items[k];
            let at = align_up(end, item.align);
            seats[k] = (stacks.items.len(), at);
            end = at.saturating_add(item.size);
        }
        let align = problem.items[items[0]].align;
        let live =
            life.into_iter().map(|(segment, start, len)| LiveSpan { segment, start, len, window: None });
        stacks.items.push(PackItem { size: end, align, fixed: None, live: live.collect() });
    }
    (stacks, seats)
}

#[cfg(test)]
mod tests {
    use super::solve;
    use crate::pack::{PackOptions, PackOutcome, PackProblem, check_pack, pack};
    use crate::place::Placed;

    #[test]
    fn stacks_of_two_moments_are_a_plan_of_their_items() {
        let mut p = PackProblem::linear(None);
        for k in 0..60u64 {
            let (start, end) = [(0, 5), (5, 9), (0, 9)][k as usize % 3];
            p.push_aligned(100 + 7 * k, [8, 16, 128][k as usize % 3], start, end);
        }
        let placed = solve(&p, |stacks| {
            assert_eq!(stacks.items.len(), 3);
            match pack(stacks, &PackOptions::default()) {
                PackOutcome::Fits { offsets, peak, .. } => Placed { offsets, peak, ..Placed::default() },
                other => panic!("{other:?}"),
            }
        });
        let Placed { offsets, peak, .. } = placed;
        let answer = PackOutcome::Fits { offsets, peak, lower_bound: 0, optimal: false };
        assert_eq!(check_pack(&p, &answer), Ok(()));
    }
}
