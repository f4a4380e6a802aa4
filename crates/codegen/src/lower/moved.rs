//! Tiles whose elements stand elsewhere in another tile: reshapes, gathers, joins and splits. No element moves; it
//! is computed, or loaded, by the lane that wants it, at a place that is only known when the kernel runs.

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
        if let Some(coords) = regrouped(&to, &from, at, self.place.family, 32 * self.place.warps) {
            self.remember_place(key, &coords);
            return Ok(coords);
        }
        let mut place = self.row_major(&to, at)?;
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
        self.remember_place(key, &coords);
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
