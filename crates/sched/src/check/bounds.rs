//! S78: the bounds, recomputed in another way than the schedulers do.

use super::report::{Report, ceil_div};
use super::violation::ScheduleViolationKind as Kind;
use crate::model::answer::{Answer, ScheduleOutcome};
use crate::model::graph::LoopGraph;
use std::collections::BTreeMap;

pub(super) fn check(graph: &LoopGraph, answer: &Answer, report: &mut Report) {
    let res = resource_bound(graph);
    report.same(Kind::Bounds, "res_mii", "ResMII", answer.res_mii.into(), res);
    let arcs = arcs(graph);
    let rec = i128::from(answer.rec_mii);
    if rec < 0 || has_positive_recurrence(graph.nodes.len(), &arcs, rec) {
        report.add(Kind::Bounds, "rec_mii", format!("a recurrence needs an II above RecMII {rec}"));
    } else if rec > 0 && !has_positive_recurrence(graph.nodes.len(), &arcs, rec - 1) {
        report.add(
            Kind::Bounds,
            "rec_mii",
            format!("no recurrence needs RecMII {rec}; {} would do", rec - 1),
        );
    } else {
        let mii = least_self_fit(graph, res.max(rec), answer.mii.into());
        report.same(Kind::Bounds, "mii", "MII", answer.mii.into(), mii);
    }
    let (mii, lower, ii) = (answer.mii, answer.lower_bound, answer.ii);
    if mii > lower || lower > ii {
        report.add(
            Kind::Bounds,
            "lower_bound",
            format!("MII {mii} <= lower bound {lower} <= II {ii} does not hold"),
        );
    }
    if answer.optimal != (ii == lower) {
        let message = format!("optimal is {}, with II {ii} and lower bound {lower}", answer.optimal);
        report.add(Kind::Bounds, "optimal", message);
    }
    if answer.optimal != (answer.outcome == ScheduleOutcome::ProvenOptimal) {
        let message = format!("outcome is {:?}, optimal {}", answer.outcome, answer.optimal);
        report.add(Kind::Bounds, "outcome", message);
    }
}

fn resource_bound(graph: &LoopGraph) -> i128 {
    let mut total: BTreeMap<&str, i128> = BTreeMap::new();
    for u in graph.nodes.iter().flat_map(|v| &v.uses) {
        *total.entry(&u.resource).or_default() += i128::from(u.duration);
    }
    let per_resource = graph
        .resources
        .iter()
        .filter(|r| r.count > 0)
        .map(|r| ceil_div(total.get(r.name.as_str()).copied().unwrap_or(0), r.count.into()));
    per_resource.max().unwrap_or(1).max(1)
}

/// `(src, dst, latency, distance)` of all edges, those implied by values included.
fn arcs(graph: &LoopGraph) -> Vec<(usize, usize, i128, i128)> {
    let edges = graph.edges.iter().map(|e| (e.src, e.dst, e.latency.into(), e.distance.into()));
    let implied = graph
        .values
        .iter()
        .flat_map(|v| v.uses.iter().map(move |u| (v.def, u.node, v.start.into(), u.distance.into())));
    let known = |v: usize| v < graph.nodes.len();
    edges.chain(implied).filter(|a| known(a.0) && known(a.1)).collect()
}

/// Bellman and Ford: relax until nothing moves. A recurrence is positive as soon as the relaxing arcs form a loop,
/// or after `nodes` rounds.
fn has_positive_recurrence(nodes: usize, arcs: &[(usize, usize, i128, i128)], ii: i128) -> bool {
    let mut far = vec![0i128; nodes];
    let mut via = vec![usize::MAX; nodes];
    for round in 0..=nodes {
        let mut moved = false;
        for &(src, dst, latency, distance) in arcs {
            let reach = far[src] + latency - ii * distance;
            if reach > far[dst] {
                far[dst] = reach;
                via[dst] = src;
                moved = true;
            }
        }
        if !moved {
            return false;
        }
        // Looking for the loop costs as much as a round: do it in rounds 1, 2, 4, 8, ...
        if (round + 1).is_power_of_two() && has_loop(&via) {
            return true;
        }
    }
    true
}

fn has_loop(via: &[usize]) -> bool {
    let mut seen_in = vec![0usize; via.len()];
    for start in 0..via.len() {
        let mut v = start;
        while v < via.len() && seen_in[v] == 0 {
            seen_in[v] = start + 1;
            v = via[v];
        }
        if v < via.len() && seen_in[v] == start + 1 {
            return true;
        }
    }
    false
}

/// The least II from `from` on, looking no further than `until`, at which every operation alone keeps S4.
fn least_self_fit(graph: &LoopGraph, from: i128, until: i128) -> i128 {
    let mut ii = from;
    while ii <= until && !graph.nodes.iter().all(|v| alone_fits(graph, v.id, ii)) {
        ii += 1;
    }
    ii
}

fn alone_fits(graph: &LoopGraph, node: usize, ii: i128) -> bool {
    let Some(node) = graph.nodes.get(node).filter(|v| v.uses.len() > 1) else { return true };
    graph.resources.iter().filter(|r| !r.interleaved).all(|r| {
        let mut whole = 0;
        let mut parts: Vec<(i128, i128)> = Vec::new();
        for u in node.uses.iter().filter(|u| u.resource == r.name) {
            whole += i128::from(u.duration) / ii;
            parts.push((i128::from(u.start).rem_euclid(ii), i128::from(u.duration) % ii));
        }
        // The load is greatest where some part starts.
        let covers = |at: i128| parts.iter().filter(|(from, len)| (at - from).rem_euclid(ii) < *len).count();
        let peak = parts.iter().filter(|p| p.1 > 0).map(|p| covers(p.0)).max().unwrap_or(0);
        whole + peak as i128 <= i128::from(r.count)
    })
}
