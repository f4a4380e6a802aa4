//! Descriptor arguments and the tiles loaded through them.

use warploom_chips::{Feature, Target};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId, Opcode, ValueId};

use super::TileLoad;
use crate::nest::innermost_for;
use crate::place::refuse;
use crate::tma::TilePlan;
use crate::transports::made;
use crate::walk::preorder;

/// A plan for every descriptor, arguments first; a block that breaks a TMA rule is refused (C15), and so are those made in
/// the kernel that partitions cannot share (C16).
pub(super) fn plan(
    module: &Module,
    func: OpId,
    target: &Target,
    errors: &mut Vec<Diagnostic>,
) -> Vec<(ValueId, TilePlan)> {
    let Some(body) = module.entry(func, 0) else { return Vec::new() };
    let args = module.blocks[body].args.iter().enumerate();
    let mut plans = Vec::new();
    for (index, &arg) in args.filter(|&(_, &arg)| module.ty(arg).is_desc()) {
        let ty = module.ty(arg);
        if !target.has(Feature::TmaLoad) {
            errors.push(
                refuse(module, func, Code::Target, format!("argument {index}: {} has no TMA", target.name()))
                    .rule("C17")
                    .note("instead", "masked loads through pointers"),
            );
            continue;
        }
        match TilePlan::new(ty, target) {
            Ok(plan) => plans.push((arg, plan)),
            Err(error) => errors.push(
                refuse(module, func, Code::Desc, format!("argument {index}: {ty}: {}", error.message))
                    .rule(error.rule)
                    .note("needs", error.needs),
            ),
        }
    }
    let makes = made::made(module, func);
    if let Err(why) = made::possible(module, func, target) {
        errors.push(Diagnostic { code: Code::Op, ..*why });
    } else if let Err(why) = made::shared(module, func) {
        errors.extend(why);
    }
    let result = |op| module.result(op).and_then(|v| Some((v, TilePlan::new(module.ty(v), target).ok()?)));
    plans.extend(makes.into_iter().filter_map(result));
    plans
}

/// The descriptor loads of a function, in the order of the text.
pub(super) fn loads(
    module: &Module,
    func: OpId,
    plans: &[(ValueId, TilePlan)],
    errors: &mut Vec<Diagnostic>,
) -> Vec<TileLoad> {
    let mut loads: Vec<TileLoad> = Vec::new();
    for op in preorder(module, func) {
        if module.ops[op].opcode != Opcode::DescriptorLoad {
            continue;
        }
        let (Some(&descriptor), Some(value)) = (module.ops[op].operands.first(), module.result(op)) else {
            continue;
        };
        if let Some(plan) = of(module, op, descriptor, plans, errors) {
            let name = format!("tile {}", loads.len());
            loads.push(TileLoad { op, descriptor, value, name, plan, scf_for: innermost_for(module, op) });
        }
    }
    loads
}

/// The plan of the descriptor an operation uses; what is neither an argument nor made here is refused (C16).
pub(super) fn of(
    module: &Module,
    op: OpId,
    descriptor: ValueId,
    plans: &[(ValueId, TilePlan)],
    errors: &mut Vec<Diagnostic>,
) -> Option<TilePlan> {
    let plan = plans.iter().find(|(arg, _)| *arg == descriptor).map(|(_, plan)| plan.clone());
    // A descriptor made in the kernel is refused where it is made, an argument's box at the function.
    if plan.is_none() && !module.ty(descriptor).is_desc() {
        errors.push(
            refuse(module, op, Code::Desc, "the descriptor is not an argument of the kernel")
                .rule("C16")
                .note("instead", "pass a tensor descriptor as an argument of the kernel"),
        );
    }
    plan
}
