//! Operations that show the elements of a tile in another shape.

use super::run::{Run, Runs, unit};
use super::state::State;
use crate::attr::Attr;
use crate::entity::{OpId, ValueId};
use crate::opcode::Opcode;

impl State<'_> {
    /// The runs of what an operation shows of `x`; none where nothing is known of it yet.
    pub fn shown(&self, op: OpId, result: ValueId, x: ValueId) -> Option<Runs> {
        let module = self.module;
        let (from, to) = (module.ty(x).shape(), module.ty(result).shape());
        let all = Run::constant(self.each(x)?);
        let along = |dim: usize| self.along(x, dim);
        match module.ops[op].opcode {
            Opcode::Splat => Some(Runs::from_elem(all, to.len())),
            Opcode::ExpandDims => {
                let axis =
                    module.attr(op, "axis").and_then(Attr::as_i64).and_then(|a| usize::try_from(a).ok());
                let Some(axis) = axis else { return Some(self.unknown(result)) };
                let run = |dim: usize| match dim.cmp(&axis) {
                    std::cmp::Ordering::Less => along(dim),
                    std::cmp::Ordering::Equal => Some(all),
                    std::cmp::Ordering::Greater => along(dim - 1),
                };
                (0..to.len()).map(run).collect()
            }
            Opcode::Broadcast => {
                let run = |dim: usize| if from.get(dim) == Some(&1) { Some(all) } else { along(dim) };
                (0..to.len()).map(run).collect()
            }
            Opcode::Trans => match module.attr(op, "order") {
                Some(Attr::DenseArray { values, .. }) => {
                    let from = |&d: &i64| usize::try_from(d).map_or(Some(Run::UNKNOWN), along);
                    values.iter().map(from).collect()
                }
                _ => Some(self.unknown(result)),
            },
            // Every second element of pairs in the last dimension.
            Opcode::Split => (0..to.len()).map(|dim| Some(Run { prefix: 1, ..along(dim)? })).collect(),
            _ => self.reshaped(result, x, all),
        }
    }

    /// A reshape in the order of rows: dimensions of 1 come and go, and what is known along the innermost one holds in
    /// groups as long as the shorter of both.
    fn reshaped(&self, result: ValueId, x: ValueId, all: Run) -> Option<Runs> {
        let module = self.module;
        let (from, to) = (module.ty(x).shape(), module.ty(result).shape());
        let real = |shape: &[u64]| -> Vec<usize> { (0..shape.len()).filter(|&d| shape[d] != 1).collect() };
        let (mut olds, mut news) = (real(from), real(to));
        let mut runs: Runs = to.iter().map(|&n| if n == 1 { all } else { Run::UNKNOWN }).collect();
        // From the innermost dimension outwards, as long as extents agree.
        while let (Some(old), Some(new)) = (olds.pop(), news.pop()) {
            let run = self.along(x, old)?;
            if from[old] != to[new] {
                let group = from[old].min(to[new]);
                let group = if group.is_power_of_two() { group } else { 1 };
                let inner = run.within(group, unit(module.ty(x)));
                runs[new] = Run { equal: run.equal.min(group), prefix: 1, ..inner };
                break;
            }
            runs[new] = run;
        }
        if all.multiple > 1 {
            runs.iter_mut()
                .filter(|run| run.consecutive == 1)
                .for_each(|run| run.multiple = run.multiple.max(all.multiple));
        }
        Some(runs)
    }
}
