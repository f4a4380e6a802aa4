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
