//! Operands of products that are computed: their warps store them to shared memory, where products read them (C33,
//! C67).
//!
//! ```text
//! meet (all have read what was stored before); store; fence for asynchronous products; meet; the products read it
//! ```
//!
//! Those that stay what they are in a loop are stored in front of it, once for all products behind that read them.
//!
//! Where a sum that stays in tensor memory reads the tiles, nobody waits for it in its trip: the product gives the slots
//! back, and the warps wait for that before they store again.

use std::collections::HashMap;

use warploom_chips::mma::MmaInstruction;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, Type, ValueId};

use crate::emit::clone;
use crate::emit::{Emit, number};
use crate::engines::PartitionShape;
use crate::engines::tensor::accumulates;
use crate::nest::{innermost_for, is_inside, repeats};
use crate::place::refuse;
use crate::transports::find::{Found, swizzle};
use crate::transports::operands::{DotOperand, has_place};
use crate::transports::spans::{lowest, meet};
use crate::views::non_unit;

/// Tiles that are stored together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OperandStores {
    /// In front of what: a product, or the outermost loop in which they stay what they are.
    pub at: OpId,
    /// The tiles, those of A first.
    pub tiles: Vec<StoredOperand>,
    /// Whether that is repeated, so that what it read before is overwritten, and nothing makes the warps meet in
    /// each trip.
    pub again: bool,
    /// The barrier by which a sum in tensor memory gives the slots back, in bytes of shared memory.
    pub given_back: Option<u64>,
}

/// A tile that warps store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredOperand {
    /// The tile in registers.
    pub value: ValueId,
    /// Name in reports.
    pub name: String,
    /// Its type.
    pub tile: Type,
    /// Bytes of the swizzle of its slot.
    pub swizzle: u32,
    /// Where its slot lies in shared memory, in bytes.
    pub offset: u64,
}

