//! The search that learns against the plain one, on units that are full to the last cycle.

use super::learner::{CALM, Learner};
use crate::exact::ask::refutes;
use crate::exact::complete::fill;
use crate::exact::contract::Active;
use crate::exact::kinds::{all_pairs, pairs, wraps_decide};
use crate::exact::span::Span;
use crate::exact::steps::StepBudget;
use crate::exact::tree::Tree;
use crate::exact::verdict::Verdict;
use crate::model::graph::LoopGraph;
use crate::model::guard::Guard;
use crate::model::options::ScheduleOptions;
use crate::model::problem::Problem;
use crate::model::random::Random;
use crate::model::resource_use::ResourceUse;
use crate::model::validate::validate;

/// 4 to 8 uses of one unit whose sum is the II, or a little less, and recurrences that leave few orders.
fn full_loop(random: &mut Random) -> (LoopGraph, i64) {
    let mut g = LoopGraph::new("full");
    g.add_resource("U", 1).add_resource("V", 1);
    let n = 4 + random.below(5) as usize;
    let mut sum = 0;
    for i in 0..n {
        let held = 5 + random.below(30);
        sum += held as i64;
        let v = g.add_node(format!("op{i}"), held as i64, &[("U", 0, held)]);
        if random.below(3) == 0 {
            g.nodes[v].uses.push(ResourceUse {
                resource: "V".into(),
                start: random.below(3),
                duration: 1 + random.below(20),
                ..ResourceUse::default()
            });
        }
    }
    if random.below(2) == 0 {
        // A second unit that is as full.
        for i in 0..n {
            let duration = g.nodes[n - 1 - i].uses[0].duration;
            g.nodes[i].uses.truncate(1);
            g.nodes[i].uses.push(ResourceUse {
                resource: "V".into(),
                start: 0,
                duration,
                ..ResourceUse::default()
            });
        }
    }
    for _ in 0..n {
        let (a, b) = (random.below(n as u64) as usize, random.below(n as u64) as usize);
        if a < b {
            let latency = random.below(sum as u64 / 2) as i64;
            g.add_edge(a, b, latency, 0);
            // Room for so much more on the way back.
            let room = latency + random.below(40) as i64;
            g.add_edge(b, a, sum - room, 1);
        }
    }
    let ii = if random.below(4) == 0 { sum + random.below(3) as i64 } else { sum };
    (g, ii)
}

/// Asks the search by residues and one that learns about random loops, with lengths and without: they must not contradict
/// each other, and what is found must be right. How many the latter found, refuted and left undecided.
fn against_residues(
    seed: u64,
    random_loop: fn(&mut Random) -> (LoopGraph, i64),
    learner: impl Fn(&Problem, Span, &Active) -> Option<Learner>,
    right: impl Fn(&Problem, i64, &Active, &[i64], Option<i64>) -> bool,
) -> [u32; 3] {
    let mut random = Random::new(seed);
    let [mut found, mut refuted, mut undecided] = [0; 3];
    for _ in 0..400 {
        let (g, ii) = random_loop(&mut random);
        let Ok(valid) = validate(&g) else { continue };
        let problem = &valid.problem;
        if crate::model::paths::heads(problem, ii).is_none() {
            continue;
        }
        for length in [None, Some(ii), Some(2 * ii)] {
            let active = match length {
                None => Active::at_span(problem, Span::one(ii)),
                Some(length) => Active::at_length(problem, ii, length).ok(),
            };
            let Some(active) = active.filter(|a| !a.nodes.is_empty()) else { continue };
            let Some(mut learner) = learner(problem, Span::one(ii), &active) else { continue };
            let guard = &mut Guard::new(&ScheduleOptions::default());
            let Some(mut tree) = Tree::new(problem, ii, &active, 0) else { continue };
            let by_residue = tree.solve(u64::MAX, &mut StepBudget::new(20_000), guard);
            match learner.solve(None, u64::MAX, &mut StepBudget::new(20_000), guard) {
                Verdict::Found(times) => {
                    found += 1;
                    assert!(by_residue != Verdict::Refuted, "{g:?} at {ii}, {length:?}");
                    assert!(right(problem, ii, &active, &times, length), "{g:?} at {ii}, {length:?}");
                }
                Verdict::Refuted => {
                    refuted += 1;
                    assert!(!matches!(by_residue, Verdict::Found(_)), "{g:?} at {ii}, {length:?}");
                }
                Verdict::Undecided => undecided += 1,
            }
        }
    }
    println!("{found} found, {refuted} refuted, {undecided} undecided");
    [found, refuted, undecided]
}

