//! What is claimed beside a schedule: cores of refuted IIs (S102), rational IIs (S101).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use warploom_sched::check::{self, ScheduleViolationKind as Kind, ScheduleViolations};
use warploom_sched::{
    CoreMember, LoopCore, LoopGraph, LoopRemedy, ScheduleError, ScheduleOptions, UnrolledAnswer, loop_core,
    schedule, schedule_unrolled, unroll, validate,
};
use warploom_testing::sched::{Source, kernel_loop};

/// What is broken, and what must be said of it.
type Mutation<T> = (Kind, fn(&mut T));

fn core_of(g: &LoopGraph) -> Option<LoopCore> {
    let (valid, options) = (validate(g).unwrap(), ScheduleOptions::default());
    let answer = schedule(&valid, &options).unwrap();
    loop_core(&valid, &answer, &options).unwrap()
}

/// Three uses of 3 cycles tied so that the third fits in none of the intervals that the others leave.
fn fragments() -> LoopGraph {
    let mut g = LoopGraph::new("fragments");
    g.add_resource("U", 1);
    for name in ["a", "b", "c"] {
        g.add_node(name, 3, &[("U", 0, 3)]);
    }
    g.add_node("idle", 1, &[]);
    g.add_edge(0, 1, 5, 0).add_edge(1, 0, 5, 1).add_edge(2, 3, 3, 0);
    g
}

#[test]
fn every_proved_ii_above_the_bound_has_a_minimal_core() {
    let mut above = 0;
    let kernels = (0..40).map(|seed| kernel_loop(&mut Source::seed(seed)));
    let known = common::corpus().into_iter().map(|s| s.graph);
    for g in known.chain(kernels).filter(|g| g.nodes.len() <= 50) {
        let (valid, options) = (validate(&g).unwrap(), ScheduleOptions::default());
        let answer = schedule(&valid, &options).unwrap();
        if !answer.optimal || answer.ii <= answer.mii {
            continue;
        }
        let core = loop_core(&valid, &answer, &options).unwrap();
        let core = core.unwrap_or_else(|| panic!("{}: no core", g.name));
        println!(
            "{}: II {} (MII {}), {} members, {:?}",
            g.name,
            answer.ii,
            answer.mii,
            core.members.len(),
            core.remedies.first()
        );
        check::core(&g, &core).unwrap_or_else(|v| panic!("{}: {v}", g.name));
        assert!(core.minimal, "{}", g.name);
        above += 1;
    }
    assert!(above > 1, "{above}");
}

#[test]
fn a_core_names_what_is_needed() {
    let core = core_of(&fragments()).unwrap();
    assert_eq!(core.ii, 10);
    let uses: Vec<CoreMember> = (0..3).map(|v| CoreMember::Use(v, 0)).collect();
    assert_eq!(core.members, [vec![CoreMember::Edge(0), CoreMember::Edge(1)], uses].concat());
    assert!(core.minimal);
    assert!(core.remedies.contains(&LoopRemedy::Unit { resource: "U".to_owned() }));
    assert_eq!(core.remedies[0], LoopRemedy::Latency { edge: 0, cycles: 1 });
    // Answers without a proof, or with nothing to refute, have none.
    let mut g = LoopGraph::new("one");
    g.add_node("x", 1, &[]);
    assert_eq!(core_of(&g), None);
}

#[test]
fn broken_cores_are_caught() {
    let g = fragments();
    let good = core_of(&g).unwrap();
    check::core(&g, &good).unwrap();
    let broken: [Mutation<LoopCore>; 9] = [
        (Kind::Core, |c| c.ii += 1),
        (Kind::Core, |c| _ = (c.members.remove(0), c.witnesses.remove(0))),
        (Kind::Core, |c| _ = (c.members.remove(4), c.witnesses.remove(4))),
        (Kind::Core, |c| (c.members.push(CoreMember::Edge(2)), c.witnesses.push(vec![0, 5, 20, 23])).0),
        (Kind::Core, |c| c.witnesses[0] = c.witnesses[1].clone()),
        (Kind::Core, |c| c.witnesses[2][1] += 1),
        (Kind::Core, |c| c.minimal = false),
        (Kind::Shape, |c| c.members[0] = CoreMember::Edge(9)),
        (Kind::Shape, |c| _ = c.witnesses.pop()),
    ];
    for (i, (kind, break_it)) in broken.iter().enumerate() {
        let mut bad = good.clone();
        break_it(&mut bad);
        let found = check::core(&g, &bad).expect_err(&format!("mutation {i}"));
        assert!(found.iter().any(|v| v.kind == *kind), "mutation {i}: {found}");
    }
}

/// Two copies of a recurrence of 5 cycles over 2 iterations.
fn half() -> LoopGraph {
    let mut g = LoopGraph::new("half");
    g.add_resource("U", 2);
    let v = g.add_node("v", 5, &[("U", 0, 3)]);
    g.add_edge(v, v, 5, 2);
    g
}

