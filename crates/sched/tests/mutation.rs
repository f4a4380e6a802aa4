//! The checker can fail: every broken rule is found by the check that owns it (S83, S84).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use common::gemm;
use warploom_sched::check::{self, ScheduleViolationKind as Kind};
use warploom_sched::{Answer, LoopGraph, ScheduleOptions, ScheduleOutcome, schedule, validate};

fn answer(graph: &LoopGraph) -> Answer {
    let answer = schedule(&validate(graph).expect("valid"), &ScheduleOptions::default()).expect("a schedule");
    check::all(graph, &answer).expect("a good schedule");
    answer
}

fn kinds(graph: &LoopGraph, answer: &Answer) -> Vec<Kind> {
    check::all(graph, answer).err().unwrap_or_default().iter().map(|v| v.kind).collect()
}

/// Moves an operation and keeps stage and cycle consistent, so that only the wanted rule breaks.
fn place(answer: &mut Answer, id: usize, time: i64) {
    let ii = answer.ii;
    let v = &mut answer.nodes[id];
    (v.time, v.stage, v.cycle) = (time, time.div_euclid(ii), time.rem_euclid(ii));
}

#[test]
fn two_loads_thirty_cycles_apart() {
    let g = gemm();
    let mut a = answer(&g);
    place(&mut a, 0, 0);
    place(&mut a, 1, 30);
    assert!(kinds(&g, &a).contains(&Kind::Resource));
}

#[test]
fn a_use_that_wraps_onto_cycle_zero() {
    let mut g = LoopGraph::new("wrap");
    g.add_resource("U", 1);
    g.add_node("a", 1, &[("U", 0, 3)]);
    g.add_node("b", 1, &[("U", 0, 1)]);
    let mut a = answer(&g);
    (a.ii, a.lower_bound) = (4, 4);
    // a holds 2, 3 and wraps onto 0, where b is.
    place(&mut a, 0, 2);
    place(&mut a, 1, 0);
    assert!(kinds(&g, &a).contains(&Kind::Resource));
    place(&mut a, 1, 1);
    assert!(!kinds(&g, &a).contains(&Kind::Resource));
    // A use longer than II, on one unit.
    g.nodes[0].uses[0].duration = 5;
    assert!(kinds(&g, &a).contains(&Kind::Resource));
}

#[test]
fn more_cycles_in_turn_than_there_are() {
    let mut g = LoopGraph::new("in turn");
    g.add_interleaved("issue", 2);
    (0..3).for_each(|i| _ = g.add_node(format!("op{i}"), 4, &[("issue", 0, 4)]));
    // Six cycles of two units, whenever the operations start.
    let mut a = answer(&g);
    assert_eq!((a.ii, a.res_mii, a.optimal), (6, 6, true));
    assert!(a.nodes.iter().all(|v| v.time == 0));
    (a.ii, a.lower_bound) = (5, 5);
    let found = check::all(&g, &a).unwrap_err();
    assert!(found.iter().any(|v| v.kind == Kind::Resource && v.at == "issue in all"), "{found:?}");
}

#[test]
fn a_carried_edge_short_by_one() {
    let mut g = LoopGraph::new("carried");
    let (x, y) = (g.add_node("x", 5, &[]), g.add_node("y", 6, &[]));
    g.add_edge(x, y, 5, 0).add_edge(y, x, 6, 1);
    let mut a = answer(&g);
    place(&mut a, 1, 6);
    let found = check::all(&g, &a).unwrap_err();
    assert!(found.iter().any(|v| v.kind == Kind::Dependence && v.at == "edge 1"));
    assert!(!found.iter().any(|v| v.at == "edge 0"));
}

#[test]
fn a_window_exceeded_by_one() {
    let mut g = LoopGraph::new("window");
    let (x, y) = (g.add_node("x", 1, &[]), g.add_node("y", 1, &[]));
    g.add_edge(x, y, 4, 0).add_edge(y, x, -6, 0);
    let mut a = answer(&g);
    place(&mut a, 1, 7);
    assert!(kinds(&g, &a).contains(&Kind::Dependence));
    place(&mut a, 1, 6);
    assert!(!kinds(&g, &a).contains(&Kind::Dependence));
}

