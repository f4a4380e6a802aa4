//! The scheduled and the assigned form of a kernel that one agent runs.

use warploom_ir::{Attr, Module, OpId, Opcode};
use warploom_target::Target;

use super::Ahead;
use super::plan::Planned;
use crate::forms::{Form, mark_form, to_attrs};
use crate::loops::Part;

/// The kernel with its schedules written on it.
pub(super) fn scheduled(kernel: &Module, loops: &[Ahead], target: &Target) -> Module {
    let mut module = kernel.clone();
    mark_form(&mut module, Form::Scheduled, target);
    let number = |value: i64| Attr::i32(i32::try_from(value).unwrap_or(i32::MAX));
    for ahead in loops {
        let attrs = &mut module.ops[ahead.scf_for].attrs;
        attrs.set("warploom.ii", number(ahead.answer.ii));
        attrs.set("warploom.stages", number(ahead.answer.stages));
        let places = ahead.pipelined.nodes.iter().zip(&ahead.answer.nodes);
        for (node, place) in places.filter(|(node, _)| node.part == Part::Whole) {
            let attrs = &mut module.ops[node.op].attrs;
            attrs.set("warploom.cycle", number(place.cycle));
            attrs.set("warploom.stage", number(place.stage));
            attrs.set("warploom.order", number(i64::try_from(place.order).unwrap_or(i64::MAX)));
            attrs.set("warploom.agent", Attr::string("main"));
        }
    }
    module
}

/// The same with one `warploom.alloc` for every ring.
pub(super) fn assigned(scheduled: &Module, func: OpId, planned: &Planned, target: &Target) -> Module {
    let mut module = scheduled.clone();
    mark_form(&mut module, Form::Assigned, target);
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
