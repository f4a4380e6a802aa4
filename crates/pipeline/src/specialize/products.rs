//! Products of the computing partition: slots waited for where they are first read, waits where a result is, slots
//! given back where the last product that reads them is known to be finished (C24, C30, C45, C46).

use warploom_ir::{Attr, OpId, Opcode, ValueId};

use crate::emit::number;
use crate::specialize::walker::Walker;
use crate::specialize::walker::{Issued, Open};

impl Walker<'_, '_> {
    /// Waits for the slot that a copy fills and looks at all its tiles.
    pub(super) fn open_slot(&mut self, op: OpId, tag: usize) -> Option<()> {
        let selection = self.b.source.selection;
        let (index, _) = selection.ring_of(selection.load(op)?)?;
        let data = selection.rings.get(index)?;
        let filling = data
            .uses
            .iter()
            .find(|u| u.loads.iter().any(|&l| selection.loads.get(l).is_some_and(|l| l.op == op)))?;
        let ring = self.b.source.layout.rings.get(index)?;
        let iterator = if data.looped { self.iterator(index)? } else { [self.b.zero?, self.b.zero?] };
        let mut emit = self.emit(op);
        emit.ring(Opcode::ConsumerWait, &ring.name, &iterator, &[]);
        let mut slots = Vec::new();
        for (payload, tile) in ring.payloads.iter().enumerate() {
            slots.push(emit.slot(&ring.name, iterator[0], payload, tile.tile.clone()));
        }
        for (&load, slot) in filling.loads.iter().zip(slots) {
            let value = selection.loads.get(load)?.value;
            // Products look through what the tile is called; others read it as the kernel has it.
            let multiplied = selection.dots.iter().any(|d| d.reads(load));
            let wanted = self.module().ty(value);
            let slot = if multiplied { slot } else { self.emit(op).shaped(slot, wanted) };
            self.scopes.get_mut(tag)?.bind(value, slot);
        }
        if data.looped {
            let reads = |dot: &&crate::select::Dot| filling.loads.iter().any(|&l| dot.reads(l));
            let readers = selection.dots.iter().filter(reads).map(|d| d.op).collect();
            self.open.push(Open { ring: index, tag, readers });
        }
        Some(())
    }

    /// Issues a product.
    pub(super) fn product(&mut self, op: OpId, tag: usize) -> Option<()> {
        let module = self.module();
        let [a, b, into] = module.ops[op].operands.get(..3)?.try_into().ok()?;
        let from = [self.read(a, tag, op)?, self.read(b, tag, op)?];
        let into = self.value(into, tag)?;
        let into = self.waited.get(&into).copied().unwrap_or(into);
        self.take_turn(op);
        for issued in self.issued.iter_mut().filter(|i| i.result == into) {
            issued.superseded = true;
        }
        let old = &module.ops[op];
        let ty = self.b.out.ty(into).clone();
        let new = self.b.out.create_op(Opcode::Dot, &[from[0], from[1], into], &[ty], old.loc);
        self.b.out.ops[new].props = old.props.clone();
        self.b.out.ops[new].span = old.span;
        let block = self.at;
        self.b.out.append(block, new);
        let result = self.b.out.result(new)?;
        self.scopes.get_mut(tag)?.bind(module.result(op)?, result);
        let dot = self.b.source.selection.dots.iter().find(|d| d.op == op)?;
        let operand = (dot.a == crate::select::OperandSource::Registers).then_some(a);
        self.issued.push_back(Issued { dot: op, tag, result, operand, superseded: false });
        self.pass_turn(op);
        Some(())
    }

    /// The wait of its own behind a product that only the next one reads: the slots used `pending` trips ago are free.
    pub(super) fn lagging_wait(&mut self, op: OpId, tag: usize) -> Option<()> {
        let module = self.module();
        let pending = module.attr(op, "pending").and_then(Attr::as_i64).unwrap_or(0);
        let pending = u64::try_from(pending).unwrap_or(0);
        let product = *module.ops[op].operands.first()?;
        let made = self.value(product, tag)?;
        let waited = self.emit(op).mma_wait(&[made], pending);
        self.scopes.get_mut(tag)?.bind(module.result(op)?, *waited.first()?);
        let at = self.issued.iter().position(|i| i.result == made)?;
        let issued = self.issued.remove(at)?;
        self.retire(&issued, pending, op);
        Some(())
    }

    /// Waits for a product, if a value is the result of one that may be unfinished; older ones finish with it.
    pub(super) fn finish(&mut self, made: ValueId, at: OpId) {
        let Some(position) = self.issued.iter().position(|i| i.result == made) else { return };
        let younger = self.issued.len() - 1 - position;
        let done: Vec<Issued> = self.issued.drain(..=position).collect();
        let results: Vec<ValueId> = done.iter().filter(|i| !i.superseded).map(|i| i.result).collect();
        let behind = self.emit(at).mma_wait(&results, younger as u64);
        self.waited.extend(results.into_iter().zip(behind));
        for issued in &done {
            self.retire(issued, 0, at);
        }
    }

    /// Waits for every product that nothing waited for yet.
    pub(super) fn drain(&mut self, at: OpId) {
        if let Some(result) = self.issued.back().map(|i| i.result) {
            self.finish(result, at);
        }
    }

    /// An operand in registers is not overwritten while a product reads it (C46).
    pub(super) fn before_overwrite(&mut self, op: OpId) {
        let results = &self.module().ops[op].results;
        let reads = |i: &Issued| i.operand.is_some_and(|f| results.contains(&f));
        if let Some(result) = self.issued.iter().rev().find(|i| reads(i)).map(|i| i.result) {
            self.finish(result, op);
        }
    }

    /// Gives back the slots that a finished product was the last to read.
    pub(super) fn retire(&mut self, issued: &Issued, lag: u64, at: OpId) {
        let mut free = Vec::new();
        self.open.retain_mut(|open| {
            if open.tag == issued.tag {
                open.readers.remove(&issued.dot);
            }
            if open.readers.is_empty() {
                free.push(open.ring);
            }
            !open.readers.is_empty()
        });
        for index in free {
            match lag {
                0 => self.lagging.remove(&index),
                _ => self.lagging.insert(index),
            };
            let (Some(iterator), Some(ring)) = (self.iterator(index), self.b.source.layout.rings.get(index))
            else {
                continue;
            };
            let mut emit = self.emit(at);
            emit.ring(Opcode::ConsumerRelease, &ring.name, &iterator, &[("lag", number(lag))]);
            let next = emit.advance(&ring.name, iterator);
            self.bind_iterators(&[index], &next);
        }
    }
}
