//! Operands of products that no ring brings: they are copied to shared memory where they stand (C24, C67).
//!
//! mma.sync reads B, and A unless it was computed in place, from shared memory. A tile loaded in front of the loops is
//! copied once and stays; one whose load cannot be pipelined is copied and waited for in its own trip:
//!
//! ```text
//! meet; copy; wait for it, meet; the products read it
//! ```

use std::collections::{BTreeSet, HashMap};

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, Type, ValueId};

use crate::emit::clone;
use crate::emit::{Emit, number};
use crate::nest::repeats;
use crate::transports::find::{CopiedTile, copied_tile};
use crate::transports::operands::{DotOperand, Slot};
use crate::transports::spans::{lowest, meet};
use crate::transports::turns::views;
use crate::walk::preorder;

/// Tiles of one block that are copied together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockingLoads {
    /// The tiles, in the order of the text.
    pub tiles: Vec<CopiedTile>,
    /// Where each one's slot lies in shared memory, in bytes.
    pub offsets: Vec<u64>,
    /// Whether they may be copied again, in a loop around them.
    pub again: bool,
}

/// The blocking tiles of a kernel, placed from an offset in shared memory on; and where what follows may begin. Where shared
/// memory is `tight`, tiles that nobody reads any more leave their bytes to later ones of their block.
pub(crate) fn find(
    module: &Module,
    func: OpId,
    operands: &[DotOperand],
    (start, tight): (u64, bool),
) -> (Vec<BlockingLoads>, u64) {
    let operands: BTreeSet<OpId> = operands
        .iter()
        .filter(|operand| operand.slot == Some(Slot::Blocking))
        .filter_map(|operand| module.def_op(operand.seen.base))
        .collect();
    let (mut groups, mut end): (Vec<BlockingLoads>, u64) = (Vec::new(), start);
    let mut number = 0;
    for op in preorder(module, func).into_iter().filter(|op| operands.contains(op)) {
        let Some(mut tile) = copied_tile(module, op) else { continue };
        tile.name = format!("s{number}");
        number += 1;
        let offset = end.next_multiple_of(tile.align());
        end = offset.saturating_add(tile.bytes());
        let again = repeats(module, op);
        match groups.last_mut().filter(|group| together(module, group, op)) {
            Some(group) => {
                group.tiles.push(tile);
                group.offsets.push(offset);
            }
            None => groups.push(BlockingLoads { tiles: vec![tile], offsets: vec![offset], again }),
        }
    }
    if tight {
        end = share(module, &mut groups, start);
    }
    (groups, end)
}

/// Gives each group its bytes from the copy to the last product that reads it; returns where they end. All meet before a
/// copy into bytes that others were read from.
fn share(module: &Module, groups: &mut [BlockingLoads], start: u64) -> u64 {
    let mut placed: Vec<(Option<BlockId>, [usize; 2], [u64; 2])> = Vec::new();
    let mut end = start;
    for group in groups.iter_mut() {
        let (block, [first, last]) = life(module, group);
        let beside = |other: &&(Option<BlockId>, [usize; 2], [u64; 2])| {
            other.0 != block || (other.1[0] <= last && first <= other.1[1])
        };
        let mut taken: Vec<[u64; 2]> = placed.iter().filter(beside).map(|other| other.2).collect();
        for (tile, offset) in group.tiles.iter().zip(&mut group.offsets) {
            *offset = lowest(start, tile.align(), tile.bytes(), taken.clone());
            let span = [*offset, offset.saturating_add(tile.bytes())];
            group.again |= placed.iter().any(|other| meet(other.2, span));
            taken.push(span);
            placed.push((block, [first, last], span));
            end = end.max(span[1]);
        }
    }
    end
}

/// The block of a group, and the places of its copy and of the last operation there that reads it: none is the last where
/// others than products read it, who may do so late.
fn life(module: &Module, group: &BlockingLoads) -> (Option<BlockId>, [usize; 2]) {
    let loads: Vec<OpId> = group.tiles.iter().map(|t| t.op).collect();
    let block = loads.last().and_then(|&op| module.ops[op].block);
    let ops = block.map(|block| module.blocks[block].ops.as_slice()).unwrap_or_default();
    let copied = ops.iter().position(|op| loads.last() == Some(op)).unwrap_or(0);
    let (mut last, mut late) = (copied, false);
    let mut values: BTreeSet<ValueId> = loads.iter().filter_map(|&op| module.result(op)).collect();
    for (at, &op) in ops.iter().enumerate() {
        for inner in preorder(module, op) {
            let data = &module.ops[inner];
            if !data.operands.iter().any(|v| values.contains(v)) {
                continue;
            }
            last = last.max(at);
            match data.opcode {
                Opcode::Trans | Opcode::Reshape => values.extend(&data.results),
                Opcode::Dot | Opcode::DotBlockScaled => {}
                _ => late = true,
            }
        }
    }
    (block, [copied, if late { usize::MAX } else { last }])
}

