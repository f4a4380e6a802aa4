//! What happens to the product after the loop: element-wise operations, tiles and rows loaded, stores.

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{FloatKind, Module, OpId, Opcode, Type, ValueId};

use super::{Dot, TileLoad, TileStore, descriptors};
use crate::classes::{Class, class, is_scalar, is_scalar_type};
use crate::place::refuse;
use crate::tma::TilePlan;
use crate::views::{look_through, non_unit};
use crate::walk::slice;

/// The tiles loaded for the epilogue and the stores, with every reason against them.
pub(super) fn select(
    module: &Module,
    func: OpId,
    scf_for: OpId,
    dot: Option<&Dot>,
    plans: &[(ValueId, TilePlan)],
    errors: &mut Vec<Diagnostic>,
) -> (Vec<TileLoad>, Vec<TileStore>) {
    let Some(body) = module.entry(func, 0) else { return Default::default() };
    carried(module, scf_for, dot, errors);
    let mut stores = Vec::new();
    for &op in &module.blocks[body].ops {
        let opcode = module.ops[op].opcode;
        if opcode == Opcode::DescriptorStore {
            stores.extend(store(module, op, stores.len(), plans, errors));
        } else if !stores.is_empty() && matches!(class(opcode), Class::TileLoad | Class::PointerLoad) {
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
    let roots: Vec<ValueId> = stores.iter().map(|s| s.value).collect();
    let needed = slice(module, &roots);
    let result = dot.and_then(|dot| module.ops[scf_for].results.get(dot.accumulator).copied());
    // Other ways to store are refused where they stand.
    let elsewhere = module.blocks[body].ops.iter().any(|&op| {
        let opcode = module.ops[op].opcode;
        matches!(
            opcode,
            Opcode::Store | Opcode::AtomicRmw | Opcode::DescriptorReduce | Opcode::DescriptorScatter
        )
    });
    let nested = module.parent(scf_for) != Some(func);
    if let Some(result) = result.filter(|result| !needed.contains(result) && !elsewhere && !nested) {
        errors.push(
            refuse(
                module,
                scf_for,
                Code::Loop,
                format!("the loop's result of type {} is never stored", module.ty(result)),
            )
            .note("supported", "results written by tt.descriptor_store after the loop"),
        );
    }
    let tile = dot.map(|dot| [dot.extents[0], dot.extents[1]]);
    let mut tiles = Vec::new();
    for &op in &module.blocks[body].ops {
        if module.ops[op].results.iter().any(|v| needed.contains(v)) {
            check(module, op, tile, errors);
            if module.ops[op].opcode == Opcode::DescriptorLoad {
                tiles.extend(load(module, op, tiles.len(), plans, errors));
            }
        }
    }
    if let Some(tile) = tile {
        let value_shapes = stores.iter().map(|s| (s.op, non_unit(&s.plan.block)));
        for (op, shape) in value_shapes.chain(tiles.iter().map(|t| (t.op, non_unit(&t.plan.block)))) {
            if shape != tile {
                errors.push(
                    refuse(module, op, Code::Shape, format!("{} of {shape:?}", module.op_name(op)))
                        .note("supported", format!("the tile of the product, {}x{}", tile[0], tile[1])),
                );
            }
        }
    }
    (tiles, stores)
}

/// The loop may carry the accumulator and scalars.
fn carried(module: &Module, scf_for: OpId, dot: Option<&Dot>, errors: &mut Vec<Diagnostic>) {
    let Some(dot) = dot else { return };
    for (index, &value) in module.ops[scf_for].results.iter().enumerate() {
        if index != dot.accumulator && !is_scalar_type(module.ty(value)) {
            let text = format!("the loop carries a second tile, {}", module.ty(value));
            errors.push(
                refuse(module, scf_for, Code::Loop, text).note("supported", "one accumulator, and scalars"),
            );
        }
    }
    if module.ops[scf_for].operands.first().is_some_and(|&bound| *module.ty(bound) != Type::I32) {
        errors.push(
            refuse(module, scf_for, Code::Type, "loop bounds that are not i32").note("supported", "i32"),
        );
    }
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
    let seen = look_through(module, stored);
    if !seen.plain() {
        errors.push(
            refuse(module, op, Code::Layout, "a transposed tile is stored")
                .note("instead", "store the tile as it is, or swap the operands of tt.dot"),
        );
    }
    let name = if index == 0 { "out".to_owned() } else { format!("out {index}") };
    Some(TileStore { op, descriptor, value: seen.base, name, plan })
}

fn load(
    module: &Module,
    op: OpId,
    index: usize,
    plans: &[(ValueId, TilePlan)],
    errors: &mut Vec<Diagnostic>,
) -> Option<TileLoad> {
    let &descriptor = module.ops[op].operands.first()?;
    let plan = descriptors::of(module, op, descriptor, plans, errors)?;
    let name = if index == 0 { "c".to_owned() } else { format!("c {index}") };
    Some(TileLoad { op, descriptor, value: module.result(op)?, name, plan })
}

/// An operation of the epilogue on a tile must have an element for each element of the product, of one of its
/// rows or of one of its columns.
fn check(module: &Module, op: OpId, tile: Option<[u64; 2]>, errors: &mut Vec<Diagnostic>) {
    let data = &module.ops[op];
    let (Some(&result), Some([m, n])) = (data.results.first(), tile) else { return };
    if is_scalar(module, op) || !module.ty(result).is_tensor() || data.opcode == Opcode::For {
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
