//! Places of reshaped tiles (G5): the bits of an element's number, row by row, are dealt out to the dimensions of another
//! shape. Where the lane's own number and a constant share no bit, the places stay such.

use super::value::{Base, Coord, Coords, Images};
use crate::family::{Axis, Blocked, Family};

/// Where an element of `to` stands in `from`, both in the order of rows, for a partition of so many lanes whose tiles lie
/// in `family`; `None` where code has to compute it.
pub(super) fn regrouped(to: &[u64], from: &[u64], at: &Coords, family: Family, lanes: u64) -> Option<Coords> {
    merged(to, from, at).or_else(|| dealt_out(to, from, at, family, lanes))
}

/// The same where each extent of `from` is one or several of `to` of which the outer ones are constants.
fn merged(to: &[u64], from: &[u64], at: &Coords) -> Option<Coords> {
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

/// The same bit by bit, where no bit of a constant is one of a lane's number.
fn dealt_out(to: &[u64], from: &[u64], at: &Coords, family: Family, lanes: u64) -> Option<Coords> {
    let powers = to.iter().chain(from).chain([&lanes]).all(|n| n.is_power_of_two());
    if !powers || lanes.trailing_zeros() as usize > Images::BITS {
        return None;
    }
    let threads = || (0..lanes.trailing_zeros()).map(|bit| 1u64 << bit);
    let mut images = vec![0u64; threads().count()];
    let mut constant = 0u64;
    for (coord, extent) in at.iter().zip(to) {
        let bits = extent.trailing_zeros();
        constant = constant << bits | u64::from(coord.offset);
        for (image, thread) in images.iter_mut().zip(threads()) {
            let own = coord.base.of(thread).filter(|own| own < extent)?;
            *image = *image << bits | own;
        }
        if u64::from(coord.offset) >= *extent {
            return None;
        }
    }
    let mut taken = constant;
    for &image in &images {
        if taken & image != 0 {
            return None;
        }
        taken |= image;
    }
    let mut coords = Coords::new();
    for &extent in from.iter().rev() {
        let (bits, mask) = (extent.trailing_zeros(), extent - 1);
        let own: Vec<u64> = images.iter().map(|image| image & mask).collect();
        coords.push(Coord { base: named(&own, at, family, lanes)?, offset: (constant & mask) as u32 });
        constant >>= bits;
        images.iter_mut().for_each(|image| *image >>= bits);
    }
    coords.reverse();
    Some(coords)
}

/// What starts at these images of the bits of a thread's number: under the name that others know it by.
fn named(images: &[u64], at: &Coords, family: Family, lanes: u64) -> Option<Base> {
    let lanes16 = u16::try_from(lanes).ok()?;
    let moving = images.iter().take_while(|image| **image != 0).count() as u32;
    let vector = images.first().copied().filter(|v| *v != 0).unwrap_or(1);
    let columns =
        Blocked { warp: 0, lanes: lanes16, vector: u16::try_from(vector).ok()?, across: 1 << moving };
    let first = images.iter().take_while(|image| **image == 0).count();
    let count = images.iter().filter(|image| **image != 0).count();
    let known = [Base::Zero].into_iter().chain(at.iter().map(|coord| coord.base)).chain([
        Base::Lane(family, Axis::Row),
        Base::Lane(family, Axis::Col),
        Base::Lane(Family::Blocked(columns), Axis::Col),
        Base::Flat { shift: first as u8, bits: count as u8 },
    ]);
    let same = |base: &Base| (0..).zip(images).all(|(bit, image)| base.of(1 << bit) == Some(*image));
    known.into_iter().find(same).or_else(|| Images::new(images).map(Base::Images))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn blocked(vector: u16, across: u16) -> Family {
        Family::Blocked(Blocked { warp: 0, lanes: 128, vector, across })
    }

    fn lanes(vector: u16) -> Base {
        Base::Lane(blocked(vector, 4), Axis::Col)
    }

    fn found(to: &[u64], from: &[u64], at: &Coords) -> Option<Coords> {
        regrouped(to, from, at, blocked(4, 4), 128)
    }

    #[test]
    fn neighbours_that_share_an_element_have_it_from_one_place() {
        let at = |base, offset| Coord { base, offset };
        let place: Coords = [at(Base::Zero, 3), at(lanes(16), 69)].into_iter().collect();
        let halves = found(&[64, 128], &[64, 64, 2], &place).unwrap();
        assert_eq!(halves.as_slice(), [at(Base::Zero, 3), at(lanes(8), 34), at(Base::Zero, 1)]);
        let carry: Coords = [at(Base::Zero, 3), at(lanes(16), 16)].into_iter().collect();
        assert_eq!(
            found(&[64, 128], &[64, 4, 32], &carry),
            None,
            "the constant changes bits of the lane's number"
        );
    }

    #[test]
    fn blocks_of_columns_are_columns() {
        let lane = Coord { base: Base::Quad(2), offset: 3 };
        let block = |n| Coord { base: Base::Zero, offset: n };
        let at: Coords = [lane, block(1), lane].into_iter().collect();
        let whole = found(&[16, 2, 64], &[16, 128], &at).unwrap();
        assert_eq!(whole.as_slice(), [lane, Coord { base: Base::Quad(2), offset: 67 }]);
        let unit = found(&[16, 2, 64], &[1, 16, 2, 64], &at).unwrap();
        assert_eq!(unit.as_slice(), [Coord::ZERO, lane, block(1), lane]);
        let apart: Coords = [lane, lane, lane].into_iter().collect();
        assert_eq!(found(&[16, 2, 64], &[16, 96], &apart), None, "96 is no power of two");
    }

    proptest! {
        /// Every lane finds the element of the same number.
        #[test]
        fn numbers_stay_what_they_are(
            rows in 0u32..4, vector in 0u32..4, across in 0u32..6, cut in 0u32..9, register in 0u32..64,
        ) {
            let family = blocked(1 << vector, 1 << across);
            let Family::Blocked(lanes) = family else { unreachable!() };
            let (height, width) = (lanes.row_step() << rows, lanes.col_step() << 1);
            let count = family.count(height, width).unwrap();
            let (row, col) = family.place(width, u64::from(register) % count);
            let at: Coords = [family.coord(Axis::Row, row), family.coord(Axis::Col, col)].into_iter().collect();
            let all = height * width;
            let inner = 1 << cut.min(all.trailing_zeros());
            let from = [all / inner, inner];
            let place = regrouped(&[height, width], &from, &at, blocked(4, 4), 128).unwrap();
            for thread in 0..128 {
                let number = |at: &Coords, width: u64| {
                    let all: Vec<u64> = at.iter().map(|c| c.base.of(thread).unwrap() + u64::from(c.offset)).collect();
                    all[0] * width + all[1]
                };
                prop_assert_eq!(number(&at, width), number(&place, from[1]));
            }
        }
    }
}
