//! Vectors of positions that branches choose, computed anew from the numbers that they depend on.
//!
//! A persistent kernel computes the rows of its tile in the trips that begin one, and keeps them in the others:
//!
//! ```text
//! rows = if begins { range + splat(start) } else { rows }
//! ```
//!
//! A vector that a branch gives or a loop carries lies with some lanes; one that is computed from numbers lies wherever it
//! is wanted, with those that copy and those that compare. So branches give `start`, and loops carry `start` beside the
//! number of the choice (C8, G10).

use std::collections::HashMap;

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, Type, ValueDef, ValueId};

use crate::emit::{Emit, clone};
use crate::nest::is_inside;
use crate::walk::preorder;

/// Operations that a vector may be computed by.
const OPERATIONS: usize = 24;

/// Rewrites such vectors of a function; says whether there were any.
pub(crate) fn by_numbers(module: &mut Module, func: OpId) -> bool {
    let mut changed = false;
    let all = |module: &Module, opcode| {
        let mut ops = preorder(module, func);
        ops.retain(|&op| module.ops[op].opcode == opcode);
        ops
    };
    for op in all(module, Opcode::If).into_iter().rev() {
        for at in 0..module.ops[op].results.len() {
            changed |= given(module, op, at).is_some();
        }
    }
    for op in all(module, Opcode::For) {
        for at in 0..module.ops[op].results.len() {
            changed |= carried(module, op, at).is_some();
        }
    }
    changed
}

/// How a vector is computed: operations, those that others read first; and the numbers that it depends on, of those that
/// are not seen outside.
struct Formula {
    ops: Vec<OpId>,
    numbers: Vec<ValueId>,
    value: ValueId,
}

impl Formula {
    /// The formula of a vector for users outside an operation.
    fn of(module: &Module, value: ValueId, outside: OpId) -> Option<Formula> {
        let mut formula = Formula { ops: Vec::new(), numbers: Vec::new(), value };
        formula.visit(module, value, outside)?;
        Some(formula)
    }

    fn visit(&mut self, module: &Module, value: ValueId, outside: OpId) -> Option<()> {
        let inside = is_made_inside(module, value, outside);
        let number = !module.ty(value).is_tensor();
        if number || !inside {
            if number && inside && !self.numbers.contains(&value) {
                matches!(module.ty(value), Type::Int(..) | Type::Index).then_some(())?;
                self.numbers.push(value);
            }
            return Some(());
        }
        let op = module.def_op(value)?;
        if self.ops.contains(&op) {
            return Some(());
        }
        (is_computed(module, op) && self.ops.len() < OPERATIONS).then_some(())?;
        for &operand in &module.ops[op].operands {
            self.visit(module, operand, outside)?;
        }
        self.ops.push(op);
        Some(())
    }

    /// Computes the vector at the end of a block, from other numbers.
    fn compute(&self, module: &mut Module, block: BlockId, numbers: &[ValueId]) -> ValueId {
        let mut map: HashMap<ValueId, ValueId> =
            self.numbers.iter().copied().zip(numbers.iter().copied()).collect();
        for &op in &self.ops {
            clone(module, op, block, &mut map);
        }
        *map.get(&self.value).unwrap_or(&self.value)
    }
}

/// Whether a value is a result of an operation inside another one, or an argument of its blocks.
fn is_made_inside(module: &Module, value: ValueId, outside: OpId) -> bool {
    match module.values[value].def {
        ValueDef::Result { op, .. } => op == outside || is_inside(module, op, outside),
        ValueDef::Argument { block, .. } => {
            let around = module.blocks[block].region.and_then(|region| module.regions[region].parent);
            around.is_some_and(|op| op == outside || is_inside(module, op, outside))
        }
    }
}

/// Whether an operation gives a vector of numbers at every place alike.
fn is_computed(module: &Module, op: OpId) -> bool {
    match module.ops[op].opcode {
        Opcode::Constant | Opcode::Splat | Opcode::MakeRange => true,
        Opcode::ElementwiseInlineAsm | Opcode::ExternElementwise => false,
        opcode => opcode.is_elementwise() && module.ops[op].results.len() == 1,
    }
}

/// Whether a value, and what it is made of, is computed from numbers alone, wherever those are.
fn is_formula(module: &Module, value: ValueId, left: &mut usize) -> bool {
    if !module.ty(value).is_tensor() {
        return true;
    }
    *left = left.saturating_sub(1);
    let Some(op) = module.def_op(value).filter(|&op| *left > 0 && is_computed(module, op)) else {
        return false;
    };
    module.ops[op].operands.iter().all(|&operand| is_formula(module, operand, left))
}

fn is_positions(module: &Module, value: ValueId) -> bool {
    let ty = module.ty(value);
    ty.shape().len() == 1 && matches!(ty.elem(), Type::Int(8.., _))
}

