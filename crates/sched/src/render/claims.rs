//! What is claimed beside a schedule, in words of the loop: rational IIs (S101), cores of refuted IIs (S102), curves of II
//! against bytes (S100).

use super::explain::node_name;
use super::gantt;
use crate::model::core::{CoreMember, LoopCore, LoopRemedy};
use crate::model::graph::LoopGraph;
use crate::model::pareto::ParetoCurve;
use crate::model::rational::UnrolledAnswer;
use crate::model::unroll::unroll;
use std::fmt::Write;

/// How many iterations are taken together, why, and the reservation table.
pub fn unrolled(graph: &LoopGraph, found: &UnrolledAnswer) -> String {
    let (cycles, factor) = (found.answer.ii, found.factor);
    let [bound, iterations] = found.lower_bound;
    let most = found.factors.len();
    let mut text = format!("{}: {cycles} cycles for {factor} iterations", graph.name);
    let _ = match found.optimal {
        true => writeln!(text, "; no factor up to {most} takes fewer for one"),
        false => writeln!(text, "; the bound for factors up to {most} is {bound} for {iterations}"),
    };
    for f in &found.factors {
        let ii = f.ii.map_or("not below the best".to_owned(), |ii| format!("II {ii}"));
        let _ = match &f.refused {
            Some(why) => writeln!(text, "  factor {}: {why}", f.factor),
            None => writeln!(text, "  factor {}: {ii}, at least {}", f.factor, f.lower_bound),
        };
    }
    if let Ok(copies) = unroll(graph, factor) {
        text += &gantt(&copies, &found.answer);
    }
    text
}

/// The II against the bytes of each memory space, a line for each point.
pub fn pareto(graph: &LoopGraph, curves: &[ParetoCurve]) -> String {
    let mut text = String::new();
    if curves.is_empty() {
        let _ = writeln!(text, "{}: no value lies in memory", graph.name);
    }
    for curve in curves {
        let part = if curve.complete { "" } else { ", with gaps" };
        let _ = writeln!(text, "{}: II against bytes of {}{part}", graph.name, curve.space);
        for point in &curve.points {
            let a = &point.answer;
            let bound = if a.optimal { String::new() } else { format!(", at least {}", a.lower_bound) };
            let depths: Vec<String> = a.values.iter().map(|v| format!("{}: {}", v.id, v.depth)).collect();
            let (bytes, depths) = (point.bytes, depths.join(", "));
            let _ = writeln!(text, "  {bytes} bytes: II {}{bound} (slots of values {depths})", a.ii);
        }
    }
    text
}

/// What keeps the II from being smaller by one, and the least changes that would allow it.
pub fn why(graph: &LoopGraph, core: &LoopCore) -> String {
    let graph = &*graph.with_exit_edges();
    let least = if core.minimal { "these, and no fewer of them" } else { "these" };
    let mut text = format!("II {} is refuted by {least}:\n", core.ii);
    for &member in &core.members {
        let _ = writeln!(text, "  {}", member_line(graph, member).unwrap_or_default());
    }
    if core.remedies.is_empty() {
        text += "No single change of a latency, a hold or a number of units allows it.\n";
    } else {
        text += "Each of these allows it:\n";
    }
    for remedy in &core.remedies {
        let _ = writeln!(text, "  {}", remedy_line(graph, remedy).unwrap_or_default());
    }
    text
}

fn member_line(graph: &LoopGraph, member: CoreMember) -> Option<String> {
    let name = |v: usize| node_name(graph, v);
    let wait = |src: usize, dst: usize, latency: i64, distance: i64| {
        let later = match distance {
            0 => String::new(),
            1 => " of the next iteration".to_owned(),
            d => format!(" of {d} iterations later"),
        };
        format!("{}{later} starts {latency} cycles after {}", name(dst), name(src))
    };
    Some(match member {
        CoreMember::Edge(i) => {
            let e = graph.edges.get(i)?;
            wait(e.src, e.dst, e.latency, e.distance)
        }
        CoreMember::Read(i, j) => {
            let v = graph.values.get(i)?;
            let u = v.uses.get(j)?;
            format!("{} (value {})", wait(v.def, u.node, v.start, u.distance), v.id)
        }
        CoreMember::Slot(i, j) => {
            let v = graph.values.get(i)?;
            let u = v.uses.get(j)?;
            format!("{} reads a slot of value {} before {} writes it again", name(u.node), v.id, name(v.def))
        }
        CoreMember::Use(v, j) => {
            let u = graph.nodes.get(v)?.uses.get(j)?;
            format!("{} holds {} for {} cycles", name(v), u.resource, u.duration)
        }
    })
}

fn remedy_line(graph: &LoopGraph, remedy: &LoopRemedy) -> Option<String> {
    let name = |v: usize| node_name(graph, v);
    Some(match remedy {
        LoopRemedy::Latency { edge, cycles } => {
            let e = graph.edges.get(*edge)?;
            let (src, dst) = (name(e.src), name(e.dst));
            format!("{dst} waits for {src} for {} cycles instead of {}", e.latency - cycles, e.latency)
        }
        LoopRemedy::Hold { node, at, cycles } => {
            let u = graph.nodes.get(*node)?.uses.get(*at)?;
            let less = i64::try_from(u.duration).unwrap_or(i64::MAX) - cycles;
            format!("{} holds {} for {less} cycles instead of {}", name(*node), u.resource, u.duration)
        }
        LoopRemedy::Unit { resource } => format!("one more unit of {resource}"),
    })
}
