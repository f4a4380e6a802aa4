//! Limits and options (S45, S46, S54).

mod common;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use warploom_sched::{
    Algorithm, LoopGraph, Objective, Observer, ScheduleError, ScheduleOptions, StartSchedule, check,
    schedule, validate,
};

fn frag() -> LoopGraph {
    let mut g = LoopGraph::new("frag4");
    g.add_resource("U", 1);
    let a = g.add_node("a", 2, &[("U", 0, 3)]);
    let b = g.add_node("b", 4, &[("U", 0, 2)]);
    g.add_node("c", 3, &[("U", 0, 2)]);
    let d = g.add_node("d", 4, &[("U", 0, 1)]);
    g.add_edge(a, d, 2, 0).add_edge(b, d, 4, 0).add_edge(d, b, 4, 1);
    g.add_value(a, 8, "smem", &[(d, 0, 4)]);
    g
}

#[test]
fn no_time_at_all_still_gives_a_checked_schedule() {
    let g = frag();
    let options = ScheduleOptions::default().time_limit(Some(Duration::ZERO));
    let a = schedule(&validate(&g).unwrap(), &options).unwrap();
    assert_eq!(a.stopped_by.as_deref(), Some("time"));
    check::all(&g, &a).unwrap();
}

#[test]
fn slack_makes_rings_of_asynchronous_values_longer() {
    let mut g = frag();
    let valid = validate(&g).unwrap();
    let plain = schedule(&valid, &ScheduleOptions::default()).unwrap();
    let slack = schedule(&valid, &ScheduleOptions::default().slack_slots(2)).unwrap();
    assert_eq!(slack.values[0].depth, plain.values[0].depth + 2);
    g.values[0].max_depth = Some(plain.values[0].depth);
    let capped = schedule(&validate(&g).unwrap(), &ScheduleOptions::default().slack_slots(2)).unwrap();
    assert_eq!(capped.values[0].depth, plain.values[0].depth);
    check::all(&g, &capped).unwrap();
}

#[test]
fn limits_on_the_ii() {
    let g = frag();
    let valid = validate(&g).unwrap();
    let at = |options: &ScheduleOptions| schedule(&valid, options).map(|a| a.ii);
    assert_eq!(at(&ScheduleOptions::default()), Ok(8));
    assert_eq!(at(&ScheduleOptions::default().min_ii(10)), Ok(10));
    assert_eq!(
        at(&ScheduleOptions::default().max_ii(Some(7))),
        Err(ScheduleError::Infeasible { up_to: Some(7) })
    );
    assert!(matches!(
        at(&ScheduleOptions::default().min_ii(0)),
        Err(ScheduleError::BadOption { option: "min_ii", .. })
    ));
    let shaken = ScheduleOptions::default().algorithm(Algorithm::Ims).restarts(20);
    assert!(at(&shaken).unwrap() <= at(&ScheduleOptions::default().algorithm(Algorithm::Ims)).unwrap());
}

#[test]
fn an_observer_sees_progress_and_may_cancel() {
    let g = frag();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let watch = Observer::new(move |p| {
        notes.lock().unwrap().push(*p);
        ControlFlow::Continue(())
    });
    let options = ScheduleOptions::default().observer(Some(watch));
    let watched = schedule(&validate(&g).unwrap(), &options).unwrap();
    let plain = schedule(&validate(&g).unwrap(), &ScheduleOptions::default()).unwrap();
    assert_eq!(watched.nodes, plain.nodes);
    assert_eq!(watched.stopped_by, None);
    let seen = seen.lock().unwrap();
    assert_eq!((seen[0].ii, seen[0].lower_bound), (8, 8));
    assert_eq!(seen.last().unwrap().best_ii, Some(8));

    let calls = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&calls);
    let stop = Observer::new(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Break(())
    });
    let a = schedule(&validate(&g).unwrap(), &ScheduleOptions::default().observer(Some(stop))).unwrap();
    assert_eq!(a.stopped_by.as_deref(), Some("cancelled"));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    check::all(&g, &a).unwrap();
}