/// Has a branch give the numbers of result number `at`.
fn given(module: &mut Module, scf_if: OpId, at: usize) -> Option<()> {
    let result = *module.ops[scf_if].results.get(at)?;
    if !is_positions(module, result) {
        return None;
    }
    let condition = *module.ops[scf_if].operands.first()?;
    let ends = [0, 1].map(|region| module.terminator(module.entry(scf_if, region)?));
    let ends = [ends[0]?, ends[1]?];
    let mut formulas = Vec::new();
    for end in ends {
        let value = *module.ops[end].operands.get(at)?;
        formulas.push(Formula::of(module, value, scf_if)?);
    }
    if formulas.iter().all(|formula| formula.ops.is_empty()) {
        return None;
    }
    let loc = module.ops[scf_if].loc;
    let mut places = Some(at);
    let mut given = Vec::new();
    for (side, formula) in formulas.iter().enumerate() {
        let mut numbers = Vec::new();
        for &number in &formula.numbers {
            let ty = module.ty(number).clone();
            let none = constant_before(module, ends[1 - side], &ty)?;
            // The first number takes the place of the vector.
            let slot = places.take();
            let new = match slot {
                Some(_) => result,
                None => module.add_result(scf_if, ty),
            };
            for (end, value) in [(ends[side], number), (ends[1 - side], none)] {
                hand_over(module, end, slot, value);
            }
            numbers.push(new);
        }
        given.push(numbers);
    }
    let tile = module.ty(result).clone();
    let first = given.iter().flatten().next().copied();
    let ty = formulas.iter().flat_map(|f| &f.numbers).next().map(|&v| module.ty(v).clone());
    if first.is_none() {
        for end in ends {
            let none = constant_before(module, end, &Type::I32)?;
            hand_over(module, end, Some(at), none);
        }
    }
    let block = module.ops[scf_if].block?;
    let place = module.blocks[block].ops.iter().position(|&op| op == scf_if)? + 1;
    let behind = module.blocks[block].ops.split_off(place);
    let [one, other] = [0, 1].map(|side| formulas[side].compute(module, block, &given[side]));
    let whole = Emit { out: module, block, loc }.value(Opcode::Select, &[condition, one, other], &tile);
    let made = module.blocks[block].ops.split_off(place);
    module.blocks[block].ops.extend(behind);
    module.replace_all_uses(result, whole);
    module.values[result].ty = ty.unwrap_or(Type::I32);
    // The formulas themselves read the number that took the place of the vector.
    let list = &mut module.blocks[block].ops;
    list.splice(place..place, made);
    Some(())
}

/// A constant zero in front of the end of a block.
fn constant_before(module: &mut Module, end: OpId, ty: &Type) -> Option<ValueId> {
    let block = module.ops[end].block?;
    let place = module.blocks[block].ops.iter().position(|&op| op == end)?;
    let behind = module.blocks[block].ops.split_off(place);
    let loc = module.ops[end].loc;
    let zero = Emit { out: module, block, loc }.scalar(0, ty);
    module.blocks[block].ops.extend(behind);
    Some(zero)
}

/// Hands over a value in place of another one, or behind the last.
fn hand_over(module: &mut Module, end: OpId, slot: Option<usize>, value: ValueId) {
    let operands = &mut module.ops[end].operands;
    match slot.and_then(|at| operands.get_mut(at)) {
        Some(operand) => *operand = value,
        None => operands.push(value),
    }
}

/// What a loop carries next.
enum Next {
    /// What it carried.
    Kept,
    /// A vector that is computed, by its number.
    Made(usize),
    /// One of two.
    Either(ValueId, Box<[Next; 2]>),
}

fn next_of(
    module: &Module,
    scf_for: OpId,
    arg: ValueId,
    value: ValueId,
    made: &mut Vec<Formula>,
) -> Option<Next> {
    if value == arg {
        return Some(Next::Kept);
    }
    if let Some(op) = module.def_op(value).filter(|&op| module.ops[op].opcode == Opcode::Select) {
        let &[condition, one, other] = module.ops[op].operands.as_slice() else { return None };
        if !module.ty(condition).is_tensor() && is_made_inside(module, value, scf_for) {
            let one = next_of(module, scf_for, arg, one, made)?;
            let other = next_of(module, scf_for, arg, other, made)?;
            return Some(Next::Either(condition, Box::new([one, other])));
        }
    }
    if !is_formula(module, value, &mut OPERATIONS.clone()) {
        return None;
    }
    made.push(Formula::of(module, value, scf_for)?);
    Some(Next::Made(made.len() - 1))
}

