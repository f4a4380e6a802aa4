//! Refusals before anything is scheduled (S2, S12).

use crate::model::digraph::{Arc, Digraph};
use crate::model::graph::{LoopGraph, LoopNode, LoopResource, LoopValue};
use crate::model::graph_error::{GraphError, GraphErrorKind as Kind, GraphErrors};
use crate::model::problem::{Problem, arcs};
use crate::model::recurrence::RecurrenceFinder;
use crate::model::resource_use::ResourceUse;
use hashbrown::{HashMap, HashSet};
use std::borrow::Cow;

/// At most so many reasons are reported.
const MOST_ERRORS: usize = 100;
const MOST_NODES: usize = 1 << 24;
const MOST_EDGES: usize = 1 << 26;
const MOST_RESOURCES: usize = 4096;
const MOST_TIME: i64 = (1 << 31) - 1;
const MOST_DISTANCE: i64 = 1 << 20;
const MOST_BYTES: u64 = 1 << 40;
const MOST_WEIGHT: i128 = 1 << 62;

/// A loop graph that keeps S12; the only thing schedulers accept.
#[derive(Clone, Debug)]
pub struct ValidGraph<'a> {
    graph: &'a LoopGraph,
    whole: Cow<'a, LoopGraph>,
    pub(crate) problem: Problem,
}

impl<'a> ValidGraph<'a> {
    /// The graph that was validated.
    pub fn graph(&self) -> &'a LoopGraph {
        self.graph
    }

    /// The same with the waits of its exit as edges (S104).
    pub(crate) fn whole(&self) -> &LoopGraph {
        &self.whole
    }
}

/// Checks a loop graph against S2 and S12.
///
/// # Errors
/// All violations in array order, at most 100, each with its place, rule and remedy.
pub fn validate(graph: &LoopGraph) -> Result<ValidGraph<'_>, GraphErrors> {
    let mut found = Findings::default();
    sizes(graph, &mut found);
    resources(graph, &mut found);
    nodes(graph, &mut found);
    edges(graph, &mut found);
    values(graph, &mut found);
    exit(graph, &mut found);
    let whole = graph.with_exit_edges();
    magnitudes(&whole, &mut found);
    if let Some(errors) = found.take() {
        return Err(errors);
    }
    let merged = whole.merged();
    if graph.has_alternatives() {
        // What all resources that it may take cannot hold at once, no binding can.
        let by_name = by_name(&merged);
        merged.nodes.iter().enumerate().for_each(|(i, v)| self_conflict(v, i, &by_name, &mut found));
        if let Some(errors) = found.take() {
            return Err(errors);
        }
    }
    let problem = Problem::new(&merged, &[]);
    if problem.dependences.windows {
        recurrences(&whole, &mut found);
    }
    match found.take() {
        Some(errors) => Err(errors),
        None => Ok(ValidGraph { graph, whole, problem }),
    }
}

#[derive(Default)]
struct Findings(Vec<GraphError>);

impl Findings {
    fn take(&mut self) -> Option<GraphErrors> {
        GraphErrors::of(std::mem::take(&mut self.0))
    }

    fn add(&mut self, at: impl FnOnce() -> String, kind: Kind) {
        if self.0.len() < MOST_ERRORS {
            self.0.push(GraphError { at: at(), kind });
        }
    }

    fn limit(&mut self, at: impl FnOnce() -> String, what: &'static str, value: i128, limit: i128) {
        if value > limit {
            self.add(at, Kind::TooLarge { what, value, limit });
        }
    }
}

fn sizes(graph: &LoopGraph, found: &mut Findings) {
    if graph.nodes.is_empty() {
        found.add(|| "nodes".to_owned(), Kind::EmptyGraph);
    }
    let mut limit = |at: &str, what, value: usize, limit: usize| {
        found.limit(|| at.to_owned(), what, value as i128, limit as i128);
    };
    limit("nodes", "the number of nodes", graph.nodes.len(), MOST_NODES);
    let value_uses: usize = graph.values.iter().map(|v| v.uses.len()).sum();
    limit("edges", "the number of edges", graph.edges.len().saturating_add(value_uses), MOST_EDGES);
    limit("resources", "the number of resources", graph.resources.len(), MOST_RESOURCES);
    let uses: usize = graph.nodes.iter().map(|v| v.uses.len()).sum();
    limit("nodes", "the number of uses", uses, MOST_EDGES);
}

fn resources(graph: &LoopGraph, found: &mut Findings) {
    let mut seen = HashSet::new();
    for (i, r) in graph.resources.iter().enumerate() {
        let at = || format!("resources[{i}]");
        if !seen.insert(r.name.as_str()) {
            found.add(at, Kind::DuplicateResource(r.name.clone()));
        }
        if r.count == 0 {
            found.add(at, Kind::ZeroCount(r.name.clone()));
        }
        found.limit(at, "count", r.count.into(), MOST_DISTANCE.into());
    }
}

fn by_name(graph: &LoopGraph) -> HashMap<&str, &LoopResource> {
    graph.resources.iter().map(|r| (r.name.as_str(), r)).collect()
}

