//! Tensor memory that is too small for what a kernel keeps there at once (T14, C92).

use warploom_bufassign::{AssignError, Assignment};
use warploom_ir::Module;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_target::Target;

use crate::place::refuse;
use crate::problem::sum_value;
use crate::select::Selection;

/// Refuses an assignment that allocates more columns than a CTA may have.
///
/// # Errors
/// [`Code::Capacity`].
pub(crate) fn check(
    module: &Module,
    selection: &Selection,
    assignment: &Assignment,
    target: &Target,
) -> Result<(), Box<Diagnostic>> {
    let most = most(target);
    match assignment.tmem.as_ref().map(|plan| plan.allocated).filter(|&columns| columns > most) {
        Some(columns) => Err(too_many(module, selection, columns, most)),
        None => Ok(()),
    }
}

/// The refusal of an assignment that failed for want of columns; none where it failed for something else.
pub(crate) fn refusal(
    module: &Module,
    selection: &Selection,
    error: &AssignError,
    target: &Target,
) -> Option<Box<Diagnostic>> {
    let tensor = error.value.as_ref().is_some_and(|v| v.id >= sum_value(selection, 0));
    tensor.then(|| too_many(module, selection, error.need.unwrap_or(0), error.limit.unwrap_or(most(target))))
}

fn most(target: &Target) -> u64 {
    target.tmem.as_ref().map_or(0, |tmem| u64::from(tmem.columns))
}

fn too_many(module: &Module, selection: &Selection, need: u64, most: u64) -> Box<Diagnostic> {
    let at = selection.dots.first().map_or(selection.func, |d| d.op);
    let sums = selection.sums.iter().enumerate().filter(|(i, s)| s.home == *i).map(|(_, s)| s.columns);
    let factors = selection.factors.iter().enumerate().filter(|(i, f)| f.home == *i).map(|(_, f)| f.columns);
    let list = |columns: Vec<u64>| columns.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let mut owners = format!("products and accumulators of {} columns a slot", list(sums.collect()));
    let factors: Vec<u64> = factors.collect();
    if !factors.is_empty() {
        owners.push_str(&format!(", factors of {}", list(factors)));
    }
    let refusal = refuse(module, at, Code::Capacity, format!("tensor memory {need} columns of {most}"));
    Box::new(
        refusal.rule("C92").note("", owners).note("instead", "blocks of half the columns, or fewer rows"),
    )
}
