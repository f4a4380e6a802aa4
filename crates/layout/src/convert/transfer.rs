//! Which instruction moves the registers of a layout to or from offsets in shared memory, and how many of them.

use super::{Transfer, TransferKind};
use crate::access::{Access, BANK, pieces, repeats, wavefronts};
use crate::bits::{Echelon, log2};
use crate::dim::Dim;
use crate::layout::Layout;

/// `log2` of the widest access, 16 bytes.
pub(super) const WIDEST: u32 = 4;

/// Every transfer that the map allows: (register, lane, warp, cta) onto offsets, of elements of `2^element` bytes.
/// `stores` leaves out who has copies, `with_matrices` allows `stmatrix` and `ldmatrix`.
pub(super) fn transfers(to: &Layout, element: u32, (stores, with_matrices): (bool, bool)) -> Vec<Transfer> {
    let idle = if stores { idle(to) } else { Vec::new() };
    let access = pieces(to, 1 << (WIDEST - element));
    let mut found = vec![Transfer { to: to.clone(), kind: TransferKind::Pieces, access, idle: idle.clone() }];
    // All lanes take part in a matrix.
    if with_matrices && idle.iter().all(|&(dim, _)| dim != Dim::Lane) && to.input_size(Dim::Lane) == 32 {
        for trans in [false, true] {
            if let Some((access, count)) = matrices(to, element, trans) {
                let kind = TransferKind::Matrices { count, trans };
                found.push(Transfer { to: to.clone(), kind, access, idle: idle.clone() });
            }
        }
    }
    found
}

/// Bits of lanes and warps that make copies.
fn idle(to: &Layout) -> Vec<(Dim, u64)> {
    let masks = [Dim::Lane, Dim::Warp].map(|dim| (dim, to.copy_bits(dim)));
    masks.into_iter().filter(|&(_, mask)| mask != 0).collect()
}

/// The pieces and the number of matrices of one instruction, if matrices divide the map: 16 bytes side by side are the
/// words of four lanes (or, transposed, 16-bit elements of eight), and rows begin at multiples of 16 bytes.
fn matrices(to: &Layout, element: u32, trans: bool) -> Option<(Access, u64)> {
    if element > BANK || trans && element != 1 {
        return None;
    }
    let offset = |image: u64| to.outputs.part(image, Dim::Offset);
    let lane: Vec<u64> = to.images_of(Dim::Lane).iter().map(|&image| offset(image)).collect();
    let row = WIDEST - element;
    let aligned = |image: u64| image.trailing_zeros() >= row;
    let side: Vec<u64> = (0..row).map(|bit| 1 << bit).collect();
    let (vector, rows): (Vec<u64>, &[u64]) = if trans {
        // The two elements of a register are neighbours across rows.
        let mate = (offset(to.images_of(Dim::Register).first().copied()?) != 0).then_some(1u64)?;
        (lane.get(2..5)? == side.as_slice()).then_some((vec![mate], lane.get(..2)?))?
    } else {
        let in_word = (BANK - element) as usize;
        let mut echelon = Echelon::new();
        for (bit, &image) in to.images_of(Dim::Register).iter().enumerate() {
            echelon.insert(image, 1 << bit);
        }
        let vector: Vec<u64> = (0..in_word)
            .map(|bit| echelon.solve(1 << (to.outputs.shift(Dim::Offset) + bit as u32)))
            .collect::<Option<_>>()?;
        (lane.get(..2)? == side.get(in_word..)?).then_some((vector, lane.get(2..5)?))?
    };
    let others = to.images.iter().skip((to.inputs.bits(Dim::Register) + 5) as usize);
    let repeats = match trans {
        false => repeats(to, &vector, &[]),
        true => repeats(to, &[], &vector),
    };
    let starts = repeats.iter().map(|&mask| offset(to.point(mask)));
    let mates = vector.iter().filter(|_| trans).map(|&mask| offset(to.point(mask)));
    let mut all = rows.iter().copied().chain(others.map(|&image| offset(image))).chain(starts).chain(mates);
    let count = 1 << repeats.len().min(2);
    all.all(aligned).then_some((Access { vector, repeats }, count))
}

impl Transfer {
    /// Instructions of a warp, and the wavefronts of all of them together.
    pub(super) fn instructions(&self, element: u32) -> (u64, u64) {
        let offset = |image: &u64| self.to.outputs.part(*image, Dim::Offset);
        let lanes: Vec<u64> = self.to.images_of(Dim::Lane).iter().map(offset).collect();
        let pieces = self.access.pieces();
        match self.kind {
            TransferKind::Pieces => {
                let vector = self.access.vector.len() as u32;
                (pieces, pieces.saturating_mul(wavefronts(&lanes, vector, element)))
            }
            TransferKind::Matrices { count, trans } => {
                let mates = self.access.vector.iter().map(|&mask| offset(&self.to.point(mask)));
                let rows: Vec<u64> = match trans {
                    true => mates.chain(lanes[..2].iter().copied()).collect(),
                    false => lanes[2..5].to_vec(),
                };
                // A matrix is a phase of eight rows of 16 bytes.
                (pieces / count, pieces.saturating_mul(wavefronts(&rows, WIDEST - element, element)))
            }
        }
    }

    /// 32-bit words that have to be put together from registers that do not share one.
    pub(super) fn permutes(&self, element: u32) -> u64 {
        let in_word = BANK.saturating_sub(element) as usize;
        let native = |(bit, &mask): (usize, &u64)| log2(mask) == Some(bit as u32);
        let mates = self.access.vector.iter().take(in_word).enumerate();
        let elements = self.access.pieces() << self.access.vector.len();
        let apart = self.access.repeats.iter().any(|mask| mask & ((1 << in_word) - 1) != 0);
        match mates.clone().all(native) && !apart && self.access.vector.len() >= in_word {
            true => 0,
            // Narrow pieces are taken out of words one by one.
            false => elements >> self.access.vector.len().min(in_word),
        }
    }
}
