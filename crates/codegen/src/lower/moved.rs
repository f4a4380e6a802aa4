//! Tiles whose elements stand elsewhere in another tile: reshapes, gathers, joins and splits. No element moves; it
//! is computed, or loaded, by the lane that wants it, at a place that is only known when the kernel runs.

use inkwell::IntPredicate;
use inkwell::values::IntValue;
use smallvec::SmallVec;
use warploom_ir::{OpId, Opcode, ValueId};

use super::Lower;
use super::shape::squeezed;
use super::tile::Needs;
use super::value::{Base, Coord, Coords, Key};
use crate::error::{Result, internal};
use crate::family::{Axis, Blocked, Family};
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
        if let Some(coords) = merged(&to, &from, at) {
            self.remember_place(key, &coords);
            return Ok(coords);
        }
        if let Some(coords) = divided(&to, &from, at) {
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

/// Where an element of `to` stands in `from`, if each extent of `from` is one or several of `to` of which the outer ones
/// are constants: without code, and where the lane's own places stay such.
pub(super) fn merged(to: &[u64], from: &[u64], at: &Coords) -> Option<Coords> {
    let mut rest = to.iter().zip(at.iter()).filter(|(n, _)| **n > 1);
    let mut coords = Coords::new();
    for &extent in from {
        let (mut whole, mut product) = (Coord::ZERO, 1);
        while product < extent {
            let (&n, &coord) = rest.next()?;
            if whole.base != Base::Zero {
                return None;
            }
            whole = Coord { base: coord.base, offset: whole.offset * n as u32 + coord.offset };
            product *= n;
        }
        if product != extent {
            return None;
        }
        coords.push(whole);
    }
    rest.next().is_none().then_some(coords)
}

/// Where an element of `to` stands in `from`, whose last two dimensions are the last one of `to`: where a lane has all
/// neighbours of an element of the outer one, its place is one of a layout, too.
fn divided(to: &[u64], from: &[u64], at: &Coords) -> Option<Coords> {
    let ([outer @ .., whole], [others @ .., parts, inner]) = (to, from) else { return None };
    let last = at.last()?;
    if outer != others || *whole != parts * inner {
        return None;
    }
    let base = match last.base {
        Base::Zero => Base::Zero,
        Base::Lane(Family::Blocked(blocked), Axis::Col)
            if u64::from(blocked.vector).is_multiple_of(*inner) =>
        {
            let vector = blocked.vector / *inner as u16;
            Base::Lane(Family::Blocked(Blocked { vector, ..blocked }), Axis::Col)
        }
        _ => return None,
    };
    let mut coords: Coords = at[..at.len() - 1].into();
    coords.push(Coord { base, offset: last.offset / *inner as u32 });
    coords.push(Coord { base: Base::Zero, offset: last.offset % *inner as u32 });
    Some(coords)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_share_an_element_have_it_from_one_place() {
        let lanes = |vector| {
            let blocked = Blocked { warp: 0, lanes: 128, vector, across: 4 };
            Base::Lane(Family::Blocked(blocked), Axis::Col)
        };
        let at = |base, offset| Coord { base, offset };
        let place: Coords = [at(Base::Zero, 3), at(lanes(16), 69)].into_iter().collect();
        let found = divided(&[64, 128], &[64, 64, 2], &place).unwrap();
        assert_eq!(found.as_slice(), [at(Base::Zero, 3), at(lanes(8), 34), at(Base::Zero, 1)]);
        assert_eq!(divided(&[64, 128], &[64, 4, 32], &place), None, "two lanes share an element");
        assert_eq!(divided(&[64, 128], &[128, 64], &place), None);
    }

    #[test]
    fn blocks_of_columns_are_columns() {
        let lane = Coord { base: Base::Quad(2), offset: 3 };
        let block = |n| Coord { base: Base::Zero, offset: n };
        let at: Coords = [lane, block(1), lane].into_iter().collect();
        let found = merged(&[16, 2, 64], &[16, 128], &at).unwrap();
        assert_eq!(found.as_slice(), [lane, Coord { base: Base::Quad(2), offset: 67 }]);
        let found = merged(&[16, 2, 64], &[1, 16, 2, 64], &at).unwrap();
        assert_eq!(found.as_slice(), [Coord::ZERO, lane, block(1), lane]);
        assert_eq!(merged(&[16, 2, 64], &[2, 8, 128], &at), None);
        let apart: Coords = [lane, lane, lane].into_iter().collect();
        assert_eq!(merged(&[16, 2, 64], &[16, 128], &apart), None);
    }
}
