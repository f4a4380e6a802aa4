//! Loops that are copies of a smaller one: never worse than the smaller, copy after copy (S98, S99).
#![allow(clippy::panic)] // a law that is broken

use proptest::prelude::*;
use warploom_sched::{Answer, LoopGraph, ScheduleOptions, check, schedule, to_line, unroll, validate};
use warploom_testing::sched::{
    Chip, LoopShape, Source, attention_in_tiles, gradient_in_tiles, loops, ping_pong,
};

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

/// The loads before them are no part of the tiles.
#[test]
fn tiles_are_short_one_after_the_other() {
    let length = |graph: LoopGraph| answer(&graph, 20_000).map_or(i64::MAX, |a| a.length);
    for (tiles, most) in
        [(1, 6_613), (2, 7_303), (3, 8_198), (4, 9_561), (5, 13_805), (6, 15_679), (7, 17_553)]
    {
        let length = length(attention_in_tiles(Chip::Blackwell, tiles));
        assert!(length <= most, "{tiles} tiles: {length}");
    }
    for (tiles, most) in [(2, 8_720), (3, 9_888), (4, 12_624), (7, 18_960)] {
        let length = length(gradient_in_tiles(Chip::Blackwell, tiles));
        assert!(length <= most, "gradient, {tiles} tiles: {length}");
    }
}

/// Rows of equal operations with others before and after them, which depend on each other in any way there is.
fn rows(source: &mut Source<'_>) -> LoopGraph {
    let mut g = LoopGraph::new("rows");
    g.add_resource("U", 1).add_resource("V", 2);
    let (rows, size) = (2 + source.below(4) as usize, 8 + source.below(5) as usize);
    let (before, after) = (source.below(3) as usize, source.below(3) as usize);
    let kinds: Vec<(i64, u64, u64)> =
        (0..size).map(|_| (1 + source.below(20) as i64, source.below(3), 1 + source.below(6))).collect();
    let around = |k: usize| (5 + k as i64, 1, 2 + k as u64);
    let all =
        (0..before).map(around).chain((0..rows).flat_map(|_| kinds.clone())).chain((0..after).map(around));
    for (latency, unit, held) in all {
        let uses = [("U", 0, held), ("V", 0, held)];
        g.add_node("op", latency, uses.get(unit as usize..).and_then(|u| u.get(..1)).unwrap_or_default());
    }
    for row in 0..rows {
        (1..size).for_each(|v| _ = g.add_edge(before + row * size + v - 1, before + row * size + v, 3, 0));
    }
    // Within an iteration from row to row in either direction.
    let forward = source.below(2) == 0;
    let row = |v: usize| v.checked_sub(before).map(|v| v / size).filter(|row| *row < rows);
    for _ in 0..source.below(8) {
        let [a, b] = [(); 2].map(|()| source.below(g.nodes.len() as u64) as usize);
        let at_once = if forward { a < b } else { row(a).zip(row(b)).is_some_and(|(a, b)| a > b) };
        let distance = source.below(3) + u64::from(!at_once);
        g.add_edge(a, b, source.below(30) as i64, distance as i64);
    }
    g
}

#[test]
fn rows_that_depend_on_each_other_have_schedules() {
    for seed in 0..400 {
        let graph = rows(&mut Source::seed(seed));
        assert!(answer(&graph, 300).is_some(), "{}", to_line(&graph));
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
