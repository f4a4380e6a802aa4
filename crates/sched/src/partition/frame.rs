//! What a loop and a machine allow: slices of operations, places for them, and what crossing costs (S61-S66).

use super::cost::{crossing, handovers};
use crate::exact::split::{Crossing, Place, Split};
use crate::model::error::ScheduleError;
use crate::model::graph::{LoopGraph, LoopNode, LoopPartition, PartitionKind};
use crate::model::partition::PartitionModel;
use crate::model::problem::own_caps;
use hashbrown::HashMap;
use petgraph::unionfind::UnionFind;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of registers of a warp at the most registers per thread.
const WARP_BYTES: u64 = 256 * 32 * 4;
const KINDS: [PartitionKind; 3] = [PartitionKind::Producer, PartitionKind::Mma, PartitionKind::Compute];

/// A loop, a machine, and what may go where.
pub(super) struct Frame<'a> {
    pub graph: &'a LoopGraph,
    pub model: &'a PartitionModel,
    pub split: Split,
    /// The partition that each place stands for; its id is the place unless the graph declares its own.
    pub partitions: Vec<LoopPartition>,
}

/// Cycles for which an operation holds its partition's issue stream (S65).
pub(super) fn issue_cycles(node: &LoopNode) -> u64 {
    node.issue_latency.unwrap_or_else(|| node.uses.iter().map(|u| u.duration).max().unwrap_or(0))
}

fn is_view(node: &LoopNode) -> bool {
    node.latency == 0 && node.uses.iter().all(|u| u.duration == 0) && node.kinds.is_empty()
}

/// Whether a partition of this kind and size may issue the operation (S62).
fn may_issue(node: &LoopNode, kind: PartitionKind, warps: u32) -> bool {
    let kind_fits = if node.kinds.is_empty() {
        kind == PartitionKind::Compute || is_view(node)
    } else {
        node.kinds.contains(&kind)
    };
    kind_fits && node.min_warps.is_none_or(|least| warps >= least)
}

impl<'a> Frame<'a> {
    /// # Errors
    /// [`ScheduleError::Partitions`] when some operation fits nowhere.
    pub fn new(graph: &'a LoopGraph, model: &'a PartitionModel) -> Result<Self, ScheduleError> {
        let slice_of = slices(graph);
        let count = slice_of.iter().map(|&s| s as usize + 1).max().unwrap_or(0);
        let mut members: Vec<Vec<&LoopNode>> = vec![Vec::new(); count];
        graph.nodes.iter().zip(&slice_of).for_each(|(v, &s)| members[s as usize].push(v));
        let partitions = if graph.partitions.is_empty() {
            possible(graph, model, count)
        } else {
            graph.partitions.clone()
        };
        let fits = |slice: &[&LoopNode], p: &LoopPartition| {
            slice
                .iter()
                .all(|v| may_issue(v, p.kind, p.warps) && v.partition.is_none_or(|given| given == p.id))
        };
        let mut allowed: Vec<Vec<u32>> = Vec::with_capacity(count);
        for slice in &members {
            let places: Vec<u32> =
                (0..).zip(&partitions).filter(|(_, p)| fits(slice, p)).map(|(i, _)| i).collect();
            if places.is_empty() {
                let node = slice.first().map_or(0, |v| v.id);
                let message = format!("no partition may issue node {node} and what must stay with it");
                return Err(ScheduleError::Partitions(message));
            }
            allowed.push(places);
        }
        let reg_bytes =
            |slice: &Vec<&LoopNode>| slice.iter().filter_map(|v| v.reg_bytes).fold(0, u64::saturating_add);
        let split = Split {
            places: places(graph, &partitions),
            alike: graph.partitions.is_empty(),
            issue: graph.nodes.iter().map(|v| issue_cycles(v) as i64).collect(),
            offset: Vec::new(),
            reg_bytes: members.iter().map(reg_bytes).collect(),
            crossings: crossings(graph, model),
            costs: costs(graph, model, &slice_of),
            most_places: model.max_partitions.max(graph.partitions.len()) as u64,
            most_warps: u64::from(model.max_warps),
            never: replicas_apart(&replica_of(graph, &slice_of)?),
            alike_pairs: twins_alike(graph, &slice_of),
            slice_of,
            allowed,
        };
        Ok(Frame { graph, model, split, partitions })
    }

    /// The place of every operation.
    pub fn of_nodes(&self, place_of: &[u32]) -> Vec<usize> {
        self.split.slice_of.iter().map(|&s| place_of[s as usize] as usize).collect()
    }
}

/// Slices: what the graph keeps together, and views with their first reader (S61).
fn slices(graph: &LoopGraph) -> Vec<u32> {
    let n = graph.nodes.len();
    let mut sets: UnionFind<u32> = UnionFind::new(n);
    let mut of_name: HashMap<usize, u32> = HashMap::new();
    for v in &graph.nodes {
        if let Some(slice) = v.slice {
            let first = *of_name.entry(slice).or_insert(v.id as u32);
            sets.union(first, v.id as u32);
        }
        if v.partition.is_none() && is_view(v) {
            let readers = graph.edges.iter().filter(|e| e.src == v.id && e.dst != v.id).map(|e| e.dst);
            if let Some(reader) = readers.min() {
                sets.union(reader as u32, v.id as u32);
            }
        }
    }
    let mut number: HashMap<u32, u32> = HashMap::new();
    (0..n as u32)
        .map(|v| {
            let next = number.len() as u32;
            *number.entry(sets.find(v)).or_insert(next)
        })
        .collect()
}

