//! The copies of one iteration: which tiles, into which ring, as a group or by the copy engine.

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, Type, ValueId};

use crate::emit::clone;
use crate::emit::{Emit, number};
use crate::expand::trips::{Carried, Loop, Map};
use crate::transports::engine;
use crate::transports::find::CopiedTile;

impl Loop<'_> {
    /// Whether a tile is copied late in the body.
    pub(crate) fn is_late(&self, tile: &CopiedTile) -> bool {
        self.tiles.late.as_ref().is_some_and(|late| late.contains(&tile.op))
    }

    /// Whether tiles have pipelined loads.
    pub(crate) fn has_early(&self) -> bool {
        self.tiles.tiles.iter().any(|tile| !self.is_late(tile))
    }

    /// Ring and payload of a tile: early ones and late ones are counted apart.
    pub(crate) fn payload(&self, tile: &CopiedTile) -> (&str, usize) {
        let late = self.is_late(tile);
        let same = self.tiles.tiles.iter().filter(|t| self.is_late(t) == late);
        let payload = same.take_while(|t| t.op != tile.op).count();
        (if late { self.ring.late } else { self.ring.name }, payload)
    }

    /// Looks integers up for an iteration that may not exist, where nothing is read then.
    fn look_up(
        &self,
        out: &mut Module,
        op: OpId,
        block: BlockId,
        guard: ValueId,
        map: &mut Map,
    ) -> Option<()> {
        let (operands, ty) = (out.ops[op].operands.clone(), out.ty(out.result(op)?).clone());
        let new = |index: usize| operands.get(index).map(|v| map.get(v).copied().unwrap_or(*v));
        let mut emit = Emit { out, block, loc: self.loc };
        let mask = guarded(&mut emit, new(1), guard, &ty);
        let other = new(2).unwrap_or_else(|| {
            let zero = emit.scalar(0, ty.elem());
            everywhere(&mut emit, zero, &ty)
        });
        clone(out, op, block, map);
        let copy = out.def_op(*map.get(&out.result(op)?)?)?;
        out.ops[copy].operands.truncate(1);
        out.ops[copy].operands.extend([mask, other]);
        Some(())
    }

    /// The copies of one iteration, of its late tiles or of the others, as a group; returns the carried values of the
    /// next one.
    pub(crate) fn copies(
        &self,
        out: &mut Module,
        block: BlockId,
        copied: &[Carried],
        now: &[ValueId],
        (index, guard, iterator): (ValueId, ValueId, [ValueId; 2]),
        late: bool,
    ) -> Option<Vec<ValueId>> {
        let mut map = Map::new();
        self.bind(out, block, copied, now, index, &mut map)?;
        for op in out.blocks[self.body].ops.clone() {
            if self.slice.ops.contains(op) {
                match out.ops[op].opcode {
                    Opcode::Load => self.look_up(out, op, block, guard, &mut map)?,
                    _ => clone(out, op, block, &mut map),
                }
            }
        }
        if self.engine {
            let mut tiles = Vec::new();
            let mut ring = self.ring.name;
            for tile in self.tiles.tiles.iter().filter(|tile| self.is_late(tile) == late) {
                ring = self.payload(tile).0;
                let operands = out.ops[tile.op].operands.iter();
                let operands = operands.map(|v| map.get(v).copied().unwrap_or(*v)).collect();
                tiles.push((tile.op, operands, tile.bytes()));
            }
            engine::fill(out, block, ring, iterator, guard, &tiles);
            let mut emit = Emit { out, block, loc: self.loc };
            return self.nexts(&mut emit, copied, now, &map);
        }
        for tile in self.tiles.tiles.iter().filter(|tile| self.is_late(tile) == late) {
            let (ring, payload) = self.payload(tile);
            let operands: Vec<ValueId> = out.ops[tile.op].operands.to_vec();
            let new = |index: usize| operands.get(index).map(|v| map.get(v).copied().unwrap_or(*v));
            let (pointers, mask, other) = (new(0)?, new(1), new(2));
            let loc = out.ops[tile.op].loc;
            let mut emit = Emit { out, block, loc };
            let mask = guarded(&mut emit, mask, guard, &tile.tile);
            let mut operands = vec![iterator[0], pointers, mask];
            operands.extend(other);
            let props = [("pipeline", Attr::symbol(ring)), ("payload", number(payload))];
            emit.op(Opcode::AsyncCopy, &operands, &[], &props);
        }
        let mut emit = Emit { out, block, loc: self.loc };
        emit.op(Opcode::AsyncCommit, &[], &[], &[]);
        self.nexts(&mut emit, copied, now, &map)
    }
}

/// The mask of an access to a tile or a scalar in an iteration that may not exist: what is given, and the guard last.
fn guarded(emit: &mut Emit<'_>, mask: Option<ValueId>, guard: ValueId, ty: &Type) -> ValueId {
    let flags = ty.with_elem(Type::I1);
    let all = everywhere(emit, guard, &flags);
    mask.map_or(all, |mask| emit.value(Opcode::AndI, &[mask, all], &flags))
}

/// A scalar in every element of a type.
fn everywhere(emit: &mut Emit<'_>, scalar: ValueId, ty: &Type) -> ValueId {
    if ty.is_tensor() { emit.value(Opcode::Splat, &[scalar], ty) } else { scalar }
}
