//! Why the schedule is as it is (S86).

use super::gantt;
use super::gantt::held;
use crate::model::answer::Answer;
use crate::model::graph::LoopGraph;
use std::fmt::Write;

/// The reservation table, what bounds the II, each value's lifetime and depth, and what would have to change to
/// lower the II by one.
pub fn explain(graph: &LoopGraph, answer: &Answer) -> String {
    let mut text = gantt(graph, answer);
    let _ =
        writeln!(text, "Bounds: ResMII {}, RecMII {}, MII {}", answer.res_mii, answer.rec_mii, answer.mii);
    if let Some(resource) = &answer.critical_resource {
        let _ = writeln!(text, "  critical resource: {}", resource_line(graph, resource));
    }
    if let Some([latency, distance]) = answer.rec_ratio {
        let nodes: Vec<String> = answer.critical_recurrence.iter().map(|&v| node_name(graph, v)).collect();
        let _ = writeln!(text, "  critical recurrence: {} (ratio {latency}/{distance})", nodes.join(" -> "));
        if distance > 1 {
            let _ = writeln!(
                text,
                "  unrolling by {distance} would let {distance} iterations share {latency} cycles"
            );
        }
    }
    if let Some((held, units)) = held_ratio(graph).filter(|(held, units)| held % units != 0) {
        let _ = writeln!(
            text,
            "  the fullest resource is held for {held}/{units} cycles an iteration: unrolling by {units} would lose none"
        );
    }
    partitions(&mut text, graph, answer);
    let _ = writeln!(text, "To lower the II to {}:", answer.ii - 1);
    let mut reasons = 0;
    if answer.ii <= answer.res_mii
        && let Some(resource) = &answer.critical_resource
    {
        reasons += 1;
        let _ = writeln!(text, "  hold {resource} for fewer cycles, or add a unit");
    }
    if answer.ii <= answer.rec_mii {
        reasons += 1;
        let _ = writeln!(
            text,
            "  shorten a latency on the critical recurrence, or carry it over more iterations"
        );
    }
    for s in answer.spaces.iter().filter(|s| answer.ii > s.unlimited_ii) {
        reasons += 1;
        let _ = writeln!(
            text,
            "  give `{}` more than {} bytes: without the budget II is {}; cut values {:?}",
            s.space, s.budget, s.unlimited_ii, s.cut
        );
    }
    if reasons == 0 && answer.optimal {
        let _ =
            writeln!(text, "  change how uses and recurrences meet: every smaller II was refuted by search");
    } else if reasons == 0 {
        let _ = writeln!(
            text,
            "  search longer: II {} is not refuted (lower bound {})",
            answer.ii - 1,
            answer.lower_bound
        );
    }
    text
}

/// The greatest cycles held over units, in lowest terms (S101).
fn held_ratio(graph: &LoopGraph) -> Option<(u64, u64)> {
    let ratios = graph.resources.iter().map(|r| (held(graph, &r.name), r.count.max(1)));
    let more = |a: &(u64, u64), b: &(u64, u64)| {
        (u128::from(a.0) * u128::from(b.1)).cmp(&(u128::from(b.0) * u128::from(a.1)))
    };
    let (held, units) = ratios.max_by(more)?;
    let common = common_divisor(held, units);
    Some((held / common, units / common))
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// Who issues what, how full the issue streams are, what crossings cost, and what other splits would.
fn partitions(text: &mut String, graph: &LoopGraph, answer: &Answer) {
    let Some(split) = &answer.split else { return };
    let _ = writeln!(text, "Partitions:");
    for p in &answer.partitions {
        let own = || answer.nodes.iter().filter(|v| v.partition == Some(p.id));
        let issue = |id: usize| {
            graph.nodes.get(id).map_or(0, |v| {
                v.issue_latency.unwrap_or_else(|| v.uses.iter().map(|u| u.duration).max().unwrap_or(0))
            })
        };
        let issued: u64 = own().map(|v| issue(v.id)).fold(0, u64::saturating_add);
        let nodes: Vec<String> = own().map(|v| node_name(graph, v.id)).collect();
        let kind = format!("{:?}", p.kind).to_lowercase();
        let _ = writeln!(
            text,
            "  {} {kind}, {} warps of {} registers, issues for {issued} of {} cycles: {}",
            p.id,
            p.warps,
            p.regs,
            answer.ii,
            nodes.join(", ")
        );
    }
    let least = if split.crossings_optimal { "; no assignment at this II pays less" } else { "" };
    let _ = writeln!(text, "  crossings cost {} cycles an iteration{least}", split.crossings);
    for other in &split.others {
        let _ = writeln!(
            text,
            "  the best of the plain splits into {}: II {}, crossings {}",
            other.partitions, other.ii, other.crossings
        );
    }
}

pub(super) fn node_name(graph: &LoopGraph, v: usize) -> String {
    match graph.nodes.get(v) {
        Some(node) if !node.name.is_empty() => format!("{v} {}", node.name),
        _ => v.to_string(),
    }
}

fn resource_line(graph: &LoopGraph, name: &str) -> String {
    let cycles = held(graph, name);
    let resource = graph.resources.iter().find(|r| r.name == name);
    let (count, in_turn) =
        resource.map_or((1, ""), |r| (r.count, if r.interleaved { ", in turn" } else { "" }));
    format!("{name}, held {cycles} cycles on {count} units{in_turn}")
}
