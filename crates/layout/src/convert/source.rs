//! Where an element of the target is found in the source.

use crate::bits::{Echelon, kernel};
use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;

/// The dimensions of threads.
pub(super) const THREAD: [Dim; 3] = [Dim::Lane, Dim::Warp, Dim::Cta];

/// Two distributed layouts of one tile, on the same lanes, warps and CTAs.
#[derive(Clone, Copy)]
pub(super) struct Pair<'l> {
    pub from: &'l Layout,
    pub to: &'l Layout,
}

impl<'l> Pair<'l> {
    pub fn of(from: &'l Layout, to: &'l Layout) -> Result<Pair<'l>> {
        for (dim, size) in from.outputs().into_iter().chain(to.outputs()) {
            let (given, taken) = (from.output_size(dim), to.output_size(dim));
            if given != size || taken != size {
                return Err(LayoutError::Mismatch { dim, given, taken });
            }
        }
        for (dim, _) in from.inputs().into_iter().chain(to.inputs()) {
            let (given, taken) = (from.input_size(dim), to.input_size(dim));
            if !Dim::DISTRIBUTED.contains(&dim) || dim != Dim::Register && given != taken {
                return Err(LayoutError::Mismatch { dim, given, taken });
            }
        }
        Ok(Pair { from, to })
    }

    /// What the target's bit wants, less what the source has at the same number in the dimensions of `kept`.
    pub fn wants(&self, bit: u32, kept: &[Dim]) -> u64 {
        let image = self.to.images[bit as usize];
        match self.to.inputs.bit(bit) {
            Some((dim, number)) if kept.contains(&dim) => image ^ self.from.images_of(dim)[number as usize],
            _ => image,
        }
    }

    /// The span of the source's bits outside of `kept`, tagged with points of the source.
    pub fn span(&self, kept: &[Dim]) -> Echelon {
        let keeps = self.from.inputs.masks(kept);
        let mut echelon = Echelon::new();
        for (bit, &image) in self.from.images.iter().enumerate() {
            if keeps >> bit & 1 == 0 {
                echelon.insert(image, 1 << bit);
            }
        }
        echelon
    }

    /// Whether every element of the target is held by a place of the source with the same numbers in `kept`.
    pub fn stays(&self, kept: &[Dim]) -> bool {
        let span = self.span(kept);
        (0..self.to.inputs.total()).all(|bit| span.contains(self.wants(bit, kept)))
    }

    /// A point of the target's threads, as one of the source's: registers are left out.
    pub fn threads(&self, point: u64) -> u64 {
        let kept = point & self.to.inputs.masks(&THREAD);
        self.to.inputs.carry(kept, &self.from.inputs)
    }

    /// The sums of the target's bits whose elements the same lane has, as points of the target.
    pub fn at_home(&self, bits: &[u32]) -> Vec<u64> {
        let span = self.span(&THREAD);
        let rests: Vec<u64> = bits.iter().map(|&bit| span.reduce(self.wants(bit, &THREAD)).0).collect();
        kernel(&rests).into_iter().map(|sum| scatter(sum, bits)).collect()
    }

    /// What a point of the target wants, less what the source has at the same numbers of `kept`.
    pub fn wants_all(&self, point: u64, kept: &[Dim]) -> u64 {
        let bits = (0..self.to.inputs.total()).filter(|bit| point >> bit & 1 == 1);
        bits.fold(0, |sum, bit| sum ^ self.wants(bit, kept))
    }
}

/// Bits of a number at other places.
pub(super) fn scatter(number: u64, bits: &[u32]) -> u64 {
    let set = bits.iter().enumerate().filter(|(at, _)| number >> at & 1 == 1);
    set.fold(0, |sum, (_, bit)| sum | 1 << bit)
}
