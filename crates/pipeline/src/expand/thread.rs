//! A number that changes at some operations, handed through loops and branches to the next of them: (C23).

use std::collections::BTreeSet;

use warploom_ir::{BlockId, LocId, Module, OpId, Opcode, Type, ValueId};

/// What happens where the number changes.
pub(crate) trait Site {
    /// Rewrites an operation of a block, which has been taken out of it; puts what takes its place at the end of the
    /// block, and returns the number behind it.
    fn at(&mut self, out: &mut Module, block: BlockId, op: OpId, now: ValueId) -> Option<ValueId>;

    /// An operation that comes next; it stands in no list yet.
    fn before(&mut self, out: &mut Module, block: BlockId, op: OpId);

    /// The same operation, which has its place.
    fn behind(&mut self, out: &mut Module, block: BlockId, op: OpId);
}

/// Walks through a block from a number on, and through what nests in it where `sites` stand there; returns the number
/// at its end.
pub(crate) fn thread(
    out: &mut Module,
    block: BlockId,
    mut now: ValueId,
    sites: &BTreeSet<OpId>,
    work: &mut impl Site,
) -> Option<ValueId> {
    let around = around(out, sites);
    for op in std::mem::take(&mut out.blocks[block].ops) {
        work.before(out, block, op);
        if around.contains(&op) {
            now = through(out, op, now, sites, work)?;
        }
        match sites.contains(&op) {
            true => now = work.at(out, block, op, now)?,
            false => out.append(block, op),
        }
        work.behind(out, block, op);
    }
    Some(now)
}

/// What stands around operations.
fn around(out: &Module, sites: &BTreeSet<OpId>) -> BTreeSet<OpId> {
    let mut found = BTreeSet::new();
    for &site in sites {
        let mut at = out.parent(site);
        while let Some(op) = at.filter(|&op| found.insert(op)) {
            at = out.parent(op);
        }
    }
    found
}

/// Hands the number through an operation with regions.
fn through(
    out: &mut Module,
    op: OpId,
    now: ValueId,
    sites: &BTreeSet<OpId>,
    work: &mut impl Site,
) -> Option<ValueId> {
    let (ty, loc) = (out.ty(now).clone(), out.ops[op].loc);
    match out.ops[op].opcode {
        Opcode::For => {
            out.ops[op].operands.push(now);
            inside(out, out.entry(op, 0)?, sites, (&ty, loc), work)?;
        }
        Opcode::While => {
            out.ops[op].operands.push(now);
            inside(out, out.entry(op, 0)?, sites, (&ty, loc), work)?;
            inside(out, out.entry(op, 1)?, sites, (&ty, loc), work)?;
        }
        Opcode::If => {
            for index in 0..2 {
                let block = branch(out, op, index, loc);
                let last = thread(out, block, now, sites, work)?;
                let yielded = out.terminator(block)?;
                out.ops[yielded].operands.push(last);
            }
        }
        _ => return None,
    }
    Some(out.add_result(op, ty))
}

/// A region that is given the number and hands it on.
fn inside(
    out: &mut Module,
    block: BlockId,
    sites: &BTreeSet<OpId>,
    (ty, loc): (&Type, LocId),
    work: &mut impl Site,
) -> Option<()> {
    let arg = out.add_arg(block, ty.clone(), loc);
    let last = thread(out, block, arg, sites, work)?;
    let end = out.terminator(block)?;
    out.ops[end].operands.push(last);
    Some(())
}

/// A branch of a condition, which ends with a yield.
pub(super) fn branch(out: &mut Module, scf_if: OpId, index: usize, loc: LocId) -> BlockId {
    while out.ops[scf_if].regions.len() <= index {
        out.add_region(scf_if);
    }
    let region = out.ops[scf_if].regions[index];
    let block = match out.regions[region].blocks.first() {
        Some(&block) => block,
        None => out.add_block(region),
    };
    if out.blocks[block].ops.last().is_none_or(|&op| out.ops[op].opcode != Opcode::Yield) {
        let end = out.create_op(Opcode::Yield, &[], &[], loc);
        out.append(block, end);
    }
    block
}