fn nodes(graph: &LoopGraph, found: &mut Findings) {
    let by_name = by_name(graph);
    let partitions: HashSet<usize> = graph.partitions.iter().map(|a| a.id).collect();
    for (i, node) in graph.nodes.iter().enumerate() {
        let at = || format!("nodes[{i}]");
        if node.id != i {
            found.add(at, Kind::NodeId { found: node.id, expected: i });
        }
        if node.latency < 0 {
            found.add(|| format!("nodes[{i}].latency"), Kind::NegativeLatency(node.latency));
        }
        found.limit(|| format!("nodes[{i}].latency"), "latency", node.latency.into(), MOST_TIME.into());
        if let Some(issue) = node.issue_latency {
            let at = || format!("nodes[{i}].issue_latency");
            found.limit(at, "issue_latency", issue.into(), MOST_TIME.into());
        }
        if let Some(partition) = node.partition
            && !partitions.contains(&partition)
        {
            found.add(|| format!("nodes[{i}].partition"), Kind::UnknownPartition(partition));
        }
        if let Some(inner) = &node.inner {
            found.add(|| format!("nodes[{i}].inner"), Kind::UnknownLoop(inner.name.clone()));
        }
        let before = found.0.len();
        for (j, u) in node.uses.iter().enumerate() {
            let at = || format!("nodes[{i}].uses[{j}]");
            alternatives(u, &by_name, at, found);
            found.limit(at, "start", u.start.into(), MOST_TIME.into());
            found.limit(at, "duration", u.duration.into(), MOST_TIME.into());
        }
        // Which unit is held by a use with alternatives is not known yet.
        if found.0.len() == before && node.uses.iter().all(|u| u.alternatives.is_empty()) {
            self_conflict(node, i, &by_name, found);
        }
    }
}

/// The resources that a use may take: declared, different, held in a row, and of equal numbers of units (S103).
fn alternatives(
    u: &ResourceUse,
    by_name: &HashMap<&str, &LoopResource>,
    at: impl Fn() -> String,
    found: &mut Findings,
) {
    let mut seen: Vec<&str> = Vec::new();
    for name in u.choices() {
        match (by_name.get(name), by_name.get(u.resource.as_str())) {
            (None, _) if name.is_empty() && u.alternatives.is_empty() => found.add(&at, Kind::NoAlternative),
            (None, _) => found.add(&at, Kind::UnknownResource(name.to_owned())),
            (Some(other), Some(first)) if other.count != first.count => {
                let (count, other) = (first.count, other.count);
                let (first, second) = (u.resource.clone(), name.to_owned());
                found.add(&at, Kind::UnequalAlternatives { first, count, second, other });
            }
            (Some(resource), _) if resource.interleaved && !u.alternatives.is_empty() => {
                found.add(&at, Kind::InterleavedAlternative(name.to_owned()));
            }
            _ => {}
        }
        if seen.contains(&name) {
            found.add(&at, Kind::RepeatedAlternative(name.to_owned()));
        }
        seen.push(name);
    }
}

/// An operation whose own uses, unfolded, exceed the count (S12).
fn self_conflict(node: &LoopNode, i: usize, by_name: &HashMap<&str, &LoopResource>, found: &mut Findings) {
    if node.uses.len() < 2 {
        return;
    }
    let mut events: Vec<(&str, u64, i64)> = Vec::new();
    let in_turn = |name: &str| by_name.get(name).is_some_and(|r| r.interleaved);
    for u in node.uses.iter().filter(|u| u.duration > 0 && !in_turn(&u.resource)) {
        events.push((&u.resource, u.start, 1));
        events.push((&u.resource, u.start + u.duration, -1));
    }
    events.sort_unstable();
    let (mut load, mut worst) = (0i64, None::<(&str, u64, u64)>);
    for (resource, _, step) in events {
        // Ends sort before starts, and every resource's events sum to 0.
        load += step;
        let (need, have) = (load.unsigned_abs(), by_name.get(resource).map_or(0, |r| r.count));
        if load > 0 && need > have && have > 0 && worst.is_none_or(|(_, n, _)| need > n) {
            worst = Some((resource, need, have));
        }
    }
    if let Some((resource, need, have)) = worst {
        let resource = resource.to_owned();
        found.add(|| format!("nodes[{i}].uses"), Kind::SelfConflict { resource, need, have });
    }
}

fn edges(graph: &LoopGraph, found: &mut Findings) {
    let nodes = graph.nodes.len();
    for (i, e) in graph.edges.iter().enumerate() {
        let at = || format!("edges[{i}]");
        for node in [e.src, e.dst].into_iter().filter(|&v| v >= nodes) {
            found.add(at, Kind::UnknownNode { node, nodes });
        }
        if e.distance < 0 {
            found.add(at, Kind::NegativeDistance(e.distance));
        }
        found.limit(at, "distance", e.distance.into(), MOST_DISTANCE.into());
        found.limit(at, "|latency|", e.latency.unsigned_abs().into(), MOST_TIME.into());
    }
}