/// Whether a load can wait for its neighbours: nothing between it and them reads the group.
fn together(module: &Module, group: &BlockingLoads, op: OpId) -> bool {
    let (Some(first), Some(block)) = (group.tiles.first(), module.ops[op].block) else { return false };
    if module.ops[first.op].block != Some(block) {
        return false;
    }
    let loads: Vec<OpId> = group.tiles.iter().map(|t| t.op).collect();
    let seen = views(module, &module.blocks[block].ops, &loads);
    let values: BTreeSet<ValueId> = seen.iter().filter_map(|&op| module.result(op)).collect();
    let between = module.blocks[block].ops.iter().take_while(|&&o| o != op).filter(|o| !seen.contains(o));
    between.flat_map(|&o| preorder(module, o)).all(|o| {
        let data = &module.ops[o];
        data.operands.iter().all(|v| !values.contains(v)) && !data.opcode.facts().effect.writes()
    })
}

/// Copies the tiles of a group where the last of them is loaded. A tile that stays is looked at again in front of each
/// reader: a view is not kept over a meeting of the warps.
/// Products of the asynchronous proxy read what is `fenced`.
pub(crate) fn stage(
    out: &mut Module,
    group: &BlockingLoads,
    ring: &str,
    barrier: &str,
    fenced: bool,
) -> Option<()> {
    let loads: Vec<OpId> = group.tiles.iter().map(|t| t.op).collect();
    let (last, block) = (*loads.last()?, out.ops[*loads.last()?].block?);
    let ops = std::mem::take(&mut out.blocks[block].ops);
    let seen = views(out, &ops, &loads);
    let viewed: Vec<OpId> = ops.iter().copied().filter(|op| seen.contains(op)).collect();
    let results: Vec<ValueId> = viewed.iter().filter_map(|&op| out.result(op)).collect();
    let mut shown = HashMap::new();
    for op in ops {
        if !seen.contains(&op) {
            out.append(block, op);
            continue;
        }
        out.ops[op].block = None;
        if op != last {
            continue;
        }
        let loc = out.ops[op].loc;
        let mut emit = Emit { out, block, loc };
        let meet = [("barrier", Attr::symbol(barrier))];
        if group.again {
            emit.op(Opcode::BarrierSync, &[], &[], &meet);
        }
        let slot = emit.constant(0);
        for (payload, &load) in loads.iter().enumerate() {
            let mut operands = vec![slot];
            operands.extend(emit.out.ops[load].operands.iter().copied());
            // The last factor of a mask says whether there is anything to copy at all; here there is.
            if let Some(mask) = operands.get_mut(2) {
                let (always, shape) = (emit.scalar(1, &Type::I1), emit.out.ty(*mask).shape().to_vec());
                let always = emit.splat(always, &shape);
                *mask = emit.same(Opcode::AndI, *mask, always);
            }
            let props = [("pipeline", Attr::symbol(ring)), ("payload", number(payload))];
            emit.op(Opcode::AsyncCopy, &operands, &[], &props);
        }
        emit.op(Opcode::AsyncCommit, &[], &[], &[]);
        emit.op(Opcode::AsyncWait, &[], &[], &[("pending", number(0u64))]);
        if fenced {
            emit.op(Opcode::ProxyFence, &[], &[], &[]);
        }
        emit.op(Opcode::BarrierSync, &[], &[], &meet);
        if group.again {
            let mut map = HashMap::new();
            show(out, block, &viewed, &loads, ring, slot, &mut map)?;
            shown = map;
        }
    }
    if group.again {
        results.iter().try_for_each(|result| {
            out.replace_all_uses(*result, *shown.get(result)?);
            Some(())
        })?;
        return Some(());
    }
    // Every block with readers gets views of its own.
    let readers: BTreeSet<OpId> = preorder(out, out.root)
        .into_iter()
        .filter(|&op| out.ops[op].operands.iter().any(|v| results.contains(v)))
        .collect();
    let blocks: BTreeSet<_> = readers.iter().filter_map(|&op| out.ops[op].block).collect();
    for block in blocks {
        for op in std::mem::take(&mut out.blocks[block].ops) {
            if readers.contains(&op) {
                let loc = out.ops[op].loc;
                let slot = Emit { out, block, loc }.constant(0);
                let mut map = HashMap::new();
                show(out, block, &viewed, &loads, ring, slot, &mut map)?;
                for operand in &mut out.ops[op].operands {
                    *operand = *map.get(operand).unwrap_or(operand);
                }
            }
            out.append(block, op);
        }
    }
    Some(())
}

/// Views of the tiles of a group, and what the kernel makes of them by turning them.
fn show(
    out: &mut Module,
    block: BlockId,
    viewed: &[OpId],
    loads: &[OpId],
    ring: &str,
    slot: ValueId,
    map: &mut HashMap<ValueId, ValueId>,
) -> Option<()> {
    for &op in viewed {
        match loads.iter().position(|&load| load == op) {
            Some(payload) => {
                let (result, loc) = (out.result(op)?, out.ops[op].loc);
                let ty = out.ty(result).clone();
                map.insert(result, Emit { out, block, loc }.slot(ring, slot, payload, ty));
            }
            None => clone(out, op, block, map),
        }
    }
    Some(())
}