fn by(g: &LoopGraph, most: u64) -> UnrolledAnswer {
    let found = schedule_unrolled(&validate(g).unwrap(), most, &ScheduleOptions::default()).unwrap();
    check::unrolled(g, &found).unwrap();
    found
}

#[test]
fn ratios_are_reached() {
    let found = by(&half(), 8);
    assert_eq!((found.factor, found.answer.ii, found.lower_bound, found.optimal), (2, 5, [5, 2], true));
    // Three uses of two units: 3/2 by two copies.
    let mut g = LoopGraph::new("three");
    g.add_resource("U", 2);
    (0..3).for_each(|_| _ = g.add_node("x", 1, &[("U", 0, 1)]));
    let found = by(&g, 8);
    assert_eq!((found.factor, found.answer.ii, found.optimal), (2, 3, true));
    // A limit that does not reach the ratio proves nothing below it.
    let mut g = LoopGraph::new("thirds");
    let v = g.add_node("v", 7, &[]);
    g.add_edge(v, v, 7, 3);
    assert_eq!((by(&g, 1).answer.ii, by(&g, 2).lower_bound, by(&g, 3).lower_bound), (3, [5, 2], [7, 3]));
    // A ring that copies cannot share is refused with the factor.
    let mut g = half();
    g.add_value(0, 1, "s", &[(0, 1, 0)]);
    g.values[0].max_depth = Some(3);
    let found = by(&g, 3);
    assert!(found.factors[1].refused.as_ref().unwrap().contains("3 slots"));
    assert_eq!(found.factors[2].refused, None);
}

#[test]
fn limits_of_unrolling() {
    let g = half();
    for most in [0, 65] {
        let error = schedule_unrolled(&validate(&g).unwrap(), most, &ScheduleOptions::default()).unwrap_err();
        assert!(matches!(error, ScheduleError::BadOption { option: "unroll", .. }), "{error}");
        assert!(unroll(&g, most).is_err());
    }
    let options = ScheduleOptions::default().time_limit(Some(std::time::Duration::ZERO));
    let found = schedule_unrolled(&validate(&g).unwrap(), 8, &options).unwrap();
    check::unrolled(&g, &found).unwrap();
    assert_eq!((found.factor, found.optimal), (1, false));
    assert_eq!(by(&g, 8).copies, by(&g, 8).copies);
}

#[test]
fn broken_rational_answers_are_caught() {
    let mut g = half();
    g.add_node("w", 1, &[("U", 0, 2)]);
    g.add_edge(0, 1, 5, 1);
    let good = by(&g, 4);
    let broken: [Mutation<UnrolledAnswer>; 8] = [
        (Kind::Shape, |a| _ = a.copies.pop()),
        (Kind::Shape, |a| a.copies[0] = a.copies[1]),
        (Kind::Shape, |a| a.factor += 1),
        (Kind::Dependence, |a| a.copies.iter_mut().filter(|c| c.node == 1).for_each(|c| c.time -= 40)),
        (Kind::Dependence, |a| a.answer.ii -= 1),
        (Kind::Resource, |a| a.copies.iter_mut().for_each(|c| c.time *= 5)),
        (Kind::Bounds, |a| a.lower_bound = [99, 1]),
        (Kind::Bounds, |a| a.optimal = !a.optimal),
    ];
    for (i, (kind, break_it)) in broken.iter().enumerate() {
        let mut bad = good.clone();
        break_it(&mut bad);
        let found: ScheduleViolations = check::unrolled(&g, &bad).expect_err(&format!("mutation {i}"));
        assert!(found.iter().any(|v| v.kind == *kind), "mutation {i}: {found}");
    }
}

/// No search over their orders refutes so many writes: what counts is that they all lie between two operations (S102).
#[test]
fn the_core_of_a_crowd_is_confirmed() {
    let mut g = LoopGraph::new("writes");
    g.add_resource("W", 1);
    let (first, last) = (g.add_node("first", 1, &[]), g.add_node("last", 1, &[]));
    for i in 0..14 {
        let v = g.add_node(format!("write {i}"), 1, &[("W", 0, 1)]);
        g.add_edge(first, v, 3, 0);
        g.add_edge(v, last, 1, 0);
    }
    g.add_edge(last, first, 2, 1);
    let (valid, options) = (validate(&g).unwrap(), ScheduleOptions::default());
    let answer = schedule(&valid, &options).unwrap();
    assert_eq!((answer.mii, answer.ii, answer.optimal), (14, 19, true));
    let core = loop_core(&valid, &answer, &options).unwrap().unwrap();
    // All uses and all edges.
    assert_eq!((core.members.len(), core.minimal), (14 + 29, true));
    assert_eq!(check::core(&g, &core), Ok(()));
    // A ratio, too: no number of iterations at once takes fewer cycles for each.
    let found = schedule_unrolled(&valid, 8, &options).unwrap();
    assert_eq!((found.factor, found.lower_bound, found.optimal), (1, [19, 1], true));
}
