//! What partitions of their own would do out of the kernel's order, or twice (Q5).
//!
//! The loading and the issuing partition run ahead of the computing one, and make again what they need. So nothing that
//! they need may be written by the kernel, come from an operation that changes memory, or wait for one that others
//! answer.

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId, Opcode, ValueId};

use crate::classes::{Class, class};
use crate::nest::outermost_for;
use crate::place::refuse;
use crate::transports::made::may_meet;
use crate::transports::roots::Roots;
use crate::walk::{Users, preorder, slice};

/// Refuses what only one partition does in order.
pub(super) fn check(module: &Module, func: OpId, errors: &mut Vec<Diagnostic>) {
    let all = preorder(module, func);
    let class_of = |op: OpId| class(module.ops[op].opcode);
    let ahead = |op: &&OpId| matches!(class_of(**op), Class::TileLoad | Class::Dot);
    let mut roots: Vec<ValueId> = Vec::new();
    for &op in all.iter().filter(ahead) {
        if class_of(op) == Class::TileLoad {
            roots.extend(module.ops[op].operands.iter().copied());
        }
        let mut at = module.parent(op);
        while let Some(parent) = at.filter(|&parent| parent != func) {
            let bounds = if module.ops[parent].opcode == Opcode::For { 3 } else { 1 };
            roots.extend(module.ops[parent].operands.iter().copied().take(bounds));
            at = module.parent(parent);
        }
    }
    let needed = slice(module, &roots);
    let is_needed = |op: OpId| module.ops[op].results.iter().any(|v| needed.contains(v));
    let (users, mut places) = (Users::new(module), Roots::new(module));
    let mut root = |op: OpId| places.of(module.ops[op].operands.first().copied());
    // Where it stands, the loop around it, and what it is of.
    let mut placed = |(at, &op): (usize, &OpId)| (at, outermost_for(module, op), root(op));
    let each = || all.iter().enumerate();
    let writes: Vec<_> = each()
        .filter(|(_, op)| matches!(class_of(**op), Class::PointerStore | Class::TileStore))
        .map(&mut placed)
        .collect();
    let copies: Vec<_> =
        each().filter(|(_, op)| class_of(**op) == Class::TileLoad).map(&mut placed).collect();
    for (at, &op) in each() {
        let (_, around, from) = placed((at, &op));
        let again = |other: Option<OpId>| around.is_some() && around == other;
        let text = match class_of(op) {
            Class::TileLoad
                if from.is_some()
                    && writes.iter().any(|&(by, loops, to)| to == from && (by < at || again(loops))) =>
            {
                "tiles are copied from a tensor that the kernel writes before or in the same loop"
            }
            Class::PointerLoad if is_needed(op) && writes.iter().any(|&(.., to)| may_meet(from, to)) => {
                "copies depend on memory that the kernel may write"
            }
            Class::PointerStore if is_needed(op) => "copies depend on what an atomic operation found",
            Class::PointerStore
                if module.ops[op].results.iter().any(|&v| !users.of(v).is_empty())
                    && copies.iter().any(|&(copy, loops, _)| copy > at || again(loops)) =>
            {
                "tiles are copied behind an atomic operation that may wait for other CTAs"
            }
            _ => continue,
        };
        errors.push(refuse(module, op, Code::Op, text).rule("Q5").note("instead", "one partition"));
    }
}
