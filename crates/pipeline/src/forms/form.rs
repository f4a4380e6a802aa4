//! Which form a module is in, and what earlier stages wrote into it.

use warploom_chips::Target;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, Module, OpId, Opcode};

use crate::walk::preorder;

/// What a module holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TextForm {
    /// A kernel as its author wrote it.
    Kernel,
    /// A kernel with a schedule.
    Scheduled,
    /// A kernel with a schedule and an assignment.
    Assigned,
    /// A program.
    Program,
}

impl TextForm {
    /// The value of `warploom.form`; kernels have none.
    pub fn name(self) -> &'static str {
        match self {
            TextForm::Kernel => "kernel",
            TextForm::Scheduled => "scheduled",
            TextForm::Assigned => "assigned",
            TextForm::Program => "program",
        }
    }
}

/// The form of a module, by its attribute `warploom.form`.
///
/// # Errors
/// An unknown form, or one made for another chip than `target`.
pub fn form(module: &Module, target: &Target) -> Result<TextForm, Box<Diagnostic>> {
    let place = module.ops[module.root].span;
    let form = match module.attr(module.root, "warploom.form").map(Attr::as_str) {
        None => return Ok(TextForm::Kernel),
        Some(Some("scheduled")) => TextForm::Scheduled,
        Some(Some("assigned")) => TextForm::Assigned,
        Some(Some("program")) => TextForm::Program,
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

/// Says on the module which form it is.
pub(crate) fn mark_form(module: &mut Module, form: TextForm, target: &Target) {
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
