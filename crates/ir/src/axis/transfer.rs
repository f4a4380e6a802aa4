//! What an operation gives, from what is known of its operands.

use super::integers::divides;
use super::number::number;
use super::run::{Run, Runs, power, unit};
use super::state::State;
use crate::attr::Attr;
use crate::entity::{OpId, ValueId};
use crate::opcode::Opcode;

impl State<'_> {
    /// The runs of a result of an operation without regions; none where an operand's are not known yet.
    pub fn transfer(&self, op: OpId, result: ValueId) -> Option<Runs> {
        use Opcode as O;
        let module = self.module;
        let operands = module.ops[op].operands.as_slice();
        let each_dim = |state: &Self, of: &dyn Fn(&Self, usize) -> Option<Run>| {
            (0..state.rank(result)).map(|dim| of(state, dim)).collect::<Option<Runs>>()
        };
        match (module.ops[op].opcode, operands) {
            (O::Constant, _) => {
                let run = number(module, result).map_or(Run::UNKNOWN, |n| Run::constant(divides(n)));
                Some(Runs::from_elem(run, self.rank(result)))
            }
            (O::MakeRange, _) => {
                let bound = |name| module.attr(op, name).and_then(Attr::as_i64).unwrap_or(1);
                let (start, end) = (bound("start"), bound("end"));
                let extent = end.saturating_sub(start);
                let consecutive = if extent > 0 { power(extent.unsigned_abs()) } else { 1 };
                let multiple = power(start.unsigned_abs());
                Some(Runs::from_elem(Run { consecutive, multiple, ..Run::UNKNOWN }, 1))
            }
            (O::Splat | O::ExpandDims | O::Broadcast | O::Trans | O::Reshape | O::Split, &[x]) => {
                self.shown(op, result, x)
            }
            (O::ExtSI | O::ExtUI | O::TruncI | O::IndexCast, &[x]) => self.runs[x].clone(),
            // Neighbours are one pointee apart there and one there: only what is equal everywhere stays.
            (O::IntToPtr | O::PtrToInt | O::Bitcast, &[x]) => each_dim(self, &|state, dim| {
                let run = state.along(x, dim)?;
                let multiple = run.each(unit(module.ty(x)));
                Some(Run { multiple, ..Run::equals(run.equal) })
            }),
            (O::AddI | O::SubI | O::AddPtr, &[a, b]) => each_dim(self, &|state, dim| {
                let (x, y) = (state.along(a, dim)?, state.along(b, dim)?);
                Some(state.sum(op, (a, x), y))
            }),
            (O::MulI, &[a, b]) => each_dim(self, &|state, dim| {
                let (x, y) = (state.along(a, dim)?, state.along(b, dim)?);
                Some(state.product((a, x), (b, y)))
            }),
            (O::RemSI | O::RemUI, &[a, b]) => each_dim(self, &|state, dim| {
                let (x, y) = (state.along(a, dim)?, state.along(b, dim)?);
                Some(state.remainder(x, y))
            }),
            (opcode @ (O::DivSI | O::DivUI), &[a, b]) => each_dim(self, &|state, dim| {
                let (x, y) = (state.along(a, dim)?, state.along(b, dim)?);
                state.quotient(a, x, (b, y), opcode == O::DivSI)
            }),
            (opcode @ (O::ShRSI | O::ShRUI | O::ShLI), &[a, b]) => each_dim(self, &|state, dim| {
                let (x, y) = (state.along(a, dim)?, state.along(b, dim)?);
                Some(match opcode {
                    O::ShLI => state.shifted_left(x, (b, y)),
                    _ => state.shifted_right(x, (b, y)),
                })
            }),
            (O::AndI, &[a, b]) => each_dim(self, &|state, dim| {
                let (x, y) = (state.along(a, dim)?, state.along(b, dim)?);
                Some(state.conjunction(x, (b, y)))
            }),
            (O::OrI | O::MinSI | O::MaxSI | O::MinUI | O::MaxUI, &[a, b]) => each_dim(self, &|state, dim| {
                let (x, y) = (state.along(a, dim)?, state.along(b, dim)?);
                Some(Run { multiple: x.each(1).min(y.each(1)), ..Run::equals(x.equal.min(y.equal)) })
            }),
            (O::Select, &[which, a, b]) => each_dim(self, &|state, dim| {
                let (group, x, y) =
                    (state.along(which, dim)?.equal, state.along(a, dim)?, state.along(b, dim)?);
                Some(x.meet(y, group, unit(module.ty(a))))
            }),
            (O::CmpI, &[a, b]) => each_dim(self, &|state, dim| {
                let (x, y) = (state.along(a, dim)?, state.along(b, dim)?);
                Some(state.comparison(op, x, y))
            }),
            (opcode, _) if opcode.is_elementwise() || self.reads_alike(op) => {
                each_dim(self, &|state, dim| {
                    let runs: Option<Vec<Run>> = operands.iter().map(|&v| state.along(v, dim)).collect();
                    let equal = runs?.iter().map(|run| run.equal).min().unwrap_or(1);
                    Some(Run::equals(equal))
                })
            }
            _ => Some(self.unknown(result)),
        }
    }

    /// Whether an operation reads the same from the same place.
    fn reads_alike(&self, op: OpId) -> bool {
        self.module.ops[op].opcode == Opcode::Load && !self.module.is_volatile(op)
    }
}