/// The partitions that may come to be: of each kind and size that operations ask for as many as there may be.
fn possible(graph: &LoopGraph, model: &PartitionModel, slices: usize) -> Vec<LoopPartition> {
    let mut all = Vec::new();
    for kind in KINDS {
        let least = if kind == PartitionKind::Compute { 4 } else { 1 };
        let mine = |v: &&LoopNode| may_issue(v, kind, u32::MAX);
        let size = |v: &LoopNode| v.min_warps.unwrap_or(1).min(1 << 20).next_power_of_two().max(least);
        let sizes: BTreeSet<u32> = graph.nodes.iter().filter(mine).map(size).chain([least]).collect();
        for &warps in sizes.iter().filter(|&&w| w <= 8) {
            let most = (model.max_warps / warps) as usize;
            for _ in 0..most.min(model.max_partitions).min(slices) {
                all.push(LoopPartition { id: all.len(), kind, warps, regs: 24 });
            }
        }
    }
    all
}

fn places(graph: &LoopGraph, partitions: &[LoopPartition]) -> Vec<Place> {
    let mut classes: Vec<(PartitionKind, u32)> = Vec::new();
    let place = |p: &LoopPartition| {
        let class = classes.iter().position(|&c| c == (p.kind, p.warps)).unwrap_or_else(|| {
            classes.push((p.kind, p.warps));
            classes.len() - 1
        });
        let given = u64::from(p.regs) * 32 * 4;
        let per_warp = if graph.partitions.is_empty() { WARP_BYTES } else { WARP_BYTES.max(given) };
        Place {
            class: class as u32,
            warps: u64::from(p.warps),
            reg_bytes: per_warp.saturating_mul(u64::from(p.warps)),
        }
    };
    partitions.iter().map(place).collect()
}

/// All dependences as they are where they cross.
fn crossings(graph: &LoopGraph, model: &PartitionModel) -> Vec<Crossing> {
    let new = |src: usize, dst: usize, latency: i64, distance: i64| Crossing {
        src: src as u32,
        dst: dst as u32,
        latency,
        distance,
    };
    let longer = |src, dst, latency: i64| latency.saturating_add(crossing(model, graph, src, dst));
    let mut all: Vec<Crossing> = graph
        .edges
        .iter()
        .filter(|e| e.src != e.dst)
        .map(|e| new(e.src, e.dst, longer(e.src, e.dst, e.latency), e.distance))
        .collect();
    for (v, cap) in graph.values.iter().zip(own_caps(graph)) {
        for u in v.uses.iter().filter(|u| u.node != v.def) {
            all.push(new(v.def, u.node, longer(v.def, u.node, v.start), u.distance));
            if let Some(cap) = cap {
                let end = longer(v.def, u.node, u.end);
                all.push(new(u.node, v.def, end - v.start, cap.slots as i64 - u.distance));
            }
        }
    }
    all
}

/// What it costs to part two slices, in cycles of crossings an iteration (S69).
fn costs(graph: &LoopGraph, model: &PartitionModel, slice_of: &[u32]) -> Vec<((u32, u32), i64)> {
    let mut sums: BTreeMap<(u32, u32), i64> = BTreeMap::new();
    for (src, dst) in handovers(graph) {
        let (a, b) = (slice_of[src], slice_of[dst]);
        if a != b {
            let sum = sums.entry((a.min(b), a.max(b))).or_default();
            *sum = sum.saturating_add(crossing(model, graph, src, dst));
        }
    }
    sums.into_iter().filter(|(_, cost)| *cost > 0).collect()
}

/// The replica of every slice.
fn replica_of(graph: &LoopGraph, slice_of: &[u32]) -> Result<Vec<Option<usize>>, ScheduleError> {
    let mut all: Vec<Option<usize>> = vec![None; slice_of.iter().map(|&s| s as usize + 1).max().unwrap_or(0)];
    for v in &graph.nodes {
        let Some(replica) = v.replica else { continue };
        let slot = &mut all[slice_of[v.id] as usize];
        if slot.is_some_and(|number| number != replica.number) {
            let message = format!("node {} and what must stay with it are of several replicas", v.id);
            return Err(ScheduleError::Partitions(message));
        }
        *slot = Some(replica.number);
    }
    Ok(all)
}

/// Slices of different replicas are never together, nor with what there is only once (S98).
fn replicas_apart(replica_of: &[Option<usize>]) -> Vec<(u32, u32)> {
    let mut apart = Vec::new();
    for (b, second) in (0u32..).zip(replica_of) {
        for (a, first) in (0..b).zip(replica_of) {
            if first != second {
                apart.push((a, b));
            }
        }
    }
    apart
}

/// Two slices of one replica are together where their twins in another are (S98).
fn twins_alike(graph: &LoopGraph, slice_of: &[u32]) -> Vec<((u32, u32), (u32, u32))> {
    let mut copies: BTreeMap<usize, BTreeMap<usize, u32>> = BTreeMap::new();
    for v in &graph.nodes {
        if let Some(replica) = v.replica {
            copies.entry(replica.operation).or_default().insert(replica.number, slice_of[v.id]);
        }
    }
    let operations: Vec<&BTreeMap<usize, u32>> = copies.values().collect();
    let mut alike = BTreeSet::new();
    for (i, one) in operations.iter().enumerate() {
        for other in &operations[..i] {
            let both = one.iter().filter_map(|(number, &a)| Some((a, *other.get(number)?)));
            let pairs: Vec<(u32, u32)> = both.map(|(a, b)| (a.min(b), a.max(b))).collect();
            for two in pairs.windows(2).filter(|two| two[0] != two[1]) {
                alike.insert((two[0], two[1]));
            }
        }
    }
    alike.into_iter().collect()
}
