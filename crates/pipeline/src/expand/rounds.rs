//! A ring that goes on from one run of its loop to the next: what was filled and read so often is known by (slot,
//! phase), which the loops and branches around carry (C23).

use warploom_ir::{Attr, BlockId, LocId, Module, OpId, Opcode, Type, ValueId};

use crate::expand::thread::branch;

/// What stands around a loop and hands the (slot, phase) of its ring on, innermost first.
pub(crate) struct Rounds(Vec<Around>);

/// A loop or a branch.
struct Around {
    op: OpId,
    /// Which of its regions the ring is used in.
    region: usize,
    /// The (slot, phase) in front of it.
    entry: [ValueId; 2],
}

/// The loops and branches around an operation, innermost first.
fn around(out: &Module, op: OpId) -> Option<Vec<(OpId, usize)>> {
    let (mut found, mut at) = (Vec::new(), op);
    while let Some(parent) = out.parent(at) {
        if matches!(out.ops[parent].opcode, Opcode::For | Opcode::While | Opcode::If) {
            let region = out.blocks[out.ops[at].block?].region?;
            found.push((parent, out.ops[parent].regions.iter().position(|&r| r == region)?));
        }
        at = parent;
    }
    Some(found)
}

/// The (slot, phase) that a loop starts with: 0, or what stands around it carries from now on.
pub(crate) fn enter(out: &mut Module, scf_for: OpId) -> Option<(Rounds, [ValueId; 2])> {
    let all = around(out, scf_for)?;
    let outermost = all.last().map_or(scf_for, |&(op, _)| op);
    let (block, loc) = (out.ops[outermost].block?, out.ops[scf_for].loc);
    let zero = out.create_op(Opcode::Constant, &[], &[Type::I32], loc);
    out.ops[zero].props.set("value", Attr::i32(0));
    match out.blocks[block].ops.iter().position(|&op| op == outermost) {
        Some(at) => out.insert(block, at, zero),
        // The loop has been taken out of its block already, which ends where it stood.
        None => out.append(block, zero),
    }
    let zero = out.result(zero)?;
    let (mut iterator, mut rounds) = ([zero, zero], Vec::new());
    for (op, region) in all.into_iter().rev() {
        rounds.insert(0, Around { op, region, entry: iterator });
        if out.ops[op].opcode == Opcode::If {
            continue;
        }
        out.ops[op].operands.extend(iterator);
        iterator = args(out, op, 0, loc)?;
        if region == 1 {
            end(out, op, 0, iterator)?;
            iterator = args(out, op, 1, loc)?;
        }
    }
    Some((Rounds(rounds), iterator))
}

/// Hands the (slot, phase) behind a loop to what stands around it.
pub(crate) fn leave(out: &mut Module, rounds: Rounds, mut iterator: [ValueId; 2]) -> Option<()> {
    for Around { op, region, entry } in rounds.0 {
        let loc = out.ops[op].loc;
        match out.ops[op].opcode {
            Opcode::If => {
                for index in 0..2 {
                    branch(out, op, index, loc);
                    end(out, op, index, if index == region { iterator } else { entry })?;
                }
            }
            Opcode::While if region == 0 => {
                end(out, op, 0, iterator)?;
                iterator = args(out, op, 1, loc)?;
                end(out, op, 1, iterator)?;
            }
            _ => end(out, op, region, iterator)?,
        }
        iterator = [out.add_result(op, Type::I32), out.add_result(op, Type::I32)];
    }
    Some(())
}

/// A (slot, phase) that a region is given.
fn args(out: &mut Module, op: OpId, region: usize, loc: LocId) -> Option<[ValueId; 2]> {
    let block: BlockId = out.entry(op, region)?;
    Some([out.add_arg(block, Type::I32, loc), out.add_arg(block, Type::I32, loc)])
}

/// What a region ends with hands it on.
fn end(out: &mut Module, op: OpId, region: usize, iterator: [ValueId; 2]) -> Option<()> {
    let last = out.terminator(out.entry(op, region)?)?;
    out.ops[last].operands.extend(iterator);
    Some(())
}
