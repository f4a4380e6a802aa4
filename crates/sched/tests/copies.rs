//! Loops that are copies of a smaller one: never worse than the smaller, copy after copy (S98, S99).
#![allow(clippy::panic)] // a law that is broken

use proptest::prelude::*;
use warploom_sched::{Answer, LoopGraph, ScheduleOptions, check, schedule, to_line, unroll, validate};
use warploom_testing::sched::{Chip, LoopShape, loops, ping_pong};

fn answer(graph: &LoopGraph, steps: u64) -> Option<Answer> {
    let options = ScheduleOptions::default().steps(steps);
    let answer = schedule(&validate(graph).ok()?, &options).ok()?;
    assert_eq!(check::all(graph, &answer), Ok(()), "{}", to_line(graph));
    Some(answer)
}

fn is_no_worse(graph: &LoopGraph, copies: u64, steps: u64) {
    let Some(one) = answer(graph, steps) else { return };
    let Ok(many) = unroll(graph, copies) else { return };
    let Some(all) = answer(&many, steps) else { panic!("copies have no schedule: {}", to_line(graph)) };
    let k = copies as i64;
    assert!(all.ii <= k * one.ii, "{} for {k} times {}: {}", all.ii, one.ii, to_line(graph));
    if all.ii == k * one.ii {
        assert!(all.length <= one.length + (k - 1) * one.ii, "{}: {}", all.length, to_line(graph));
    }
}

#[test]
fn ping_pong_unrolled_is_proved() {
    for chip in [Chip::Hopper, Chip::Blackwell] {
        let one = ping_pong(chip);
        let least = answer(&one, 100_000).map_or(0, |a| a.ii);
        for k in [2, 4, 6] {
            let all = unroll(&one, k).ok().and_then(|g| answer(&g, 100_000));
            let all = all.map(|a| (a.ii, a.optimal));
            assert_eq!(all, Some((k as i64 * least, true)), "{k} times, {chip:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(5),
        ..ProptestConfig::default()
    })]

    #[test]
    fn copies_are_no_worse(graph in loops(LoopShape { wild: false, ..LoopShape::SMALL }), copies in 2u64..5) {
        is_no_worse(&graph, copies, 500);
    }

    #[test]
    fn copies_of_larger_loops_are_no_worse(
        graph in loops(LoopShape { wild: false, ..LoopShape::WIDE }),
        copies in 2u64..4,
    ) {
        is_no_worse(&graph, copies, 500);
    }
}