/// The tiles to store for some operands, placed from an offset in shared memory on; and where what follows may begin.
/// Where shared memory is `tight`, tiles of one block take the same bytes one after the other.
///
/// # Errors
/// Tiles whose rows are too short for a slot.
pub(crate) fn find(
    module: &Module,
    found: &[Found],
    (operands, shape): (&[DotOperand], &PartitionShape),
    (start, tight): (u64, bool),
) -> Result<(Vec<OperandStores>, u64), Vec<Diagnostic>> {
    let (mut groups, mut errors): (Vec<OperandStores>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    for operand in operands.iter().filter(|f| f.is_stored(module, shape)) {
        let value = operand.seen.base;
        // One that could take it from registers reads the slot too, where it comes first.
        let settled = operand.is_settled();
        let reads = |o: &&DotOperand| {
            let same = o.slot.is_none() && o.seen.base == value && o.is_settled() == settled;
            same && beside(module, o.at, operand.at)
        };
        let (dot, at) = operands.iter().find(reads).map_or((operand.dot, operand.at), |o| (o.dot, o.at));
        if groups.iter().any(|group| operand.is_among(module, group)) {
            continue;
        }
        let tile = module.ty(value).clone();
        if !has_place(&tile) {
            let text = format!("operand {} of tt.dot, {tile}, has no place in shared memory", operand.index);
            let error = refuse(module, dot, Code::Shape, text).rule("C67");
            errors.push(error.note("needs", "rows of 16 B or more, of 8- to 32-bit elements"));
            continue;
        }
        let extents = non_unit(tile.shape());
        let row = extents.last().copied().unwrap_or(0) * u64::from(tile.elem_bits().unwrap_or(0)) / 8;
        let swizzle = swizzle(&extents, row);
        let number = groups.iter().map(|g| g.tiles.len()).sum::<usize>();
        let stored = StoredOperand { value, name: format!("f{number}"), tile, swizzle, offset: 0 };
        match groups.iter_mut().find(|g| g.at == at) {
            Some(group) => group.tiles.push(stored),
            None => {
                let again = repeats(module, at) && !met(module, found, at);
                groups.push(OperandStores { at, tiles: vec![stored], again, given_back: None });
            }
        }
    }
    let tensor = shape.instruction() == MmaInstruction::Tcgen05;
    let summed = |group: &OperandStores| {
        let reads = |o: &DotOperand| o.is_among(module, group) && !o.is_settled();
        tensor && operands.iter().any(|o| reads(o) && accumulates(module, o.dot))
    };
    let back: Vec<bool> = groups.iter().map(summed).collect();
    let mut end = match tight {
        true => share(module, &mut groups, operands, start),
        // Nobody meets before a slot that a sum gives back is stored to again: its bytes are its own.
        false => place(module, &mut groups, (start, back.contains(&true))),
    };
    for (group, _) in groups.iter_mut().zip(back).filter(|(_, back)| *back) {
        end = end.next_multiple_of(8);
        group.given_back = Some(end);
        end += 8;
    }
    if errors.is_empty() { Ok((groups, end)) } else { Err(errors) }
}

/// Gives each tile its bytes from an offset on; returns where they end. What stays what it is in a loop keeps its own.
/// Products of loops that stand beside each other never read at once, and all meet before each store: their tiles may lie
/// in the same bytes, unless each `keeps` its own.
fn place(module: &Module, groups: &mut [OperandStores], (start, keeps): (u64, bool)) -> u64 {
    let (settled, mut groups): (Vec<_>, Vec<_>) = groups.iter_mut().partition(|g| g.is_settled(module));
    let start = settled.into_iter().fold(start, |at, group| group.place(at));
    let loops: Vec<Option<OpId>> = groups.iter().map(|g| innermost_for(module, g.at)).collect();
    let nested = |a: OpId, b: OpId| a != b && is_inside(module, a, b);
    let apart = !keeps
        && loops.iter().all(Option::is_some)
        && !loops.iter().flatten().any(|&a| loops.iter().flatten().any(|&b| nested(a, b)));
    let (mut end, mut at, mut before) = (start, start, None);
    for (group, own) in groups.iter_mut().zip(loops) {
        if apart && before != Some(own) {
            at = start;
        }
        before = Some(own);
        at = group.place(at);
        end = end.max(at);
    }
    end
}

/// The same for tiles that take turns: each keeps its bytes from its store to the last product that reads it, those of loops
/// beside each other anyhow. All meet before a store into bytes that another product may still read.
fn share(module: &Module, groups: &mut [OperandStores], operands: &[DotOperand], start: u64) -> u64 {
    let position = |dot: OpId| {
        let block = module.ops[dot].block?;
        module.blocks[block].ops.iter().position(|&op| op == dot)
    };
    let mut placed: Vec<(OpId, [usize; 2], [u64; 2])> = Vec::new();
    let mut end = start;
    for group in groups.iter_mut() {
        let dot = group.at;
        let first = position(dot).unwrap_or(0);
        for tile in &mut group.tiles {
            let readers = operands.iter().filter(|o| o.seen.base == tile.value && beside(module, o.dot, dot));
            let last = readers.filter_map(|o| position(o.dot)).max().unwrap_or(usize::MAX);
            let align = if tile.swizzle > 0 { 8 * u64::from(tile.swizzle) } else { 128 };
            let bytes = tile.tile.bytes().unwrap_or(0);
            let at_once = |&&(other, [from, to], _): &&(OpId, [usize; 2], _)| match beside(module, other, dot)
            {
                true => from <= last && first <= to,
                false => !in_turn(module, other, dot),
            };
            let taken = placed.iter().filter(at_once).map(|other| other.2).collect();
            tile.offset = lowest(start, align, bytes, taken);
            let span = [tile.offset, tile.offset.saturating_add(bytes)];
            group.again |= placed.iter().any(|other| meet(other.2, span));
            placed.push((dot, [first, last], span));
            end = end.max(span[1]);
        }
    }
    // What a later product of a trip read is stored over by the next one.
    for group in groups.iter_mut() {
        let spans: Vec<[u64; 2]> = group
            .tiles
            .iter()
            .map(|t| [t.offset, t.offset.saturating_add(t.tile.bytes().unwrap_or(0))])
            .collect();
        let met = |span: &[u64; 2]| placed.iter().filter(|p| meet(p.2, *span)).count() > 1;
        group.again |= spans.iter().any(met);
    }
    end
}

/// Whether two products stand in loops beside each other, so that one never reads while the other's operands are stored.
fn in_turn(module: &Module, dot: OpId, other: OpId) -> bool {
    match (innermost_for(module, dot), innermost_for(module, other)) {
        (Some(a), Some(b)) => a != b && !is_inside(module, a, b) && !is_inside(module, b, a),
        _ => false,
    }
}

/// Whether a product, or a loop around it, stands in the body of a loop whose trips begin with a meeting of the warps: one that copies by
/// `cp.async`.
fn met(module: &Module, found: &[Found], at: OpId) -> bool {
    found.iter().any(|f| !f.engine() && module.parent(at) == Some(f.scf_for))
}

/// Whether an operation stands in the block of another.
fn beside(module: &Module, op: OpId, other: OpId) -> bool {
    module.ops[op].block == module.ops[other].block
}

/// Stores the tiles of each group in front of its product or loop, and lets products read them there.
pub(crate) fn store(
    out: &mut Module,
    groups: &[OperandStores],
    operands: &[DotOperand],
    barrier: &str,
    fenced: bool,
) -> Option<()> {
    for operand in operands {
        let holds = |(_, group): &(usize, &OperandStores)| operand.is_among(out, group);
        let Some((index, group)) = groups.iter().enumerate().find(holds) else { continue };
        let payload = group.tiles.iter().position(|t| t.value == operand.seen.base)?;
        let ring = format!("f{index}");
        let first = operands.iter().find(|f| f.at == group.at && f.is_among(out, group));
        if first.is_some_and(|f| (f.dot, f.index) == (operand.dot, operand.index)) {
            let (block, behind) = cut(out, group.at)?;
            let loc = out.ops[operand.dot].loc;
            put(&mut Emit { out, block, loc }, group, &ring, (barrier, fenced));
            out.blocks[block].ops.extend(behind);
        }
        let (block, behind) = cut(out, operand.dot)?;
        let loc = out.ops[operand.dot].loc;
        let mut emit = Emit { out, block, loc };
        let slot = emit.constant(0);
        let ty = emit.out.ty(operand.seen.base).clone();
        let view = emit.slot(&ring, slot, payload, ty);
        let mut map = HashMap::from([(operand.seen.base, view)]);
        for &op in operand.seen.views.iter().rev() {
            clone(out, op, block, &mut map);
        }
        let old = *out.ops[operand.dot].operands.get(operand.index)?;
        *out.ops[operand.dot].operands.get_mut(operand.index)? = *map.get(&old)?;
        out.blocks[block].ops.extend(behind);
    }
    Some(())
}

/// Takes an operation and what stands behind it out of its block.
fn cut(out: &mut Module, op: OpId) -> Option<(BlockId, Vec<OpId>)> {
    let block = out.ops[op].block?;
    let at = out.blocks[block].ops.iter().position(|&other| other == op)?;
    Some((block, out.blocks[block].ops.split_off(at)))
}

/// The stores of a group, between two meetings. The slots of other rings are left alone between them, which is said, so
/// that views of those stay what they are. What products of the asynchronous proxy read is `fenced` (C26).
fn put(emit: &mut Emit<'_>, group: &OperandStores, ring: &str, (barrier, fenced): (&str, bool)) {
    let meet = [("barrier", Attr::symbol(barrier)), ("orders", Attr::string(ring))];
    if group.again {
        emit.op(Opcode::BarrierSync, &[], &[], &meet);
    }
    let slot = emit.constant(0);
    if group.given_back.is_some() {
        // The phase comes once the loops around are what they become.
        emit.ring(Opcode::ProducerAcquire, ring, &[slot, slot], &[]);
    }
    for (payload, tile) in group.tiles.iter().enumerate() {
        let props = [("payload", number(payload))];
        let ty = emit.out.ty(tile.value).clone();
        let matrix = match ty.shape() {
            [_, _] => tile.value,
            shape => {
                let flat = Type::tensor(&non_unit(shape), ty.elem().clone());
                emit.value(Opcode::Reshape, &[tile.value], &flat)
            }
        };
        emit.ring(Opcode::TileStore, ring, &[matrix, slot], &props);
    }
    if fenced {
        emit.op(Opcode::ProxyFence, &[], &[], &[]);
    }
    emit.op(Opcode::BarrierSync, &[], &[], &meet);
}

impl OperandStores {
    /// Whether its tiles stay what they are in the loop that it stands in front of.
    fn is_settled(&self, module: &Module) -> bool {
        !module.ops[self.at].opcode.is_product()
    }

    /// Gives each tile bytes of its own from an offset on; returns where they end.
    fn place(&mut self, mut at: u64) -> u64 {
        for tile in &mut self.tiles {
            let align = if tile.swizzle > 0 { 8 * u64::from(tile.swizzle) } else { 128 };
            tile.offset = at.next_multiple_of(align);
            at = tile.offset.saturating_add(tile.tile.bytes().unwrap_or(0));
        }
        at
    }
}

impl DotOperand {
    /// Whether a group stores it.
    fn is_among(&self, module: &Module, group: &OperandStores) -> bool {
        self.slot.is_none()
            && self.is_settled() == group.is_settled(module)
            && beside(module, self.at, group.at)
            && group.tiles.iter().any(|t| t.value == self.seen.base)
    }
}