/// The exit is an operation, and so is what waits for it (S104).
fn exit(graph: &LoopGraph, found: &mut Findings) {
    let Some(exit) = &graph.exit else { return };
    let nodes = graph.nodes.len();
    if exit.node >= nodes {
        found.add(|| "while.node".to_owned(), Kind::UnknownNode { node: exit.node, nodes });
    }
    for (i, &node) in exit.committed.iter().enumerate().filter(|(_, v)| **v >= nodes) {
        found.add(|| format!("while.committed[{i}]"), Kind::UnknownNode { node, nodes });
    }
    let at = || "while.speculation".to_owned();
    found.limit(at, "speculation", exit.speculation.into(), i128::from(MOST_DISTANCE) - 1);
}

fn values(graph: &LoopGraph, found: &mut Findings) {
    let mut ids = HashSet::new();
    let mut group_space: HashMap<usize, &str> = HashMap::new();
    for (i, v) in graph.values.iter().enumerate() {
        let at = || format!("values[{i}]");
        if !ids.insert(v.id) {
            found.add(at, Kind::DuplicateValue(v.id));
        }
        if v.uses.is_empty() {
            found.add(at, Kind::ValueWithoutUse(v.id));
        }
        if v.bytes == 0 {
            found.add(at, Kind::ValueBytes(v.id));
        }
        found.limit(at, "bytes", v.bytes.into(), MOST_BYTES.into());
        found.limit(at, "|start|", v.start.unsigned_abs().into(), MOST_TIME.into());
        depth_range(v, i, found);
        value_nodes(graph, v, i, found);
        if let Some(group) = v.group {
            let first = *group_space.entry(group).or_insert(&v.space);
            if first != v.space {
                let (first, second) = (first.to_owned(), v.space.clone());
                found.add(at, Kind::PeerSpace { group, first, second });
            }
        }
    }
}

fn depth_range(v: &LoopValue, i: usize, found: &mut Findings) {
    let at = || format!("values[{i}]");
    let min = v.min_depth.unwrap_or(1).max(1);
    if let Some(max) = v.max_depth
        && max < min
    {
        found.add(at, Kind::ValueDepth { min, max });
    }
    found.limit(at, "min_depth", min.into(), MOST_DISTANCE.into());
    found.limit(at, "max_depth", v.max_depth.unwrap_or(1).into(), MOST_DISTANCE.into());
}

fn value_nodes(graph: &LoopGraph, v: &LoopValue, i: usize, found: &mut Findings) {
    let nodes = graph.nodes.len();
    if v.def >= nodes {
        found.add(|| format!("values[{i}].def"), Kind::UnknownNode { node: v.def, nodes });
    }
    for (j, u) in v.uses.iter().enumerate() {
        let at = || format!("values[{i}].uses[{j}]");
        if u.node >= nodes {
            found.add(at, Kind::UnknownNode { node: u.node, nodes });
        }
        if u.distance < 0 {
            found.add(at, Kind::NegativeDistance(u.distance));
        }
        found.limit(at, "distance", u.distance.into(), MOST_DISTANCE.into());
        found.limit(at, "|end|", u.end.unsigned_abs().into(), MOST_TIME.into());
    }
}

/// The product of S2 that keeps all path lengths below 2^62.
fn magnitudes(graph: &LoopGraph, found: &mut Findings) {
    let mut sum: i128 = 0;
    let mut distance: i128 = 0;
    for v in &graph.nodes {
        sum += i128::from(v.latency.unsigned_abs());
        sum += v.uses.iter().map(|u| i128::from(u.duration)).sum::<i128>();
    }
    for e in &graph.edges {
        sum += i128::from(e.latency.unsigned_abs());
        distance = distance.max(e.distance.into());
    }
    for u in graph.values.iter().flat_map(|v| &v.uses) {
        distance = distance.max(u.distance.into());
    }
    let weight = sum.saturating_mul(1 + distance.max(0));
    found.limit(
        || ".".to_owned(),
        "(sum |latency| + sum duration) * (1 + max distance)",
        weight,
        MOST_WEIGHT,
    );
}

/// Recurrences of distance 0 that are positive, or made of zero latencies only (S12).
fn recurrences(graph: &LoopGraph, found: &mut Findings) {
    let within: Vec<Arc> = arcs(graph, &[]).into_iter().filter(|a| a.distance == 0).collect();
    let zero: Vec<Arc> = within.iter().filter(|a| a.latency == 0).copied().collect();
    let mut reported = HashSet::new();
    // Weight 1 on every arc makes any recurrence of zero-latency arcs positive.
    for (arcs, bonus) in [(within, 0), (zero, 1)] {
        let g = Digraph::new(graph.nodes.len(), arcs);
        let mut finder = RecurrenceFinder::<i64>::new(g.n);
        for members in g.components_in_order().filter(|m| g.is_cyclic(m)) {
            if let Some(recurrence) = finder.find(&g, members, |a| a.latency + bonus) {
                let nodes: Vec<usize> = recurrence.iter().map(|a| a.src as usize).collect();
                let latency = recurrence.iter().map(|a| a.latency).sum();
                if reported.insert(nodes.iter().copied().min()) {
                    found.add(|| "edges".to_owned(), Kind::ZeroDistanceRecurrence { nodes, latency });
                }
            }
        }
    }
}