#[test]
fn counts_and_bounds() {
    let g = gemm();
    let good = answer(&g);
    for (kind, break_it) in [
        (Kind::Counts, (|a| a.stages += 1) as fn(&mut Answer)),
        (Kind::Counts, |a| a.in_flight += 1),
        (Kind::Counts, |a| a.length -= 1),
        (Kind::Counts, |a| a.bytes = a.bytes.map(|b| b + 1)),
        (Kind::Bounds, |a| a.mii += 1),
        (Kind::Bounds, |a| a.res_mii -= 1),
        (Kind::Bounds, |a| a.rec_mii -= 1),
        (Kind::Bounds, |a| a.lower_bound -= 1),
        (Kind::Bounds, |a| a.lower_bound += 1),
        (Kind::Bounds, |a| a.outcome = ScheduleOutcome::Best),
        (Kind::Normal, |a| a.nodes[1].stage += 1),
        (Kind::Normal, |a| a.nodes.iter_mut().for_each(|v| v.time += 1)),
        (Kind::Shape, |a| _ = a.nodes.pop()),
        (Kind::Shape, |a| a.nodes[0].id = 7),
        (Kind::Shape, |a| a.ii = 0),
        (Kind::Shape, |a| _ = a.values.pop()),
        (Kind::Order, |a| a.nodes[0].order = a.nodes[1].order),
    ] {
        let mut bad = good.clone();
        break_it(&mut bad);
        assert!(kinds(&g, &bad).contains(&kind), "{kind}");
    }
}

#[test]
fn rings() {
    let mut g = gemm();
    let good = answer(&g);
    let mut short = good.clone();
    short.values[0].depth -= 1;
    let found = kinds(&g, &short);
    assert!(found.contains(&Kind::Depth) && found.contains(&Kind::Replay));
    let mut unequal = good.clone();
    unequal.values[0].depth += 1;
    assert!(!kinds(&g, &unequal).contains(&Kind::Depth));
    g.values.iter_mut().for_each(|v| v.group = Some(0));
    assert!(kinds(&g, &unequal).contains(&Kind::Depth));
    g.values[0].max_depth = Some(4);
    assert!(kinds(&g, &good).contains(&Kind::Depth));
    // A load moved a whole II to the front: the ring no longer suffices.
    let mut early = good.clone();
    for id in [1, 2] {
        place(&mut early, id, good.nodes[id].time + good.ii);
    }
    assert!(kinds(&g, &early).contains(&Kind::Depth));
}

#[test]
fn two_tight_operations_swapped() {
    let mut g = LoopGraph::new("tight");
    let (x, y) = (g.add_node("x", 0, &[]), g.add_node("y", 0, &[]));
    g.add_edge(y, x, 0, 0);
    let mut a = answer(&g);
    assert_eq!((a.nodes[y].order, a.nodes[x].order), (0, 1));
    (a.nodes[y].order, a.nodes[x].order) = (1, 0);
    assert!(kinds(&g, &a).contains(&Kind::Order));
}

/// The verdict on times that stand beside a loop.
fn verdict_on(s: &common::Sample, part: &str) -> check::ScheduleVerdict {
    let times = s.json[part]["times"].as_array().unwrap();
    let nodes: Vec<_> =
        times.iter().enumerate().map(|(id, t)| serde_json::json!({ "id": id, "time": t })).collect();
    let text = serde_json::json!({ "ii": s.json[part]["ii"], "nodes": nodes }).to_string();
    check::verdict(&s.graph, &text).unwrap()
}

#[test]
fn schedules_that_were_planted_are_accepted() {
    for s in common::load("operators.jsonl") {
        let verdict = verdict_on(&s, "planted");
        assert!(!verdict.complete && verdict.violations.is_empty(), "{}: {verdict}", s.graph.name);
    }
}

/// Two loads that start 30 cycles apart, as if the copy engine took only so long for each.
#[test]
fn loads_too_close_break_the_copy_engine() {
    for mut s in common::load("gpu.jsonl") {
        let strict = verdict_on(&s, "loose");
        assert!(strict.violations.iter().any(|v| v.kind == Kind::Resource), "{}", s.graph.name);
        for u in s.graph.nodes.iter_mut().flat_map(|v| &mut v.uses).filter(|u| u.resource == "TMA") {
            u.duration = 30;
        }
        let verdict = verdict_on(&s, "loose");
        assert!(verdict.violations.is_empty(), "{}: {verdict}", s.graph.name);
    }
}

/// What became of the mutants of one kind.
#[derive(Default)]
struct Tally {
    mutants: usize,
    caught: usize,
    legal: usize,
}

/// Judges a mutant: caught, or legal by plain recomputation.
fn judge(tally: &mut Tally, graph: &LoopGraph, bad: &Answer, what: &dyn Fn() -> String) {
    tally.mutants += 1;
    if check::all(graph, bad).is_err() {
        tally.caught += 1;
    } else {
        tally.legal += 1;
        assert!(holds(graph, bad), "{}: {} passes", graph.name, what());
    }
}

