//! Through which captures and loops a value came.

use hashbrown::HashMap;

use crate::text::tree::{Piece, Tree, ValueId};

/// Where the arguments of regions come from: the operand that is captured or carried.
pub(super) type Carried = HashMap<ValueId, ValueId>;

/// Of a whole text.
pub(super) fn carried(tree: &Tree) -> Carried {
    let mut out = HashMap::new();
    for id in tree.walk() {
        let Some(op) = tree.ops.get(id) else { continue };
        let uses: Vec<ValueId> =
            op.body.iter().filter_map(|p| if let Piece::Use(v, _) = p { Some(*v) } else { None }).collect();
        let (skip_args, inits) = match op.name.as_str() {
            "ttg.warp_specialize" => (0, uses.as_slice()),
            // Bounds and step, then what is carried; the first argument counts.
            "scf.for" => (1, uses.get(3..).unwrap_or(&[])),
            _ => continue,
        };
        for region in tree.regions_of(id) {
            let first =
                tree.regions.get(region).and_then(|r| r.blocks.first()).and_then(|b| tree.blocks.get(*b));
            let args = first.map_or(&[][..], |b| b.args.as_slice());
            out.extend(args.iter().skip(skip_args).copied().zip(inits.iter().copied()));
        }
        if op.name == "scf.for" {
            out.extend(op.results.iter().copied().zip(inits.iter().copied()));
        }
    }
    out
}

/// The value that views, captures and loops lead back to.
pub(super) fn root(
    tree: &Tree,
    carried: &Carried,
    value: ValueId,
    stop: &dyn Fn(ValueId) -> bool,
) -> ValueId {
    let mut at = value;
    for _ in 0..tree.values.len() {
        if stop(at) {
            return at;
        }
        if let Some(from) = carried.get(&at) {
            at = *from;
            continue;
        }
        let def = tree.values.get(at).and_then(|v| v.def).and_then(|d| tree.ops.get(d));
        let through = ["ttg.memdesc_reinterpret", "tlx.local_alias", "warploom.view"];
        match def
            .filter(|o| through.contains(&o.name.as_str()))
            .and_then(|o| o.form.as_ref()?.operands.first())
        {
            Some(from) => at = *from,
            None => return at,
        }
    }
    at
}
