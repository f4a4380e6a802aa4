//! The rings of tensor memory: sums of products, factors written for them, and which of them share columns
//! (C24, C66, A47).

use warploom_bufassign::Assignment;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, Type};

use super::{Layout, Payload, Ring, RingUse};
use crate::loops::Role;
use crate::place::refuse;
use crate::problem::{factor_value, sum_value};
use crate::select::{Selection, SumKind};

impl Ring {
    /// Whether its slots lie in tensor memory.
    fn tensor(&self) -> bool {
        matches!(self.usage, RingUse::Sum(_) | RingUse::Factor(_))
    }

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

impl Layout {
    /// A sum is filled by products and read by the computing agent (C24); one that is made once is never given back.
    pub(super) fn sums(
        &mut self,
        module: &Module,
        selection: &Selection,
        assignment: &Assignment,
    ) -> Option<()> {
        let math = self.agents.iter().find(|a| a.role == Role::Math)?.warps;
        for (index, sum) in selection.sums.iter().enumerate().filter(|(i, s)| s.home == *i) {
            let record = assignment.record(sum_value(selection, index))?;
            let dot = selection.dots.get(sum.dot)?;
            let place = record.tmem?;
            let plain = sum.kind == SumKind::Plain;
            let (depth, stride) = if plain { (sum.slots, sum.columns) } else { (record.depth, place.stride) };
            let payload = Payload {
                name: record.name.clone(),
                tile: Type::tensor(&dot.extents[..2], module.ty(module.result(dot.op)?).elem().clone()),
                swizzle: 0,
                offset: place.column,
                stride,
            };
            let given_back = sum.looped || !plain;
            let (full, empty) = match (depth == record.depth, record.full, record.empty) {
                (true, Some(full), empty) if empty.is_some() || !given_back => (full, empty),
                _ => self.spare_barriers(depth)?,
            };
            self.rings.push(Ring {
                usage: RingUse::Sum(index),
                name: self.next_name(),
                handshake: "mma_to_generic",
                depth,
                payloads: vec![payload],
                bytes: 0,
                full: Some(full),
                empty: if given_back { Some(empty?) } else { None },
                arrive_full: 1,
                arrive_empty: if given_back { math } else { 0 },
                under: None,
            });
        }
        Some(())
    }

    /// A factor is written by the computing agent and read by products (C24).
    pub(super) fn factors(
        &mut self,
        module: &Module,
        selection: &Selection,
        assignment: &Assignment,
    ) -> Option<()> {
        let math = self.agents.iter().find(|a| a.role == Role::Math)?.warps;
        for (index, factor) in selection.factors.iter().enumerate().filter(|(i, f)| f.home == *i) {
            let record = assignment.record(factor_value(selection, index))?;
            let place = record.tmem?;
            let payload = Payload {
                name: record.name.clone(),
                tile: module.ty(factor.value).clone(),
                swizzle: 0,
                offset: place.column,
                stride: place.stride,
            };
            self.rings.push(Ring {
                usage: RingUse::Factor(index),
                name: self.next_name(),
                handshake: "generic_to_mma",
                depth: record.depth,
                payloads: vec![payload],
                bytes: 0,
                full: Some(record.full?),
                empty: Some(record.empty?),
                arrive_full: math,
                arrive_empty: 1,
                under: None,
            });
        }
        Some(())
    }

    /// Barriers of a sum that has none from the assignment lie behind everything else; the address of tensor memory
    /// behind them.
    fn spare_barriers(&mut self, slots: u64) -> Option<(u64, Option<u64>)> {
        let (columns, slot) = self.tmem?;
        let first = slot.next_multiple_of(8);
        self.tmem = Some((columns, first + 16 * slots));
        self.shared = first + 16 * slots + 4;
        Some((first, Some(first + 8 * slots)))
    }

    /// Which factors lie over which products, slot by slot. The handshakes of a product and the factor made from it guard
    /// both; nothing guards any other two that share columns.
    pub(super) fn overlays(&mut self, module: &Module, selection: &Selection) -> Result<(), Box<Diagnostic>> {
        let mut found = Vec::new();
        for (at, a) in self.rings.iter().enumerate() {
            for (other, b) in self.rings.iter().enumerate().skip(at + 1) {
                let slots = shared_slots(a, b);
                if slots.is_empty() {
                    continue;
                }
                let made = match (a.usage, b.usage) {
                    (RingUse::Sum(sum), RingUse::Factor(factor)) => {
                        let factor = selection.factors.get(factor);
                        let products = factor.map(|f| selection.products_of(module, f)).unwrap_or_default();
                        products.iter().any(|s| s.home == sum)
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
        for (sum, factor) in found {
            if let Some(ring) = self.rings.get_mut(sum) {
                ring.under = Some(factor);
            }
        }
        Ok(())
    }
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
        "{} and {} share columns of tensor memory, and no hand-over orders the rings that they hold",
        name(a),
        name(b)
    );
    let op = match b.usage {
        RingUse::Factor(f) => selection.factors.get(f).and_then(|f| module.def_op(f.value)),
        RingUse::Sum(s) => selection.sums.get(s).and_then(|s| selection.dots.get(s.dot)).map(|d| d.op),
        _ => None,
    };
    let refusal = refuse(module, op.unwrap_or(selection.func), Code::Layout, text).rule("A47");
    Box::new(
        refusal.note("supported", "a factor over the product that it is made from, with as many buffers"),
    )
}
