//! Replicas at an equal distance (S98): what is found is checked, what cannot be is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use warploom_sched::{
    LoopGraph, ScheduleError, ScheduleOptions, check, replicas_answer, replicate, schedule,
    schedule_replicas, validate,
};

/// A copy, a product, arithmetic on its result, a product of that.
fn chain(product: u64, special: u64) -> LoopGraph {
    let mut g = LoopGraph::new("chain");
    g.add_resource("TMA", 1).add_resource("TC", 1).add_resource("SFU", 1);
    let copy = g.add_node("copy", 500, &[("TMA", 0, 200)]);
    let first = g.add_node("first", product as i64 + 60, &[("TC", 0, product)]);
    let exp = g.add_node("exp", special as i64 + 40, &[("SFU", 0, special)]);
    let second = g.add_node("second", product as i64 + 60, &[("TC", 0, product)]);
    g.add_edge(copy, first, 500, 0).add_edge(first, exp, product as i64 + 60, 0);
    g.add_edge(exp, second, special as i64 + 40, 0).add_edge(second, second, product as i64, 1);
    g.add_value(copy, 1024, "smem", &[(first, 0, product as i64)]);
    // One copy of what the first product makes: the next may only begin when it was read.
    g.add_value(first, 1024, "reg", &[(exp, 0, special as i64)]);
    g.values[1].max_depth = Some(1);
    g
}

const ONCE: [bool; 4] = [true, false, false, false];

#[test]
fn two_replicas_fill_the_unit_that_one_leaves_idle() {
    let g = chain(512, 480);
    let one = schedule(&validate(&g).unwrap(), &ScheduleOptions::default()).unwrap();
    assert!(one.ii > 1024);
    let two = schedule_replicas(&validate(&g).unwrap(), &ONCE, 2, &ScheduleOptions::default()).unwrap();
    check::all(&two.graph, &two.answer).unwrap();
    // Twice the work in less than twice the time.
    assert_eq!((two.answer.ii, two.answer.optimal), (2048, true));
    // All do the same at one distance; what there is once is there once.
    assert_eq!(two.graph.nodes.len(), 7);
    for v in &two.graph.nodes {
        let Some(replica) = v.replica else { continue };
        let first = two.answer.nodes[replica.operation].time;
        assert_eq!(two.answer.nodes[v.id].time, first + (two.apart as i64) * replica.number as i64);
    }
    // A replica of its own is the loop itself.
    let alone = schedule_replicas(&validate(&g).unwrap(), &ONCE, 1, &ScheduleOptions::default()).unwrap();
    assert_eq!((alone.answer.ii, alone.graph.nodes.len()), (one.ii, 4));
}

#[test]
fn what_cannot_be_is_refused() {
    let g = chain(512, 480);
    let valid = validate(&g).unwrap();
    let options = ScheduleOptions::default();
    let option = |e: ScheduleError| matches!(e, ScheduleError::BadOption { option: "replicas", .. });
    assert!(option(schedule_replicas(&valid, &ONCE, 0, &options).unwrap_err()));
    assert!(option(schedule_replicas(&valid, &ONCE, 65, &options).unwrap_err()));
    assert!(option(schedule_replicas(&valid, &ONCE[..3], 2, &options).unwrap_err()));
    assert!(option(replicate(&g, &[], 2).unwrap_err()));
    assert!(option(replicas_answer(&valid, &ONCE, 2, 512, 0, &[0; 4]).unwrap_err()));
    assert!(option(replicas_answer(&valid, &ONCE, 2, 512, 2048, &[0; 3]).unwrap_err()));
    let two = schedule_replicas(&valid, &ONCE, 2, &options).unwrap();
    let times: Vec<i64> = two.answer.nodes.iter().take(4).map(|v| v.time).collect();
    let again = replicas_answer(&valid, &ONCE, 2, two.apart, two.answer.ii, &times).unwrap();
    assert_eq!(again.answer.nodes, two.answer.nodes);
    // Nearer than a product takes, the replicas' own meet.
    let met = replicas_answer(&valid, &ONCE, 2, 300, two.answer.ii, &times).unwrap_err();
    assert!(matches!(met, ScheduleError::Check(_)), "{met}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever the loop: an answer passes the checker of the loop of all, and no bound of that lies above it.
    #[test]
    fn answers_for_replicas_are_schedules_of_all(product in 1u64..200, special in 1u64..200, replicas in 1u64..5) {
        let g = chain(product, special);
        let valid = validate(&g).unwrap();
        if let Ok(found) = schedule_replicas(&valid, &ONCE, replicas, &ScheduleOptions::default()) {
            prop_assert!(check::all(&found.graph, &found.answer).is_ok());
            prop_assert_eq!(&found.graph, &replicate(&g, &ONCE, replicas).unwrap());
            prop_assert!(found.answer.ii >= (2 * product * replicas) as i64);
        }
    }
}
