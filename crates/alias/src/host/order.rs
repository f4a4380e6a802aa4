//! Putting the end of an old buffer before the start of its successor (A62), nothing else moved.

use hashbrown::{HashMap, HashSet};

use super::linear::Linear;
use super::program::{Kind, NodeId, Part, Program};
use super::slots::{in_body, reads};
use crate::error::AliasError;
use crate::text::tree::Tree;

/// Reorders the bodies of loops whose rotated chains start too early. True when something moved.
///
/// # Errors
/// A62 when other orders that must be kept forbid it.
pub(crate) fn arrange(tree: &mut Tree, p: &Program, linear: &Linear) -> Result<bool, AliasError> {
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
        sort(tree, p, id, edges)?;
    }
    Ok(moved)
}

/// Stable topological order of one body: values, reads before the write that ends them, side effects, and the
/// given edges.
fn sort(tree: &mut Tree, p: &Program, id: NodeId, edges: &[(NodeId, NodeId)]) -> Result<(), AliasError> {
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
    let mut left: Vec<NodeId> = body.nodes.clone();
    let mut done: HashSet<NodeId> = HashSet::new();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let ready =
            left.iter().position(|n| before.get(n).is_none_or(|b| b.iter().all(|m| done.contains(m))));
        let Some(at) = ready else {
            let start = edges.iter().find(|(a, b)| a > b).and_then(|(_, b)| p.nodes.get(*b));
            let message = "while: the new buffer is pinned before the old one is released";
            return Err(AliasError::new("A62", message)
                .at(start.map(|n| n.pos))
                .help("unpin the old buffer first; other effects forbid to move it"));
        };
        let n = left.remove(at);
        done.insert(n);
        order.extend(p.nodes.get(n).map(|n| n.op));
    }
    let block = order.first().and_then(|o| tree.ops.get(*o)).and_then(|o| o.block);
    if let Some(block) = block.and_then(|b| tree.blocks.get_mut(b))
        && block.ops.len() == order.len()
    {
        block.ops = order;
    }
    Ok(())
}
