//! Integers that the text gives, as scalars or in every element of a tile.

use crate::attr::Attr;
use crate::entity::ValueId;
use crate::module::Module;
use crate::opcode::Opcode;

/// Operations that are looked through.
const DEEPEST: u32 = 16;

/// The integer that a value is everywhere.
pub(super) fn number(module: &Module, mut value: ValueId) -> Option<i128> {
    for _ in 0..DEEPEST {
        let op = module.def_op(value)?;
        let data = &module.ops[op];
        match data.opcode {
            Opcode::Constant => {
                return match module.attr(op, "value")? {
                    Attr::Int { value, .. } => Some(*value),
                    Attr::Splat { value, .. } => match value.as_ref() {
                        Attr::Int { value, .. } => Some(*value),
                        _ => None,
                    },
                    _ => None,
                };
            }
            Opcode::Splat
            | Opcode::Broadcast
            | Opcode::ExpandDims
            | Opcode::Reshape
            | Opcode::Trans
            | Opcode::ExtSI
            | Opcode::IndexCast => value = *data.operands.first()?,
            _ => return None,
        }
    }
    None
}
