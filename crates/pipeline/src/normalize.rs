//! The normal form of C8 and C9: scalar calls inlined, loop-invariant scalars outside the loop.
//!
//! Views, index functions and zero accumulators need no rewriting: later steps see through them. Every pass
//! rebuilds whole blocks, so that its time is linear in the size of the kernel.

use std::collections::BTreeMap;

use warploom_ir::diag::{Code, Diagnostic, Diagnostics};
use warploom_ir::{BlockId, Module, OpId, Opcode, ValueDef, ValueId};

use crate::calls::recursive;
use crate::classes::{is_scalar, is_scalar_type, is_speculatable};
use crate::place::refuse;
use crate::walk::preorder;

/// Operations that inlining may add in all; a ladder of calls can otherwise grow without bound.
const INLINE_LIMIT: usize = 100_000;

/// A copy of the module in normal form, for the function `entry`.
///
/// # Errors
/// Every call that cannot be inlined (C9), in the order of the text.
pub fn normalize(module: &Module, entry: OpId) -> Result<Module, Diagnostics> {
    let recursive = recursive(module, entry);
    if !recursive.is_empty() {
        return Err(recursive
            .into_iter()
            .map(|call| *refuse_call(module, call, "it is recursive"))
            .collect());
    }
    let mut module = module.clone();
    let mut budget = INLINE_LIMIT;
    while inline_calls(&mut module, entry, &mut budget)? {}
    hoist(&mut module, entry);
    Ok(module)
}

fn refuse_call(module: &Module, call: OpId, what: &str) -> Box<Diagnostic> {
    let refusal = refuse(module, call, Code::Op, format!("tt.call is not supported here: {what}"))
        .rule("C9")
        .note("supported", "calls with scalar operands and results to a function without control flow")
        .note("instead", "write the function's body where it is called");
    Box::new(refusal)
}

/// Inlines every call of the function once; says whether there was one.
fn inline_calls(module: &mut Module, entry: OpId, budget: &mut usize) -> Result<bool, Vec<Diagnostic>> {
    let blocks: Vec<BlockId> = preorder(module, entry)
        .into_iter()
        .flat_map(|op| module.ops[op].regions.clone())
        .flat_map(|region| module.regions[region].blocks.clone())
        .filter(|&block| module.blocks[block].ops.iter().any(|&op| module.ops[op].opcode == Opcode::Call))
        .collect();
    let mut errors = Vec::new();
    let mut replaced = BTreeMap::new();
    for &block in &blocks {
        let mut list = Vec::new();
        for op in module.blocks[block].ops.clone() {
            if module.ops[op].opcode != Opcode::Call {
                list.push(op);
                continue;
            }
            match inline(module, op, &mut replaced, budget) {
                Ok(copies) => list.extend(copies),
                Err(error) => errors.push(*error),
            }
        }
        for &op in &list {
            module.ops[op].block = Some(block);
        }
        module.blocks[block].ops = list;
    }
    for (_, op) in module.ops.iter_mut() {
        for operand in &mut op.operands {
            *operand = *replaced.get(operand).unwrap_or(operand);
        }
    }
    if errors.is_empty() { Ok(!blocks.is_empty()) } else { Err(errors) }
}

/// Copies of the operations of a called function; what its results become goes into `replaced`.
fn inline(
    module: &mut Module,
    call: OpId,
    replaced: &mut BTreeMap<ValueId, ValueId>,
    budget: &mut usize,
) -> Result<Vec<OpId>, Box<Diagnostic>> {
    let data = module.ops[call].clone();
    let name = module.attr(call, "callee").and_then(|a| a.as_symbol());
    let Some(callee) = name.and_then(|name| module.function(name)) else {
        return Err(refuse_call(module, call, "the function is not in this file"));
    };
    if !data.operands.iter().chain(&data.results).all(|&v| is_scalar_type(module.ty(v))) {
        return Err(refuse_call(module, call, "its operands or results are tiles"));
    }
    let Some(body) = module.entry(callee, 0) else {
        return Err(refuse_call(module, call, "the function has no body"));
    };
    let (ops, args) = (module.blocks[body].ops.clone(), module.blocks[body].args.clone());
    let one_block = module.ops[callee].regions.iter().all(|&r| module.regions[r].blocks.len() == 1);
    if !one_block || args.len() != data.operands.len() || ops.iter().any(|&op| has_regions(module, op)) {
        return Err(refuse_call(module, call, "the function has control flow"));
    }
    *budget = budget.checked_sub(ops.len()).ok_or_else(|| refuse_call(module, call, "too much code"))?;

    let actual = data.operands.iter().map(|v| *replaced.get(v).unwrap_or(v));
    let mut map: BTreeMap<ValueId, ValueId> = args.iter().copied().zip(actual).collect();
    let mut copies = Vec::new();
    for op in ops {
        let source = module.ops[op].clone();
        let operands: Vec<ValueId> = source.operands.iter().map(|v| *map.get(v).unwrap_or(v)).collect();
        if source.opcode == Opcode::Return {
            if operands.len() != data.results.len() {
                return Err(refuse_call(module, call, "it returns another number of values"));
            }
            replaced.extend(data.results.iter().copied().zip(operands));
            break;
        }
        let types: Vec<_> = source.results.iter().map(|&v| module.ty(v).clone()).collect();
        let copy = module.create_op(source.opcode, &operands, &types, source.loc);
        module.ops[copy].props = source.props;
        module.ops[copy].attrs = source.attrs;
        module.ops[copy].span = data.span;
        map.extend(source.results.iter().copied().zip(module.ops[copy].results.iter().copied()));
        copies.push(copy);
    }
    module.ops[call].block = None;
    Ok(copies)
}

fn has_regions(module: &Module, op: OpId) -> bool {
    !module.ops[op].regions.is_empty()
}

/// Moves scalar operations whose operands come from outside out of their loop, innermost loops first.
fn hoist(module: &mut Module, entry: OpId) {
    let loops: Vec<OpId> =
        preorder(module, entry).into_iter().filter(|&op| module.ops[op].opcode == Opcode::For).collect();
    for &scf_for in loops.iter().rev() {
        let (Some(body), Some(home)) = (module.entry(scf_for, 0), module.ops[scf_for].block) else {
            continue;
        };
        let (mut moved, mut kept) = (Vec::new(), Vec::new());
        for op in module.blocks[body].ops.clone() {
            let movable = is_scalar(module, op) && is_speculatable(module, op);
            if movable && module.ops[op].operands.iter().all(|&v| !belongs_to(module, v, body)) {
                module.ops[op].block = Some(home);
                moved.push(op);
            } else {
                kept.push(op);
            }
        }
        module.blocks[body].ops = kept;
        let list = &mut module.blocks[home].ops;
        let at = list.iter().position(|&op| op == scf_for).unwrap_or(list.len());
        list.splice(at..at, moved);
    }
}

/// Whether a value is an argument of a block or made by an operation directly in it.
fn belongs_to(module: &Module, value: ValueId, body: BlockId) -> bool {
    match module.values[value].def {
        ValueDef::Argument { block, .. } => block == body,
        ValueDef::Result { op, .. } => module.ops[op].block == Some(body),
    }
}
