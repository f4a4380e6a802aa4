//! What happens to the products after the loops: element-wise operations, tiles and rows loaded, stores.

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{FloatKind, Module, OpId, Opcode, Type, ValueId};

use super::rings::in_any;
use super::{Dot, TileLoad, TileStore, descriptors};
use crate::classes::{Class, class, is_scalar};
use crate::place::refuse;
use crate::tma::TilePlan;
use crate::views::{look_through, non_unit, rows_of};
use crate::walk::{preorder, slice};

/// The stores by descriptor, with every reason against them and against what is stored.
pub(super) fn select(
    module: &Module,
    func: OpId,
    loops: &[OpId],
    dots: &[Dot],
    loads: &[TileLoad],
    plans: &[(ValueId, TilePlan)],
    errors: &mut Vec<Diagnostic>,
) -> Vec<TileStore> {
    let mut stores: Vec<TileStore> = Vec::new();
    let all = preorder(module, func);
    let outside = all.iter().copied().filter(|&op| !in_any(module, op, loops));
    for op in outside.clone() {
        let opcode = module.ops[op].opcode;
        let tile = module.ops[op].results.iter().any(|&v| module.ty(v).is_tensor());
        if opcode == Opcode::DescriptorStore {
            stores.extend(store(module, op, stores.len(), plans, errors));
        } else if !stores.is_empty() && tile && matches!(class(opcode), Class::TileLoad | Class::PointerLoad)
        {
            errors.push(
                refuse(
                    module,
                    op,
                    Code::Op,
                    format!("{} after a store is not supported", module.op_name(op)),
                )
                .note("instead", "load everything before the first store"),
            );
        }
    }
    let pointer_stores =
        all.iter().copied().filter(|&op| class(module.ops[op].opcode) == Class::PointerStore);
    let through_pointers = pointer_stores.flat_map(|op| module.ops[op].operands.iter().copied());
    let roots: Vec<ValueId> = stores.iter().map(|s| s.value).chain(through_pointers).collect();
    let needed = slice(module, &roots);
    // Other ways to store are refused where they stand.
    let elsewhere = all
        .iter()
        .any(|&op| matches!(module.ops[op].opcode, Opcode::DescriptorReduce | Opcode::DescriptorScatter));
    if let Some(&scf_for) = loops.last().filter(|_| !elsewhere && !dots.is_empty()) {
        let results = &module.ops[scf_for].results;
        if !results.iter().any(|v| needed.contains(v)) {
            let what = results.first().map(|&v| module.ty(v).to_string()).unwrap_or_default();
            errors.push(
                refuse(
                    module,
                    scf_for,
                    Code::Loop,
                    format!("the loop's result of type {what} is never stored"),
                )
                .note("supported", "results written by tt.descriptor_store after the loop"),
            );
        }
    }
    let [dot] = dots else { return stores };
    let tile = [dot.extents[0], dot.extents[1]];
    for op in outside {
        if module.ops[op].results.iter().any(|v| needed.contains(v)) {
            check(module, op, tile, errors);
        }
    }
    let once = loads.iter().filter(|l| !in_any(module, l.op, loops));
    let blocks = stores.iter().map(|s| (s.op, &s.plan)).chain(once.map(|l| (l.op, &l.plan)));
    for (op, shape) in blocks.map(|(op, plan)| (op, non_unit(&plan.block))) {
        if shape != tile {
            errors.push(
                refuse(module, op, Code::Shape, format!("{} of {shape:?}", module.op_name(op)))
                    .note("supported", format!("the tile of the product, {}x{}", tile[0], tile[1])),
            );
        }
    }
    stores
}

fn store(
    module: &Module,
    op: OpId,
    index: usize,
    plans: &[(ValueId, TilePlan)],
    errors: &mut Vec<Diagnostic>,
) -> Option<TileStore> {
    let operands = &module.ops[op].operands;
    let (&descriptor, &stored) = (operands.first()?, operands.get(1)?);
    let plan = descriptors::of(module, op, descriptor, plans, errors)?;
    let elem = module.ty(stored).elem();
    if !matches!(elem, Type::Float(FloatKind::F32 | FloatKind::BF16 | FloatKind::F16)) {
        errors.push(
            refuse(module, op, Code::Type, format!("tt.descriptor_store of {elem}"))
                .note("supported", "f32, bf16 and f16"),
        );
    }
    let seen = look_through(module, rows_of(module, stored));
    if !seen.plain() {
        errors.push(
            refuse(module, op, Code::Layout, "a transposed tile is stored")
                .note("instead", "store the tile as it is, or swap the operands of tt.dot"),
        );
    }
    let name = if index == 0 { "out".to_owned() } else { format!("out {index}") };
    Some(TileStore { op, descriptor, value: seen.base, name, plan })
}

/// An operation of the epilogue on a tile must have an element for each element of the product, of one of its
/// rows or of one of its columns.
fn check(module: &Module, op: OpId, [m, n]: [u64; 2], errors: &mut Vec<Diagnostic>) {
    let data = &module.ops[op];
    let Some(&result) = data.results.first() else { return };
    if is_scalar(module, op)
        || !module.ty(result).is_tensor()
        || matches!(data.opcode, Opcode::For | Opcode::If)
    {
        return;
    }
    let shape = module.ty(result).shape();
    if matches!(data.opcode, Opcode::Reshape | Opcode::Trans) {
        let seen = look_through(module, result);
        let loaded = module.def_op(seen.base).is_some_and(|d| module.ops[d].opcode == Opcode::DescriptorLoad);
        if !(seen.plain() && loaded) {
            errors.push(
                refuse(
                    module,
                    op,
                    Code::Op,
                    format!("{} of a computed tile is not supported", module.op_name(op)),
                )
                .note("supported", "tt.expand_dims and tt.broadcast"),
            );
        }
        return;
    }
    let whole = |extent: u64, of: u64| extent == of || extent == 1;
    let legal = match shape {
        [] => true,
        [length] => whole(*length, m) || whole(*length, n),
        [rows, columns] => whole(*rows, m) && whole(*columns, n),
        _ => data.opcode == Opcode::DescriptorLoad,
    };
    if !legal {
        errors.push(
            refuse(module, op, Code::Shape, format!("{} of {}", module.op_name(op), module.ty(result)))
                .note("supported", format!("tiles of {m}x{n}, rows of {n}, columns of {m}")),
        );
    }
}
