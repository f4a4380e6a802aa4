//! Products that one lane issues into tensor memory, and who reads their sums (C24, C25, C66).
//!
//! The issuing agent takes a slot for the sum, goes through the loop's products, gives each operand slot back by a commit,
//! and hands the sum over by another. The computing agent waits for it where it first reads it, and gives its slot back
//! where the block that holds the loop ends.

use warploom_ir::{Attr, BlockId, OpId, Opcode, Type, ValueId};

use super::agent::{Iterator2, Walker};
use super::emit::number;
use super::products::Issued;
use super::shape::Shape;
use super::tensor_shape;
use crate::depth::Scheduled;
use crate::layout::RingUse;
use crate::loops::{Role, is_inside};
use crate::select::{Sum, SumKind};

/// A sum that was waited for and not yet given back.
pub(super) struct Reading {
    /// Which of the selection's sums.
    pub sum: usize,
    /// Where it stands in the layout.
    pub ring: usize,
}

impl Walker<'_, '_> {
    /// Where the ring of a sum stands in the layout.
    pub(super) fn sum_ring(&self, sum: usize) -> Option<usize> {
        let home = self.b.source.selection.sums.get(sum)?.home;
        self.b.source.layout.rings.iter().position(|r| r.usage == RingUse::Sum(home))
    }

    /// The sum that a result of a loop is.
    pub(super) fn sum_of(&self, scf_for: OpId, at: usize) -> Option<usize> {
        self.b.source.selection.sums.iter().position(|s| s.scf_for == scf_for && s.at == Some(at))
    }

    /// The rings of tensor memory whose iterators the agent carries through an operation.
    pub(super) fn tensor_rings_in(&self, op: OpId) -> Vec<usize> {
        let (module, selection) = (self.module(), self.b.source.selection);
        let inside = |scf_for: OpId| is_inside(module, scf_for, op);
        let goes = |sum: &Sum| match sum.kind {
            SumKind::Plain => sum.looped && inside(sum.scf_for),
            _ => sum.scf_for == op || inside(sum.scf_for),
        };
        let sums = selection.sums.iter().enumerate().filter(|(_, s)| goes(s)).map(|(i, _)| self.sum_ring(i));
        let written = |scf_for: OpId| scf_for == op || inside(scf_for);
        let factors = selection.factors.iter().enumerate().filter(|(_, f)| written(f.scf_for));
        let mut rings: Vec<usize> = sums.chain(factors.map(|(i, _)| self.factor_ring(i))).flatten().collect();
        rings.sort_unstable();
        rings.dedup();
        rings.retain(|_| self.role != Role::Load);
        rings
    }

    /// Where the iterator of a sum stands; one that is made once has no other slot.
    fn sum_iterator(&self, sum: &Sum, ring: usize) -> Option<Iterator2> {
        if sum.looped || sum.kind != SumKind::Plain {
            self.iterator(ring)
        } else {
            Some([self.b.zero?, self.b.zero?])
        }
    }

    /// The issuing agent's loop of products.
    pub(super) fn issuing_loop(&mut self, scf_for: OpId, scheduled: &Scheduled) -> Option<()> {
        let module = self.module();
        let (layout, selection) = (self.b.source.layout, self.b.source.selection);
        let plain: Vec<(usize, usize)> = (0..selection.sums.len())
            .filter(|&s| {
                let sum = selection.sums.get(s);
                sum.is_some_and(|s| s.scf_for == scf_for && s.kind == SumKind::Plain)
            })
            .map(|s| Some((s, self.sum_ring(s)?)))
            .collect::<Option<_>>()?;
        for &(sum, index) in &plain {
            let (sum, ring) = (selection.sums.get(sum)?, layout.rings.get(index)?);
            let iterator = self.sum_iterator(sum, index)?;
            if sum.looped {
                self.emit(scf_for).ring(Opcode::ProducerAcquire, &ring.name, &iterator, &[]);
            }
        }
        let shape = tensor_shape::issuing(module, scheduled, selection);
        match shape.stages {
            2 if plain.is_empty() => {
                self.open_tiles_outside(scf_for)?;
                self.rotated(scf_for, shape)?;
            }
            _ => self.issuing_body(scf_for, &shape, !plain.is_empty())?,
        }
        for (sum, index) in plain {
            let (sum, ring) = (selection.sums.get(sum)?, layout.rings.get(index)?);
            let iterator = self.sum_iterator(sum, index)?;
            let mut emit = self.emit(scf_for);
            emit.ring(Opcode::ProducerCommit, &ring.name, &iterator, &[("bytes", number(0))]);
            if sum.looped {
                let next = emit.advance(&ring.name, iterator);
                self.bind_iterators(&[index], &next);
            }
        }
        Some(())
    }

