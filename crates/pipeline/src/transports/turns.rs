//! Rings of one slot: the tiles that a body reads first and those that it reads last take turns (C24, C28).
//!
//! Where shared memory has no room for two slots of every tile, a tile read late in the body is copied while the early
//! ones are read, and an early one of the next iteration while the late ones are:
//!
//! ```text
//! prologue   early tiles of the first iteration
//! loop       wait, meet; copy the late tiles; compute with the early ones;
//!            wait, meet; copy the early tiles of the next iteration; compute with the late ones
//! ```
//!
//! Each meeting says that everybody has left the slots which are filled behind it. Where a body reads all tiles
//! together, all are late: copied when their iteration begins, waited for, computed with.

use std::collections::BTreeSet;

use warploom_chips::Target;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId, Opcode, ValueId};

use crate::options::CompileOptions;
use crate::place::remark;
use crate::transports::find::CopiedTile;
use crate::transports::loads::PipelinedLoads;

/// The tiles that a loop reads behind everything that it reads of the others.
pub(crate) fn late(module: &Module, scf_for: OpId, tiles: &[CopiedTile]) -> Option<BTreeSet<OpId>> {
    let body = module.entry(scf_for, 0)?;
    let ops = &module.blocks[body].ops;
    // First and last reader of each tile, views taken off.
    let mut spans: Vec<(usize, usize, OpId)> = Vec::new();
    for tile in tiles {
        let seen = views(module, ops, &[tile.op]);
        let values: BTreeSet<ValueId> = seen.iter().filter_map(|&op| module.result(op)).collect();
        let reads = |op: OpId| {
            crate::walk::preorder(module, op)
                .iter()
                .any(|&inner| module.ops[inner].operands.iter().any(|v| values.contains(v)))
        };
        let mut readers =
            (0..).zip(ops).filter(|&(_, &op)| !seen.contains(&op) && reads(op)).map(|(at, _)| at);
        let first = readers.next()?;
        spans.push((first, readers.last().unwrap_or(first), tile.op));
    }
    spans.sort_unstable();
    (1..spans.len()).find_map(|cut| {
        let (early, late) = spans.split_at(cut);
        let end = early.iter().map(|s| s.1).max()?;
        (end < late.first()?.0).then(|| late.iter().map(|s| s.2).collect())
    })
}

/// The tiles that are copied late in a loop with one slot of each: those read behind all others, or all, where the body
/// reads them together; no load is pipelined then.
pub(crate) fn turns(module: &Module, scf_for: OpId, tiles: &[CopiedTile]) -> BTreeSet<OpId> {
    late(module, scf_for, tiles).unwrap_or_else(|| tiles.iter().map(|t| t.op).collect())
}

/// Operations and the views of what they make, among those of a block.
pub(crate) fn views(module: &Module, ops: &[OpId], of: &[OpId]) -> BTreeSet<OpId> {
    let mut seen: BTreeSet<OpId> = of.iter().copied().collect();
    for &op in ops {
        let view = matches!(module.ops[op].opcode, Opcode::Trans | Opcode::Reshape);
        let from = module.ops[op].operands.first().and_then(|&v| module.def_op(v));
        if view && from.is_some_and(|from| seen.contains(&from)) {
            seen.insert(op);
        }
    }
    seen
}

/// Remarks on loops with one slot of each tile, whose copies run beside nothing: which tiles would have room for two.
pub(crate) fn told(
    module: &Module,
    loops: &[PipelinedLoads],
    target: &Target,
    options: &CompileOptions,
) -> Vec<Diagnostic> {
    let limit = options.smem_limit.unwrap_or(target.smem.per_cta);
    let alone = loops.iter().filter(|l| l.late.as_ref().is_some_and(|late| late.len() == l.tiles.len()));
    alone
        .map(|loads| {
            let slot: u64 = loads.tiles.iter().map(CopiedTile::bytes).sum();
            let text = format!("the loads of this loop are not pipelined: of {slot} B a trip, one slot fits");
            let part = (1..16).map(|n| 1u64 << n).find(|part| 2 * slot / part <= limit).unwrap_or(2);
            let fits = format!("two slots of {} B: 1/{part} of what a trip loads, in K", slot / part);
            remark(module, loads.scf_for, Code::Loop, text).rule("C24").note("fits", fits)
        })
        .collect()
}
