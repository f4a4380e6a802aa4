//! The loop graph: one loop body as operations, the units they occupy and the dependences between them
//! (S1-S9). Plain data, read and written as JSON ([`read_graph`](crate::read_graph)).

use crate::model::exit::LoopExit;
use crate::model::inner::InnerLoop;
use crate::model::partition::PartitionModel;
use crate::model::resource_use::ResourceUse;
use hashbrown::HashSet;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// One straight-line loop body with one back edge (S1).
///
/// Iteration `i` of operation `o` starts at `t[o] + i * II`. The order of [`nodes`](Self::nodes) is program
/// order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoopGraph {
    /// The loop's name; no decision reads it.
    pub name: String,
    /// The units operations can occupy.
    pub resources: Vec<LoopResource>,
    /// The operations, ids `0..n-1` in array order (S3).
    pub nodes: Vec<LoopNode>,
    /// The dependences (S5).
    pub edges: Vec<LoopEdge>,
    /// Buffered values (S8).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<LoopValue>,
    /// Bytes available per memory space (S9).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub budgets: BTreeMap<String, u64>,
    /// Bytes per memory space already taken by something else (S9).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reserved: BTreeMap<String, u64>,
    /// Number of iterations, where known (S9).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trip_count: Option<u64>,
    /// Partitions (warp groups) that nodes may name (S61).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<LoopPartition>,
    /// What the chip allows partitions, where they are to be found (S97).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition_model: Option<PartitionModel>,
    /// What decides whether there is another iteration, where that is computed in the loop (S104).
    #[serde(rename = "while", skip_serializing_if = "Option::is_none")]
    pub exit: Option<LoopExit>,
}

/// A kind of unit; its units are interchangeable (S4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopResource {
    /// Unique name.
    pub name: String,
    /// Number of units, at least 1.
    pub count: u64,
    /// Operations take its cycles in turn, as issue slots are taken: a use is `duration` cycles of it anywhere in an
    /// iteration, not in a row, so that only the sum of them bounds the II (S13).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interleaved: bool,
}

/// Whether operations take the cycles of the resource of this name in turn.
pub(crate) fn is_interleaved(resources: &[LoopResource], name: &str) -> bool {
    resources.iter().any(|r| r.interleaved && r.name == name)
}

/// One operation of the loop body (S3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopNode {
    /// Position in program order, `0..n-1`.
    pub id: usize,
    /// For people; no decision reads it.
    #[serde(default)]
    pub name: String,
    /// The operation's kind, for people; no decision reads it.
    #[serde(default)]
    pub op: String,
    /// Cycles from issue to complete result; counts for the schedule length only (S23).
    pub latency: i64,
    /// The units it holds, relative to its start (S4).
    #[serde(default)]
    pub uses: Vec<ResourceUse>,
    /// Cycles for which it holds its partition's issue stream (S65).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue_latency: Option<u64>,
    /// The partition that must issue it (S61). Read as `agent`, too, as it was once called.
    #[serde(default, alias = "agent", skip_serializing_if = "Option::is_none")]
    pub partition: Option<usize>,
    /// The kinds of partition that may issue it; empty: any (S62).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<PartitionKind>,
    /// The least number of warps its partition must have (S62).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_warps: Option<u32>,
    /// Bytes of registers its result takes in the partition that issues it (S63).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reg_bytes: Option<u64>,
    /// Operations of one slice are issued by one partition (S97).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<usize>,
    /// Which copy of which operation it is, where a partition is replicated (S98).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replica: Option<LoopReplica>,
    /// It is a whole loop (S104); scheduled by [`schedule_nest`](crate::schedule_nest).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner: Option<InnerLoop>,
}

/// One copy of an operation that every replica of a partition has (S98).
///
/// Copies of different numbers are issued by different partitions, and operations are together in one replica where
/// their twins are in another. What has no replica is issued by a partition that is not replicated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LoopReplica {
    /// The same for all copies of an operation.
    pub operation: usize,
    /// The replica, from 0.
    pub number: usize,
}

/// A dependence: `t[dst] + II * distance >= t[src] + latency` (S5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopEdge {
    /// The operation waited for.
    pub src: usize,
    /// The operation that waits.
    pub dst: usize,
    /// Cycles; may be zero or negative (S7).
    pub latency: i64,
    /// Iterations between the two, at least 0.
    pub distance: i64,
}

/// A value that lives in a ring of buffer slots (S8).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopValue {
    /// Unique number; ties fall by it.
    pub id: usize,
    /// For people.
    #[serde(default)]
    pub name: String,
    /// The operation that writes it.
    pub def: usize,
    /// The slot is written from `t[def] + start` on.
    #[serde(default)]
    pub start: i64,
    /// Bytes of one slot.
    pub bytes: u64,
    /// The memory space it lives in.
    #[serde(default)]
    pub space: String,
    /// Who reads it.
    pub uses: Vec<ValueUse>,
    /// Values that one barrier synchronises share a group and have equal depth (S58).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<usize>,
    /// The least number of slots (S60).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_depth: Option<u64>,
    /// The largest number of slots (S55).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u64>,
}