/// Has a loop carry which choice number `at` is, and the numbers of each.
fn carried(module: &mut Module, scf_for: OpId, at: usize) -> Option<()> {
    let body = module.entry(scf_for, 0)?;
    let arg = *module.blocks[body].args.get(at + 1)?;
    let first = *module.ops[scf_for].operands.get(at + 3)?;
    if !is_positions(module, arg) || !is_formula(module, first, &mut OPERATIONS.clone()) {
        return None;
    }
    let end = module.terminator(body)?;
    let mut made = Vec::new();
    let next = next_of(module, scf_for, arg, *module.ops[end].operands.get(at)?, &mut made)?;
    if made.is_empty() {
        return None;
    }
    let (loc, result) = (module.ops[scf_for].loc, *module.ops[scf_for].results.get(at)?);
    let tile = module.ty(arg).clone();
    let around = module.ops[scf_for].block?;
    let types: Vec<Type> = made.iter().flat_map(|f| &f.numbers).map(|&v| module.ty(v).clone()).collect();
    let zero = constant_before(module, scf_for, &Type::I32)?;
    *module.ops[scf_for].operands.get_mut(at + 3)? = zero;
    let (mut args, mut results) = (vec![arg], vec![result]);
    for ty in types {
        let none = constant_before(module, scf_for, &ty)?;
        module.ops[scf_for].operands.push(none);
        args.push(module.add_arg(body, ty.clone(), loc));
        results.push(module.add_result(scf_for, ty));
    }
    // What the next trip finds, in front of the end of this one.
    let place = module.blocks[body].ops.iter().position(|&op| op == end)?;
    let tail = module.blocks[body].ops.split_off(place);
    let state = next.state(&mut Emit { out: module, block: body, loc }, &made, &args);
    // It reads the number of the choice, not the vector whose place that takes.
    let becomes = module.blocks[body].ops.split_off(place);
    module.blocks[body].ops.extend(tail);
    // The vector at the head of the body and behind the loop.
    let place = module.blocks[around].ops.iter().position(|&op| op == scf_for)? + 1;
    for (block, place, from) in [(body, 0, &args), (around, place, &results)] {
        let tail = module.blocks[block].ops.split_off(place);
        let whole = vector(module, (block, loc), first, &made, (from, &tile));
        let head = module.blocks[block].ops.split_off(place);
        module.blocks[block].ops.extend(tail);
        module.replace_all_uses(from[0], whole);
        module.blocks[block].ops.splice(place..place, head);
        module.values[from[0]].ty = Type::I32;
    }
    let place = module.blocks[body].ops.iter().position(|&op| op == end)?;
    module.blocks[body].ops.splice(place..place, becomes);
    let operands = &mut module.ops[end].operands;
    *operands.get_mut(at)? = *state.first()?;
    operands.extend(state.into_iter().skip(1));
    Some(())
}

/// The vector that the number of a choice, and the numbers of each, stand for.
fn vector(
    module: &mut Module,
    (block, loc): (BlockId, warploom_ir::LocId),
    first: ValueId,
    made: &[Formula],
    (from, tile): (&[ValueId], &Type),
) -> ValueId {
    let (mut whole, mut at) = (first, 1);
    for (number, formula) in made.iter().enumerate() {
        let numbers = from.get(at..at + formula.numbers.len()).unwrap_or_default();
        at += formula.numbers.len();
        let this = formula.compute(module, block, numbers);
        let mut emit = Emit { out: module, block, loc };
        let choice = emit.scalar(number as i64 + 1, &Type::I32);
        let attr = [("predicate", Attr::Opaque("eq".to_owned()))];
        let chosen = emit.op(Opcode::CmpI, &[from[0], choice], &[Type::I1], &attr);
        let chosen = emit.out.ops[chosen].results[0];
        whole = emit.value(Opcode::Select, &[chosen, this, whole], tile);
    }
    whole
}

impl Next {
    /// The number of the choice and the numbers of each, as the next trip finds them.
    fn state(&self, emit: &mut Emit<'_>, made: &[Formula], args: &[ValueId]) -> Vec<ValueId> {
        match self {
            Next::Kept => args.to_vec(),
            Next::Made(number) => {
                let mut state = args.to_vec();
                state[0] = emit.scalar(*number as i64 + 1, &Type::I32);
                let before: usize = made.iter().take(*number).map(|f| f.numbers.len()).sum();
                for (slot, &value) in state.iter_mut().skip(1 + before).zip(&made[*number].numbers) {
                    *slot = value;
                }
                state
            }
            Next::Either(condition, sides) => {
                let [one, other] = [0, 1].map(|side: usize| sides[side].state(emit, made, args));
                let both = one.into_iter().zip(other).enumerate();
                both.map(|(slot, (a, b))| match a == b {
                    true => a,
                    false => {
                        let ty = if slot == 0 { Type::I32 } else { emit.out.ty(args[slot]).clone() };
                        emit.value(Opcode::Select, &[*condition, a, b], &ty)
                    }
                })
                .collect()
            }
        }
    }
}
