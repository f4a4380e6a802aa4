//! How results leave, and tiles that are loaded once, in words (C33).

use std::fmt::Write;

use warploom_ir::{Module, OpId, Opcode};

use crate::compiled::Compiled;
use crate::walk::preorder;

/// How results leave.
pub(super) fn stores(out: &mut String, compiled: &Compiled) {
    let Some(selection) = compiled.selection() else { return };
    let _ = writeln!(out, "\nstores");
    for store in &selection.stores {
        let path = if store.plan.element_bytes == 2 { "stmatrix" } else { "st.shared" };
        let _ = writeln!(
            out,
            "  {}: {path} into staging, proxy fence, named barrier, {} TMA boxes of {:?} (C33)",
            store.name,
            store.plan.copies(),
            store.plan.box_extents
        );
    }
    for &op in &pointer_stores(&compiled.kernel, selection.func) {
        let value = compiled.kernel.ops[op].operands.get(1).map(|&v| compiled.kernel.ty(v).to_string());
        let how = if compiled.kernel.ops[op].opcode == Opcode::Store { "" } else { " by atomic operations" };
        let _ = writeln!(out, "  {} through pointers{how}", value.unwrap_or_default());
    }
    let once = selection.rings.iter().filter(|r| !r.looped).flat_map(|r| r.payloads());
    for load in once.filter_map(|&l| selection.loads.get(l).map(|load| (l, load))) {
        let how = match selection.dots.iter().any(|d| d.reads(load.0)) {
            true => "loaded once, read by products",
            false => "loaded once, read from shared memory",
        };
        let _ = writeln!(out, "  {}: {how}", load.1.name);
    }
}

/// What writes through pointers; counters of one element are no results.
fn pointer_stores(kernel: &Module, func: OpId) -> Vec<OpId> {
    let writes = |&op: &OpId| {
        let tile = kernel.ops[op].operands.get(1).is_some_and(|&v| kernel.ty(v).is_tensor());
        match kernel.ops[op].opcode {
            Opcode::Store => true,
            Opcode::AtomicRmw => tile,
            _ => false,
        }
    };
    preorder(kernel, func).into_iter().filter(writes).collect()
}
