//! Products of one block that go on with each other, `dot(u, v, dot(x, y))`: they add up in tensor memory, and nothing is
//! read in between (C66).

use warploom_ir::walk::uses;
use warploom_ir::{Attr, Module, OpId, Opcode, ValueId};

use crate::transports::operands::{DotOperand, Slot};

/// The attribute of a product that goes on with another one.
pub(crate) const CHAINED: &str = "tensor.chained";

/// Says which products go on with another one of their block. What these read lies in slots that are theirs for the whole trip,
/// as the last one is issued together with those before it: lanes may store what another product reads in between, and meet.
pub(crate) fn mark(kernel: &mut Module, dots: &[OpId], operands: &[DotOperand]) {
    let lies = |kernel: &Module, dot: OpId, index: usize| {
        let own = operands.iter().find(|f| (f.dot, f.index) == (dot, index));
        own.is_some_and(|f| match f.slot {
            Some(Slot::Ring) => true,
            // Copied in front of the loop.
            Some(Slot::Blocking) => {
                let load = kernel.def_op(f.seen.base);
                load.is_some_and(|load| kernel.ops[load].block != kernel.ops[dot].block)
            }
            _ => f.is_settled(),
        })
    };
    for &dot in dots {
        kernel.ops[dot].attrs.remove(CHAINED);
        let all = |dot: OpId| lies(kernel, dot, 0) && lies(kernel, dot, 1);
        if could_go_on(kernel, dot).is_some_and(|other| all(other) && all(dot)) {
            kernel.ops[dot].attrs.set(CHAINED, Attr::Unit);
        }
    }
}

/// Takes a product for none that goes on with another one: a loop carries what they add up.
pub(crate) fn leave(kernel: &mut Module, dot: OpId) {
    kernel.ops[dot].attrs.remove(CHAINED);
}

/// The product that another one of its block goes on with.
pub(crate) fn before(kernel: &Module, dot: OpId) -> Option<OpId> {
    kernel.attr(dot, CHAINED).and_then(|_| could_go_on(kernel, dot))
}

/// The product whose result another one of its block could go on with, as nothing else reads that: of as many rows and
/// columns and the same elements, which the tensor core adds up in the order of issue.
fn could_go_on(kernel: &Module, dot: OpId) -> Option<OpId> {
    let data = &kernel.ops[dot];
    let made = maker(kernel, *data.operands.get(2)?)?;
    let other = &kernel.ops[made];
    let elem = |op: &[ValueId], at: usize| op.get(at).map(|&v| kernel.ty(v).elem().clone());
    let alike = (0..2).all(|at| elem(&data.operands, at) == elem(&other.operands, at));
    let both = data.opcode == Opcode::Dot && other.opcode == Opcode::Dot && data.block == other.block;
    (both && alike && reader(kernel, made) == Some(dot)).then_some(made)
}

/// The product that goes on with another one.
pub(crate) fn behind(kernel: &Module, dot: OpId) -> Option<OpId> {
    reader(kernel, dot).filter(|&next| before(kernel, next) == Some(dot))
}

/// The first and the last of the products that go on with each other, one alone being both.
pub(crate) fn ends(kernel: &Module, dot: OpId) -> [OpId; 2] {
    let first = std::iter::successors(Some(dot), |&op| before(kernel, op)).last();
    let last = std::iter::successors(Some(dot), |&op| behind(kernel, op)).last();
    [first.unwrap_or(dot), last.unwrap_or(dot)]
}

/// The product that makes a value, which waits hand on.
fn maker(kernel: &Module, mut value: ValueId) -> Option<OpId> {
    loop {
        let op = kernel.def_op(value)?;
        match kernel.ops[op].opcode {
            Opcode::MmaWait => {
                let at = kernel.ops[op].results.iter().position(|&v| v == value)?;
                value = *kernel.ops[op].operands.get(at)?;
            }
            Opcode::Dot => return Some(op),
            _ => return None,
        }
    }
}

/// The only reader of what a product makes, which waits hand on, where it is added to.
fn reader(kernel: &Module, dot: OpId) -> Option<OpId> {
    let (mut values, mut found) = (vec![kernel.result(dot)?], None);
    while let Some(value) = values.pop() {
        for (user, at) in uses(kernel, value) {
            match kernel.ops[user].opcode {
                Opcode::MmaWait => values.push(*kernel.ops[user].results.get(at)?),
                Opcode::Dot if at == 2 && found.is_none_or(|other| other == user) => found = Some(user),
                _ => return None,
            }
        }
    }
    found
}