/// Parallel edges are legal (S5); the longest of them decides.
#[test]
fn a_million_edges_between_two_nodes() {
    let mut g = LoopGraph::new("parallel");
    let (a, b) = (g.add_node("a", 1, &[]), g.add_node("b", 1, &[]));
    (0..1_000_000).for_each(|i| _ = g.add_edge(a, b, i % 1000, i % 3));
    let answer = schedule(&validate(&g).unwrap(), &ScheduleOptions::default()).unwrap();
    assert_eq!((answer.ii, answer.length, answer.length_optimal), (1, 1000, true));
    check::all(&g, &answer).unwrap();
}

/// Numbers at the limits of S2 neither wrap nor panic; beyond them they are refused.
#[test]
fn numbers_at_the_limits() {
    let most = i64::from(i32::MAX);
    let mut g = LoopGraph::new("large");
    g.add_resource("U", 1);
    let a = g.add_node("a", most, &[("U", 0, most as u64)]);
    let b = g.add_node("b", most, &[("U", most as u64, 1)]);
    g.add_edge(a, b, most, 0).add_edge(b, a, most, 1 << 20);
    let valid = validate(&g).unwrap();
    for algorithm in [Algorithm::Auto, Algorithm::Ims, Algorithm::Sms, Algorithm::Serial] {
        let answer = schedule(&valid, &ScheduleOptions::default().algorithm(algorithm)).unwrap();
        check::all(&g, &answer).unwrap();
        assert!(answer.ii > most, "{algorithm}");
    }
    g.nodes[0].latency += 1;
    let codes: Vec<&str> = validate(&g).unwrap_err().iter().map(|e| e.kind.code()).collect();
    assert_eq!(codes, ["TooLarge"]);
}

/// A value that its own writer reads and one slot holds: the reader and the rewriter are one operation, so that no
/// order within the cycle is at stake (S53, S55). Found by the fuzzer.
#[test]
fn a_slot_may_be_rewritten_by_the_operation_that_reads_it() {
    let mut g = LoopGraph::new("own");
    let (a, b) = (g.add_node("a", 0, &[]), g.add_node("b", 0, &[]));
    g.add_node("c", 2, &[]);
    g.add_value(b, 47, "smem", &[(a, 2, 1)]);
    g.add_value(a, 1, "smem", &[(b, 0, 0), (a, 1, 0)]);
    g.values[1].max_depth = Some(1);
    let valid = validate(&g).unwrap();
    for algorithm in [Algorithm::Auto, Algorithm::Exact, Algorithm::Ims, Algorithm::Sms] {
        let found = schedule(&valid, &ScheduleOptions::default().algorithm(algorithm)).unwrap();
        assert_eq!((found.ii, found.values[1].depth), (1, 1), "{algorithm}");
        check::all(&g, &found).unwrap();
    }
}

#[test]
fn the_kernel_objective_claims_the_least_length_only_where_it_is_proved() {
    let length = |name: &str, objective| {
        let graph =
            common::load("conformance.jsonl").into_iter().find(|s| s.graph.name == name).unwrap().graph;
        let options = ScheduleOptions::default().algorithm(Algorithm::Exact).objective(objective);
        let answer = schedule(&validate(&graph).unwrap(), &options).unwrap();
        (answer.length, answer.length_optimal)
    };
    assert_eq!(length("tension", Objective::Latency), (11, true));
    // Fewer bytes take a longer schedule, which is not the least.
    assert_eq!(length("tension", Objective::Kernel), (14, false));
    assert_eq!(length("gemm64", Objective::Kernel), (1211, true));
}

/// Where the search runs out of steps, both heuristics have had their say: `auto` is no worse than either. Found by the
/// fuzzer.
#[test]
fn auto_is_no_worse_than_a_heuristic_with_few_steps() {
    let mut g = LoopGraph::new("two units");
    g.add_resource("R", 2);
    g.add_node("a", 40, &[("R", 10, 1), ("R", 0, 36)]);
    g.add_node("b", 18, &[("R", 1, 37)]);
    g.add_node("c", 34, &[("R", 0, 20), ("R", 0, 1)]);
    g.add_node("d", 36, &[("R", 0, 36), ("R", 0, 1)]);
    g.add_node("e", 0, &[]);
    let valid = validate(&g).unwrap();
    let ii =
        |algorithm| schedule(&valid, &ScheduleOptions::default().algorithm(algorithm).steps(500)).unwrap().ii;
    assert!(ii(Algorithm::Auto) <= ii(Algorithm::Sms).min(ii(Algorithm::Ims)));
}

