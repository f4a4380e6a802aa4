//! Which integers are not negative.

use super::number::number;
use super::state::State;
use crate::attr::Attr;
use crate::entity::OpId;
use crate::opcode::Opcode;

impl State<'_> {
    /// Whether the first result of an operation is known not to be negative; none where nothing is known of an operand
    /// yet.
    pub fn sign(&self, op: OpId) -> Option<bool> {
        use Opcode as O;
        let module = self.module;
        let operands = &module.ops[op].operands;
        let of = |i: usize| operands.get(i).map_or(Some(false), |&v| self.signs[v]);
        let above = |least: i128| operands.get(1).and_then(|&v| number(module, v)).is_some_and(|n| n > least);
        match module.ops[op].opcode {
            O::Constant => Some(module.result(op).and_then(|v| number(module, v)).is_some_and(|n| n >= 0)),
            O::MakeRange => {
                let start = module.attr(op, "start").and_then(Attr::as_i64);
                Some(start.is_some_and(|n| n >= 0))
            }
            O::GetProgramId | O::GetNumPrograms | O::ExtUI => Some(true),
            O::AddI | O::MulI | O::DivSI | O::MinSI | O::OrI | O::XOrI => Some(of(0)? && of(1)?),
            O::Select => Some(of(1)? && of(2)?),
            O::MaxSI | O::AndI => Some(of(0)? || of(1)?),
            O::RemSI
            | O::ShLI
            | O::ShRSI
            | O::ExtSI
            | O::TruncI
            | O::IndexCast
            | O::Splat
            | O::Broadcast
            | O::ExpandDims
            | O::Reshape
            | O::Trans => of(0),
            O::ShRUI | O::RemUI => Some(above(0)),
            O::DivUI => Some(above(1)),
            _ => Some(false),
        }
    }
}
