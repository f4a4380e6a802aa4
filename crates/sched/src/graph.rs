//! The loop graph: one loop body as operations, the units they occupy and the dependences between them
//! (S1-S9). Plain data, read and written as JSON (`DESIGN.md`, "Interchange formats").

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One straight-line loop body with one back edge (S1).
///
/// Iteration `i` of operation `o` starts at `t[o] + i * II`. The order of [`nodes`](Self::nodes) is program
/// order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "crate::json::RawGraph")]
pub struct LoopGraph {
    /// The loop's name; no decision reads it.
    pub name: String,
    /// The units operations can occupy.
    pub resources: Vec<Resource>,
    /// The operations, ids `0..n-1` in array order (S3).
    pub nodes: Vec<Node>,
    /// The dependences (S5).
    pub edges: Vec<Edge>,
    /// Buffered values (S8).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
    /// Bytes available per memory space (S9).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub budgets: BTreeMap<String, u64>,
    /// Bytes per memory space already taken by something else (S9).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reserved: BTreeMap<String, u64>,
    /// Number of iterations, where known (S9).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trip_count: Option<u64>,
    /// Agents (warp groups) that nodes may name (S61).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<Agent>,
}

/// A kind of unit; its units are interchangeable (S4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Unique name.
    pub name: String,
    /// Number of units, at least 1.
    pub count: u64,
}

/// One operation of the loop body (S3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
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
    pub uses: Vec<Use>,
    /// Cycles for which it holds its agent's issue stream (S65).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue_latency: Option<u64>,
    /// The agent that must issue it (S61).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<usize>,
    /// The kinds of agent that may issue it; empty: any (S62).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<AgentKind>,
    /// The least number of warps its agent must have (S62).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_warps: Option<u32>,
    /// Bytes of registers its result takes in the agent that issues it (S63).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reg_bytes: Option<u64>,
}

/// One unit of `resource`, held in the cycles `t + start .. t + start + duration - 1` (S4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    /// Name of a declared resource.
    pub resource: String,
    /// Cycles after the operation's start.
    #[serde(default)]
    pub start: u64,
    /// Cycles held; 0 occupies nothing.
    pub duration: u64,
}

/// A dependence: `t[dst] + II * distance >= t[src] + latency` (S5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
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
pub struct Value {
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
    /// Values handed over by one barrier share a group and have equal depth (S58).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<usize>,
    /// The least number of slots (S60).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_depth: Option<u64>,
    /// The largest number of slots (S55).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u64>,
}

/// A reader of a [`Value`]: the slot is free again at `t[node] + distance * II + end` (S8).
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

/// What an agent may be used for (S61).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentKind {
    /// Issues asynchronous copies.
    Producer,
    /// Issues matrix instructions whose operands live outside registers.
    Mma,
    /// Computes on register tiles.
    Compute,
}

/// A group of warps with one issue stream (S61).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// Unique number.
    pub id: usize,
    /// What it may be used for.
    pub kind: AgentKind,
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
        self.resources.push(Resource { name: name.into(), count });
        self
    }

    /// Appends an operation and returns its id. `uses` are `(resource, start, duration)`.
    pub fn add_node(&mut self, name: impl Into<String>, latency: i64, uses: &[(&str, u64, u64)]) -> usize {
        let (id, name) = (self.nodes.len(), name.into());
        let uses = uses
            .iter()
            .map(|&(resource, start, duration)| Use { resource: resource.to_owned(), start, duration })
            .collect();
        self.nodes.push(Node { id, op: name.clone(), name, latency, uses, ..Node::default() });
        id
    }

    /// Appends a dependence.
    pub fn add_edge(&mut self, src: usize, dst: usize, latency: i64, distance: i64) -> &mut Self {
        self.edges.push(Edge { src, dst, latency, distance });
        self
    }

    /// Appends a buffered value, written from the start of `def`, and returns its id. `uses` are
    /// `(node, distance, end)`.
    pub fn add_value(&mut self, def: usize, bytes: u64, space: &str, uses: &[(usize, i64, i64)]) -> usize {
        let id = self.values.len();
        let name = self.nodes.get(def).map(|n| n.name.clone()).unwrap_or_default();
        let uses = uses.iter().map(|&(node, distance, end)| ValueUse { node, distance, end }).collect();
        self.values.push(Value { id, name, def, bytes, space: space.to_owned(), uses, ..Value::default() });
        id
    }
}
