//! What happens to the products after the loops: element-wise operations, tiles and rows loaded, stores.

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId, Opcode, ValueId};

use super::rings::in_any;
use super::{Dot, TileStore, descriptors};
use crate::classes::{Class, class};
use crate::place::refuse;
use crate::tma::TilePlan;
use crate::views::rows_of;
use crate::walk::{preorder, slice};

/// The stores by descriptor, with every reason against them and against what is stored.
pub(super) fn select(
    module: &Module,
    func: OpId,
    loops: &[OpId],
    dots: &[Dot],
    plans: &[(ValueId, TilePlan)],
    errors: &mut Vec<Diagnostic>,
) -> Vec<TileStore> {
    let mut stores: Vec<TileStore> = Vec::new();
    let all = preorder(module, func);
    let outside = all.iter().copied().filter(|&op| !in_any(module, op, loops));
    for op in outside {
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
    if !matches!(elem.elem_bits(), Some(8 | 16 | 32)) {
        errors.push(
            refuse(module, op, Code::Type, format!("tt.descriptor_store of {elem}"))
                .rule("C33")
                .note("supported", "elements of 8, 16 and 32 bits"),
        );
    }
    let name = if index == 0 { "out".to_owned() } else { format!("out {index}") };
    Some(TileStore { op, descriptor, value: rows_of(module, stored), name, plan })
}
