//! What bound leaves ask of the schedule: their number of buffers, and the order of the values that share them (A45,
//! A46).

use warploom_alias::schedule::{Binding, edges};

use super::Bindings;
use crate::loops::PipelinedLoop;

impl Bindings {
    /// Caps the depth of each bound value at its leaf's buffers, so that II rises where they are few (A45), and adds an
    /// edge from the last use of a value to the first write of one that shares its place (A46).
    ///
    /// An edge against the order of the body within one iteration has no schedule; it is left out here, and the
    /// lifetimes of the two are what the refusal shows (A48, B20).
    pub fn constrain(&self, layout: Option<&warploom_alias::AliasLayout>, pipelined: &mut PipelinedLoop) {
        let Some(layout) = layout else { return };
        let graph = &mut pipelined.graph;
        let (mut values, mut bindings) = (Vec::new(), Vec::new());
        for (op, binding) in &self.bound {
            let Some((_, leaf)) = layout.leaf(binding.leaf) else { continue };
            let filled = |def: usize| pipelined.nodes.get(def).is_some_and(|node| node.op == *op);
            let memory = |space: &str| matches!(space, "smem" | "tmem");
            let Some(at) = graph.values.iter().position(|v| filled(v.def) && memory(&v.space)) else {
                continue;
            };
            let Some(value) = graph.values.get_mut(at) else { continue };
            let buffers = binding.period(leaf.count);
            // A ring that copies fill has its cap already.
            if value.space == "tmem" {
                value.max_depth = Some(value.max_depth.map_or(buffers, |most| most.min(buffers)));
            }
            let write = u32::try_from(value.def).unwrap_or(u32::MAX);
            bindings.push(Binding { write, ..binding.clone() });
            values.push((value.def, value.uses.clone()));
        }
        for edge in edges(layout, &bindings).into_iter().filter(|e| e.src != e.dst) {
            let (Some((_, uses)), Some(&(write, _))) = (values.get(edge.src), values.get(edge.dst)) else {
                continue;
            };
            for read in uses {
                let Some(distance) =
                    i64::try_from(edge.distance).ok().and_then(|d| d.checked_sub(read.distance))
                else {
                    continue;
                };
                if distance > 0 || distance == 0 && read.node < write {
                    graph.add_edge(read.node, write, read.end, distance);
                }
            }
        }
    }
}
