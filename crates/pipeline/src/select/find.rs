//! Finding the kernel's function and its pipelined loop (C9).

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, Module, OpId, Opcode};

use crate::place::{refuse, remark};
use crate::walk::preorder;

/// The kernel: the only public `tt.func`, or the one of this name.
///
/// # Errors
/// No such function, or several without a name given.
pub fn entry_function(module: &Module, name: Option<&str>) -> Result<OpId, Vec<Diagnostic>> {
    let public: Vec<OpId> = module.functions().filter(|&f| is_public(module, f)).collect();
    if let Some(name) = name {
        let found = public.iter().copied().find(|&f| module.symbol_name(f) == Some(name));
        return found.ok_or_else(|| {
            let error = Diagnostic::error(Code::Verify, format!("there is no public function @{name}"));
            vec![error.note("found", names(module, &public))]
        });
    }
    match public.as_slice() {
        [one] => Ok(*one),
        [] => Err(vec![
            Diagnostic::error(Code::Verify, "the file holds no kernel").note("needs", "one public tt.func"),
        ]),
        _ => Err(vec![
            Diagnostic::error(Code::Verify, format!("the file holds {} kernels", public.len()))
                .note("found", names(module, &public))
                .note("instead", "name the one to compile"),
        ]),
    }
}

fn is_public(module: &Module, func: OpId) -> bool {
    module.attr(func, "sym_visibility").and_then(Attr::as_str) != Some("private")
}

fn names(module: &Module, funcs: &[OpId]) -> String {
    let names = funcs.iter().filter_map(|&f| module.symbol_name(f));
    names.map(|n| format!("@{n}")).collect::<Vec<_>>().join(", ")
}

/// The innermost `scf.for` that holds a tile load. Others around or beside it are refused.
pub(super) fn pipelined_loop(module: &Module, func: OpId, errors: &mut Vec<Diagnostic>) -> Option<OpId> {
    let mut loops: Vec<OpId> = Vec::new();
    let mut plain: Option<OpId> = None;
    for op in preorder(module, func) {
        let opcode = module.ops[op].opcode;
        if opcode == Opcode::For {
            plain = plain.or(Some(op));
        }
        let tile = module.ops[op].results.iter().any(|&v| module.ty(v).is_tensor());
        if !(matches!(opcode, Opcode::DescriptorLoad | Opcode::Load) && tile) {
            continue;
        }
        loops.extend(innermost_for(module, op).filter(|scf_for| !loops.contains(scf_for)));
    }
    match loops.as_slice() {
        [] => {
            let (at, text) = match plain {
                Some(scf_for) => (scf_for, "nothing to pipeline: no scf.for loads a tile"),
                None => (func, "nothing to pipeline: the kernel has no scf.for"),
            };
            errors.push(
                refuse(module, at, Code::Loop, text).rule("C9").note(
                    "supported",
                    "one scf.for whose body loads tiles by descriptor and multiplies them",
                ),
            );
            None
        }
        [one] => {
            check_place(module, *one, func, errors);
            Some(*one)
        }
        several => {
            for &extra in several.iter().skip(1) {
                errors.push(
                    refuse(module, extra, Code::Loop, "a second loop with tile loads is not supported yet")
                        .rule("C9")
                        .note("supported", "one pipelined loop per kernel"),
                );
            }
            None
        }
    }
}

fn innermost_for(module: &Module, op: OpId) -> Option<OpId> {
    let mut at = module.parent(op)?;
    loop {
        match module.ops[at].opcode {
            Opcode::For => return Some(at),
            Opcode::Func => return None,
            _ => at = module.parent(at)?,
        }
    }
}

/// The pipelined loop must stand directly in the function.
fn check_place(module: &Module, scf_for: OpId, func: OpId, errors: &mut Vec<Diagnostic>) {
    let mut at = scf_for;
    while let Some(parent) = module.parent(at) {
        if parent == func {
            return;
        }
        if module.ops[parent].opcode == Opcode::For {
            errors.push(
                refuse(module, parent, Code::Loop, "a loop around the pipelined loop is not supported yet")
                    .rule("C9")
                    .note("supported", "the pipelined scf.for directly in the function")
                    .note("instead", "one output tile per program, as in gemm_bf16"),
            );
        }
        at = parent;
    }
}

/// `tt.num_stages`, and a remark for each attribute of the loop that means nothing here (C6).
pub(super) fn loop_attributes(module: &Module, scf_for: OpId) -> (Option<u64>, Vec<Diagnostic>) {
    let stages = module.attr(scf_for, "tt.num_stages").and_then(Attr::as_i64);
    let stages = stages.and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0);
    let mut remarks = Vec::new();
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
    (stages, remarks)
}