    /// The products of each trip, one trip after the other.
    fn issuing_body(&mut self, scf_for: OpId, shape: &Shape, adds_up: bool) -> Option<()> {
        let module = self.module();
        let bounds = self.bounds(scf_for)?;
        let rings = self.rings_in(scf_for);
        self.open_tiles_outside(scf_for)?;
        let opened = self.open_loop(scf_for, bounds, &[], &[], &rings)?;
        let body = module.entry(scf_for, 0)?;
        let counter = self.scopes.first()?.get(*module.blocks[body].args.first()?)?;
        self.later = match adds_up {
            true => Some(self.compare("ne", counter, bounds[0], scf_for)?),
            false => None,
        };
        for step in &shape.steps {
            self.issue_step(step.op, 0)?;
        }
        let yielded = module.terminator(body)?;
        self.close_loop(opened, yielded, &[], &rings)?;
        Some(())
    }

    /// Waits for the tiles that were loaded before a loop whose products read them.
    fn open_tiles_outside(&mut self, scf_for: OpId) -> Option<()> {
        let selection = self.b.source.selection;
        for dot in selection.dots.iter().filter(|d| is_inside(self.b.source.module, d.op, scf_for)) {
            for load in selection.loads.iter().enumerate().filter(|(l, _)| dot.reads(*l)).map(|(_, l)| l) {
                if !is_inside(self.b.source.module, load.op, scf_for) {
                    self.value(load.value, 0)?;
                }
            }
        }
        Some(())
    }

    /// One product of the issuing agent, in one iteration, with the handshakes of its sum and its factor.
    pub(super) fn issue_step(&mut self, op: OpId, tag: usize) -> Option<()> {
        let (layout, selection) = (self.b.source.layout, self.b.source.selection);
        let dot = selection.dots.iter().position(|d| d.op == op)?;
        let index = selection.sums.iter().position(|s| s.dot == dot)?;
        let (sum, ring) = (selection.sums.get(index)?, self.sum_ring(index)?);
        let iterator = self.sum_iterator(sum, ring)?;
        let data = layout.rings.get(ring)?;
        let keep = match sum.kind {
            SumKind::Plain => self.later?,
            _ => {
                // A factor in these columns was written when the product had been read, and must have been read as well: slot
                // for slot, both rings go round together.
                let last = data.under.and_then(|r| layout.rings.get(r)).unwrap_or(data);
                self.emit(op).ring(Opcode::ProducerAcquire, &last.name, &iterator, &[]);
                self.emit(op).flag(sum.kind != SumKind::Read)
            }
        };
        self.issue(op, tag, ring, iterator, keep)?;
        for (factor, data) in selection.factors.iter().enumerate() {
            if data.dot == dot {
                let ring = self.factor_ring(factor)?;
                self.hand_on(Opcode::ConsumerRelease, ring, [("lag", number(0))], op)?;
            }
        }
        match sum.kind {
            SumKind::Plain => Some(()),
            _ => self.hand_on(Opcode::ProducerCommit, ring, [("bytes", number(0))], op),
        }
    }

    /// The issuing agent's view of a factor, waited for.
    pub(super) fn open_factor(&mut self, factor: usize, tag: usize) -> Option<()> {
        let value = self.b.source.selection.factors.get(factor)?.value;
        let at = self.module().def_op(value)?;
        let ring = self.factor_ring(factor)?;
        self.view_ring(ring, value, tag, at)
    }

