//! Products that one lane issues into tensor memory, and who reads their accumulators (C24, C25, C66).
//!
//! The issuing partition takes a slot for the accumulator, goes through the loop's products, gives each operand slot
//! back by a commit, and hands the accumulator over by another. The computing partition waits for it where it first
//! reads it, and gives its slot back where the block that holds the loop ends.

use warploom_ir::{Attr, BlockId, OpId, Opcode, Type, ValueId};

use crate::buffers::depth::ScheduledLoop;
use crate::emit::number;
use crate::layout::RingUse;
use crate::loops::PartitionRole;
use crate::nest::is_inside;
use crate::select::{Accumulator, AccumulatorKind};
use crate::specialize::shape::LoopShape;
use crate::specialize::tensor_shape;
use crate::specialize::walker::Reading;
use crate::specialize::walker::{Issued, Iterator2, Walker};

impl Walker<'_, '_> {
    /// Where the ring of an accumulator stands in the layout.
    pub(super) fn accumulator_ring(&self, accumulator: usize) -> Option<usize> {
        let home = self.b.source.selection.accumulators.get(accumulator)?.home;
        self.b.source.layout.rings.iter().position(|r| r.usage == RingUse::Accumulator(home))
    }

    /// The accumulator that a result of a loop is.
    pub(super) fn accumulator_of(&self, scf_for: OpId, at: usize) -> Option<usize> {
        self.b.source.selection.accumulators.iter().position(|s| s.scf_for == scf_for && s.at == Some(at))
    }

    /// The rings of tensor memory whose iterators the partition carries through an operation.
    pub(super) fn tensor_rings_in(&self, op: OpId) -> Vec<usize> {
        let (module, selection) = (self.module(), self.b.source.selection);
        let inside = |scf_for: OpId| is_inside(module, scf_for, op);
        let goes = |accumulator: &Accumulator| match accumulator.kind {
            AccumulatorKind::Plain => accumulator.looped && inside(accumulator.scf_for),
            _ => accumulator.scf_for == op || inside(accumulator.scf_for),
        };
        let accumulators = selection
            .accumulators
            .iter()
            .enumerate()
            .filter(|(_, s)| goes(s))
            .map(|(i, _)| self.accumulator_ring(i));
        let written = |scf_for: OpId| scf_for == op || inside(scf_for);
        let operands = selection.operands.iter().enumerate().filter(|(_, f)| written(f.scf_for));
        let mut rings: Vec<usize> =
            accumulators.chain(operands.map(|(i, _)| self.operand_ring(i))).flatten().collect();
        rings.sort_unstable();
        rings.dedup();
        rings.retain(|_| self.role != PartitionRole::Load);
        rings
    }

    /// Waits for every accumulator that loops in front of an operation made and somebody reads: what is staged lies over
    /// operands of any product (B55).
    pub(super) fn wait_for_accumulators(&mut self, op: OpId) -> Option<()> {
        let (module, selection) = (self.module(), self.b.source.selection);
        let block = module.ops[op].block?;
        let place = |op: OpId| module.blocks[block].ops.iter().position(|&o| o == op);
        for accumulator in selection.accumulators.iter().filter(|s| s.kind != AccumulatorKind::Read) {
            let result = accumulator.at.and_then(|at| module.ops[accumulator.scf_for].results.get(at));
            let Some(&result) = result.filter(|&&v| self.needed.values.contains(v)) else { continue };
            let before = module.ops[accumulator.scf_for].block == Some(block)
                && place(accumulator.scf_for) < place(op);
            if before {
                self.value(result, 0)?;
            }
        }
        Some(())
    }

    /// Where the iterator of an accumulator stands; one that is made once has no other slot.
    fn accumulator_iterator(&self, accumulator: &Accumulator, ring: usize) -> Option<Iterator2> {
        if accumulator.looped || accumulator.kind != AccumulatorKind::Plain {
            self.iterator(ring)
        } else {
            Some([self.b.zero?, self.b.zero?])
        }
    }

