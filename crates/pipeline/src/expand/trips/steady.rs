//! The steady state of an expanded loop: copies and computing of one trip (C23, C24, C28).

use std::collections::BTreeSet;

use warploom_ir::{BlockId, Module, OpId, Opcode, Type, ValueId};

use crate::emit::clone;
use crate::emit::{Emit, number};
use crate::expand::trips::{Carried, Loop, Map};
use crate::sets::IdSet;
use crate::transports::{engine, turns};

/// A trip of the expanded loop: where it is, and what it was given.
struct Trip<'a> {
    block: BlockId,
    index: ValueId,
    computing: &'a [ValueId],
    copying: &'a [ValueId],
}

/// What copies carry, what computing carries, and the operations that computing needs.
type Parts<'a> = (&'a [Carried], &'a [Carried], &'a IdSet<OpId>);

impl Loop<'_> {
    /// The loop itself. It carries what computing carries, what the copies carry, and the two iterators.
    pub(crate) fn steady(
        &self,
        out: &mut Module,
        copied: &[Carried],
        starts: &[ValueId],
        kept: &[Carried],
        live: &IdSet<OpId>,
        (read, write): ([ValueId; 2], [ValueId; 2]),
    ) -> Option<OpId> {
        let [lo, hi, step] = self.bounds;
        let index_type = out.ty(lo).clone();
        let mut emit = Emit { out, block: self.block, loc: self.loc };
        let mut operands = vec![lo, hi, step];
        for carried in kept {
            operands.push(match carried.step {
                Some(step) => {
                    let ty = emit.out.ty(step).clone();
                    emit.scalar(0, &ty)
                }
                None => carried.first,
            });
        }
        operands.extend(starts);
        operands.extend(match (self.tiles.late.is_some(), self.engine) {
            (false, _) => vec![read[0], read[1], write[0], write[1]],
            (true, true) => read.to_vec(),
            (true, false) => Vec::new(),
        });
        let types: Vec<Type> = operands.iter().skip(3).map(|&v| emit.out.ty(v).clone()).collect();
        let new = emit.op(Opcode::For, &operands, &types, &[]);
        out.ops[new].span = out.ops[self.old].span;
        let region = out.add_region(new);
        let inner = out.add_block(region);
        let index = out.add_arg(inner, index_type.clone(), self.loc);
        let name = self.args.first().and_then(|&v| out.values[v].name.clone());
        out.values[index].name = name;
        let args: Vec<ValueId> = types.iter().map(|ty| out.add_arg(inner, ty.clone(), self.loc)).collect();
        let (computing, rest) = args.split_at_checked(kept.len())?;
        let (copying, iterators) = rest.split_at_checked(copied.len())?;
        let trip = Trip { block: inner, index, computing, copying };
        let last = match (&self.tiles.late, iterators) {
            (None, &[read, read_phase, write, write_phase]) => {
                self.in_rings(out, &trip, (copied, kept, live), [read, read_phase], [write, write_phase])?
            }
            (Some(late), []) => self.in_turns(out, &trip, (copied, kept, live), late, None)?,
            (Some(late), &[slot, phase]) => {
                self.in_turns(out, &trip, (copied, kept, live), late, Some([slot, phase]))?
            }
            _ => return None,
        };
        Emit { out, block: inner, loc: self.loc }.op(Opcode::Yield, &last, &[], &[]);
        Some(new)
    }

    /// A trip with pipelined loads; what it yields.
    fn in_rings(
        &self,
        out: &mut Module,
        trip: &Trip<'_>,
        (copied, kept, live): Parts<'_>,
        read: [ValueId; 2],
        write: [ValueId; 2],
    ) -> Option<Vec<ValueId>> {
        let block = trip.block;
        if !self.engine {
            self.meet(out, block, self.distance - 1);
        }
        if self.ring.given_back && !self.engine {
            Emit { out, block, loc: self.loc }.ring(Opcode::ProducerAcquire, self.ring.name, &write, &[]);
        }
        let nexts = match self.ahead {
            true => self.none_left(out, block, trip.copying),
            false => {
                let (later, guard) = self.later(out, block, trip.index, self.distance)?;
                self.copies(out, block, copied, trip.copying, (later, guard, write), false)?
            }
        };
        if self.engine {
            self.come(out, block, self.ring.name, read);
        }
        let mut map = Map::new();
        self.bind(out, block, kept, trip.computing, trip.index, &mut map)?;
        for op in out.blocks[self.body].ops.clone() {
            if live.contains(op) {
                self.put(out, op, block, read[0], &mut map)?;
            }
        }
        if self.engine && !self.ring.given_back {
            self.give_back(out, block, self.ring.name, read);
        }
        let mut emit = Emit { out, block, loc: self.loc };
        let mut last = self.nexts(&mut emit, kept, trip.computing, &map)?;
        last.extend(nexts);
        last.extend(emit.advance(self.ring.name, read));
        last.extend(emit.advance(self.ring.name, write));
        Some(last)
    }

    /// A trip of a loop whose copies are all under way: an empty group, since groups are waited for by their number.
    fn none_left(&self, out: &mut Module, block: BlockId, copying: &[ValueId]) -> Vec<ValueId> {
        if !self.engine {
            Emit { out, block, loc: self.loc }.op(Opcode::AsyncCommit, &[], &[], &[]);
        }
        copying.to_vec()
    }

    /// A trip whose early and late tiles take turns; what it yields. Where all are late, they are copied when it
    /// begins. By TMA both rings are filled once a trip, and have the same (slot, phase).
    fn in_turns(
        &self,
        out: &mut Module,
        trip: &Trip<'_>,
        (copied, kept, live): Parts<'_>,
        late: &BTreeSet<OpId>,
        turn: Option<[ValueId; 2]>,
    ) -> Option<Vec<ValueId>> {
        let block = trip.block;
        let mut emit = Emit { out, block, loc: self.loc };
        let (always, zero, one) =
            (emit.scalar(1, &Type::I1), emit.scalar(0, &Type::I32), emit.scalar(1, &Type::I32));
        // The slot that is filled in this trip was read in the one before; the one for the next trip in this one.
        let (now, next) = match turn {
            Some([slot, phase]) => ([slot, emit.same(Opcode::XOrI, phase, one)], [slot, phase]),
            None => ([zero, zero], [zero, zero]),
        };
        if turn.is_none() {
            self.meet(out, block, 0);
        }
        let nexts = self.copies(out, block, copied, trip.copying, (trip.index, always, now), true)?;
        let early = self.has_early();
        if early {
            turn.into_iter().for_each(|turn| self.come(out, block, self.ring.name, turn));
        }
        let mut map = Map::new();
        self.bind(out, block, kept, trip.computing, trip.index, &mut map)?;
        let ops = out.blocks[self.body].ops.clone();
        let loads: Vec<OpId> = late.iter().copied().collect();
        let waiting = turns::views(out, &ops, &loads);
        let shown: BTreeSet<ValueId> = waiting.iter().filter_map(|&op| out.result(op)).collect();
        let mut met = false;
        for op in ops {
            if !live.contains(op) || waiting.contains(&op) {
                continue;
            }
            if !met && self.reads(out, op).iter().any(|v| shown.contains(v)) {
                met = true;
                match turn {
                    Some(turn) if early => self.give_back(out, block, self.ring.name, turn),
                    Some(_) => {}
                    None => self.meet(out, block, 0),
                }
                if early {
                    let (later, guard) = self.later(out, block, trip.index, self.distance)?;
                    self.copies(out, block, copied, &nexts, (later, guard, next), false)?;
                }
                turn.into_iter().for_each(|turn| self.come(out, block, self.ring.late, turn));
                for op in out.blocks[self.body].ops.clone() {
                    if waiting.contains(&op) && live.contains(op) {
                        self.put(out, op, block, zero, &mut map)?;
                    }
                }
            }
            self.put(out, op, block, zero, &mut map)?;
        }
        // Without a reader of the late tiles nothing would have asked for the early ones of the next trip.
        if !met {
            return None;
        }
        turn.into_iter().for_each(|turn| self.give_back(out, block, self.ring.late, turn));
        let mut emit = Emit { out, block, loc: self.loc };
        let mut last = self.nexts(&mut emit, kept, trip.computing, &map)?;
        last.extend(nexts);
        if let Some(turn) = turn {
            last.extend(emit.advance(self.ring.late, turn));
        }
        Some(last)
    }

    /// Waits until a slot has come by TMA.
    fn come(&self, out: &mut Module, block: BlockId, ring: &str, iterator: [ValueId; 2]) {
        Emit { out, block, loc: self.loc }.ring(Opcode::ConsumerWait, ring, &iterator, &[]);
    }

    /// Gives a slot back to the lane that copies by TMA, once all of it has been read.
    fn give_back(&self, out: &mut Module, block: BlockId, ring: &str, iterator: [ValueId; 2]) {
        let mut emit = Emit { out, block, loc: self.loc };
        emit.op(Opcode::ProxyFence, &[], &[], &[]);
        emit.ring(Opcode::ConsumerRelease, ring, &iterator, &[("lag", number(0))]);
    }

    /// An operation of the body in the expanded loop: a copied tile is a view of its slot.
    fn put(&self, out: &mut Module, op: OpId, block: BlockId, slot: ValueId, map: &mut Map) -> Option<()> {
        match self.tiles.tiles.iter().find(|t| t.op == op) {
            Some(tile) => {
                let (result, loc) = (out.result(op)?, out.ops[op].loc);
                let ty = out.ty(result).clone();
                let (ring, payload) = self.payload(tile);
                let mut emit = Emit { out, block, loc };
                let view = match &tile.plan {
                    Some(plan) => engine::view(&mut emit, ring, slot, payload, plan, &ty),
                    None => emit.slot(ring, slot, payload, ty),
                };
                map.insert(result, view);
            }
            None => clone(out, op, block, map),
        }
        Some(())
    }
}
