//! A budget question that has an answer has one within any time, none at all included (S100), as long as the loop has one
//! without a budget: with windows it may take a search to know whether there is a schedule (S42).

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;
use warploom_sched::{
    LoopGraph, MemoryBudget, ScheduleOptions, check, schedule, schedule_within, to_line, validate,
};
use warploom_testing::sched::{LoopShape, kernel_loops, loops, tile_loops};

/// The bytes of each space between those of no slots and those of the plain answer: `part` of 100.
fn bytes(graph: &LoopGraph, depths: &[u64], part: u64) -> BTreeMap<String, u64> {
    let mut spaces = BTreeMap::new();
    for (value, depth) in graph.values.iter().zip(depths) {
        *spaces.entry(value.space.clone()).or_insert(0) += value.bytes * depth;
    }
    spaces.values_mut().for_each(|bytes: &mut u64| *bytes = bytes.saturating_mul(part) / 100);
    spaces
}

fn time_costs_no_answer(graph: &LoopGraph, part: u64, micros: u64) -> Result<(), TestCaseError> {
    let Some(valid) = validate(graph).ok().filter(|_| !graph.values.is_empty()) else { return Ok(()) };
    let options = ScheduleOptions::default();
    let Ok(plain) = schedule(&valid, &options) else { return Ok(()) };
    let depths: Vec<u64> = plain.values.iter().map(|v| v.depth).collect();
    let of_spaces = bytes(graph, &depths, part);
    let budget =
        of_spaces.iter().fold(MemoryBudget::of(graph), |budget, (space, bytes)| budget.space(space, *bytes));
    let Ok(unhurried) = schedule_within(&valid, &budget, &options) else { return Ok(()) };
    for limit in [0, micros] {
        let hurried = options.clone().time_limit(Some(Duration::from_micros(limit)));
        let answer = schedule_within(&valid, &budget, &hurried)
            .map_err(|e| TestCaseError::fail(format!("{limit} us: {e}: {}", to_line(graph))))?;
        prop_assert_eq!(check::all(graph, &answer), Ok(()));
        prop_assert_eq!(check::budget(graph, &answer), Ok(()));
        prop_assert!(answer.lower_bound <= unhurried.ii, "{}", to_line(graph));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(3),
        ..ProptestConfig::default()
    })]

    #[test]
    fn of_small_loops(graph in loops(LoopShape::SMALL), part in 20u64..=100, micros in 1u64..500) {
        time_costs_no_answer(&graph, part, micros)?;
    }

    #[test]
    fn of_wide_loops(graph in loops(LoopShape::WIDE), part in 20u64..=100, micros in 1u64..2_000) {
        time_costs_no_answer(&graph, part, micros)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 20,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(4),
        ..ProptestConfig::default()
    })]

    #[test]
    fn of_kernels(graph in kernel_loops(), part in 30u64..=100, micros in 1u64..20_000) {
        time_costs_no_answer(&graph, part, micros)?;
    }

    #[test]
    fn of_tiles(graph in tile_loops(), part in 30u64..=100, micros in 1u64..20_000) {
        time_costs_no_answer(&graph, part, micros)?;
    }
}
