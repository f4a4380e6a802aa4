//! Kernels in plain form: one block, no calls, no value that may be anything (C9); products that tensor cores lack (Q20).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use warploom_ir::diag::{Code, Diagnostic, Diagnostics};
use warploom_ir::{Attr, Block, BlockId, FloatKind, Module, OpId, Opcode, Type, ValueId, flow, walk};

use crate::normalize::calls::recursive;
use crate::normalize::each::each;
use crate::normalize::mapped;
use crate::place::refuse;
use crate::walk::preorder;

/// Operations that inlining may add in all; a ladder of calls can otherwise grow without bound.
const INLINE_LIMIT: usize = 100_000;

/// The module with the function `entry` in plain form: branches between blocks are nested regions, called functions
/// stand where they are called, poison is zero.
///
/// # Errors
/// Control flow without structure, and every call that cannot be inlined (C9), in the order of the text.
pub(crate) fn plain(module: &Module, entry: OpId) -> Result<Cow<'_, Module>, Diagnostics> {
    let rewritten =
        |&op: &OpId| matches!(module.ops[op].opcode, Opcode::Call | Opcode::Poison | Opcode::MapElementwise);
    if !flow::has_branches(module) && !preorder(module, entry).iter().any(rewritten) {
        return Ok(Cow::Borrowed(module));
    }
    let recursive = recursive(module, entry);
    if !recursive.is_empty() {
        return Err(recursive
            .into_iter()
            .map(|call| *refuse_call(module, call, "it is recursive"))
            .collect());
    }
    let mut module = module.clone();
    flow::structure(&mut module)?;
    let mut budget = INLINE_LIMIT;
    while inline_calls(&mut module, entry, &mut budget)? {}
    mapped::lower(&mut module, entry)?;
    settle_poison(&mut module, entry)?;
    Ok(Cow::Owned(module))
}

/// The module with `warploom.dot_fma` for each product of the function `entry` that no tensor core gives.
pub(crate) fn with_fma(module: Cow<'_, Module>, entry: OpId) -> Cow<'_, Module> {
    let product = |module: &Module, op: OpId| needs_fma(module, op).then_some(op);
    each(module, entry, product, |module, dot| {
        module.ops[dot].opcode = Opcode::DotFma;
        // All bits of the operands are multiplied, whatever tensor cores would drop.
        module.ops[dot].props.remove("inputPrecision");
    })
}

/// Whether a product is one of two matrices, which is what tensor cores give.
fn is_matrix(module: &Module, op: OpId) -> bool {
    module.ops[op].operands.first().is_none_or(|&a| module.ty(a).shape().len() == 2)
}

/// Whether a product asks for more than tensor cores give: f32 as it is, or f64, or several matrices at once
/// (Q20).
fn needs_fma(module: &Module, op: OpId) -> bool {
    let data = &module.ops[op];
    let elem = data.operands.first().map(|&a| module.ty(a).elem().clone());
    let precision = module.attr(op, "inputPrecision").and_then(Attr::as_str);
    data.opcode == Opcode::Dot
        && match elem {
            Some(Type::F32) => precision != Some("tf32") || !is_matrix(module, op),
            Some(Type::Float(FloatKind::F64)) => true,
            _ => !is_matrix(module, op),
        }
}

fn refuse_call(module: &Module, call: OpId, what: &str) -> Box<Diagnostic> {
    let refusal = refuse(module, call, Code::Op, format!("tt.call is not supported here: {what}"))
        .rule("C9")
        .note("supported", "calls of functions of this file that do not come back to themselves")
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
    let known = |mut value: ValueId| {
        while let Some(&next) = replaced.get(&value) {
            value = next;
        }
        value
    };
    for (_, op) in module.ops.iter_mut() {
        for operand in &mut op.operands {
            *operand = known(*operand);
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
    let Some(body) = module.entry(callee, 0) else {
        return Err(refuse_call(module, call, "the function has no body"));
    };
    let (ops, args) = (module.blocks[body].ops.clone(), module.blocks[body].args.clone());
    if args.len() != data.operands.len() {
        return Err(refuse_call(module, call, "it hands over another number of values"));
    }
    let size = walk::block_ops(module, body).count();
    *budget = budget.checked_sub(size).ok_or_else(|| refuse_call(module, call, "too much code"))?;

    let mut map: HashMap<ValueId, ValueId> = args.into_iter().zip(data.operands).collect();
    let place = module.blocks.push(Block::default());
    for op in ops {
        if module.ops[op].opcode == Opcode::Return {
            let returned = module.ops[op].operands.iter().map(|v| *map.get(v).unwrap_or(v));
            if returned.len() != data.results.len() {
                return Err(refuse_call(module, call, "it returns another number of values"));
            }
            replaced.extend(data.results.iter().copied().zip(returned));
            break;
        }
        module.clone_op(op, place, &mut map);
    }
    module.ops[call].block = None;
    Ok(std::mem::take(&mut module.blocks[place].ops))
}

/// Poison may be anything: it is zero.
fn settle_poison(module: &mut Module, entry: OpId) -> Result<(), Vec<Diagnostic>> {
    for op in preorder(module, entry) {
        if module.ops[op].opcode != Opcode::Poison {
            continue;
        }
        let Some(ty) = module.result(op).map(|v| module.ty(v).clone()) else { continue };
        if let Some(value) = zero(&ty) {
            module.ops[op].opcode = Opcode::Constant;
            module.ops[op].props.set("value", value);
        } else if matches!(ty.elem(), Type::Ptr { .. }) && !ty.is_desc() {
            null(module, op, &ty);
        } else {
            return Err(vec![
                refuse(module, op, Code::Type, format!("ub.poison of type {ty}"))
                    .rule("C9")
                    .note("supported", "numbers, pointers and tiles of them"),
            ]);
        }
    }
    Ok(())
}

/// The constant zero of a type of numbers.
pub(super) fn zero(ty: &Type) -> Option<Attr> {
    let one = match ty.elem() {
        _ if ty.is_desc() => return None,
        Type::Float(_) => Attr::Float { bits: 0, ty: ty.elem().clone() },
        &Type::I1 => Attr::Bool(false),
        Type::Int(..) | Type::Index => Attr::Int { value: 0, ty: ty.elem().clone() },
        _ => return None,
    };
    Some(match ty.is_tensor() {
        true => Attr::Splat { value: Box::new(one), ty: ty.clone() },
        false => one,
    })
}

/// Makes an operation a null pointer, or a tile of them.
fn null(module: &mut Module, op: OpId, ty: &Type) {
    let Some(block) = module.ops[op].block else { return };
    let loc = module.ops[op].loc;
    let bits = ty.with_elem(Type::I64);
    let address = module.create_op(Opcode::Constant, &[], std::slice::from_ref(&bits), loc);
    if let Some(value) = zero(&bits) {
        module.ops[address].props.set("value", value);
    }
    let at = module.blocks[block].ops.iter().position(|&o| o == op).unwrap_or(0);
    module.insert(block, at, address);
    module.ops[op].operands = module.ops[address].results.iter().copied().collect();
    module.ops[op].opcode = Opcode::IntToPtr;
}
