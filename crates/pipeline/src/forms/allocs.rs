//! The assigned form: one `warploom.alloc` per value at the head of the function.

use warploom_bufassign::{Assignment, Problem, Record, SmemKind, check};
use warploom_chips::Target;
use warploom_ir::diag::{Code, Diagnostic, Diagnostics};
use warploom_ir::{Attr, Module, OpId, Opcode};

use super::{TextForm, json, mark_form};
use crate::place::refuse;

/// A scheduled kernel with its assignment written on it; `filled` are the operations that fill a buffer, with the number
/// of the value that lies there.
pub(crate) fn assigned(
    scheduled: &Module,
    func: OpId,
    assignment: Option<&Assignment>,
    filled: &[(OpId, u64)],
    target: &Target,
) -> Module {
    let mut module = scheduled.clone();
    mark_form(&mut module, TextForm::Assigned, target);
    let (Some(body), Some(assignment)) = (module.entry(func, 0), assignment) else { return module };
    let loc = module.ops[func].loc;
    for (at, record) in assignment.records.iter().enumerate() {
        let alloc = module.create_op(Opcode::Alloc, &[], &[], loc);
        module.ops[alloc].props = json::to_attrs(serde_json::to_value(record).unwrap_or_default());
        module.insert(body, at, alloc);
    }
    for &(op, id) in filled {
        module.ops[op].attrs.set("warploom.value", Attr::i64(i64::try_from(id).unwrap_or(i64::MAX)));
    }
    module
}

/// The records that stand at the head of a function.
///
/// # Errors
/// Every record that cannot be read.
pub(crate) fn records(module: &Module, func: OpId) -> Result<Vec<Record>, Vec<Diagnostic>> {
    let (mut records, mut errors) = (Vec::new(), Vec::new());
    let ops = module.entry(func, 0).map(|body| module.blocks[body].ops.as_slice()).unwrap_or_default();
    for &op in ops.iter().filter(|&&op| module.ops[op].opcode == Opcode::Alloc) {
        let data = &module.ops[op];
        let fields = json::from_attrs(data.props.iter().chain(data.attrs.iter()));
        match serde_json::from_value::<Record>(fields) {
            Ok(record) => records.push(record),
            Err(error) => errors.push(
                refuse(module, op, Code::Verify, format!("this is no record of a value: {error}"))
                    .rule("B10"),
            ),
        }
    }
    if errors.is_empty() { Ok(records) } else { Err(errors) }
}

/// The assignment written on a kernel, checked against its problem. `base` is an assignment of the same problem; the
/// records take the place of its own, and its memory plan follows them.
///
/// # Errors
/// Every rule of the buffer assignment that the records break.
pub fn assignment_from(
    module: &Module,
    func: OpId,
    problem: &Problem,
    base: Assignment,
    records: Vec<Record>,
    target: &Target,
) -> Result<Assignment, Diagnostics> {
    let mut assignment = base;
    assignment.records = records;
    follow(&mut assignment, target);
    check::check(problem, &assignment).map_err(|violations| {
        let refusal = |v: &check::AssignViolation| {
            let at = alloc_of(module, func, v.values.first().copied()).unwrap_or(func);
            refuse(module, at, Code::Verify, format!("the assignment is broken: {v}")).rule(v.rule)
        };
        violations.iter().map(refusal).collect::<Vec<_>>()
    })?;
    Ok(assignment)
}

fn alloc_of(module: &Module, func: OpId, value: Option<u64>) -> Option<OpId> {
    let value = i64::try_from(value?).ok()?;
    let ops = &module.blocks[module.entry(func, 0)?].ops;
    ops.iter().copied().find(|&op| {
        module.ops[op].opcode == Opcode::Alloc
            && module.attr(op, "value").and_then(Attr::as_i64) == Some(value)
    })
}

/// Moves the memory map to where the records say that things lie.
fn follow(assignment: &mut Assignment, target: &Target) {
    let records = &assignment.records;
    for entry in &mut assignment.smem.map {
        let owner =
            entry.class.and_then(|class| records.iter().find(|r| r.parent == class && r.offset.is_some()));
        if let Some((offset, bytes)) = owner.and_then(|r| Some((r.offset?, r.bytes?))) {
            (entry.offset, entry.bytes) = (offset, bytes);
        }
        let barriers =
            entry.pipes.iter().flat_map(|&pipe| records.iter().filter(move |r| r.pipe == Some(pipe)));
        let first = barriers.flat_map(|r| [r.full, r.empty]).flatten().min();
        if let Some(first) = first.filter(|_| entry.class.is_none()) {
            entry.offset = first;
        }
    }
    assignment.smem.map.sort_by_key(|e| (e.offset, e.region, e.class));
    assignment.smem.used =
        assignment.smem.map.iter().map(|e| e.offset.saturating_add(e.bytes)).max().unwrap_or(0);
    let small = assignment.smem.used <= target.smem.per_cta_default;
    assignment.smem.kind = if small { SmemKind::Static } else { SmemKind::Dynamic };
    assignment.smem.optimal = assignment.smem.optimal && assignment.smem.used == assignment.smem.load_bound;
}
