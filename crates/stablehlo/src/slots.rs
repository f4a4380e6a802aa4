//! What a `while` does with the buffers in its slots (A62, A63).

use hashbrown::HashSet;
use warploom_alias::AliasError;
use warploom_ir::ValueId;

use super::linear::Linear;
use super::program::{Body, Kind, Node, NodeId, Part, Program};

/// Checks the slots of one loop and records the order of its rotated chains.
pub(crate) fn check(p: &Program, id: NodeId, node: &Node, cycles: &[Vec<usize>], out: &mut Linear) {
    let slots = node.operands.len();
    if let Some(error) = wrong_cycles(p, node, cycles) {
        out.errors.push(error);
        return;
    }
    let Some(body) = node.regions.get(1) else { return };
    let Some(last) = p.last(body) else { return };
    let at = last.pos;
    for k in 0..slots {
        let (Some(arg), Some(returned)) = (body.args.get(k), last.operands.get(k)) else { continue };
        // Cyclic slots return the buffer of the next one.
        let wanted = cycles.iter().find_map(|c| {
            let i = c.iter().position(|s| *s == k)?;
            c.get((i + 1) % c.len()).copied()
        });
        let from = wanted.unwrap_or(k);
        for part in p.buffers(*arg) {
            let root = root(p, out, p.origin((*returned, part.1.clone())));
            let slot = body.args.iter().position(|a| *a == root.0);
            let help = "return what was made of the argument, declare warploom.rotate, or unpin and pin";
            let message = match slot {
                Some(j) if j == from && root.1 == part.1 => continue,
                Some(j) if wanted.is_some() => {
                    format!(
                        "while slot {k} returns the buffer of slot {j}, but its warploom.rotate says slot {from}"
                    )
                }
                Some(j) => {
                    format!(
                        "while slot {k} returns the buffer of slot {j}; declare warploom.rotate or unpin and pin"
                    )
                }
                None => match rotated(p, id, body, &part, &root, k, wanted, out) {
                    Ok(()) => continue,
                    Err(message) => message,
                },
            };
            let code = if wanted.is_some() { "A63" } else { "A62" };
            out.errors.push(AliasError::new(code, message).at(at).help(help));
        }
    }
}

/// A63: cycles name buffer slots of one type, each at most once.
fn wrong_cycles(p: &Program, node: &Node, cycles: &[Vec<usize>]) -> Option<AliasError> {
    let mut seen = HashSet::new();
    for cycle in cycles {
        let types: Vec<_> = cycle.iter().filter_map(|k| p.types.get(node.operands.get(*k)?)).collect();
        let same = types.windows(2).all(|w| w.first() == w.last());
        let buffers = types.iter().all(|t| !t.buffers().is_empty());
        let fresh = cycle.iter().all(|k| seen.insert(*k));
        if cycle.len() < 2 || types.len() != cycle.len() || !same || !buffers || !fresh {
            let message = format!("warploom.rotate {cycle:?} is no cycle of buffer slots of one type");
            return Some(
                AliasError::new("A63", message)
                    .at(node.pos)
                    .help(format!("name two or more of the slots 0..{}, each once", node.operands.len())),
            );
        }
    }
    None
}

/// The first buffer of a chain.
fn root(p: &Program, out: &Linear, part: Part) -> Part {
    let mut at = part;
    for _ in 0..p.nodes.len() {
        match out.prev.get(&at) {
            Some(before) => at = before.clone(),
            None => break,
        }
    }
    at
}

/// (b) of A62: a buffer made in the body takes the place of one that ends there. The message when it does not.
#[expect(clippy::too_many_arguments, reason = "one slot's facts, used once")]
fn rotated(
    p: &Program,
    id: NodeId,
    body: &Body,
    arg: &Part,
    new: &Part,
    k: usize,
    cycle: Option<usize>,
    out: &mut Linear,
) -> Result<(), String> {
    if let Some(from) = cycle {
        return Err(format!(
            "while slot {k} does not return the buffer of slot {from}, as its warploom.rotate says"
        ));
    }
    let maker = p.made_by.get(&new.0).copied();
    let makes = |n: NodeId| p.nodes.get(n).is_some_and(|n| matches!(n.kind, Kind::Pin | Kind::Create));
    let inside = |n: NodeId| p.around(n).contains(&(id, 1));
    let Some(maker) = maker.filter(|n| makes(*n) && inside(*n)) else {
        return Err(format!(
            "while slot {k} returns a buffer from outside of the loop, or from a rotated one"
        ));
    };
    // Where the chain of the argument ends, and with which operation.
    let mut handle = arg.clone();
    for _ in 0..p.nodes.len() {
        match out.next.get(&handle) {
            Some(next) => handle = next.clone(),
            None => break,
        }
    }
    let users = (0..p.nodes.len()).filter(|n| inside(*n)).filter(|n| {
        let node = p.nodes.get(*n);
        node.is_some_and(|n| n.operands.iter().flat_map(|v| p.buffers(*v)).any(|b| p.origin(b) == handle))
    });
    // Tuples only carry it.
    let touches =
        |n: &NodeId| p.nodes.get(*n).is_some_and(|n| !matches!(n.kind, Kind::Tuple | Kind::Element(_)));
    let end = users.rev().find(touches).or_else(|| p.made_by.get(&handle.0).copied().filter(|n| inside(*n)));
    let Some(end) = end else { return Ok(()) };
    let ended = p.nodes.get(end).map(|n| &n.kind);
    if matches!(ended, Some(Kind::Return | Kind::While(_))) {
        return Err(format!("while slot {k}: its old buffer does not end in the body"));
    }
    let (Some(from), Some(to)) = (in_body(p, id, maker), in_body(p, id, end)) else { return Ok(()) };
    let nested = from == to && maker < end;
    if nested || from != to && reaches(p, body, from, to) {
        return Err(format!("while slot {k}: the new buffer is pinned before the old one is released"));
    }
    out.order.push((end, maker));
    Ok(())
}

/// The operation of the body that contains an operation.
pub(crate) fn in_body(p: &Program, id: NodeId, node: NodeId) -> Option<NodeId> {
    let mut at = node;
    loop {
        match p.nodes.get(at)?.parent {
            Some((around, 1)) if around == id => return Some(at),
            Some((around, _)) => at = around,
            None => return None,
        }
    }
}

/// Whether a path of values leads from one operation of a body to another.
fn reaches(p: &Program, body: &Body, from: NodeId, to: NodeId) -> bool {
    let mut reached: HashSet<NodeId> = HashSet::from_iter([from]);
    // Program order: what an operation reads was made before.
    for n in body.nodes.iter().copied().filter(|n| *n > from) {
        if reads(p, n).iter().any(|v| p.made_by.get(v).is_some_and(|m| reached.contains(m))) {
            reached.insert(n);
        }
    }
    reached.contains(&to)
}

/// Everything that an operation and its regions read.
pub(crate) fn reads(p: &Program, node: NodeId) -> Vec<ValueId> {
    let mut out = Vec::new();
    let mut work = vec![node];
    while let Some(n) = work.pop().and_then(|n| p.nodes.get(n)) {
        out.extend(n.operands.iter().copied());
        work.extend(n.regions.iter().flat_map(|r| r.nodes.iter().copied()));
    }
    out
}