    /// One product, and the slots it was the last to read.
    fn issue(&mut self, op: OpId, tag: usize, ring: usize, iterator: Iterator2, keep: ValueId) -> Option<()> {
        let module = self.module();
        let [a, b] = module.ops[op].operands.get(..2)?.try_into().ok()?;
        // A factor is waited for last: it takes longest.
        if self.factor_of(a).is_some() {
            self.value(b, tag)?;
        }
        let (a, b) = (self.value(a, tag)?, self.value(b, tag)?);
        let name = &self.b.source.layout.rings.get(ring)?.name;
        let props = [("payload", number(0))];
        let new = self.emit(op).ring(Opcode::Mma, name, &[iterator[0], a, b, keep], &props);
        for (key, attr) in module.ops[op].props.iter() {
            if matches!(key, "inputPrecision" | "maxNumImpreciseAcc") {
                self.b.out.ops[new].props.set(key, attr.clone());
            }
        }
        self.b.out.ops[new].span = module.ops[op].span;
        let issued = Issued { dot: op, tag, result: keep, factor: None, superseded: false };
        self.retire(&issued, 0, op);
        Some(())
    }

    fn compare(&mut self, predicate: &str, a: ValueId, b: ValueId, at: OpId) -> Option<ValueId> {
        let props = [("predicate", Attr::Opaque(predicate.to_owned()))];
        let op = self.emit(at).op(Opcode::CmpI, &[a, b], &[Type::I1], &props);
        self.b.out.result(op)
    }

    /// The computing agent's view of a sum: waited for now, zero where the loop ran no trip (C7).
    pub(super) fn open_sum(&mut self, scf_for: OpId, at: usize, tag: usize) -> Option<()> {
        let module = self.module();
        let index = self.sum_of(scf_for, at)?;
        let ring = self.sum_ring(index)?;
        let sum = self.b.source.selection.sums.get(index)?;
        let data = self.b.source.layout.rings.get(ring)?;
        if sum.kind != SumKind::Plain {
            let value = *module.ops[scf_for].results.get(at)?;
            return self.view_sum(index, value, tag, scf_for).map(|_| ());
        }
        let iterator = self.sum_iterator(sum, ring)?;
        let [lower, upper, _] = self.bounds(scf_for)?;
        self.emit(scf_for).ring(Opcode::ConsumerWait, &data.name, &iterator, &[]);
        let written = self.compare("slt", lower, upper, scf_for)?;
        let tile = data.payloads.first()?.tile.clone();
        let props = [("pipeline", Attr::symbol(&data.name)), ("payload", number(0))];
        let slot = self.emit(scf_for).op(Opcode::Slot, &[iterator[0], written], &[tile], &props);
        let view = self.b.out.result(slot)?;
        self.scopes.get_mut(tag)?.bind(*module.ops[scf_for].results.get(at)?, view);
        if sum.looped {
            self.reading.push(Reading { sum: index, ring });
        }
        Some(())
    }

    /// Gives back the sums of the loops that stand in a block, at its end.
    pub(super) fn close_sums(&mut self, block: BlockId) -> Option<()> {
        let (module, selection) = (self.module(), self.b.source.selection);
        let here = |r: &Reading| {
            selection.sums.get(r.sum).is_some_and(|s| module.ops[s.scf_for].block == Some(block))
        };
        let (done, rest) = std::mem::take(&mut self.reading).into_iter().partition(here);
        self.reading = rest;
        let done: Vec<Reading> = done;
        for reading in done {
            let at = selection.sums.get(reading.sum)?.scf_for;
            let name = &self.b.source.layout.rings.get(reading.ring)?.name;
            let iterator = self.iterator(reading.ring)?;
            let mut emit = self.emit(at);
            emit.ring(Opcode::ConsumerRelease, name, &iterator, &[("lag", number(0))]);
            let next = emit.advance(name, iterator);
            self.bind_iterators(&[reading.ring], &next);
        }
        Some(())
    }
}