/// Every mutant of every corpus schedule is caught, or it is a good schedule by plain recomputation (S84).
#[test]
fn mutants_of_the_corpus() {
    const KINDS: [&str; 7] = [
        "time by 1",
        "time by II",
        "orders swapped",
        "depth lowered",
        "node dropped",
        "II lowered",
        "count broken",
    ];
    let mut tallies: [Tally; 7] = Default::default();
    for s in &common::wide_corpus() {
        let g = &s.graph;
        let good = answer(g);
        let ii = good.ii;
        for id in 0..good.nodes.len() {
            for (kind, shift) in [(0, -1), (0, 1), (1, -ii), (1, ii)] {
                let mut bad = good.clone();
                place(&mut bad, id, good.nodes[id].time + shift);
                judge(&mut tallies[kind], g, &bad, &|| format!("node {id} moved by {shift}"));
            }
            if let Some(other) = good.nodes.iter().position(|v| v.order == good.nodes[id].order + 1) {
                let mut bad = good.clone();
                (bad.nodes[id].order, bad.nodes[other].order) =
                    (good.nodes[other].order, good.nodes[id].order);
                judge(&mut tallies[2], g, &bad, &|| format!("orders of {id} and {other} swapped"));
            }
            let mut bad = good.clone();
            bad.nodes.remove(id);
            judge(&mut tallies[4], g, &bad, &|| format!("without node {id}"));
        }
        for i in 0..good.values.len() {
            let mut bad = good.clone();
            bad.values[i].depth -= 1;
            bad.bytes = bad.bytes.map(|b| b - g.values[i].bytes);
            judge(&mut tallies[3], g, &bad, &|| format!("depth of {i} lowered"));
        }
        let mut bad = good.clone();
        bad.ii -= 1;
        judge(&mut tallies[5], g, &bad, &|| "II lowered".into());
        for (what, break_it) in COUNTS {
            let mut bad = good.clone();
            break_it(&mut bad);
            judge(&mut tallies[6], g, &bad, &|| format!("{what} broken"));
        }
    }
    println!("{:16} {:>8} {:>8} {:>8}", "mutation", "mutants", "caught", "legal");
    for (kind, t) in KINDS.iter().zip(&tallies) {
        println!("{kind:16} {:>8} {:>8} {:>8}", t.mutants, t.caught, t.legal);
        assert!(t.caught > 0 && t.mutants == t.caught + t.legal, "{kind}");
    }
    // Some mutations can never leave a good schedule.
    assert!([3, 4, 5, 6].iter().all(|&i| tallies[i].legal == 0));
}

/// A name, and what it does to an answer.
type Mutation = (&'static str, fn(&mut Answer));

/// Each count, one too high.
const COUNTS: [Mutation; 4] = [
    ("stages", |a| a.stages += 1),
    ("in_flight", |a| a.in_flight += 1),
    ("length", |a| a.length += 1),
    ("bytes", |a| a.bytes = Some(a.bytes.unwrap_or(0) + 1)),
];

/// The definitions by brute force: dependences, units cycle by cycle, the body's order, the rings' slots.
fn holds(graph: &LoopGraph, a: &Answer) -> bool {
    let at = |node: usize| &a.nodes[node];
    let edges = graph.edges.iter().all(|e| at(e.dst).time + a.ii * e.distance >= at(e.src).time + e.latency);
    let units = graph.resources.iter().all(|r| {
        if r.interleaved {
            let own = graph.nodes.iter().flat_map(|v| &v.uses).filter(|u| u.resource == r.name);
            return own.map(|u| u.duration).sum::<u64>() <= r.count * a.ii as u64;
        }
        let mut load = vec![0; a.ii as usize];
        for (v, node) in graph.nodes.iter().enumerate() {
            for u in node.uses.iter().filter(|u| u.resource == r.name) {
                for c in 0..u.duration as i64 {
                    load[(at(v).time + u.start as i64 + c).rem_euclid(a.ii) as usize] += 1;
                }
            }
        }
        load.iter().all(|&l| l <= r.count)
    });
    let mut body: Vec<usize> = (0..a.nodes.len()).collect();
    body.sort_by_key(|&v| at(v).order);
    let ascending = body.windows(2).all(|w| at(w[0]).cycle <= at(w[1]).cycle);
    let tight = graph.edges.iter().all(|e| {
        let apart = at(e.dst).time + a.ii * e.distance - at(e.src).time;
        e.latency != 0 || apart != 0 || e.src == e.dst || at(e.src).order < at(e.dst).order
    });
    let rings = graph.values.iter().all(|v| {
        let (depth, def) = (a.values[v.id].depth as i64, at(v.def));
        v.uses.iter().all(|u| {
            let reader = at(u.node);
            let read = reader.time + u.distance * a.ii;
            let later = i64::from(reader.order > def.order);
            let slots = u.distance + reader.stage - def.stage + later;
            let start = def.time + v.start;
            start <= read && read + u.end - start <= depth * a.ii && slots <= depth
        })
    });
    edges && units && ascending && tight && rings
}
