//! A loop whose operations several replicas of a partition run, each for its share of the rows (S98).

use std::cmp::Reverse;

use crate::model::error::ScheduleError;
use crate::model::graph::{LoopEdge, LoopGraph, LoopNode, LoopReplica, LoopValue, ValueUse};
use crate::model::resource_use::ResourceUse;

/// The most distances between replicas that are tried.
const MOST_DISTANCES: usize = 3;

/// The most replicas.
const MOST_REPLICAS: u64 = 64;

/// Which operation of a replicated loop is which replica's copy of which.
#[derive(Clone, Debug)]
pub(crate) struct Copies<'a> {
    /// Operations of the loop before.
    pub n: usize,
    /// Of each of them, whether there is only one for all replicas.
    pub once: &'a [bool],
    pub replicas: usize,
    /// Where each operation stands among those that are replicated.
    rank: Vec<usize>,
}

impl<'a> Copies<'a> {
    /// # Errors
    /// [`ScheduleError::BadOption`] for a number of replicas that is 0 or above 64, and flags of another number than
    /// operations.
    pub fn new(graph: &LoopGraph, once: &'a [bool], replicas: u64) -> Result<Copies<'a>, ScheduleError> {
        if !(1..=MOST_REPLICAS).contains(&replicas) {
            return Err(refusal(format!("{replicas} is not between 1 and {MOST_REPLICAS}")));
        }
        let n = graph.nodes.len();
        if once.len() != n {
            return Err(refusal(format!("{} flags for {n} operations", once.len())));
        }
        let mut next = 0;
        let rank = once.iter().map(|&once| {
            next += usize::from(!once);
            next - usize::from(!once)
        });
        Ok(Copies { n, once, replicas: replicas as usize, rank: rank.collect() })
    }

    /// Operations that each replica has.
    fn each(&self) -> usize {
        self.once.iter().filter(|&&once| !once).count()
    }

    /// The number of a replica's copy: those of the first replica, and what there is once, keep theirs.
    pub fn of(&self, node: usize, replica: usize) -> usize {
        match replica == 0 || self.once[node] {
            true => node,
            false => self.n + (replica - 1) * self.each() + self.rank[node],
        }
    }

    /// Operations of all replicas together.
    pub fn all(&self) -> usize {
        self.n + (self.replicas - 1) * self.each()
    }

    /// The replicas that have a copy of an operation.
    pub fn numbers(&self, node: usize) -> std::ops::Range<usize> {
        0..if self.once[node] { 1 } else { self.replicas }
    }
}

/// The loop with an operation for each replica, what is `once` excepted: the first replica's keep their numbers, those of
/// the others follow, replica by replica. A replica's operations depend on its own and on what there is once; registers
/// and other values that it writes are its own, what is written once is read by all.
///
/// # Errors
/// [`ScheduleError::BadOption`] for 0 replicas or more than 64, and where `once` has another length than the operations.
pub fn replicate(graph: &LoopGraph, once: &[bool], replicas: u64) -> Result<LoopGraph, ScheduleError> {
    let graph = &*graph.with_exit_edges();
    let copies = Copies::new(graph, once, replicas)?;
    let mut out = LoopGraph { nodes: Vec::new(), edges: Vec::new(), values: Vec::new(), ..graph.clone() };
    for replica in 0..copies.replicas {
        let own = graph.nodes.iter().filter(|v| copies.numbers(v.id).contains(&replica));
        out.nodes.extend(own.map(|v| node(v, &copies, replica)));
    }
    for e in &graph.edges {
        let pairs = match (once[e.src], once[e.dst]) {
            (true, true) => 0..1,
            _ => 0..copies.replicas,
        };
        out.edges.extend(pairs.map(|r| LoopEdge {
            src: copies.of(e.src, r),
            dst: copies.of(e.dst, r),
            ..*e
        }));
    }
    for v in &graph.values {
        for writer in copies.numbers(v.def) {
            let uses = v.uses.iter().flat_map(|u| {
                let readers = if once[v.def] { copies.numbers(u.node) } else { writer..writer + 1 };
                readers.map(|r| ValueUse { node: copies.of(u.node, r), ..*u })
            });
            let group = |g: usize| if once[v.def] { g } else { g.saturating_mul(copies.replicas) + writer };
            out.values.push(LoopValue {
                id: v.id.saturating_mul(copies.replicas).saturating_add(writer),
                name: named(&v.name, writer),
                def: copies.of(v.def, writer),
                uses: uses.collect(),
                group: v.group.map(group),
                ..v.clone()
            });
        }
    }
    Ok(out)
}

fn node(v: &LoopNode, copies: &Copies<'_>, replica: usize) -> LoopNode {
    LoopNode {
        id: copies.of(v.id, replica),
        name: named(&v.name, replica),
        replica: (!copies.once[v.id]).then_some(LoopReplica { operation: v.id, number: replica }),
        ..v.clone()
    }
}

fn named(name: &str, replica: usize) -> String {
    if name.is_empty() || replica == 0 { name.to_owned() } else { format!("{name} @{replica}") }
}

/// The loop as the first replica sees it when each of the others does the same `apart` cycles after the one before: what
/// they hold is held then, and what there is once waits for the last of them.
pub(crate) fn at_distance(graph: &LoopGraph, copies: &Copies<'_>, apart: u64) -> LoopGraph {
    let mut out = graph.with_exit_edges().into_owned();
    let once = copies.once;
    let behind = |replica: usize| apart.saturating_mul(replica as u64);
    let last = i64::try_from(behind(copies.replicas - 1)).unwrap_or(i64::MAX);
    for (node, _) in out.nodes.iter_mut().zip(once).filter(|(_, once)| !**once) {
        let own = node.uses.clone();
        for replica in 1..copies.replicas {
            let later =
                |u: &ResourceUse| ResourceUse { start: u.start.saturating_add(behind(replica)), ..u.clone() };
            node.uses.extend(own.iter().map(later));
        }
    }
    for e in out.edges.iter_mut().filter(|e| !once[e.src] && once[e.dst]) {
        e.latency = e.latency.saturating_add(last);
    }
    for v in out.values.iter_mut().filter(|v| once[v.def]) {
        v.uses.iter_mut().filter(|u| !once[u.node]).for_each(|u| u.end = u.end.saturating_add(last));
    }
    out
}

/// Distances worth trying: a unit is theirs in turns as long as one of its uses, then as several that follow each other,
/// or as each replica's part of `bound`, a bound on the II of all; of the units that they contend for most first. None is
/// so short that an operation meets its own copy.
pub(crate) fn distances(graph: &LoopGraph, copies: &Copies<'_>, bound: i64) -> Vec<u64> {
    let held = |unit: &str| -> Vec<u64> {
        let own = graph.nodes.iter().filter(|v| !copies.once[v.id]).flat_map(|v| &v.uses);
        own.filter(|u| u.resource == unit && u.duration > 0).map(|u| u.duration).collect()
    };
    let single = graph.resources.iter().filter(|r| r.count == 1 && !r.interleaved).map(|r| held(&r.name));
    let mut units: Vec<Vec<u64>> = single.filter(|turns| !turns.is_empty()).collect();
    units.sort_by_key(|turns| Reverse(turns.iter().fold(0u64, |sum, &d| sum.saturating_add(d))));
    let longest = units.iter().flatten().copied().max().unwrap_or(0);
    let mut found: Vec<u64> = Vec::new();
    let mut add = |apart: u64| {
        if apart >= longest && !found.contains(&apart) && found.len() < MOST_DISTANCES {
            found.push(apart);
        }
    };
    let each = u64::try_from(bound).unwrap_or(0) / copies.replicas as u64;
    units.iter().flatten().for_each(|&d| add(d));
    for turns in &units {
        let mut sum = 0u64;
        for &turn in turns {
            sum = sum.saturating_add(turn);
            add(sum);
        }
        add(each);
    }
    found
}

pub(crate) fn refusal(message: String) -> ScheduleError {
    ScheduleError::BadOption { option: "replicas", message }
}
