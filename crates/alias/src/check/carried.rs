//! Through which captures and loops a value came.

use hashbrown::HashMap;
use warploom_ir::{Opcode, ValueId};

use crate::text::TextPart;

/// Where the arguments of regions come from: the operand that is captured or carried.
pub(super) type Carried = HashMap<ValueId, ValueId>;

/// Of a whole text.
pub(super) fn carried(part: &TextPart) -> Carried {
    let m = &part.module;
    let mut out = HashMap::new();
    for op in part.walk() {
        let data = &m.ops[op];
        let (skip_args, inits) = match part.name(op) {
            "ttg.warp_specialize" => (0, data.operands.as_slice()),
            // Bounds and step, then what is carried; the first argument counts.
            "scf.for" => (1, data.operands.get(3..).unwrap_or(&[])),
            _ => continue,
        };
        for n in 0..data.regions.len() {
            let args = m.entry(op, n).map_or(&[][..], |b| m.blocks[b].args.as_slice());
            out.extend(args.iter().skip(skip_args).copied().zip(inits.iter().copied()));
        }
        if data.opcode == Opcode::For {
            out.extend(data.results.iter().copied().zip(inits.iter().copied()));
        }
    }
    out
}

/// The value that views, captures and loops lead back to.
pub(super) fn root(
    part: &TextPart,
    carried: &Carried,
    value: ValueId,
    stop: &dyn Fn(ValueId) -> bool,
) -> ValueId {
    let mut at = value;
    for _ in 0..part.module.values.len() {
        if stop(at) {
            return at;
        }
        if let Some(from) = carried.get(&at) {
            at = *from;
            continue;
        }
        let through = ["ttg.memdesc_reinterpret", "tlx.local_alias", "warploom.view"];
        let def = part.module.def_op(at).filter(|op| through.contains(&part.name(*op)));
        match def.and_then(|op| part.operand(op, 0)) {
            Some(from) => at = from,
            None => return at,
        }
    }
    at
}
