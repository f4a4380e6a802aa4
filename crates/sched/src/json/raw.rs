//! The loop graph as written.

use crate::model::exit::LoopExit;
use crate::model::graph::{LoopEdge, LoopGraph, LoopNode, LoopPartition, LoopResource, LoopValue};
use crate::model::partition::PartitionModel;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

impl<'de> Deserialize<'de> for LoopGraph {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawGraph::deserialize(deserializer).map(LoopGraph::from)
    }
}

/// A loop graph as written: an edge may leave its latency out (S5).
#[derive(Deserialize)]
struct RawGraph {
    #[serde(default)]
    name: String,
    #[serde(default)]
    resources: Vec<LoopResource>,
    nodes: Vec<LoopNode>,
    #[serde(default)]
    edges: Vec<RawEdge>,
    #[serde(default)]
    values: Vec<LoopValue>,
    #[serde(default)]
    budgets: BTreeMap<String, u64>,
    #[serde(default)]
    reserved: BTreeMap<String, u64>,
    #[serde(default)]
    trip_count: Option<u64>,
    #[serde(default, alias = "agents")]
    partitions: Vec<LoopPartition>,
    #[serde(default)]
    partition_model: Option<PartitionModel>,
    #[serde(default, rename = "while")]
    exit: Option<LoopExit>,
}

#[derive(Deserialize)]
struct RawEdge {
    src: usize,
    dst: usize,
    latency: Option<i64>,
    #[serde(default)]
    distance: i64,
}

impl From<RawGraph> for LoopGraph {
    fn from(raw: RawGraph) -> Self {
        let latency_of = |src: usize| raw.nodes.get(src).map_or(0, |n| n.latency);
        let edges = raw
            .edges
            .iter()
            .map(|e| LoopEdge {
                src: e.src,
                dst: e.dst,
                latency: e.latency.unwrap_or_else(|| latency_of(e.src)),
                distance: e.distance,
            })
            .collect();
        LoopGraph {
            name: raw.name,
            resources: raw.resources,
            edges,
            nodes: raw.nodes,
            values: raw.values,
            budgets: raw.budgets,
            reserved: raw.reserved,
            trip_count: raw.trip_count,
            partitions: raw.partitions,
            partition_model: raw.partition_model,
            exit: raw.exit,
        }
    }
}
