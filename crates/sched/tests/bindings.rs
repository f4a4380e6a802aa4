//! Uses with alternatives: which resource each takes (S103).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use proptest::prelude::*;
use warploom_sched::check::{self, ScheduleViolationKind as Kind};
use warploom_sched::{
    Answer, GraphErrorKind, LoopGraph, PartitionModel, ScheduleError, ScheduleOptions, StartSchedule,
    UseBinding, loop_core, read_graph, schedule, schedule_within, to_line, validate,
};
use warploom_testing::sched::{LoopShape, Source, laws, loop_graph, with_alternatives};

/// Two adders, of which one multiplies, too.
fn vliw() -> LoopGraph {
    let mut g = LoopGraph::new("vliw");
    g.add_resource("A", 1).add_resource("B", 1);
    for i in 0..3 {
        let v = g.add_node(format!("add {i}"), 2, &[("A", 0, 2)]);
        g.add_alternatives(v, 0, &["B"]);
    }
    g.add_node("mul", 3, &[("B", 1, 2)]);
    g.add_edge(0, 3, 2, 0);
    g
}

fn answer(g: &LoopGraph) -> Answer {
    let answer = schedule(&validate(g).unwrap(), &ScheduleOptions::default()).unwrap();
    check::all(g, &answer).unwrap();
    answer
}

#[test]
fn uses_are_bound_and_the_ii_is_proved() {
    let g = vliw();
    let a = answer(&g);
    assert_eq!((a.ii, a.optimal, a.bindings.len()), (4, true, 3));
    assert_eq!(a.bindings.iter().filter(|b| b.resource == "A").count(), 2);
    // The circular arcs of three uses of 2 in 3 cycles never meet three at once, and need three units all the same.
    let mut g = LoopGraph::new("arcs");
    g.add_resource("A", 1).add_resource("B", 1);
    for _ in 0..3 {
        let v = g.add_node("x", 2, &[("A", 0, 2)]);
        g.add_alternatives(v, 0, &["B"]);
    }
    let a = answer(&g);
    assert_eq!((a.res_mii, a.ii, a.optimal), (3, 4, true));
    let bound = g.bound(&a.bindings);
    let core = loop_core(&validate(&bound).unwrap(), &answer(&bound), &ScheduleOptions::default()).unwrap();
    check::core(&bound, &core.unwrap()).unwrap();
    assert!(loop_core(&validate(&g).unwrap(), &a, &ScheduleOptions::default()).is_err());
    assert!(warploom_sched::render::explain(&g, &a).contains("A|B"));
}

#[test]
fn wrong_bindings_are_caught() {
    let g = vliw();
    let good = answer(&g);
    let broken: [fn(&mut Answer); 7] = [
        |a| _ = a.bindings.pop(),
        |a| a.bindings[0].resource = "C".to_owned(),
        |a| a.bindings.push(a.bindings[0].clone()),
        |a| a.bindings[0].node = 9,
        |a| a.bindings[0].at = 1,
        |a| a.bindings.push(UseBinding { node: 3, at: 0, resource: "B".to_owned() }),
        |a| a.bindings[2].node = 3,
    ];
    for (i, break_it) in broken.iter().enumerate() {
        let mut bad = good.clone();
        break_it(&mut bad);
        let found = check::all(&g, &bad).expect_err(&format!("mutation {i}"));
        assert!(found.iter().any(|v| v.kind == Kind::Binding), "mutation {i}: {found}");
        assert!(check::times(&g, &bad).is_err() && check::schedule(&g, &bad).is_err());
    }
    // The wrong one of two: a unit is held twice.
    let mut bad = good.clone();
    bad.bindings.iter_mut().for_each(|b| b.resource = "A".to_owned());
    let found = check::all(&g, &bad).unwrap_err();
    assert!(found.iter().any(|v| v.kind == Kind::Resource), "{found}");
}

#[test]
fn lists_of_names_are_read_and_written() {
    let g = vliw();
    let line = to_line(&g);
    assert!(line.contains(r#""resource":["A","B"]"#) && line.contains(r#""resource":"B""#), "{line}");
    assert_eq!(read_graph(&line).unwrap(), g);
    let error = read_graph(&line.replace(r#"["A","B"]"#, "7")).unwrap_err();
    assert!(error.message.contains("list of names") && error.path.contains("uses[0].resource"), "{error}");
}

#[test]
fn alternatives_that_are_none_are_refused() {
    let refused = |change: fn(&mut LoopGraph)| {
        let mut g = vliw();
        change(&mut g);
        let error = validate(&g).unwrap_err().into_iter().next().unwrap();
        assert!(error.at == "nodes[0].uses[0]" && error.kind.rule() != "S2" && !error.kind.help().is_empty());
        error.kind
    };
    let empty = |g: &mut LoopGraph| {
        *g = read_graph(&to_line(g).replacen(r#"["A","B"]"#, "[]", 1)).unwrap();
    };
    assert_eq!(refused(empty), GraphErrorKind::NoAlternative);
    let twice: fn(&mut LoopGraph) = |g| _ = g.add_alternatives(0, 0, &["A"]);
    assert_eq!(refused(twice), GraphErrorKind::RepeatedAlternative("A".to_owned()));
    assert!(matches!(refused(|g| g.resources[1].count = 2), GraphErrorKind::UnequalAlternatives { .. }));
    let in_turn = refused(|g| g.resources[1].interleaved = true);
    assert_eq!(in_turn, GraphErrorKind::InterleavedAlternative("B".to_owned()));
    assert!(matches!(refused(|g| _ = g.add_alternatives(0, 0, &["Z"])), GraphErrorKind::UnknownResource(_)));
}

/// What is not done with alternatives is refused, not forgotten.
#[test]
fn what_does_not_go_with_alternatives_is_said() {
    let g = vliw();
    let valid = validate(&g).unwrap();
    let options = ScheduleOptions::default().partition(Some(PartitionModel::default()));
    assert!(matches!(schedule(&valid, &options), Err(ScheduleError::Partitions(_))));
    let budget = warploom_sched::MemoryBudget::default();
    let within = schedule_within(&valid, &budget, &ScheduleOptions::default());
    assert!(matches!(within, Err(ScheduleError::BadOption { option: "budget", .. })));
    let a = answer(&g);
    let options = ScheduleOptions::default().start(Some(StartSchedule::from(&a)));
    assert!(schedule(&valid, &options).unwrap().start_refused.is_some());
    let options = ScheduleOptions::default().time_limit(Some(std::time::Duration::ZERO));
    check::all(&g, &schedule(&valid, &options).unwrap()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_best_binding_is_found(seed: u64) {
        let mut source = Source::seed(seed);
        let g = with_alternatives(loop_graph(&mut source, LoopShape { ops: 4, wild: false, ..LoopShape::SMALL }), &mut source);
        prop_assert_eq!(laws::best_binding_is_found(&g), Ok(()), "{}", to_line(&g));
    }

    #[test]
    fn wide_bindings_are_legal(seed: u64) {
        let mut source = Source::seed(seed);
        let g = with_alternatives(loop_graph(&mut source, LoopShape::WIDE), &mut source);
        prop_assert_eq!(laws::schedule_is_legal(&g, &ScheduleOptions::default().steps(300)), Ok(()), "{}", to_line(&g));
        prop_assert_eq!(laws::text_reads_back(&g), Ok(()));
    }
}
