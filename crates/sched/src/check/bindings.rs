//! S103: every use with alternatives takes one of them, and counts for that.

use super::report::Report;
use super::violation::ScheduleViolationKind as Kind;
use crate::model::answer::Answer;
use crate::model::graph::LoopGraph;
use std::borrow::Cow;

/// The loop as the answer binds it.
pub(super) fn bound<'g>(graph: &'g LoopGraph, answer: &Answer, report: &mut Report) -> Cow<'g, LoopGraph> {
    let choices = graph.nodes.iter().flat_map(|v| &v.uses).filter(|u| !u.alternatives.is_empty()).count();
    if choices == 0 && answer.bindings.is_empty() {
        return Cow::Borrowed(graph);
    }
    let mut bound = graph.clone();
    for b in &answer.bindings {
        let at = format!("node {}, use {}", b.node, b.at);
        let Some(u) = bound.nodes.get_mut(b.node).and_then(|v| v.uses.get_mut(b.at)) else {
            report.add(Kind::Binding, at, "there is no such use");
            continue;
        };
        if u.alternatives.is_empty() {
            report.add(Kind::Binding, at, "it is bound twice, or has no alternatives");
            continue;
        }
        if b.resource != u.resource && !u.alternatives.contains(&b.resource) {
            report.add(Kind::Binding, at, format!("`{}` is none of its alternatives", b.resource));
        }
        u.resource.clone_from(&b.resource);
        u.alternatives.clear();
    }
    for v in &bound.nodes {
        for (i, _) in v.uses.iter().enumerate().filter(|(_, u)| !u.alternatives.is_empty()) {
            report.add(Kind::Binding, format!("node {}, use {i}", v.id), "it is not bound");
        }
    }
    Cow::Owned(bound)
}

/// The loop whose resources are one where alternatives connect them: its bounds are those of the loop.
pub(super) fn merged(graph: &LoopGraph) -> Cow<'_, LoopGraph> {
    let uses = || graph.nodes.iter().flat_map(|v| &v.uses);
    if uses().all(|u| u.alternatives.is_empty()) {
        return Cow::Borrowed(graph);
    }
    // Each resource's first one, until nothing changes.
    let place = |name: &str| graph.resources.iter().position(|r| r.name == name);
    let mut first: Vec<usize> = (0..graph.resources.len()).collect();
    for _ in 0..graph.resources.len() {
        for u in uses() {
            let all: Vec<usize> =
                std::iter::once(&u.resource).chain(&u.alternatives).filter_map(|n| place(n)).collect();
            let least = all.iter().map(|&r| first[r]).min().unwrap_or(0);
            all.iter().for_each(|&r| first[r] = least);
        }
    }
    let mut merged = graph.clone();
    for (r, &into) in first.iter().enumerate().filter(|(r, into)| r != *into) {
        merged.resources[into].count += graph.resources[r].count;
    }
    for u in merged.nodes.iter_mut().flat_map(|v| &mut v.uses) {
        u.alternatives.clear();
        if let Some(r) = place(&u.resource) {
            u.resource.clone_from(&graph.resources[first[r]].name);
        }
    }
    Cow::Owned(merged)
}
