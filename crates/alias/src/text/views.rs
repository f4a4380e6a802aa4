//! Where views, captures and loops lead back to.

use hashbrown::HashMap;
use warploom_ir::{OpId, Opcode, ValueId};

use super::part::TextPart;

/// Where views, captures and loops lead back to.
pub(crate) struct Roots<'t> {
    part: &'t TextPart,
    from: HashMap<ValueId, ValueId>,
}

impl<'t> Roots<'t> {
    /// Of the values of one function, whose operations these are.
    pub(crate) fn new(part: &'t TextPart, ops: &[OpId]) -> Roots<'t> {
        let m = &part.module;
        let mut from = HashMap::new();
        for op in ops.iter().copied() {
            let data = &m.ops[op];
            // Bounds and step come first; the first argument counts.
            let (skip, inits) = match (data.opcode, part.name(op)) {
                (Opcode::For, _) => (1, data.operands.get(3..).unwrap_or(&[])),
                (_, "ttg.warp_specialize") => (0, data.operands.as_slice()),
                _ => continue,
            };
            for args in part.region_args(op) {
                from.extend(args.into_iter().skip(skip).zip(inits.iter().copied()));
            }
            if skip == 1 {
                from.extend(data.results.iter().copied().zip(inits.iter().copied()));
            }
        }
        Roots { part, from }
    }

    /// The value that a value is a view of.
    pub(crate) fn of(&self, value: ValueId) -> ValueId {
        let mut at = value;
        for _ in 0..self.part.module.values.len() {
            if let Some(next) = self.from.get(&at) {
                at = *next;
                continue;
            }
            let view = |op: &OpId| {
                let name = self.part.name(*op);
                name.starts_with("ttg.memdesc_")
                    || matches!(name, "ttng.tmem_subslice" | "tlx.local_alias" | "warploom.view")
            };
            match self.part.module.def_op(at).filter(view).and_then(|op| self.part.operand(op, 0)) {
                Some(next) => at = next,
                None => return at,
            }
        }
        at
    }

    /// The constant index of a barrier or buffer, if it has one.
    pub(crate) fn index(&self, value: ValueId) -> Option<i128> {
        let def = self.part.module.def_op(value)?;
        let index = self.part.operand(def, 1).filter(|_| self.part.name(def) == "ttg.memdesc_index")?;
        self.part.module.const_int(index)
    }
}
