//! Tiles whose elements stand elsewhere in another tile: reshapes, gathers, joins and splits. No element moves; it
//! is computed, or loaded, by the lane that wants it, at a place that is only known when the kernel runs.

use std::ops::Range;

use inkwell::IntPredicate;
use inkwell::values::IntValue;
use smallvec::SmallVec;
use warploom_ir::{OpId, Opcode, ValueId};

use super::Lower;
use super::regroup::regrouped;
use super::shape::squeezed;
use super::tile::Needs;
use super::value::{Base, Coord, Coords, Key};
use crate::error::{Result, internal};
use crate::llvm::Val;

impl<'c> Lower<'c, '_> {
    /// A coordinate that code computes.
    pub(super) fn computed(&mut self, value: IntValue<'c>) -> Coord {
        self.places.push(value);
        Coord { base: Base::Computed(self.places.len() as u32 - 1), offset: 0 }
    }

    /// Where the element of a reshaped tile stands in its source, both in the order of rows.
    pub(super) fn reshaped(&mut self, key: &Key, source: ValueId) -> Result<Coords> {
        if let Some(known) = self.moved.get(key) {
            return Ok(known.clone());
        }
        let (value, at) = key;
        let to: SmallVec<[u64; 5]> = self.module.ty(*value).shape().into();
        let from: SmallVec<[u64; 5]> = self.module.ty(source).shape().into();
        let (lanes, rank) = (32 * self.place.warps, from.len());
        if let Some(coords) = regrouped(&to, &from, at, self.place.family, lanes) {
            self.remember_place(key, &coords);
            return Ok(coords);
        }
        let mut coords = Coords::new();
        for (own, theirs) in blocks(&to, &from) {
            let (to, from) = (&to[own.clone()], &from[theirs.clone()]);
            let place: Coords = at[own.clone()].iter().copied().collect();
            if let Some(found) = regrouped(to, from, &place, self.place.family, lanes) {
                coords.extend(found);
                continue;
            }
            // Elements that differ elsewhere alone have it from one place: that of the one with nothing elsewhere.
            let mut alone: Coords = std::iter::repeat_n(Coord::ZERO, at.len()).collect();
            alone[own].copy_from_slice(&place);
            let key = (*value, alone);
            let known = self.moved.get(&key).map(|known| known[theirs.clone()].iter().copied().collect());
            let found: Coords = match known {
                Some(found) => found,
                None => {
                    let found = self.place_of(to, from, &place)?;
                    let mut whole: Coords = std::iter::repeat_n(Coord::ZERO, rank).collect();
                    whole[theirs].copy_from_slice(&found);
                    self.remember_place(&key, &whole);
                    found
                }
            };
            coords.extend(found);
        }
        self.remember_place(key, &coords);
        Ok(coords)
    }

    /// The same by the number of the element.
    fn place_of(&mut self, to: &[u64], from: &[u64], at: &Coords) -> Result<Coords> {
        let mut place = self.row_major(to, at)?;
        let mut coords = Coords::new();
        for &extent in from.iter().rev() {
            let coord = match extent {
                1 => Coord::ZERO,
                _ => {
                    let rest = self.ir.remainder(place, extent)?;
                    self.computed(rest)
                }
            };
            coords.push(coord);
            place = self.ir.quotient(place, extent)?;
        }
        coords.reverse();
        Ok(coords)
    }

    /// What an element of `tt.gather` needs: its index, and once that is known, the element it names.
    pub(super) fn gather_needs(&mut self, op: OpId, key: &Key) -> Result<Needs> {
        let (source, indices) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let index = self.key(indices, key.1.clone());
        let mut needs = Needs::new();
        needs.push(index.clone());
        let known = self.moved.get(key).cloned();
        let coords = match (known, self.memo.get(&index).copied()) {
            (Some(coords), _) => coords,
            (None, Some(index)) => {
                let axis = self.axis(op, key.1.len())?;
                let index = self.index(index)?;
                let mut coords = key.1.clone();
                coords[axis] = self.computed(index);
                self.remember_place(key, &coords);
                coords
            }
            (None, None) => return Ok(needs),
        };
        needs.push(self.key(source, coords));
        Ok(needs)
    }

    fn remember_place(&mut self, key: &Key, coords: &Coords) {
        self.moved_log.push(key.clone());
        self.moved.insert(key.clone(), coords.clone());
    }

    /// `tt.split`: the halves along the last dimension.
    pub(super) fn split(&mut self, op: OpId) -> Result<()> {
        let lazy = self.lazy_of(self.operand(op, 0)?);
        for &result in &self.module.ops[op].results {
            let rank = self.module.ty(result).shape().len();
            let varies = lazy.varies & ((1 << rank) - 1);
            self.defer(result, super::value::Lazy { varies, ..lazy })?;
        }
        Ok(())
    }

    /// An element of `tt.join`, of those at its place in both operands.
    pub(super) fn joined(&mut self, at: &Coords, args: &[Val<'c>]) -> Result<Val<'c>> {
        let (&[first, second], Some(&last)) = (args, at.last()) else {
            return Err(internal("a join of other than two tiles"));
        };
        if last.base == Base::Zero {
            return Ok(if last.offset == 0 { first } else { second });
        }
        let place = self.coordinate(last)?;
        let low = self.ir.icmp(IntPredicate::EQ, place, self.ir.c32(0))?;
        self.ir.select(low, first, second)
    }

    /// Whether an operation takes elements from other places than their own.
    pub(super) fn moves(&self, op: OpId) -> bool {
        let shape = |value: ValueId| squeezed(self.module.ty(value).shape());
        match (self.module.ops[op].opcode, self.module.ops[op].operands.first(), self.module.result(op)) {
            (Opcode::Gather, ..) => true,
            (Opcode::Reshape, Some(&from), Some(to)) => shape(from) != shape(to),
            _ => false,
        }
    }
}

/// The dimensions of two shapes of as many elements, cut where both are.
fn blocks(to: &[u64], from: &[u64]) -> Vec<(Range<usize>, Range<usize>)> {
    let (mut all, mut own, mut theirs) = (Vec::new(), 0..0, 0..0);
    let (mut left, mut right) = (1u64, 1u64);
    loop {
        let (shape, dims, product) = match left <= right {
            true => (to, &mut own, &mut left),
            false => (from, &mut theirs, &mut right),
        };
        let Some(&extent) = shape.get(dims.end) else { break };
        dims.end += 1;
        *product = product.saturating_mul(extent);
        if left == right && left > 1 {
            all.push((own.clone(), theirs.clone()));
            (own, theirs) = (own.end..own.end, theirs.end..theirs.end);
            (left, right) = (1, 1);
        }
    }
    // Extents of 1 go with the last.
    match all.last_mut() {
        Some(last) => (last.0.end, last.1.end) = (to.len(), from.len()),
        None => all.push((0..to.len(), 0..from.len())),
    }
    all
}
