//! Tensor memory that is too small for what a kernel keeps there at once (T14, C92).

use warploom_bufassign::{AssignError, Assignment};
use warploom_chips::Target;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId};

use crate::buffers::problem::accumulator_value;
use crate::place::refuse;
use crate::select::{Accumulator, Dot, Selection, TmemOperand};

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
        Some(columns) => Err(too_many(module, place(selection), &Parts::of(selection), columns, most)),
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
    let tensor = error.value.as_ref().is_some_and(|v| v.id >= accumulator_value(selection, 0));
    tensor.then(|| {
        let (need, limit) = (error.need.unwrap_or(0), error.limit.unwrap_or(most(target)));
        too_many(module, place(selection), &Parts::of(selection), need, limit)
    })
}

/// Where a refusal points.
fn place(selection: &Selection) -> OpId {
    selection.dots.first().map_or(selection.func, |d| d.op)
}

fn most(target: &Target) -> u64 {
    target.tmem.as_ref().map_or(0, |tmem| u64::from(tmem.columns))
}

/// What lies in tensor memory.
pub(crate) struct Parts<'a> {
    pub dots: &'a [Dot],
    pub accumulators: &'a [Accumulator],
    pub operands: &'a [TmemOperand],
}

impl<'a> Parts<'a> {
    fn of(selection: &'a Selection) -> Parts<'a> {
        Parts { dots: &selection.dots, accumulators: &selection.accumulators, operands: &selection.operands }
    }
}

/// The refusal of C92: who has how much, and what would fit.
pub(crate) fn too_many(
    module: &Module,
    at: OpId,
    parts: &Parts<'_>,
    need: u64,
    most: u64,
) -> Box<Diagnostic> {
    let accumulators =
        parts.accumulators.iter().enumerate().filter(|(i, s)| s.home == *i).map(|(_, s)| s.columns);
    let operands = parts.operands.iter().enumerate().filter(|(i, f)| f.home == *i).map(|(_, f)| f.columns);
    let list = |columns: Vec<u64>| columns.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    // A column is a word in each of 128 lanes.
    let bytes = |columns: u64| columns.saturating_mul(512);
    let mut owners = format!(
        "partition @mma, {} B of {} B: products and accumulators of {} columns a slot",
        bytes(need),
        bytes(most),
        list(accumulators.collect())
    );
    let operands: Vec<u64> = operands.collect();
    if !operands.is_empty() {
        owners.push_str(&format!(", operands of {}", list(operands)));
    }
    let refusal = refuse(module, at, Code::Capacity, format!("tensor memory {need} columns of {most}"));
    let refusal = refusal.rule("C92").note("live", owners);
    Box::new(match smaller(parts.dots, need, most) {
        Some([m, n]) => refusal.note("fits", format!("a tile of {m}x{n}")),
        None => refusal.note("instead", "blocks of half the columns, or fewer rows"),
    })
}

/// A tile of the widest product with which everything would fit: fewer rows make all of it smaller, fewer columns only
/// the products that have as many.
fn smaller(dots: &[Dot], need: u64, most: u64) -> Option<[u64; 2]> {
    let [m, n, _] = dots.iter().map(|d| d.extents).max_by_key(|e| (e[1], e[0]))?;
    let alike = dots.iter().all(|d| d.extents[1] == n);
    let by = |&(rows, columns): &(u64, u64)| {
        let whole = m.is_multiple_of(128 * rows) && n.is_multiple_of(16 * columns);
        let legal = whole && (columns == 1 || alike);
        legal && need.div_ceil(rows * columns) <= most
    };
    let (rows, columns) =
        [(2, 1), (1, 2), (4, 1), (2, 2), (1, 4), (4, 2), (2, 4), (1, 8)].into_iter().find(by)?;
    Some([m / rows, n / columns])
}
