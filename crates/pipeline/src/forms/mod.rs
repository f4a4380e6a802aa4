//! The text forms between a kernel and its program: scheduled and assigned, written and read back.

mod allocs;
mod json;
mod marks;

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, Module, OpId, Opcode};
use warploom_target::Target;

pub(crate) use allocs::records;
pub use allocs::{assigned, assignment_from};
pub(crate) use json::to_attrs;
pub use marks::{schedule_from, scheduled};

use crate::walk::preorder;

/// What a module holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A kernel as its author wrote it.
    Kernel,
    /// A kernel with a schedule.
    Scheduled,
    /// A kernel with a schedule and an assignment.
    Assigned,
    /// A program.
    Program,
}

impl Form {
    /// The value of `warploom.form`; kernels have none.
    pub fn name(self) -> &'static str {
        match self {
            Form::Kernel => "kernel",
            Form::Scheduled => "scheduled",
            Form::Assigned => "assigned",
            Form::Program => "program",
        }
    }
}

/// The form of a module, by its attribute `warploom.form`.
///
/// # Errors
/// An unknown form, or one made for another chip than `target`.
pub fn form(module: &Module, target: &Target) -> Result<Form, Box<Diagnostic>> {
    let place = module.ops[module.root].span;
    let form = match module.attr(module.root, "warploom.form").map(Attr::as_str) {
        None => return Ok(Form::Kernel),
        Some(Some("scheduled")) => Form::Scheduled,
        Some(Some("assigned")) => Form::Assigned,
        Some(Some("program")) => Form::Program,
        Some(_) => {
            let error = Diagnostic::error(Code::Verify, "warploom.form names no form").at(place);
            let forms = "\"scheduled\", \"assigned\", \"program\", or none for a kernel";
            return Err(Box::new(error.note("supported", forms)));
        }
    };
    match module.attr(module.root, "warploom.target").and_then(Attr::as_str) {
        Some(made) if made != target.name() => {
            let text = format!("made for {made}, not for {}", target.name());
            let remedy = format!("compile it for {made}, or start from the kernel");
            Err(Box::new(Diagnostic::error(Code::Target, text).at(place).note("instead", remedy)))
        }
        _ => Ok(form),
    }
}

/// Whether a scheduled kernel is one that a single agent runs.
pub(crate) fn of_one_agent(module: &Module) -> bool {
    let agents = |op: OpId| module.attr(op, "warploom.agent").and_then(Attr::as_str);
    preorder(module, module.root).into_iter().filter_map(agents).all(|agent| agent == "main")
}

/// Says on the module which form it is.
pub(crate) fn mark_form(module: &mut Module, form: Form, target: &Target) {
    let root = module.root;
    module.ops[root].attrs.set("warploom.form", Attr::string(form.name()));
    module.ops[root].attrs.set("warploom.target", Attr::string(target.name()));
}

/// What the author of a kernel writes herself: bindings (A44) and the storage that they name.
const AUTHORS: [&str; 2] = [crate::storage::BUFFER, "warploom.storage"];

/// Takes everything that earlier stages wrote out of a kernel, but for the loop's wait.
pub(crate) fn strip(module: &mut Module, func: OpId) {
    for op in preorder(module, func).into_iter().chain([module.root]) {
        if module.ops[op].opcode == Opcode::Alloc {
            module.detach(op);
            continue;
        }
        if op == func || module.ops[op].attrs.iter().any(|(name, _)| name.starts_with("warploom.")) {
            let attrs = &module.ops[op].attrs;
            let made = |name: &str| name.starts_with("warploom.") && !AUTHORS.contains(&name);
            let kept = attrs.iter().filter(|(name, _)| !made(name));
            module.ops[op].attrs = kept.map(|(name, attr)| (name, attr.clone())).collect();
        }
    }
}
