//! Products that one lane issues into tensor memory, and who reads their sums (C24, C25, C66).
//!
//! The issuing agent takes a slot for the sum, goes through the loop's products, gives each operand slot back by a commit,
//! and hands the sum over by another. The computing agent waits for it where it first reads it, and gives its slot back
//! where the block that holds the loop ends.

use warploom_ir::{Attr, BlockId, OpId, Opcode, Type, ValueId};

use super::agent::{Iterator2, Walker};
use super::emit::number;
use super::products::Issued;
use crate::layout::RingUse;
use crate::loops::{Role, is_inside};
use crate::select::Sum;

/// A sum that was waited for and not yet given back.
pub(super) struct Reading {
    /// Which of the selection's sums.
    pub sum: usize,
    /// Where it stands in the layout.
    pub ring: usize,
}

impl Walker<'_, '_> {
    /// Where the ring of a sum stands in the layout.
    fn sum_ring(&self, sum: usize) -> Option<usize> {
        self.b.source.layout.rings.iter().position(|r| r.usage == RingUse::Sum(sum))
    }

    /// The sum that a result of a loop is.
    pub(super) fn sum_of(&self, scf_for: OpId, at: usize) -> Option<usize> {
        self.b.source.selection.sums.iter().position(|s| s.scf_for == scf_for && s.at == at)
    }

    /// The rings of sums that the agent goes through inside an operation.
    pub(super) fn sums_in(&self, op: OpId) -> Vec<usize> {
        let (module, sums) = (self.module(), &self.b.source.selection.sums);
        let inside = |sum: &Sum| sum.looped && is_inside(module, sum.scf_for, op);
        let found = sums.iter().enumerate().filter(|(_, s)| inside(s) && self.role != Role::Load);
        found.filter_map(|(index, _)| self.sum_ring(index)).collect()
    }

    /// Where the iterator of a sum stands; one that is made once has no other slot.
    fn sum_iterator(&self, sum: &Sum, ring: usize) -> Option<Iterator2> {
        if sum.looped { self.iterator(ring) } else { Some([self.b.zero?, self.b.zero?]) }
    }

    /// The issuing agent's loop of products.
    pub(super) fn issuing_loop(&mut self, scf_for: OpId) -> Option<()> {
        let module = self.module();
        let (layout, selection) = (self.b.source.layout, self.b.source.selection);
        let own: Vec<(usize, usize)> = (0..selection.sums.len())
            .filter(|&s| selection.sums.get(s).is_some_and(|s| s.scf_for == scf_for))
            .map(|s| Some((s, self.sum_ring(s)?)))
            .collect::<Option<_>>()?;
        for &(sum, index) in &own {
            let (sum, ring) = (selection.sums.get(sum)?, layout.rings.get(index)?);
            let iterator = self.sum_iterator(sum, index)?;
            if sum.looped {
                self.emit(scf_for).ring(Opcode::ProducerAcquire, &ring.name, &iterator, &[]);
            }
        }
        let bounds = self.bounds(scf_for)?;
        let rings = self.rings_in(scf_for);
        let opened = self.open_loop(scf_for, bounds, &[], &[], &rings)?;
        let body = module.entry(scf_for, 0)?;
        let counter = self.scopes.first()?.get(*module.blocks[body].args.first()?)?;
        let later = self.compare("ne", counter, bounds[0], scf_for)?;
        for op in module.blocks[body].ops.clone() {
            let dot = selection.dots.iter().position(|d| d.op == op);
            let sum = own.iter().find(|(s, _)| selection.sums.get(*s).map(|s| s.dot) == dot && dot.is_some());
            if let Some(&(sum, ring)) = sum {
                let iterator = self.sum_iterator(selection.sums.get(sum)?, ring)?;
                self.issue(op, ring, iterator, later)?;
            }
        }
        let yielded = module.terminator(body)?;
        self.close_loop(opened, yielded, &[], &rings)?;
        for (sum, index) in own {
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

    /// One product, and the slots it was the last to read.
    fn issue(&mut self, op: OpId, ring: usize, iterator: Iterator2, keep: ValueId) -> Option<()> {
        let module = self.module();
        let [a, b] = module.ops[op].operands.get(..2)?.try_into().ok()?;
        let (a, b) = (self.value(a, 0)?, self.value(b, 0)?);
        let name = &self.b.source.layout.rings.get(ring)?.name;
        let props = [("payload", number(0))];
        let new = self.emit(op).ring(Opcode::Mma, name, &[iterator[0], a, b, keep], &props);
        for (key, attr) in module.ops[op].props.iter() {
            if matches!(key, "inputPrecision" | "maxNumImpreciseAcc") {
                self.b.out.ops[new].props.set(key, attr.clone());
            }
        }
        self.b.out.ops[new].span = module.ops[op].span;
        let issued = Issued { dot: op, tag: 0, result: keep, factor: None, superseded: false };
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
