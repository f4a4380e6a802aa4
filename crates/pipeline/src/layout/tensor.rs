//! The rings of tensor memory: accumulators of products, operands written for them, and which of them share columns
//! (C24, C66, A47).

use warploom_bufassign::{Assignment, Record};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, Type};

use super::types::{Payload, ProgramLayout, Ring, RingUse};
use crate::buffers::problem::{accumulator_value, operand_value};
use crate::engines::tensor::table_columns;
use crate::loops::PartitionRole;
use crate::place::refuse;
use crate::select::{AccumulatorKind, Dot, Selection};

impl Ring {
    /// The columns of a slot of tensor memory.
    fn columns(&self, slot: u64) -> Option<(u64, u64)> {
        let payload = self.payloads.first().filter(|_| self.tensor())?;
        let first = payload.offset.checked_add(payload.stride.checked_mul(slot)?)?;
        Some((first, first + payload.columns()?))
    }
}

impl Payload {
    /// Columns of a tile in tensor memory: blocks of 128 rows side by side.
    fn columns(&self) -> Option<u64> {
        let (&[rows, cols], bits) = (self.tile.shape(), self.tile.elem_bits()?) else { return None };
        Some(rows.div_ceil(128) * (cols * u64::from(bits)).div_ceil(32))
    }
}

impl ProgramLayout {
    /// An accumulator is filled by products and read by the computing partition (C24); one that is made once is never
    /// given back.
    pub(super) fn accumulators(
        &mut self,
        module: &Module,
        selection: &Selection,
        assignment: &Assignment,
    ) -> Option<()> {
        let math = self.partitions.iter().find(|a| a.role == PartitionRole::Math)?.warps;
        for (index, accumulator) in selection.accumulators.iter().enumerate().filter(|(i, s)| s.home == *i) {
            let record = assignment.record(accumulator_value(selection, index))?;
            let dot = selection.dots.get(accumulator.dot)?;
            let plain = accumulator.kind == AccumulatorKind::Plain;
            let depth = if plain { accumulator.slots } else { record.depth };
            let tile = Type::tensor(&dot.extents[..2], module.ty(module.result(dot.op)?).elem().clone());
            let mut ring = self.tensor_ring(RingUse::Accumulator(index), record, tile)?;
            ring.payloads.extend(tables(module, dot, ring.payloads.first()?)?);
            for payload in ring.payloads.iter_mut().filter(|_| plain) {
                payload.stride = accumulator.columns;
            }
            let given_back = accumulator.looped || !plain;
            let (full, empty) = match (depth == record.depth, record.full, record.empty) {
                (true, Some(full), empty) if empty.is_some() || !given_back => (full, empty),
                _ => self.spare_barriers(depth)?,
            };
            (ring.handshake, ring.depth) = ("mma_to_generic", depth);
            (ring.full, ring.arrive_full) = (Some(full), 1);
            if given_back {
                (ring.empty, ring.arrive_empty) = (Some(empty?), math);
            }
            self.rings.push(ring);
        }
        Some(())
    }

    /// An operand is written by the computing partition and read by products (C24).
    pub(super) fn operands(
        &mut self,
        module: &Module,
        selection: &Selection,
        assignment: &Assignment,
    ) -> Option<()> {
        let math = self.partitions.iter().find(|a| a.role == PartitionRole::Math)?.warps;
        for (index, operand) in selection.operands.iter().enumerate().filter(|(i, f)| f.home == *i) {
            let record = assignment.record(operand_value(selection, index))?;
            let tile = module.ty(operand.value).clone();
            let ring = self.tensor_ring(RingUse::Operand(index), record, tile)?;
            let (full, empty) = (Some(record.full?), Some(record.empty?));
            let handshake = "generic_to_mma";
            self.rings.push(Ring { handshake, full, empty, arrive_full: math, arrive_empty: 1, ..ring });
        }
        Some(())
    }

    /// A ring of tensor memory where the assignment has it, without a handshake yet.
    fn tensor_ring(&self, usage: RingUse, record: &Record, tile: Type) -> Option<Ring> {
        let place = record.tmem?;
        let (name, offset, stride) = (record.name.clone(), place.column, place.stride);
        Some(self.bare_ring(usage, record.depth, Payload { name, tile, swizzle: 0, offset, stride }))
    }

