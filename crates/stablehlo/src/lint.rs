//! Linearity: a buffer is written once and then dead (A59 to A64).

use hashbrown::{HashMap, HashSet};
use warploom_alias::AliasError;

use super::linear::Linear;
use super::program::{Kind, Node, NodeId, Part, Program};
use super::types::path_text;

/// What is done to a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Consume,
    Read,
}

/// Options of the lint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Strict {
    /// XLA's own bans (A64).
    pub(crate) xla: bool,
}

/// Every buffer that an operation takes, with what it does to it.
fn uses(p: &Program, node: &Node) -> Vec<(Part, Use)> {
    let all = |what: Use| {
        let parts = node.operands.iter().flat_map(|v| p.buffers(*v));
        parts.map(|part| (p.origin(part), what)).collect::<Vec<_>>()
    };
    match &node.kind {
        Kind::Unpin | Kind::While(_) | Kind::Return => all(Use::Consume),
        Kind::Call(pairs) => {
            let consumed: HashSet<&Part> = pairs.iter().map(|(_, operand)| operand).collect();
            let parts = node.operands.iter().flat_map(|v| p.buffers(*v));
            parts
                .map(|part| {
                    let what = if consumed.contains(&part) { Use::Consume } else { Use::Read };
                    (p.origin(part), what)
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

fn shown(p: &Program, part: &Part) -> String {
    format!("'{}' {}", p.name(part.0), path_text(&part.1))
}

/// The lint, over a program whose types were verified.
pub(crate) fn lint(p: &Program, strict: Strict) -> Linear {
    let mut out = Linear::default();
    let mut consumed: HashMap<Part, Vec<NodeId>> = HashMap::new();
    let mut written: HashSet<Part> = HashSet::new();
    for (id, node) in p.nodes.iter().enumerate() {
        for (part, what) in uses(p, node) {
            let before = consumed.get(&part).map_or(&[][..], Vec::as_slice);
            let earlier = before.iter().find(|other| !exclusive(p, **other, id));
            match (what, earlier) {
                (Use::Consume, Some(other)) => {
                    let message = format!(
                        "an HLO buffer value has more than one writers (or unpins): '{}' '{}'",
                        p.name(part.0),
                        path_text(&part.1)
                    );
                    out.errors.push(
                        AliasError::new("A60", message)
                            .at(node.pos)
                            .related("the first one is here", p.nodes.get(*other).map(|n| n.pos))
                            .help("write to what the first one returned, or pin a buffer of its own"),
                    );
                }
                (Use::Read, Some(other)) => {
                    let first = p.nodes.get(*other).map_or("", |n| n.shown.as_str());
                    let message = format!(
                        "buffer {} is used by '{}' after '{first}' wrote or released it",
                        shown(p, &part),
                        node.shown
                    );
                    out.errors.push(
                        AliasError::new("A61", message)
                            .at(node.pos)
                            .related("it was written or released here", p.nodes.get(*other).map(|n| n.pos))
                            .help("read it before, or read what that operation returned"),
                    );
                }
                (_, None) => {}
            }
            if what == Use::Consume {
                repeated(p, id, node, &part, &mut out);
                consumed.entry(part.clone()).or_default().push(id);
            }
            if what == Use::Read && strict.xla {
                let operand = node.operands.iter().position(|v| *v == part.0).unwrap_or(0);
                let message = format!(
                    "buffer is used in operands but not in results: operand {operand} ShapeIndex {}",
                    path_text(&part.1)
                );
                out.errors.push(
                    AliasError::new("A64", message)
                        .at(node.pos)
                        .help("alias it to a result, or drop --xla-strict"),
                );
            }
            unwritten(p, node, &part, what, &written, &mut out);
        }
        follow(p, node, &mut written, &mut out);
        if let (Kind::Func(true), true) = (&node.kind, strict.xla) {
            let args = node.regions.iter().flat_map(|r| &r.args);
            if args.into_iter().any(|a| !p.buffers(*a).is_empty()) {
                let message =
                    format!("Seen buffers while buffers aren't allowed in this context: {}", node.shown);
                out.errors.push(
                    AliasError::new("A64", message).at(node.pos).help("pin inside of it, or make it private"),
                );
            }
        }
    }
    for (id, node) in p.nodes.iter().enumerate() {
        if let Kind::While(cycles) = &node.kind {
            super::slots::check(p, id, node, cycles, &mut out);
        }
    }
    ends(p, &consumed, &mut out);
    out.errors.sort_by_key(|e| e.at);
    out
}

/// Whether two operations are in different regions of one `if`.
fn exclusive(p: &Program, a: NodeId, b: NodeId) -> bool {
    let (x, y) = (p.around(a), p.around(b));
    x.iter().any(|(node, region)| {
        matches!(p.nodes.get(*node).map(|n| &n.kind), Some(Kind::Branch))
            && y.iter().any(|(other, r)| other == node && r != region)
    })
}

/// A buffer from outside of a loop is not consumed in it, and nothing of the loop in its condition.
fn repeated(p: &Program, id: NodeId, node: &Node, part: &Part, out: &mut Linear) {
    let home = p.home(part.0);
    for (around, region) in p.around(id) {
        let kind = p.nodes.get(around).map(|n| &n.kind);
        let args =
            p.nodes.get(around).and_then(|n| n.regions.get(region)).map_or(&[][..], |r| r.args.as_slice());
        let here = home == Some((around, region)) || args.contains(&part.0);
        if matches!(kind, Some(Kind::While(_))) && region == 0 {
            let argument = args.contains(&part.0);
            if argument || !here && node.kind != Kind::Return {
                out.errors.push(
                    AliasError::new("A62", "while condition may not write a buffer")
                        .at(node.pos)
                        .help(format!("read {} in the condition, write it in the body", shown(p, part))),
                );
                return;
            }
        }
        if here {
            return;
        }
        if !matches!(kind, Some(Kind::Branch | Kind::Func(_))) {
            let message = format!(
                "an HLO buffer value has more than one writers (or unpins): '{}' '{}'",
                p.name(part.0),
                path_text(&part.1)
            );
            out.errors.push(
                AliasError::new("A60", message)
                    .at(node.pos)
                    .related("every iteration of this does it again", p.nodes.get(around).map(|n| n.pos))
                    .help("carry the buffer in a slot of the loop"),
            );
            return;
        }
    }
}

/// A64: a fresh buffer is written before it is read.
fn unwritten(p: &Program, node: &Node, part: &Part, what: Use, written: &HashSet<Part>, out: &mut Linear) {
    let made = p.made_by.get(&part.0).and_then(|n| p.nodes.get(*n));
    if made.is_none_or(|n| n.kind != Kind::Create) || written.contains(part) {
        return;
    }
    let what = match (what, &node.kind) {
        (Use::Read, _) => "read",
        (_, Kind::Unpin) => "unpinned",
        _ => return,
    };
    let message = format!("buffer {} of CreateBuffer is {what} before anything wrote it", shown(p, part));
    out.notes.push(
        AliasError::warning("A64", message).at(node.pos).help("write it with a call first, or pin a tensor"),
    );
}

/// The buffers that an operation makes of those it consumed.
fn follow(p: &Program, node: &Node, written: &mut HashSet<Part>, out: &mut Linear) {
    match &node.kind {
        Kind::Call(pairs) => {
            for (result, operand) in pairs {
                if p.is_buffer(operand) {
                    written.insert(result.clone());
                    out.link(p.origin(operand.clone()), result.clone());
                }
            }
        }
        Kind::While(cycles) => {
            for (k, (operand, result)) in node.operands.iter().zip(&node.results).enumerate() {
                for part in p.buffers(*operand) {
                    let result = (*result, part.1.clone());
                    written.insert(result.clone());
                    // After a cycle nothing says which buffer came out of which slot.
                    if !cycles.iter().flatten().any(|c| *c == k) {
                        out.link(p.origin(part), result);
                    }
                }
            }
        }
        _ => {}
    }
}

/// A64: chains that end without `Unpin`.
fn ends(p: &Program, consumed: &HashMap<Part, Vec<NodeId>>, out: &mut Linear) {
    for (id, node) in p.nodes.iter().enumerate() {
        let makes = matches!(node.kind, Kind::Pin | Kind::Create | Kind::Call(_) | Kind::While(_));
        let values = node.results.iter().filter(|_| makes);
        for part in values.flat_map(|v| p.buffers(*v)) {
            if !consumed.contains_key(&part) {
                let message = format!("buffer {} is never unpinned", shown(p, &part));
                let at = p.nodes.get(id).map(|n| n.pos);
                out.notes.push(AliasError::note("A64", message).at(at).help("its contents are lost"));
            }
        }
    }
}
