//! The scheduled and the assigned form of a kernel that one partition runs.

use warploom_chips::Target;
use warploom_ir::{Attr, Module, OpId, Opcode};

use crate::buffers::planned::Planned;
use crate::engines::{PartitionShape, asynchronous};
use crate::forms::{self as all_forms, TextForm, mark_form, to_attrs};
use crate::transports::PipelinedLoads;

/// The kernel with its schedules written on it.
pub(super) fn scheduled(
    kernel: &Module,
    func: OpId,
    shape: &PartitionShape,
    loops: &[PipelinedLoads],
    target: &Target,
) -> Module {
    let mut module = all_forms::scheduled(kernel, loops.iter().map(|l| (&l.pipelined, &l.answer)), target);
    if shape.asynchronous() {
        let mark = asynchronous::mark(shape.instruction());
        module.ops[func].attrs.set(asynchronous::MARK, Attr::string(mark));
    }
    module
}

/// The same with one `warploom.alloc` for every ring.
pub(super) fn assigned(scheduled: &Module, func: OpId, planned: &Planned, target: &Target) -> Module {
    let mut module = scheduled.clone();
    mark_form(&mut module, TextForm::Assigned, target);
    let (Some(body), Some((_, assignment))) = (module.entry(func, 0), &planned.buffers) else {
        return module;
    };
    let loc = module.ops[func].loc;
    for (at, record) in assignment.records.iter().enumerate() {
        let alloc = module.create_op(Opcode::Alloc, &[], &[], loc);
        module.ops[alloc].props = to_attrs(serde_json::to_value(record).unwrap_or_default());
        module.insert(body, at, alloc);
    }
    let written = planned.loops.iter().flat_map(|l| &l.tiles).map(|t| t.op);
    for (id, op) in (0i64..).zip(written) {
        module.ops[op].attrs.set("warploom.value", Attr::i64(id));
    }
    module
}