    /// Barriers of an accumulator that has none from the assignment lie behind everything else; the address of tensor
    /// memory behind them.
    fn spare_barriers(&mut self, slots: u64) -> Option<(u64, Option<u64>)> {
        let (columns, slot) = self.tmem?;
        let first = slot.next_multiple_of(8);
        self.tmem = Some((columns, first + 16 * slots));
        self.shared = first + 16 * slots + 4;
        Some((first, Some(first + 8 * slots)))
    }

    /// Which operands lie over which products, slot by slot. Whoever takes a slot of the operand back knows that the
    /// product under it has been read too, for the operand was written over it: the product needs no barrier of its own
    /// for that. Nothing guards any other two that share columns.
    pub(super) fn overlays(&mut self, module: &Module, selection: &Selection) -> Result<(), Box<Diagnostic>> {
        let mut found = Vec::new();
        for (at, a) in self.rings.iter().enumerate() {
            for (other, b) in self.rings.iter().enumerate().skip(at + 1) {
                let slots = shared_slots(a, b);
                if slots.is_empty() {
                    continue;
                }
                let made = match (a.usage, b.usage) {
                    (RingUse::Accumulator(accumulator), RingUse::Operand(operand)) => {
                        let operand = selection.operands.get(operand);
                        let products = operand.map(|f| selection.products_of(module, f)).unwrap_or_default();
                        products.iter().any(|s| s.home == accumulator)
                    }
                    _ => false,
                };
                let together = a.depth == b.depth && slots.iter().all(|(x, y)| x == y);
                if !made || !together {
                    return Err(unguarded(module, selection, a, b));
                }
                found.push((at, other));
            }
        }
        for (accumulator, operand) in found {
            if let Some(ring) = self.rings.get_mut(accumulator) {
                (ring.under, ring.empty, ring.arrive_empty) = (Some(operand), None, 0);
            }
        }
        Ok(())
    }
}

/// The tables of scales of a product, one behind the other behind what it adds up (C69).
fn tables(module: &Module, dot: &Dot, sum: &Payload) -> Option<Vec<Payload>> {
    let mut offset = sum.offset.checked_add(sum.columns()?)?;
    let operands = module.ops[dot.op].operands.iter().skip(3);
    let mut found = Vec::new();
    for (&table, name) in operands.zip(["sa", "sb"]) {
        let tile = module.ty(table).clone();
        let columns = table_columns(&tile);
        found.push(Payload { name: name.to_owned(), tile, offset, ..sum.clone() });
        offset += columns;
    }
    Some(found)
}

/// The slots of two rings that share columns.
fn shared_slots(a: &Ring, b: &Ring) -> Vec<(u64, u64)> {
    let columns = |r: &Ring| (0..r.depth).filter_map(|k| Some((k, r.columns(k)?))).collect::<Vec<_>>();
    let others = columns(b);
    let meet = |x: (u64, u64), y: (u64, u64)| x.0 < y.1 && y.0 < x.1;
    let pairs = columns(a).into_iter().flat_map(|(k, x)| others.iter().map(move |&(l, y)| (k, x, l, y)));
    pairs.filter(|&(_, x, _, y)| meet(x, y)).map(|(k, _, l, _)| (k, l)).collect()
}

/// The refusal of two values that share columns without a handshake between them (A47).
fn unguarded(module: &Module, selection: &Selection, a: &Ring, b: &Ring) -> Box<Diagnostic> {
    let name = |r: &Ring| r.payloads.first().map(|p| p.name.clone()).unwrap_or_default();
    let text = format!(
        "{} and {} share columns of tensor memory, and no handshake orders the rings that they hold",
        name(a),
        name(b)
    );
    let op = match b.usage {
        RingUse::Operand(f) => selection.operands.get(f).and_then(|f| module.def_op(f.value)),
        RingUse::Accumulator(s) => {
            selection.accumulators.get(s).and_then(|s| selection.dots.get(s.dot)).map(|d| d.op)
        }
        _ => None,
    };
    let refusal = refuse(module, op.unwrap_or(selection.func), Code::Layout, text).rule("A47");
    Box::new(
        refusal.note("supported", "an operand over the product that it is made from, with as many buffers"),
    )
}