    /// The issuing partition's loop of products.
    pub(super) fn issuing_loop(&mut self, scf_for: OpId, scheduled: &ScheduledLoop) -> Option<()> {
        let module = self.module();
        let (layout, selection) = (self.b.source.layout, self.b.source.selection);
        let plain: Vec<(usize, usize)> = (0..selection.accumulators.len())
            .filter(|&s| {
                let accumulator = selection.accumulators.get(s);
                accumulator.is_some_and(|s| s.scf_for == scf_for && s.kind == AccumulatorKind::Plain)
            })
            .map(|s| Some((s, self.accumulator_ring(s)?)))
            .collect::<Option<_>>()?;
        for &(accumulator, index) in &plain {
            let (accumulator, ring) = (selection.accumulators.get(accumulator)?, layout.rings.get(index)?);
            let iterator = self.accumulator_iterator(accumulator, index)?;
            if accumulator.looped {
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
        for (accumulator, index) in plain {
            let (accumulator, ring) = (selection.accumulators.get(accumulator)?, layout.rings.get(index)?);
            let iterator = self.accumulator_iterator(accumulator, index)?;
            let mut emit = self.emit(scf_for);
            emit.ring(Opcode::ProducerCommit, &ring.name, &iterator, &[("bytes", number(0))]);
            if accumulator.looped {
                let next = emit.advance(&ring.name, iterator);
                self.bind_iterators(&[index], &next);
            }
        }
        Some(())
    }

    /// The products of each trip, one trip after the other.
    fn issuing_body(&mut self, scf_for: OpId, shape: &LoopShape, adds_up: bool) -> Option<()> {
        let module = self.module();
        let bounds = self.bounds(scf_for)?;
        let rings = self.rings_in(scf_for);
        self.open_tiles_outside(scf_for)?;
        let opened = self.open_loop(scf_for, bounds, &[], &[], (&rings, &[]))?;
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
        self.close_loop(opened, yielded, &[], (&rings, &[]))?;
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

    /// One product of the issuing partition, in one iteration, with the handshakes of its accumulator and its operand.
    pub(super) fn issue_step(&mut self, op: OpId, tag: usize) -> Option<()> {
        let (layout, selection) = (self.b.source.layout, self.b.source.selection);
        let dot = selection.dots.iter().position(|d| d.op == op)?;
        let index = selection.accumulators.iter().position(|s| s.dot == dot)?;
        let (accumulator, ring) = (selection.accumulators.get(index)?, self.accumulator_ring(index)?);
        let iterator = self.accumulator_iterator(accumulator, ring)?;
        let data = layout.rings.get(ring)?;
        let keep = match accumulator.kind {
            AccumulatorKind::Plain => self.later?,
            _ => {
                // An operand in these columns was written when the product had been read, and must have been read as
                // well: slot for slot, both rings go round together.
                let last = data.under.and_then(|r| layout.rings.get(r)).unwrap_or(data);
                self.emit(op).ring(Opcode::ProducerAcquire, &last.name, &iterator, &[]);
                self.emit(op).flag(accumulator.kind != AccumulatorKind::Read)
            }
        };
        self.issue(op, tag, ring, iterator, keep)?;
        for (operand, data) in selection.operands.iter().enumerate() {
            if data.dot == dot {
                let ring = self.operand_ring(operand)?;
                self.hand_on(Opcode::ConsumerRelease, ring, [("lag", number(0))], op)?;
            }
        }
        match accumulator.kind {
            AccumulatorKind::Plain => Some(()),
            _ => self.hand_on(Opcode::ProducerCommit, ring, [("bytes", number(0))], op),
        }
    }

    /// The issuing partition's view of an operand, waited for.
    pub(super) fn open_operand(&mut self, operand: usize, tag: usize) -> Option<()> {
        let value = self.b.source.selection.operands.get(operand)?.value;
        let at = self.module().def_op(value)?;
        let ring = self.operand_ring(operand)?;
        self.view_ring(ring, value, tag, at)
    }

    /// One product, and the slots it was the last to read.
    fn issue(&mut self, op: OpId, tag: usize, ring: usize, iterator: Iterator2, keep: ValueId) -> Option<()> {
        let module = self.module();
        let [a, b] = module.ops[op].operands.get(..2)?.try_into().ok()?;
        // An operand is waited for last: it takes longest.
        if self.operand_of(a).is_some() {
            self.value(b, tag)?;
        }
        let mut read = vec![self.value(a, tag)?, self.value(b, tag)?, keep];
        for &table in module.ops[op].operands.iter().skip(3) {
            read.push(self.value(table, tag)?);
        }
        let opcode = if read.len() > 3 { Opcode::MmaBlockScaled } else { Opcode::Mma };
        let name = &self.b.source.layout.rings.get(ring)?.name;
        let props = [("payload", number(0))];
        let all: Vec<ValueId> = iterator.into_iter().take(1).chain(read).collect();
        let new = self.emit(op).ring(opcode, name, &all, &props);
        for (key, attr) in module.ops[op].props.iter() {
            if opcode == Opcode::MmaBlockScaled || matches!(key, "inputPrecision" | "maxNumImpreciseAcc") {
                self.b.out.ops[new].props.set(key, attr.clone());
            }
        }
        self.b.out.ops[new].span = module.ops[op].span;
        let issued = Issued { dot: op, tag, result: keep, operand: None, superseded: false };
        self.retire(&issued, 0, op);
        Some(())
    }

    fn compare(&mut self, predicate: &str, a: ValueId, b: ValueId, at: OpId) -> Option<ValueId> {
        let props = [("predicate", Attr::Opaque(predicate.to_owned()))];
        let op = self.emit(at).op(Opcode::CmpI, &[a, b], &[Type::I1], &props);
        self.b.out.result(op)
    }

    /// The computing partition's view of an accumulator: waited for now, zero where the loop ran no trip (C7).
    pub(super) fn open_accumulator(&mut self, scf_for: OpId, at: usize, tag: usize) -> Option<()> {
        let module = self.module();
        let index = self.accumulator_of(scf_for, at)?;
        let ring = self.accumulator_ring(index)?;
        let accumulator = self.b.source.selection.accumulators.get(index)?;
        let data = self.b.source.layout.rings.get(ring)?;
        if accumulator.kind != AccumulatorKind::Plain {
            let value = *module.ops[scf_for].results.get(at)?;
            return self.view_accumulator(index, value, tag, scf_for).map(|_| ());
        }
        let iterator = self.accumulator_iterator(accumulator, ring)?;
        let [lower, upper, _] = self.bounds(scf_for)?;
        self.emit(scf_for).ring(Opcode::ConsumerWait, &data.name, &iterator, &[]);
        let written = self.compare("slt", lower, upper, scf_for)?;
        let tile = data.payloads.first()?.tile.clone();
        let props = [("pipeline", Attr::symbol(&data.name)), ("payload", number(0))];
        let slot = self.emit(scf_for).op(Opcode::Slot, &[iterator[0], written], &[tile], &props);
        let view = self.b.out.result(slot)?;
        self.scopes.get_mut(tag)?.bind(*module.ops[scf_for].results.get(at)?, view);
        if accumulator.looped {
            self.reading.push(Reading { accumulator: index, ring });
        }
        Some(())
    }

    /// Gives back the accumulators of the loops that stand in a block, at its end.
    pub(super) fn close_accumulators(&mut self, block: BlockId) -> Option<()> {
        let (module, selection) = (self.module(), self.b.source.selection);
        let here = |r: &Reading| {
            selection
                .accumulators
                .get(r.accumulator)
                .is_some_and(|s| module.ops[s.scf_for].block == Some(block))
        };
        let (done, rest) = std::mem::take(&mut self.reading).into_iter().partition(here);
        self.reading = rest;
        let done: Vec<Reading> = done;
        for reading in done {
            let at = selection.accumulators.get(reading.accumulator)?.scf_for;
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
