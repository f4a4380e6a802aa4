//! Tensor memory inside a loop, as the computing partition sees it (C24, C25, C66): products that it reads, what the
//! loop carries and it scales, and the operands that it writes for the next product.
//!
//! What the loop carries is handed to and fro: the computing partition starts it before the loop, waits in each trip
//! until the product of the trip before has added to it, scales it in place, and gives it to the product of this trip.
//! It is the one that is ahead, so its first wait, and the one behind a loop that ran no trip, find the phase before
//! the first.

use warploom_ir::{Attr, OpId, Opcode, ValueId};

use crate::emit::number;
use crate::layout::RingUse;
use crate::loops::PartitionRole;
use crate::select::AccumulatorKind;
use crate::specialize::walker::Walker;

impl Walker<'_, '_> {
    /// Where the ring of an operand stands in the layout.
    pub(super) fn operand_ring(&self, operand: usize) -> Option<usize> {
        let home = self.b.source.selection.operands.get(operand)?.home;
        self.b.source.layout.rings.iter().position(|r| r.usage == RingUse::Operand(home))
    }

    /// The operand that a value is.
    pub(super) fn operand_of(&self, value: ValueId) -> Option<usize> {
        self.b.source.selection.operands.iter().position(|f| f.value == value)
    }

    /// The accumulator that a loop carries and scales as this value.
    pub(super) fn scaled_as(&self, value: ValueId) -> Option<usize> {
        let accumulators = &self.b.source.selection.accumulators;
        accumulators
            .iter()
            .position(|s| matches!(s.kind, AccumulatorKind::Scaled { carried, .. } if carried == value))
    }

    /// The accumulator of a product that each trip reads.
    pub(super) fn read_product(&self, op: OpId) -> Option<usize> {
        let selection = self.b.source.selection;
        let of = |s: &crate::select::Accumulator| selection.dots.get(s.dot).is_some_and(|d| d.op == op);
        selection.accumulators.iter().position(|s| s.kind == AccumulatorKind::Read && of(s))
    }

    /// A view of an accumulator, waited for, as a value of the kernel.
    pub(super) fn view_accumulator(
        &mut self,
        accumulator: usize,
        value: ValueId,
        tag: usize,
        at: OpId,
    ) -> Option<usize> {
        let ring = self.accumulator_ring(accumulator)?;
        self.view_ring(ring, value, tag, at)?;
        Some(ring)
    }

    /// The slot that a ring is at, waited for, as a value of the kernel.
    pub(super) fn view_ring(&mut self, ring: usize, value: ValueId, tag: usize, at: OpId) -> Option<()> {
        let data = self.b.source.layout.rings.get(ring)?;
        let iterator = self.iterator(ring)?;
        let tile = data.payloads.first()?.tile.clone();
        let mut emit = self.emit(at);
        emit.ring(Opcode::ConsumerWait, &data.name, &iterator, &[]);
        let view = emit.slot(&data.name, iterator[0], 0, tile);
        self.scopes.get_mut(tag)?.bind(value, view);
        Some(())
    }

    /// The product of this trip, for the computing partition to read until the end of the trip.
    pub(super) fn open_product(&mut self, op: OpId, tag: usize) -> Option<()> {
        let accumulator = self.read_product(op).filter(|_| self.role == PartitionRole::Math)?;
        let value = self.module().result(op)?;
        let ring = self.view_accumulator(accumulator, value, tag, op)?;
        self.products.push(ring);
        Some(())
    }

    /// Gives back the products of this trip, those that nothing came to read as well. One under an operand is given
    /// back with it.
    pub(super) fn close_products(&mut self, at: OpId) -> Option<()> {
        let accumulators = self.b.source.selection.accumulators.iter().enumerate();
        let own = accumulators.filter(|(_, s)| {
            s.scf_for == at && s.kind == AccumulatorKind::Read && self.role == PartitionRole::Math
        });
        for ring in own.map(|(index, _)| self.accumulator_ring(index)).collect::<Option<Vec<_>>>()? {
            if !self.products.contains(&ring) {
                let iterator = self.iterator(ring)?;
                let name = &self.b.source.layout.rings.get(ring)?.name;
                self.emit(at).ring(Opcode::ConsumerWait, name, &iterator, &[]);
                self.products.push(ring);
            }
        }
        for ring in std::mem::take(&mut self.products) {
            match self.b.source.layout.rings.get(ring)?.under {
                None => self.hand_on(Opcode::ConsumerRelease, ring, [("lag", number(0))], at)?,
                Some(_) => self.go_on(ring, at)?,
            }
        }
        Some(())
    }

