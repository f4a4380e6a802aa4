//! Tiles that no family lays out: small ones, which every lane holds whole, and others, whose elements, numbered row by
//! row, the lanes of the partition hold in turn (G2).

use std::rc::Rc;

use inkwell::IntPredicate;
use warploom_ir::ValueId;
use warploom_ir::diag::Code;

use super::Lower;
use super::distributed::Distributed;
use super::value::{Base, Coord, Coords, Form};
use crate::error::{Result, internal, refuse};
use crate::family::{Axis, Family};
use crate::llvm::Val;

/// Elements of a tile that every lane may hold whole.
pub(super) const WHOLE: u64 = 64;

impl<'c> Lower<'c, '_> {
    /// Where the elements stand that a lane holds of a value, one after the other.
    pub(super) fn places(&self, value: ValueId, family: Family, form: Form) -> Result<Vec<Coords>> {
        let shape = self.module.ty(value).shape();
        let elements: u64 = shape.iter().product();
        Ok(match form {
            Form::Tile { cols, .. } => {
                let (rows, _) = self.matrix(value)?;
                (0..family.count(rows, cols)?)
                    .map(|i| self.place_at(value, family, i))
                    .collect::<Result<_>>()?
            }
            Form::Slice { axis, extent } => {
                let held = family.held(axis, extent)?.into_iter();
                held.map(|offset| self.slice_at(value, family, axis, offset)).collect()
            }
            Form::Whole => (0..elements).map(|i| flat_place(shape, 0, i)).collect(),
            Form::Flat => {
                let bits = self.flat_bits(elements)?;
                (0..elements >> bits).map(|i| flat_place(shape, bits, i)).collect()
            }
            Form::Linear(number) => self.distributed(number)?.places.clone(),
        })
    }

    /// The layout of a form of this number.
    pub(super) fn distributed(&self, number: u32) -> Result<Rc<Distributed>> {
        self.layouts.get(number).cloned().ok_or_else(|| internal("a layout that nobody noted"))
    }

    /// How many bits of an element's number the number of the lane that holds it gives.
    pub(super) fn flat_bits(&self, elements: u64) -> Result<u32> {
        let lanes = 32 * self.place.warps;
        if !lanes.is_power_of_two() || !elements.is_power_of_two() {
            let text = format!("{elements} elements in turns of {lanes} lanes");
            let error = refuse(Code::Shape, text).rule("G2");
            return Err(error.note("needs", "powers of two").into());
        }
        Ok(lanes.min(elements).trailing_zeros())
    }

    /// Which register of a lane holds the element at a position; `None` where that is another lane's.
    pub(super) fn flat_index(&self, shape: &[u64], at: &Coords) -> Result<Option<u64>> {
        let elements: u64 = shape.iter().product();
        let bits = self.flat_bits(elements)?;
        let mut number = 0;
        for (coord, extent) in at.iter().zip(shape) {
            number = number * extent + u64::from(coord.offset);
        }
        let own = flat_place(shape, bits, number >> bits);
        Ok(self.is_same(&own, at).then_some(number >> bits))
    }

    /// Whether two positions are the same in every lane, however they are said.
    pub(super) fn is_same(&self, one: &Coords, other: &Coords) -> bool {
        one.len() == other.len()
            && one.iter().zip(other).all(|(a, b)| a.offset == b.offset && self.starts_alike(a.base, b.base))
    }

    /// Whether coordinates start at the same number in every lane: numbers that lanes start at are linear in the bits of
    /// their own (G1), so that the bits say it.
    pub(super) fn starts_alike(&self, one: Base, other: Base) -> bool {
        let lanes = 32 * self.place.warps;
        let mut bits = (0..64).map(|bit| 1 << bit).take_while(|&bit| bit < lanes);
        one == other || bits.all(|bit| one.of(bit).is_some_and(|start| Some(start) == other.of(bit)))
    }

    /// An element of a small tile, all of which are in registers.
    pub(super) fn whole_element(
        &mut self,
        shape: &[u64],
        registers: &[Val<'c>],
        at: &Coords,
    ) -> Result<Val<'c>> {
        let missing = || internal("an element out of range");
        if at.iter().all(|coord| coord.base == Base::Zero) {
            let number = at.iter().zip(shape).fold(0, |n, (c, extent)| n * extent + u64::from(c.offset));
            return registers.get(number as usize).copied().ok_or_else(missing);
        }
        let number = self.row_major(shape, at)?;
        let (first, rest) = registers.split_first().ok_or_else(missing)?;
        let mut found = *first;
        for (n, &register) in (1u64..).zip(rest) {
            let here = self.ir.icmp(IntPredicate::EQ, number, self.ir.c32(n))?;
            found = self.ir.select(here, register, found)?;
        }
        Ok(found)
    }

    /// The number of an element, row by row.
    pub(super) fn row_major(&mut self, shape: &[u64], at: &Coords) -> Result<inkwell::values::IntValue<'c>> {
        let mut number = self.ir.c32(0);
        for (coord, extent) in at.iter().zip(shape) {
            let coord = self.coordinate(*coord)?;
            number = self.ir.add(self.ir.scale(number, *extent)?, coord)?;
        }
        Ok(number)
    }

    /// Whether this lane acts for an element where several hold it; `None` where each has its own (G11).
    pub(super) fn owner(&mut self, value: ValueId, family: Family, form: Form) -> Result<Option<Val<'c>>> {
        match form {
            Form::Tile { .. } => Ok(None),
            Form::Slice { axis, .. } => {
                let other = if axis == Axis::Row { Axis::Col } else { Axis::Row };
                let place = family.first(self, other)?;
                Ok(Some(self.ir.icmp(IntPredicate::EQ, place, self.ir.c32(0))?.into()))
            }
            Form::Whole => self.first_thread().map(Some),
            Form::Flat => {
                let elements: u64 = self.module.ty(value).shape().iter().product();
                if elements >= 32 * self.place.warps {
                    return Ok(None);
                }
                let own = self.ir.sub(self.thread, self.ir.c32(32 * self.place.warp))?;
                Ok(Some(self.ir.icmp(IntPredicate::ULT, own, self.ir.c32(elements))?.into()))
            }
            Form::Linear(number) => match self.distributed(number)?.copies() {
                0 => Ok(None),
                copies => Ok(Some(self.has_none(copies)?.into())),
            },
        }
    }
}

