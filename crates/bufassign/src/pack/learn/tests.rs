//! Its answers are those of the other search, whose proofs are compared with all permutations elsewhere.

use super::super::prepare::prepare;
use super::super::{
    LiveSpan, PackItem, PackOptions, PackOutcome, PackProblem, TimeSegment, load_bound, pack,
};
use super::Learner;

/// Up to nine blocks on a line or a circle, within what the fullest moment needs or a little more.
fn problem(seed: u64) -> PackProblem {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut below = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % n
    };
    let mut p = PackProblem::linear(None);
    if below(3) == 0 {
        p.segments = vec![TimeSegment::Circular(12)];
    }
    let align = [1, 1, 2, 4][below(4) as usize];
    for _ in 0..3 + below(7) {
        let (start, len) = (below(12).cast_signed(), 1 + below(7).cast_signed());
        let live = vec![LiveSpan { segment: 0, start, len, window: None }];
        let align = if below(2) == 0 { align } else { 1 };
        p.items.push(PackItem { size: 1 + below(9), align, fixed: None, live });
    }
    if below(4) == 0 {
        p.separations.push((0, 1));
    }
    p.capacity = Some(load_bound(&p) + below(4));
    p
}

#[test]
fn finds_what_there_is_and_proves_the_rest() {
    let (options, mut proofs, mut plans) = (PackOptions::default(), 0, 0);
    for seed in 0..4000 {
        let p = problem(seed);
        let Some(prepared) = prepare(&p, &options) else { panic!("{p:?}") };
        let part: Vec<u32> = (0..prepared.blocks.len() as u32).collect();
        let capacity = p.capacity.unwrap_or(0);
        let Some(mut learner) = Learner::new(&prepared, &part, capacity, options) else { continue };
        let answer = (0..10_000).find_map(|_| learner.step(u64::MAX).0);
        let known = !matches!(pack(&p, &options), PackOutcome::ProvedInfeasible { .. });
        assert_eq!(answer, Some(known), "seed {seed}: {p:?}");
        (proofs, plans) = (proofs + u32::from(!known), plans + u32::from(known));
        if !known {
            continue;
        }
        let at: Vec<(usize, u64)> = learner.offsets().collect();
        for &(k, from) in &at {
            let b = &prepared.blocks[k];
            assert!(from.is_multiple_of(b.align) && from + b.size <= capacity, "seed {seed}");
            for &o in &prepared.conflicts[k] {
                let (other, end) = (at[o as usize].1, at[o as usize].1 + prepared.blocks[o as usize].size);
                assert!(end <= from || from + b.size <= other, "seed {seed}: {k} meets {o}");
            }
        }
    }
    assert!(proofs > 50 && plans > 1000, "{proofs} proofs, {plans} plans");
}
