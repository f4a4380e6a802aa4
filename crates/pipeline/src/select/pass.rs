//! Takes a kernel apart, or says why it cannot be.

use warploom_chips::Target;
use warploom_chips::mma::MmaInstruction;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId, Opcode};

use crate::engines::scratch;
use crate::loops::pipelined_loops;
use crate::place::{file_order, refuse};
use crate::select::{Selection, accumulators, descriptors, dot, epilogue, find, ops, order, rings};
use crate::walk::{Users, preorder};

/// Takes a kernel in normal form apart.
///
/// # Errors
/// Every reason why it cannot be compiled for `target`, in file order (C90-C92).
pub fn select(module: &Module, func: OpId, target: &Target) -> Result<Selection, Vec<Diagnostic>> {
    let exact = preorder(module, func).into_iter().filter(|&op| module.ops[op].opcode == Opcode::DotFma);
    let exact: Vec<Diagnostic> = exact.map(|op| by_fma(module, op)).collect();
    if !exact.is_empty() {
        return Err(exact);
    }
    let users = Users::new(module);
    let mut errors = Vec::new();
    let descriptors = descriptors::plan(module, func, target, &mut errors);
    ops::check(module, func, target, &mut errors);
    let loops = pipelined_loops(module, func);
    find::check_loops(module, func, &loops, &mut errors);
    let selection = module.entry(func, 0).and_then(|body| {
        for &scf_for in &loops {
            ops::check_loop(module, scf_for, target, &mut errors);
        }
        let mut loads = descriptors::loads(module, func, &descriptors, &mut errors);
        let dots = dot::select(module, func, &loops, &mut loads, target, &mut errors);
        let known = dots.as_deref().unwrap_or_default();
        let stores = epilogue::select(module, func, &loops, known, &descriptors, &mut errors);
        let dots = dots?;
        let tensor = target.mma_instruction() == MmaInstruction::Tcgen05;
        order::check(module, func, &mut errors);
        rings::check(module, &loops, &loads, &mut errors);
        let rings = rings::group(module, &loops, &loads, &users);
        let (accumulators, operands) = match tensor {
            true => accumulators::select(module, &loops, &dots, &rings, target, &mut errors),
            false => Default::default(),
        };
        if !tensor {
            dot::check_registers(module, &dots, target, &mut errors);
        }
        let (num_stages, remarks) = find::loop_attributes(module, &loops);
        let mut selection = Selection {
            func,
            body,
            loops,
            loads,
            dots,
            stores,
            rings,
            accumulators,
            operands,
            arguments: descriptors.iter().filter(|(v, _)| module.def_op(*v).is_none()).count(),
            descriptors,
            num_stages,
            remarks,
            scratch: 0,
        };
        let warps = u64::from(selection.warpgroups()) * u64::from(target.threads.warps_per_group);
        selection.scratch = scratch::of_all(module, func, warps, selection.register_layout(), target);
        Some(selection)
    });
    if let Some(selection) = selection.filter(|_| errors.is_empty()) {
        return Ok(selection);
    }
    file_order(&mut errors);
    errors.dedup();
    Err(errors)
}

/// Products that lanes add up themselves have no partition of their own.
fn by_fma(module: &Module, op: OpId) -> Diagnostic {
    let text = "this tt.dot is exact to its type: lanes multiply and add, in one partition";
    refuse(module, op, Code::Op, text).rule("C7").note("instead", "inputPrecision = tf32")
}