/// Position of register `i` of a lane in a tile, `bits` bits of the element's number being the lane's.
fn flat_place(shape: &[u64], bits: u32, i: u64) -> Coords {
    let number = i << bits;
    let mut at: Coords = std::iter::repeat_n(Coord::ZERO, shape.len()).collect();
    let mut shift = 0;
    for (coord, extent) in at.iter_mut().zip(shape).rev() {
        let width = extent.trailing_zeros();
        let own = bits.saturating_sub(shift).min(width);
        if own > 0 {
            coord.base = Base::Flat { shift: shift as u8, bits: own as u8 };
        }
        coord.offset = ((number >> shift) & (extent - 1)) as u32;
        shift += width;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_has_one_place() {
        for (shape, bits) in [(vec![4u64, 2, 8], 3u32), (vec![4, 2, 8], 5), (vec![1, 64], 6), (vec![2; 5], 2)]
        {
            let elements: u64 = shape.iter().product();
            let mut seen = vec![0; elements as usize];
            for lane in 0..1u64 << bits {
                for i in 0..elements >> bits {
                    let at = flat_place(&shape, bits, i);
                    let own = |c: &Coord| match c.base {
                        Base::Flat { shift, bits } => lane >> shift & ((1 << bits) - 1),
                        _ => 0,
                    };
                    let number =
                        at.iter().zip(&shape).fold(0, |n, (c, e)| n * e + own(c) + u64::from(c.offset));
                    seen[number as usize] += 1;
                }
            }
            assert!(seen.iter().all(|n| *n == 1), "{shape:?}");
        }
    }
}
