//! The loop as one assignment to partitions sees it, and back (S65, S66).

use super::cost::crossing;
use super::frame::{Frame, issue_cycles};
use crate::bounds::least_ii::bounds_of;
use crate::model::answer::{Answer, ScheduleOutcome};
use crate::model::error::ScheduleError;
use crate::model::graph::{LoopEdge, LoopGraph, LoopPartition};
use crate::model::resource_use::ResourceUse;
use crate::model::validate::ValidGraph;
use crate::post::depth::depths;
use std::collections::BTreeSet;

/// An assignment: the partitions in use, and who issues each operation.
pub(super) struct Assigned {
    pub partitions: Vec<LoopPartition>,
    /// The id of the partition of every operation.
    pub partition_of: Vec<usize>,
}

impl Assigned {
    /// Partitions without operations disappear, unless the graph declares its own.
    pub fn new(frame: &Frame<'_>, place_of: &[u32]) -> Result<Self, ScheduleError> {
        let places = frame.of_nodes(place_of);
        let mut assigned = if frame.graph.partitions.is_empty() {
            let used: BTreeSet<usize> = places.iter().copied().collect();
            let used: Vec<usize> = used.into_iter().collect();
            let partition =
                |(id, &place): (usize, &usize)| LoopPartition { id, ..frame.partitions[place].clone() };
            Assigned {
                partitions: used.iter().enumerate().map(partition).collect(),
                partition_of: places.iter().map(|p| used.binary_search(p).unwrap_or(0)).collect(),
            }
        } else {
            let id = |&place: &usize| frame.partitions[place].id;
            Assigned { partitions: frame.partitions.clone(), partition_of: places.iter().map(id).collect() }
        };
        let warps: u32 = assigned.partitions.iter().map(|a| a.warps).fold(0, u32::saturating_add);
        let most = frame.split.most_places as usize;
        if warps > frame.model.max_warps || assigned.partitions.len() > most {
            return Err(ScheduleError::Partitions(format!(
                "{} partitions with {warps} warps, at most {most} with {}",
                assigned.partitions.len(),
                frame.model.max_warps
            )));
        }
        assigned.partitions.sort_by_key(|a| a.id);
        Ok(assigned)
    }

    /// The loop with issue streams, and with dearer crossings.
    pub fn placed(&self, frame: &Frame<'_>) -> LoopGraph {
        let mut g = frame.graph.clone();
        let (model, of) = (frame.model, &self.partition_of);
        let stream = |partition: usize| format!("issue of partition {partition}");
        self.partitions.iter().for_each(|a| _ = g.add_resource(stream(a.id), 1));
        for node in &mut g.nodes {
            let duration = issue_cycles(node);
            node.uses.push(ResourceUse {
                resource: stream(of[node.id]),
                start: 0,
                duration,
                ..ResourceUse::default()
            });
        }
        for e in g.edges.iter_mut().filter(|e| of[e.src] != of[e.dst]) {
            e.latency = e.latency.saturating_add(crossing(model, frame.graph, e.src, e.dst));
        }
        for v in &mut g.values {
            let (def, own) = (v.def, of[v.def]);
            for u in v.uses.iter_mut().filter(|u| of[u.node] != own) {
                let cost = crossing(model, frame.graph, def, u.node);
                u.end = u.end.saturating_add(cost);
                let latency = v.start.saturating_add(cost);
                g.edges.push(LoopEdge { src: def, dst: u.node, latency, distance: u.distance });
            }
        }
        g
    }

    /// An answer for [`placed`](Self::placed) in terms of the loop itself; `lower_bound` is that of all assignments.
    pub fn plain(&self, valid: &ValidGraph<'_>, mut answer: Answer, lower_bound: i64) -> Answer {
        let bounds = bounds_of(&valid.problem);
        answer.nodes.iter_mut().for_each(|v| v.partition = self.partition_of.get(v.id).copied());
        let laws = depths(valid, &answer);
        for (d, law) in answer.values.iter_mut().zip(laws) {
            d.lifetime = law.lifetime;
            d.depth = d.depth.max(law.depth);
        }
        answer.length_optimal = false;
        answer.lower_bound = lower_bound.clamp(bounds.mii, answer.ii.max(bounds.mii));
        answer.optimal = answer.ii == answer.lower_bound;
        answer.outcome = if answer.optimal { ScheduleOutcome::ProvenOptimal } else { ScheduleOutcome::Best };
        answer.mii = bounds.mii;
        answer.res_mii = bounds.res_mii;
        answer.rec_mii = bounds.rec_mii;
        answer.rec_ratio = bounds.rec_ratio.map(|(p, q)| [p, q]);
        answer.critical_recurrence = bounds.critical_recurrence;
        let name = |r: usize| Some(valid.whole().resources.get(r)?.name.clone());
        answer.critical_resource = bounds.critical_resource.and_then(name);
        answer.partitions.clone_from(&self.partitions);
        answer
    }
}