/// A depth cap ties the operations to times at which they clash at every II: that is found out in bounded work. Found by
/// the fuzzer.
#[test]
fn a_loop_that_no_ii_suits_comes_to_an_end() {
    let mut g = LoopGraph::new("tied");
    g.add_resource("R", 1);
    let a = g.add_node("a", 40, &[("R", 9, 29)]);
    let b = g.add_node("b", 40, &[("R", 24, 23)]);
    g.add_edge(a, b, 0, 0);
    g.add_value(b, 1, "smem", &[(a, 2, 0), (a, 1, 0)]);
    g.values[0].max_depth = Some(1);
    let valid = validate(&g).unwrap();
    for algorithm in [Algorithm::Auto, Algorithm::Exact, Algorithm::Ims] {
        assert!(
            schedule(&valid, &ScheduleOptions::default().algorithm(algorithm).steps(20)).is_err(),
            "{algorithm}"
        );
    }
}

/// A schedule to begin with is taken, made no worse, and refused by name where it is none (S105).
#[test]
fn a_start_is_never_made_worse() {
    let g = frag();
    let valid = validate(&g).unwrap();
    let best = schedule(&valid, &ScheduleOptions::default()).unwrap();
    for algorithm in Algorithm::ALL {
        for limit in [None, Some(Duration::ZERO)] {
            let options = ScheduleOptions::default().algorithm(algorithm).time_limit(limit);
            let warm = schedule(&valid, &options.start(Some(StartSchedule::from(&best)))).unwrap();
            check::all(&g, &warm).unwrap();
            assert_eq!(warm.start_refused, None);
            assert!(
                (warm.ii, warm.length) <= (best.ii, best.length),
                "{algorithm}: {} {}",
                warm.ii,
                warm.length
            );
        }
    }
    let mut broken = StartSchedule::from(&best);
    broken.nodes[3].time -= 1;
    let cold = schedule(&valid, &ScheduleOptions::default().start(Some(broken))).unwrap();
    let why = cold.start_refused.clone().unwrap();
    assert!(why.contains("S73") && why.contains("edge"), "{why}");
    assert_eq!((cold.ii, cold.length, cold.nodes), (best.ii, best.length, best.nodes.clone()));
    for bad in ["{\"ii\":0,\"nodes\":[]}", "{\"ii\":8,\"nodes\":[{\"id\":77,\"time\":9223372036854775807}]}"]
    {
        let start = warploom_sched::read_start(bad).unwrap();
        let answer = schedule(&valid, &ScheduleOptions::default().start(Some(start))).unwrap();
        assert!(answer.start_refused.unwrap().contains("S72"));
    }
    // Who issues what is searched for, which a start does not say.
    let options = ScheduleOptions::default().partition(Some(warploom_sched::PartitionModel::default()));
    let joint = schedule(&valid, &options.start(Some(StartSchedule::from(&best)))).unwrap();
    assert!(joint.start_refused.is_some());
}

/// Equal answers in the order of the loops, on any number of threads (S105).
#[test]
fn threads_do_not_show() {
    let loops: Vec<LoopGraph> = (0..12)
        .map(|seed| warploom_testing::sched::kernel_loop(&mut warploom_testing::sched::Source::seed(seed)))
        .collect();
    let answers = |threads: usize| {
        let mut text = String::new();
        let work = |g: &LoopGraph| {
            let options = ScheduleOptions::default().steps(200);
            let mut answer = schedule(&validate(g).unwrap(), &options).unwrap();
            answer.micros = 0;
            warploom_sched::to_line(&answer)
        };
        let threads = std::num::NonZeroUsize::new(threads).unwrap();
        warploom_sched::in_order(&loops, threads, work, |line| text += &line);
        text
    };
    assert!(answers(1) == answers(3) && answers(2) == answers(64));
}
