//! What authors say of a value: `tt.contiguity`, `tt.divisibility`, `tt.constancy`, a number for each dimension.

use super::run::{MOST, Run, Runs, power};
use crate::attr::Attr;
use crate::entity::OpId;
use crate::module::Module;

/// Makes known what is said at an operation of its results. `unit` is the distance of neighbouring pointers.
pub(super) fn apply(module: &Module, op: OpId, runs: &mut Runs, unit: u64) {
    let [contiguity, divisibility, constancy] =
        ["tt.contiguity", "tt.divisibility", "tt.constancy"].map(|name| module.attr(op, name));
    for (dim, run) in runs.iter_mut().enumerate() {
        let said = |attr: Option<&Attr>| attr.and_then(|attr| at(attr, dim)).map(power);
        let multiple = said(divisibility).unwrap_or(1);
        match said(contiguity) {
            Some(consecutive) if consecutive > run.consecutive => {
                let first = run.each(unit).max(multiple);
                *run = Run { consecutive, multiple: first, ..*run };
            }
            _ => run.multiple = run.multiple.max(multiple),
        }
        run.equal = run.equal.max(said(constancy).unwrap_or(1)).min(MOST);
    }
}

/// What a list says of a dimension.
fn at(attr: &Attr, dim: usize) -> Option<u64> {
    let number = match attr {
        Attr::Splat { value, .. } => value.as_i64(),
        Attr::Dense { values, .. } => values.get(dim)?.as_i64(),
        Attr::DenseArray { values, .. } => values.get(dim).copied(),
        other => other.as_i64(),
    };
    number.and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0)
}