#[test]
fn saturated_refute_nothing_that_there_is() {
    let learner = |problem: &Problem, span: Span, active: &Active| {
        let mut learner =
            Learner::new(span, active.network(), &pairs(problem, active, &[false; 2]), Vec::new());
        learner.conflicts = CALM;
        Some(learner)
    };
    let right = |problem: &Problem, ii: i64, active: &Active, times: &[i64], length: Option<i64>| {
        length.is_none() || fill(problem, ii, active, times).is_some()
    };
    let [found, refuted, undecided] = against_residues(7, full_loop, learner, right);
    assert!(found > 100 && refuted > 100 && undecided < 20);
}

#[test]
fn what_is_refuted_for_several_intervals_is_refuted_at_each() {
    let mut random = Random::new(11);
    let (mut refuted, mut left) = (0, 0);
    for _ in 0..400 {
        let (g, full) = full_loop(&mut random);
        let Ok(valid) = validate(&g) else { continue };
        let problem = &valid.problem;
        let low = full - full * random.below(20) as i64 / 100;
        let span = Span { low, high: low + 1 + random.below(full as u64 / 8) as i64 };
        if crate::model::paths::heads(problem, low).is_none() {
            continue;
        }
        let guard = &mut Guard::new(&ScheduleOptions::default());
        if !refutes(problem, span, &mut StepBudget::new(20_000), guard) {
            left += 1;
            continue;
        }
        refuted += 1;
        for ii in span.low..=span.high {
            let Some(active) = Active::at_span(problem, Span::one(ii)) else { continue };
            let Some(mut tree) = Tree::new(problem, ii, &active, 0) else { continue };
            let verdict = tree.solve(u64::MAX, &mut StepBudget::new(20_000), guard);
            assert!(!matches!(verdict, Verdict::Found(_)), "{g:?} at {ii} of {span:?}");
        }
    }
    println!("{refuted} refuted, {left} left");
    assert!(refuted > 50 && left > 50);
}

/// 4 to 9 uses of a resource of 2 or 3 units and of a single one, with recurrences that leave little room.
fn shared_loop(random: &mut Random) -> (LoopGraph, i64) {
    let mut g = LoopGraph::new("shared");
    let units = 2 + random.below(2);
    g.add_resource("U", units).add_resource("V", 1);
    let n = 4 + random.below(6) as usize;
    let (mut shared, mut single) = (0, 0);
    for i in 0..n {
        let held = 5 + random.below(16);
        let v = g.add_node(format!("op{i}"), held as i64, &[("U", random.below(4), held)]);
        shared += held as i64;
        if random.below(3) == 0 {
            let duration = 2 + random.below(8);
            g.nodes[v].uses.push(ResourceUse {
                resource: "V".into(),
                start: 0,
                duration,
                ..ResourceUse::default()
            });
            single += duration as i64;
        }
    }
    let full = (shared / units as i64 + 1).max(single).max(40);
    for _ in 0..n {
        let (a, b) = (random.below(n as u64) as usize, random.below(n as u64) as usize);
        if a < b {
            let latency = random.below(full as u64 / 2) as i64;
            g.add_edge(a, b, latency, 0);
            g.add_edge(b, a, full - latency - random.below(12) as i64, 1);
        }
    }
    (g, full + random.below(4) as i64)
}

/// The same, with operations that use the units of `U` twice.
fn twice_shared_loop(random: &mut Random) -> (LoopGraph, i64) {
    let (mut g, ii) = shared_loop(random);
    let units = g.resources[0].count as i64;
    let mut more = 0;
    for v in &mut g.nodes {
        if random.below(3) == 0 {
            let (start, duration) = (random.below(ii as u64), 1 + random.below(8));
            v.uses.push(ResourceUse { resource: "U".into(), start, duration, ..ResourceUse::default() });
            more += duration as i64;
        }
    }
    (g, ii + more / units)
}

#[test]
fn wraps_of_several_units_agree_with_residues() {
    wraps_of_units_agree_with_residues(shared_loop);
}

#[test]
fn wraps_of_operations_that_use_several_units_twice_agree_with_residues() {
    wraps_of_units_agree_with_residues(twice_shared_loop);
}

fn wraps_of_units_agree_with_residues(made: fn(&mut Random) -> (LoopGraph, i64)) {
    let learner = |problem: &Problem, span: Span, active: &Active| {
        wraps_decide(problem, span, active)
            .then(|| Learner::new(span, active.network(), &all_pairs(problem, active), Vec::new()))
    };
    let right = |problem: &Problem, ii: i64, active: &Active, times: &[i64], _: Option<i64>| {
        let mut table = crate::heuristic::reservations::table::Table::new(problem, ii);
        active.nodes.iter().zip(times).all(|(&v, &t)| {
            let free = table.conflict(v as usize, t).is_none();
            table.place(v as usize, t);
            free
        })
    };
    let [found, refuted, undecided] = against_residues(5, made, learner, right);
    assert!(found > 100 && refuted > 50 && undecided < 20);
}
