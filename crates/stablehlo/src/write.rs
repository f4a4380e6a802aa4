//! The plan as attributes in the text, and its copies as JSON (A69).

use hashbrown::HashMap;
use serde_json::{Value, json};
use warploom_alias::TextPart;
use warploom_ir::Attr;

use super::plan::Plan;
use super::program::{Kind, Program};

/// `warploom.storage` on operations that make or change a buffer, `warploom.copy` (bytes, 0 for none) on
/// boundaries. What an earlier run wrote gives way, so that lowered text lowers to itself.
pub(crate) fn annotate(part: &mut TextPart, p: &Program, plan: &Plan) {
    let bytes: HashMap<usize, u64> = plan.copies.iter().map(|c| (c.node, c.bytes)).collect();
    for (id, node) in p.nodes.iter().enumerate() {
        let attrs = &mut part.module.ops[node.op].attrs;
        if matches!(node.kind, Kind::Pin | Kind::Create | Kind::Call(_)) {
            let parts = node.results.iter().flat_map(|v| p.buffers(*v));
            let mut names: Vec<Attr> = parts
                .filter_map(|part| plan.of.get(&part).and_then(|s| plan.stores.get(*s)))
                .map(|s| Attr::string(s.name.as_str()))
                .collect();
            attrs.remove("warploom.storage");
            match (names.len(), names.pop()) {
                (1, Some(one)) => {
                    attrs.set("warploom.storage", one);
                }
                (_, Some(last)) => {
                    names.push(last);
                    attrs.set("warploom.storage", Attr::Array(names));
                }
                (_, None) => {}
            }
        }
        if matches!(node.kind, Kind::Pin | Kind::Unpin) {
            let copied = bytes.get(&id).and_then(|n| i64::try_from(*n).ok()).unwrap_or(0);
            attrs.remove("warploom.copy");
            attrs.set("warploom.copy", Attr::i64(copied));
        }
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
