//! The plan as attributes in the text, and its copies as JSON (A69).

use hashbrown::HashMap;
use serde_json::{Value, json};

use super::plan::Plan;
use super::program::{Kind, Program};
use crate::text::tree::{Op, Piece, Tree};

/// `warploom.storage` on operations that make or change a buffer, `warploom.copy` (bytes, 0 for none) on
/// boundaries.
pub(crate) fn annotate(tree: &mut Tree, p: &Program, plan: &Plan) {
    let bytes: HashMap<usize, u64> = plan.copies.iter().map(|c| (c.node, c.bytes)).collect();
    for (id, node) in p.nodes.iter().enumerate() {
        let mut attrs = Vec::new();
        if matches!(node.kind, Kind::Pin | Kind::Create | Kind::Call(_)) {
            let parts = node.results.iter().flat_map(|v| p.buffers(*v));
            let names: Vec<String> = parts
                .filter_map(|part| plan.of.get(&part).and_then(|s| plan.stores.get(*s)))
                .map(|s| format!("\"{}\"", s.name))
                .collect();
            match names.as_slice() {
                [] => {}
                [one] => attrs.push(format!("warploom.storage = {one}")),
                more => attrs.push(format!("warploom.storage = [{}]", more.join(", "))),
            }
        }
        if matches!(node.kind, Kind::Pin | Kind::Unpin) {
            attrs.push(format!("warploom.copy = {} : i64", bytes.get(&id).copied().unwrap_or(0)));
        }
        if let (false, Some(op)) = (attrs.is_empty(), tree.ops.get_mut(node.op)) {
            remove(op);
            insert(op, &attrs.join(", "));
        }
    }
}

/// Takes out what an earlier run wrote, so that lowered text lowers to itself.
fn remove(op: &mut Op) {
    let ours = |p: &Piece| matches!(p.text(), "warploom.storage" | "warploom.copy");
    while let Some(at) = op.body.iter().position(ours) {
        let mut open = 0usize;
        let mut end = at;
        for piece in op.body.get(at..).unwrap_or(&[]) {
            match piece.text() {
                "," if open == 0 => break,
                "(" | "[" | "{" | "<" => open += 1,
                ")" | "]" | "}" | ">" if open == 0 => break,
                ")" | "]" | "}" | ">" => open -= 1,
                _ => {}
            }
            end += 1;
        }
        let text = |n: usize| op.body.get(n).map_or("", Piece::text);
        // One comma goes with it: the one behind, else the one before.
        let (from, to) = match (text(end), at.checked_sub(1).map_or("", text)) {
            (",", _) => (at, end + 1),
            (_, ",") => (at - 1, end),
            _ => (at, end),
        };
        op.body.drain(from..to);
    }
}

/// Puts attributes into the dictionary of an operation, or gives it one before its types.
fn insert(op: &mut Op, attrs: &str) {
    let text = |t: &str, space| Piece::Text(t.to_owned().into(), space);
    let mut open = 0usize;
    let mut dict = None;
    let mut types = None;
    for (n, piece) in op.body.iter().enumerate() {
        match piece.text() {
            "{" if open == 0 => {
                dict = Some(n);
                open += 1;
            }
            "(" | "[" | "{" | "<" => open += 1,
            ")" | "]" | "}" | ">" => open = open.saturating_sub(1),
            ":" if open == 0 => {
                types = Some(n);
                break;
            }
            _ => {}
        }
    }
    match (dict, types) {
        (Some(at), _) => {
            let empty = op.body.get(at + 1).map(Piece::text) == Some("}");
            if let Some(Piece::Text(_, space)) = op.body.get_mut(at + 1) {
                *space = !empty;
            }
            let comma = (!empty).then(|| text(",", false));
            op.body.splice(at + 1..at + 1, std::iter::once(text(attrs, false)).chain(comma));
        }
        (None, Some(at)) => {
            // Short forms have no dictionary when it would be empty.
            op.body.splice(at..at, [text("{", true), text(attrs, false), text("}", false)]);
        }
        (None, None) => {}
    }
}

/// The copies of a part: operation, kind, bytes.
pub(crate) fn copies(p: &Program, plan: &Plan) -> Vec<Value> {
    plan.copies
        .iter()
        .map(|copy| {
            let node = p.nodes.get(copy.node);
            let op = node.and_then(|n| n.results.first()).map_or("?", |v| p.name(*v));
            json!({ "op": op, "kind": if copy.pin { "pin" } else { "unpin" }, "bytes": copy.bytes })
        })
        .collect()
}
