//! Comparisons that say the same of every element in every run (C9, G20): `i < 64` of a range up to 64, a remainder below
//! its divisor. What they masked is no longer masked, so copies and accesses are as wide as the tile allows. So are scans
//! along a dimension with one element, which give what they take.

use std::borrow::Cow;
use std::collections::HashMap;

use warploom_ir::axis::intervals::{Intervals, intervals};
use warploom_ir::{Attr, AttrDict, Module, OpId, Opcode, Type, ValueId};

use crate::walk::preorder;

/// The module with the comparisons of the function `entry` settled that intervals decide, and what follows from flags
/// that are the same everywhere.
pub(crate) fn settled(module: Cow<'_, Module>, entry: OpId) -> Cow<'_, Module> {
    let known = intervals(&module, entry);
    let order = preorder(&module, entry);
    let settles = |&op: &OpId| said(&module, &known, op).is_some() || scans_one(&module, op);
    if !order.iter().any(settles) {
        return module;
    }
    let mut module = module.into_owned();
    let mut other: HashMap<ValueId, ValueId> = HashMap::new();
    // Users stand behind what they use.
    for op in order {
        for operand in &mut module.ops[op].operands {
            *operand = *other.get(operand).unwrap_or(operand);
        }
        if let Some(flag) = said(&module, &known, op) {
            state(&mut module, op, flag);
        } else if let Some((from, to)) = passes_on(&module, op) {
            other.insert(from, to);
        } else if scans_one(&module, op) {
            let data = &module.ops[op];
            other.extend(data.results.iter().copied().zip(data.operands.iter().copied()));
        } else if let Some(mask) = needless(&module, op) {
            module.ops[op].operands.truncate(mask);
        }
    }
    Cow::Owned(module)
}

/// What every element of an operation's result is, where it is a flag that is the same everywhere.
fn said(module: &Module, known: &Intervals, op: OpId) -> Option<bool> {
    let data = &module.ops[op];
    let of = |index: usize| data.operands.get(index).and_then(|&v| flag(module, v));
    match data.opcode {
        Opcode::CmpI => known.decides(module, op),
        Opcode::Splat | Opcode::Broadcast | Opcode::ExpandDims | Opcode::Trans | Opcode::Reshape => of(0),
        Opcode::AndI if of(0) == Some(false) || of(1) == Some(false) => Some(false),
        Opcode::OrI if of(0) == Some(true) || of(1) == Some(true) => Some(true),
        _ => None,
    }
}

/// A flag that is the same in every element.
fn flag(module: &Module, value: ValueId) -> Option<bool> {
    let op = module.def_op(value).filter(|&op| module.ops[op].opcode == Opcode::Constant)?;
    if *module.ty(value).elem() != Type::I1 {
        return None;
    }
    let one = |attr: &Attr| match attr {
        Attr::Bool(flag) => Some(*flag),
        Attr::Int { value, .. } => Some(*value != 0),
        _ => None,
    };
    match module.attr(op, "value")? {
        Attr::Splat { value, .. } => one(value),
        attr => one(attr),
    }
}

/// Makes an operation the constant that it gives.
fn state(module: &mut Module, op: OpId, flag: bool) {
    let Some(ty) = module.result(op).map(|v| module.ty(v).clone()) else { return };
    let value = match ty.is_tensor() {
        true => Attr::Splat { value: Box::new(Attr::Bool(flag)), ty },
        false => Attr::Bool(flag),
    };
    let data = &mut module.ops[op];
    data.opcode = Opcode::Constant;
    data.operands.clear();
    data.props = std::iter::once(("value", value)).collect();
    data.attrs = AttrDict::new();
}

/// Whether an operation scans one element alone.
fn scans_one(module: &Module, op: OpId) -> bool {
    let axis = || usize::try_from(module.attr(op, "axis").and_then(Attr::as_i64)?).ok();
    let data = &module.ops[op];
    let extent = || Some(*module.ty(*data.operands.first()?).shape().get(axis()?)?);
    data.opcode == Opcode::Scan && extent() == Some(1) && data.results.len() == data.operands.len()
}

/// An operation that gives one of its operands: its result, and that operand.
fn passes_on(module: &Module, op: OpId) -> Option<(ValueId, ValueId)> {
    let data = &module.ops[op];
    let of = |index: usize| data.operands.get(index).and_then(|&v| flag(module, v));
    let kept = match data.opcode {
        Opcode::AndI | Opcode::OrI => {
            let neutral = Some(data.opcode == Opcode::AndI);
            [1, 0].into_iter().find(|&index| of(1 - index) == neutral)?
        }
        Opcode::Select => 2 - usize::from(of(0)?),
        _ => return None,
    };
    Some((module.result(op)?, *data.operands.get(kept)?))
}

/// Where the mask of an access stands, and what is read in its place, if it lets everything through.
fn needless(module: &Module, op: OpId) -> Option<usize> {
    let at = match module.ops[op].opcode {
        Opcode::Load => 1,
        Opcode::Store => 2,
        _ => return None,
    };
    let mask = *module.ops[op].operands.get(at)?;
    (flag(module, mask) == Some(true)).then_some(at)
}
