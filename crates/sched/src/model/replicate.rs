//! A loop whose operations several replicas of a partition run, each for its share of the rows (S98).

use crate::model::error::ScheduleError;
use crate::model::graph::{LoopEdge, LoopGraph, LoopNode, LoopReplica, LoopValue, ValueUse};

/// The most replicas.
pub(crate) const MOST_REPLICAS: u64 = 64;

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

    fn numbers(&self, node: usize) -> std::ops::Range<usize> {
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
        out.edges.extend(pairs.map(|r| LoopEdge { src: copies.of(e.src, r), dst: copies.of(e.dst, r), ..*e }));
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

/// The loop as one replica sees it when all keep the same distance: R replicas that each start a trip every II, II / R
/// after each other, are one that starts a trip every II / R and needs what was R trips ago for each trip before. What
/// there is once is counted as if each replica had it, so that its units are free whenever it runs.
pub(crate) fn staggered(graph: &LoopGraph, copies: &Copies<'_>) -> Result<LoopGraph, ScheduleError> {
    let graph = graph.with_exit_edges().into_owned();
    let (once, r) = (copies.once, copies.replicas as i64);
    // What is once waits for the last replica, each replica for what was once before the first.
    let distance = |src: usize, dst: usize, distance: i64| match !once[src] && once[dst] {
        true => distance.saturating_mul(r) - (r - 1),
        false => distance.saturating_mul(r),
    };
    let mut out = LoopGraph { trip_count: None, ..graph };
    for e in &mut out.edges {
        e.distance = distance(e.src, e.dst, e.distance);
        if e.distance < 0 {
            let (src, dst) = (e.src, e.dst);
            return Err(refusal(format!("{dst} is there once and waits for {src} of every replica")));
        }
    }
    for v in &mut out.values {
        v.uses.iter_mut().for_each(|u| u.distance = u.distance.saturating_mul(r));
        // The slot of what is written once is free behind the last replica's read.
        let late = if once[v.def] { copies.replicas as u64 - 1 } else { 0 };
        let slots = |d: u64| d.saturating_mul(copies.replicas as u64).saturating_sub(late);
        (v.max_depth, v.min_depth) = (v.max_depth.map(|d| slots(d).max(1)), None);
    }
    Ok(out)
}

pub(crate) fn refusal(message: String) -> ScheduleError {
    ScheduleError::BadOption { option: "replicas", message }
}
