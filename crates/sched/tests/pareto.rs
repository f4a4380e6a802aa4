//! The II against bytes (S100).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod common;

use common::gemm;
use std::time::Duration;
use warploom_sched::{
    LoopGraph, MemoryBudget, ParetoCurve, ScheduleError, ScheduleOptions, check, pareto, schedule_within,
    validate,
};

fn curve(graph: &LoopGraph, limit: Option<Duration>) -> ParetoCurve {
    let options = ScheduleOptions::default().time_limit(limit);
    let curves = pareto(&validate(graph).unwrap(), &MemoryBudget::default(), &options).unwrap();
    let [curve] = <[_; 1]>::try_from(curves).expect("one space");
    check::pareto(graph, &curve).unwrap();
    curve
}

#[test]
fn every_ring_that_is_given_up_costs_cycles() {
    let curve = curve(&gemm(), None);
    let points: Vec<(u64, i64, bool)> =
        curve.points.iter().map(|p| (p.bytes >> 14, p.answer.ii, p.answer.optimal)).collect();
    assert!(curve.complete);
    // Slots of 16 KiB: from five of each at the II of the loop to one of each, one iteration after the other.
    assert_eq!((points[0].0, points[0].1), (10, 256));
    assert_eq!(points.last().map(|p| p.0), Some(2));
    assert!(points.iter().all(|p| p.2), "{points:?}");
    // Each point is what a budget of its bytes gives, and a byte less gives the next.
    let valid = gemm();
    let valid = validate(&valid).unwrap();
    let within = |bytes| {
        let budget = MemoryBudget::default().space("smem", bytes);
        schedule_within(&valid, &budget, &ScheduleOptions::default()).map(|a| a.ii)
    };
    for pair in curve.points.windows(2) {
        assert_eq!(within(pair[0].bytes), Ok(pair[0].answer.ii));
        assert_eq!(within(pair[0].bytes - 1), Ok(pair[1].answer.ii));
    }
    assert!(matches!(
        within(curve.points.last().unwrap().bytes - 1),
        Err(ScheduleError::BudgetInfeasible { .. })
    ));
}

#[test]
fn no_time_leaves_the_ends() {
    let brief = curve(&gemm(), Some(Duration::ZERO));
    assert_eq!(brief.points.last().map(|p| p.bytes), Some(2 << 14));
    assert!(brief.points.iter().all(|p| p.answer.lower_bound <= p.answer.ii));
}

#[test]
fn wrong_curves_are_caught() {
    let g = gemm();
    let good = curve(&g, None);
    let caught = |change: &dyn Fn(&mut ParetoCurve)| {
        let mut wrong = good.clone();
        change(&mut wrong);
        check::pareto(&g, &wrong).is_err()
    };
    assert!(caught(&|c| c.points[0].bytes -= 1));
    assert!(caught(&|c| c.points.swap(0, 1)));
    assert!(caught(&|c| c.points[1] = c.points[0].clone()));
    assert!(caught(&|c| c.points[1].answer.values[0].depth += 1));
    assert!(caught(&|c| c.points[1].answer.nodes[2].time -= 1));
    assert!(caught(&|c| c.space = "tmem".to_owned()));
}

#[test]
fn other_spaces_keep_their_budgets() {
    let mut g = gemm();
    g.values[1].space = "tmem".to_owned();
    let options = ScheduleOptions::default();
    let budget = MemoryBudget::default().space("tmem", 3 << 14);
    let curves = pareto(&validate(&g).unwrap(), &budget, &options).unwrap();
    let names: Vec<&str> = curves.iter().map(|c| c.space.as_str()).collect();
    assert_eq!(names, ["smem", "tmem"]);
    for c in &curves {
        check::pareto(&g, c).unwrap();
        let tmem = |p: &warploom_sched::ParetoPoint| p.answer.values[1].depth;
        assert!(c.points.iter().all(|p| tmem(p) <= 3));
    }
    // Without values there is nothing to pay for.
    let mut bare = gemm();
    bare.values.clear();
    assert!(pareto(&validate(&bare).unwrap(), &budget, &options).unwrap().is_empty());
    let tight = MemoryBudget::default().space("tmem", 1);
    let refused = pareto(&validate(&g).unwrap(), &tight, &options);
    assert!(matches!(refused, Err(ScheduleError::BudgetInfeasible { .. })));
}