/// A reader of a [`LoopValue`]: the slot is free again at `t[node] + distance * II + end` (S8).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueUse {
    /// The reading operation.
    pub node: usize,
    /// It reads the instance written this many iterations before.
    #[serde(default)]
    pub distance: i64,
    /// Cycles after the reader's start at which it has finished reading.
    pub end: i64,
}

/// What a partition may be used for (S61).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PartitionKind {
    /// Issues asynchronous copies.
    Producer,
    /// Issues matrix instructions whose operands live outside registers.
    Mma,
    /// Computes on register tiles.
    Compute,
}

/// A group of warps with one issue stream (S61).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopPartition {
    /// Unique number.
    pub id: usize,
    /// What it may be used for.
    pub kind: PartitionKind,
    /// Number of warps: 1, 2, 4 or 8.
    pub warps: u32,
    /// Registers per thread.
    pub regs: u32,
}

impl LoopGraph {
    /// An empty graph of this name; fill it with the `add_*` methods.
    pub fn new(name: impl Into<String>) -> Self {
        LoopGraph { name: name.into(), ..Self::default() }
    }

    /// Declares a resource with `count` units.
    pub fn add_resource(&mut self, name: impl Into<String>, count: u64) -> &mut Self {
        self.resources.push(LoopResource { name: name.into(), count, interleaved: false });
        self
    }

    /// Declares a resource with `count` units whose cycles operations take in turn.
    pub fn add_interleaved(&mut self, name: impl Into<String>, count: u64) -> &mut Self {
        self.resources.push(LoopResource { name: name.into(), count, interleaved: true });
        self
    }

    /// Appends an operation and returns its id. `uses` are `(resource, start, duration)`.
    pub fn add_node(&mut self, name: impl Into<String>, latency: i64, uses: &[(&str, u64, u64)]) -> usize {
        let (id, name) = (self.nodes.len(), name.into());
        let uses = uses
            .iter()
            .map(|&(resource, start, duration)| ResourceUse {
                resource: resource.to_owned(),
                start,
                duration,
                ..ResourceUse::default()
            })
            .collect();
        self.nodes.push(LoopNode { id, op: name.clone(), name, latency, uses, ..LoopNode::default() });
        id
    }

    /// Lets the use at this position of an operation take one of these resources instead (S103).
    pub fn add_alternatives(&mut self, node: usize, at: usize, resources: &[&str]) -> &mut Self {
        if let Some(u) = self.nodes.get_mut(node).and_then(|v| v.uses.get_mut(at)) {
            u.alternatives.extend(resources.iter().map(|&r| r.to_owned()));
        }
        self
    }

    /// The same loop with the waits of its exit as edges, after its own.
    pub(crate) fn with_exit_edges(&self) -> Cow<'_, LoopGraph> {
        let Some(exit) = &self.exit else { return Cow::Borrowed(self) };
        let latency = self.nodes.get(exit.node).map_or(0, |v| v.latency);
        let mut graph = self.clone();
        graph.exit = None;
        let committed: HashSet<usize> = exit.committed.iter().copied().collect();
        graph.edges.extend((0..self.nodes.len()).map(|dst| {
            let speculation = if committed.contains(&dst) { 0 } else { exit.speculation as i64 };
            LoopEdge { src: exit.node, dst, latency, distance: speculation + 1 }
        }));
        Cow::Owned(graph)
    }

    /// Whether an operation is a loop of its own (S104).
    pub fn has_inner_loops(&self) -> bool {
        self.nodes.iter().any(|v| v.inner.is_some())
    }

    /// Appends an operation that is the loop of this name, with so many iterations, and returns its id (S104).
    pub fn add_inner_loop(&mut self, name: &str, trips: u64) -> usize {
        let id = self.add_node(name, 0, &[]);
        let inner = InnerLoop { name: name.to_owned(), trips, or_more: false };
        self.nodes.iter_mut().skip(id).for_each(|v| v.inner = Some(inner.clone()));
        id
    }

    /// Appends a dependence.
    pub fn add_edge(&mut self, src: usize, dst: usize, latency: i64, distance: i64) -> &mut Self {
        self.edges.push(LoopEdge { src, dst, latency, distance });
        self
    }

    /// Appends a buffered value, written from the start of `def`, and returns its id. `uses` are
    /// `(node, distance, end)`.
    pub fn add_value(&mut self, def: usize, bytes: u64, space: &str, uses: &[(usize, i64, i64)]) -> usize {
        let id = self.values.len();
        let name = self.nodes.get(def).map(|n| n.name.clone()).unwrap_or_default();
        let uses = uses.iter().map(|&(node, distance, end)| ValueUse { node, distance, end }).collect();
        self.values.push(LoopValue {
            id,
            name,
            def,
            bytes,
            space: space.to_owned(),
            uses,
            ..LoopValue::default()
        });
        id
    }
}
