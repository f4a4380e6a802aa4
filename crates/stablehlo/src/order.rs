//! Putting the end of an old buffer before the start of its successor (A62), nothing else moved.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::{HashMap, HashSet};
use petgraph::graph::{DiGraph, NodeIndex};
use warploom_alias::{AliasError, TextPart};

use super::linear::Linear;
use super::program::{Kind, NodeId, Part, Program};
use super::slots::{in_body, reads};

/// Reorders the bodies of loops whose rotated chains start too early. True when something moved.
///
/// # Errors
/// A62 when other orders that must be kept forbid it.
pub(crate) fn arrange(part: &mut TextPart, p: &Program, linear: &Linear) -> Result<bool, AliasError> {
    let mut by_loop: HashMap<NodeId, Vec<(NodeId, NodeId)>> = HashMap::new();
    let mut loops = Vec::new();
    for (end, start) in &linear.order {
        let around = p.around(*start);
        let common = around.iter().find(|a| a.1 == 1 && p.around(*end).contains(a));
        let Some((id, _)) =
            common.filter(|(n, _)| matches!(p.nodes.get(*n).map(|n| &n.kind), Some(Kind::While(_))))
        else {
            continue;
        };
        let (Some(a), Some(b)) = (in_body(p, *id, *end), in_body(p, *id, *start)) else { continue };
        if !by_loop.contains_key(id) {
            loops.push(*id);
        }
        by_loop.entry(*id).or_default().push((a, b));
    }
    let mut moved = false;
    for id in loops {
        let edges = by_loop.get(&id).map_or(&[][..], Vec::as_slice);
        if edges.iter().all(|(a, b)| a <= b) {
            continue;
        }
        moved = true;
        sort(part, p, id, edges)?;
    }
    Ok(moved)
}

/// Stable topological order of one body: values, reads before the write that ends them, side effects, and the
/// given edges.
fn sort(part: &mut TextPart, p: &Program, id: NodeId, edges: &[(NodeId, NodeId)]) -> Result<(), AliasError> {
    let Some(body) = p.nodes.get(id).and_then(|n| n.regions.get(1)) else { return Ok(()) };
    let mut before: HashMap<NodeId, HashSet<NodeId>> = HashMap::new();
    for (a, b) in edges {
        before.entry(*b).or_default().insert(*a);
    }
    let mut effect = None;
    let mut users: HashMap<Part, Vec<NodeId>> = HashMap::new();
    for n in body.nodes.iter().copied() {
        let needs = before.entry(n).or_default();
        for value in reads(p, n) {
            needs.extend(p.made_by.get(&value).and_then(|m| in_body(p, id, *m)).filter(|m| *m != n));
            for part in p.buffers(value).into_iter().map(|b| p.origin(b)) {
                let earlier = users.entry(part).or_default();
                needs.extend(earlier.iter().copied().filter(|m| *m != n));
                earlier.push(n);
            }
        }
        let node = p.nodes.get(n);
        if node.is_some_and(|n| n.side_effect) {
            needs.extend(effect);
            effect = Some(n);
        }
        if node.is_some_and(|n| n.kind == Kind::Return) {
            needs.extend(body.nodes.iter().copied().filter(|m| *m != n));
        }
    }
    let order = stable_order(&body.nodes, &before).ok_or_else(|| {
        let start = edges.iter().find(|(a, b)| a > b).and_then(|(_, b)| p.nodes.get(*b));
        let message = "while: the new buffer is pinned before the old one is released";
        AliasError::new("A62", message)
            .at(start.map(|n| n.pos))
            .help("unpin the old buffer first; other effects forbid to move it")
    })?;
    let ops: Vec<_> = order.iter().filter_map(|n| p.nodes.get(*n).map(|n| n.op)).collect();
    if let Some(block) = ops.first().and_then(|op| part.module.ops[*op].block)
        && part.module.blocks[block].ops.len() == ops.len()
    {
        part.module.blocks[block].ops = ops;
    }
    Ok(())
}

/// The order that keeps `before` and is otherwise that of `nodes`: of those that may come next, the first. `None`
/// for a circle.
fn stable_order(nodes: &[NodeId], before: &HashMap<NodeId, HashSet<NodeId>>) -> Option<Vec<NodeId>> {
    let place: HashMap<NodeId, usize> = nodes.iter().enumerate().map(|(n, id)| (*id, n)).collect();
    let mut graph = DiGraph::<NodeId, ()>::with_capacity(nodes.len(), nodes.len());
    nodes.iter().for_each(|n| {
        graph.add_node(*n);
    });
    for (node, needs) in before {
        let Some(to) = place.get(node) else { continue };
        for from in needs.iter().filter_map(|n| place.get(n)) {
            graph.add_edge(NodeIndex::new(*from), NodeIndex::new(*to), ());
        }
    }
    let mut missing: Vec<usize> =
        graph.node_indices().map(|n| graph.neighbors_directed(n, petgraph::Incoming).count()).collect();
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..nodes.len()).filter(|n| missing.get(*n) == Some(&0)).map(Reverse).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse(n)) = ready.pop() {
        order.extend(nodes.get(n));
        for next in graph.neighbors(NodeIndex::new(n)) {
            if let Some(left) = missing.get_mut(next.index()) {
                *left -= 1;
                if *left == 0 {
                    ready.push(Reverse(next.index()));
                }
            }
        }
    }
    (order.len() == nodes.len()).then_some(order)
}
