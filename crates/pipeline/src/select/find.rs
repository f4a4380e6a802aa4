//! Finding the kernel's function and its pipelined loop (C9).

use warploom_ir::diag::{Code, Diagnostic, Diagnostics};
use warploom_ir::{Attr, Module, OpId, Opcode, Type};

use crate::classes::constant;
use crate::place::{refuse, remark};
use crate::walk::preorder;

/// The kernel: the only public `tt.func`, or the one of this name.
///
/// # Errors
/// No such function, or several without a name given.
pub fn entry_function(module: &Module, name: Option<&str>) -> Result<OpId, Diagnostics> {
    let public: Vec<OpId> = module.functions().filter(|&f| is_public(module, f)).collect();
    if let Some(name) = name {
        let found = public.iter().copied().find(|&f| module.symbol_name(f) == Some(name));
        return found.ok_or_else(|| {
            let error = Diagnostic::error(Code::Verify, format!("there is no public function @{name}"));
            error.note("found", names(module, &public)).into()
        });
    }
    match public.as_slice() {
        [one] => Ok(*one),
        [] => {
            let error = Diagnostic::error(Code::Verify, "the file holds no kernel");
            Err(error.note("needs", "one public tt.func").into())
        }
        _ => {
            let error = Diagnostic::error(Code::Verify, format!("the file holds {} kernels", public.len()));
            Err(error.note("found", names(module, &public)).note("instead", "name the one to compile").into())
        }
    }
}

fn is_public(module: &Module, func: OpId) -> bool {
    module.attr(func, "sym_visibility").and_then(Attr::as_str) != Some("private")
}

fn names(module: &Module, funcs: &[OpId]) -> String {
    let names = funcs.iter().filter_map(|&f| module.symbol_name(f));
    names.map(|n| format!("@{n}")).collect::<Vec<_>>().join(", ")
}

/// Refuses a kernel without a pipelined loop, and control flow around one that has no code yet.
pub(super) fn check_loops(module: &Module, func: OpId, loops: &[OpId], errors: &mut Vec<Diagnostic>) {
    if loops.is_empty() {
        let plain = preorder(module, func).into_iter().find(|&op| module.ops[op].opcode == Opcode::For);
        let (at, text) = match plain {
            Some(scf_for) => (scf_for, "nothing to pipeline: no scf.for loads a tile"),
            None => (func, "nothing to pipeline: the kernel has no scf.for"),
        };
        errors.push(
            refuse(module, at, Code::Loop, text)
                .rule("C9")
                .note("supported", "an scf.for whose body loads tiles by descriptor and multiplies them"),
        );
    }
    for &scf_for in loops {
        let mut at = module.parent(scf_for);
        while let Some(parent) = at.filter(|&p| p != func) {
            if !matches!(module.ops[parent].opcode, Opcode::If | Opcode::For) {
                let text = format!("{} around the pipelined loop is not supported", module.op_name(parent));
                errors.push(
                    refuse(module, parent, Code::Loop, text)
                        .rule("C9")
                        .note("supported", "pipelined loops in the function, in scf.if and scf.for")
                        .note("instead", "a counted loop"),
                );
            }
            at = module.parent(parent);
        }
        let step = module.ops[scf_for].operands.get(2).and_then(|&v| constant(module, v));
        if let Some(step) = step.filter(|&s| s <= 0) {
            errors.push(
                refuse(module, scf_for, Code::Loop, format!("a loop with step {step}"))
                    .rule("C7")
                    .note("supported", "steps above 0"),
            );
        }
        if module.ops[scf_for].operands.first().is_some_and(|&bound| *module.ty(bound) != Type::I32) {
            errors.push(
                refuse(module, scf_for, Code::Type, "loop bounds that are not i32").note("supported", "i32"),
            );
        }
    }
}

/// The least `tt.num_stages`, and a remark for each attribute of a loop that means nothing here (C6).
pub(super) fn loop_attributes(module: &Module, loops: &[OpId]) -> (Option<u64>, Vec<Diagnostic>) {
    let stages = loops.iter().filter_map(|&l| module.attr(l, "tt.num_stages").and_then(Attr::as_i64));
    let stages = stages.filter_map(|n| u64::try_from(n).ok()).filter(|&n| n > 0).min();
    let mut remarks = Vec::new();
    for &scf_for in loops {
        for (name, _) in module.ops[scf_for].attrs.iter() {
            let known = matches!(
                name,
                "tt.num_stages" | "tt.warp_specialize" | "tt.flatten" | "tt.disallow_acc_multi_buffer"
            );
            if !known && !name.starts_with("warploom.") && name != "llvm.loop_annotation" {
                let text = format!("loop attribute `{name}` is kept and has no effect");
                remarks.push(remark(module, scf_for, Code::Loop, text).rule("C6"));
            }
        }
    }
    (stages, remarks)
}