    /// Starts the accumulators of a loop that it scales: what the loop starts with goes to tensor memory.
    pub(super) fn start_accumulators(&mut self, scf_for: OpId) -> Option<()> {
        if self.role != PartitionRole::Math {
            return Some(());
        }
        for (index, accumulator) in self.b.source.selection.accumulators.iter().enumerate() {
            let (AccumulatorKind::Scaled { .. }, Some(at)) = (accumulator.kind, accumulator.at) else {
                continue;
            };
            if accumulator.scf_for != scf_for || accumulator.home != index {
                continue;
            }
            let initial = *self.module().ops[scf_for].operands.get(3 + at)?;
            let initial = self.read(initial, 0, scf_for)?;
            let ring = self.accumulator_ring(index)?;
            self.put(initial, ring, scf_for)?;
        }
        Some(())
    }

    /// What a computed tile is written to tensor memory for: a product reads it, or adds to it.
    pub(super) fn tensor_store(&mut self, op: OpId, tag: usize) -> Option<()> {
        let value = self.module().result(op)?;
        if let Some(operand) = self.operand_of(value) {
            let made = self.read(value, tag, op)?;
            let ring = self.operand_ring(operand)?;
            let layout = self.b.source.layout;
            // Over a product that was waited for, the slot is free: see the issuing partition.
            if !layout.rings.iter().any(|r| r.under == Some(ring)) {
                let iterator = self.iterator(ring)?;
                let name = &layout.rings.get(ring)?.name;
                self.emit(op).ring(Opcode::ProducerAcquire, name, &iterator, &[]);
            }
            self.put(made, ring, op)?;
            self.hand_on(Opcode::ProducerCommit, ring, [("bytes", number(0))], op)?;
        }
        let scaled = |s: &crate::select::Accumulator| matches!(s.kind, AccumulatorKind::Scaled { scaled, .. } if scaled == value);
        if let Some(accumulator) = self.b.source.selection.accumulators.iter().position(scaled) {
            let made = self.read(value, tag, op)?;
            let ring = self.accumulator_ring(accumulator)?;
            self.put(made, ring, op)?;
            self.hand_on(Opcode::ConsumerRelease, ring, [("lag", number(0))], op)?;
        }
        Some(())
    }

    /// Writes a tile into the slot that a ring is at.
    fn put(&mut self, value: ValueId, ring: usize, at: OpId) -> Option<()> {
        let slot = self.iterator(ring)?[0];
        let name = &self.b.source.layout.rings.get(ring)?.name;
        let props = [("pipeline", Attr::symbol(name)), ("payload", number(0))];
        self.emit(at).op(Opcode::TileStore, &[value, slot], &[], &props);
        Some(())
    }

    /// A commit or release of the slot that a ring is at; the walk goes on with the next one.
    pub(super) fn hand_on(
        &mut self,
        opcode: Opcode,
        ring: usize,
        props: [(&str, Attr); 1],
        at: OpId,
    ) -> Option<()> {
        let iterator = self.iterator(ring)?;
        let name = &self.b.source.layout.rings.get(ring)?.name;
        self.emit(at).ring(opcode, name, &iterator, &props);
        self.go_on(ring, at)
    }

    /// The walk goes on with the next slot of a ring.
    fn go_on(&mut self, ring: usize, at: OpId) -> Option<()> {
        let iterator = self.iterator(ring)?;
        let name = &self.b.source.layout.rings.get(ring)?.name;
        let next = self.emit(at).advance(name, iterator);
        self.bind_iterators(&[ring], &next);
        Some(())
    }
}
