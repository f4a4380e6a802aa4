//! One direction of an exchange through scratch memory: pieces of up to 16 bytes, or matrices by `stmatrix` and `ldmatrix`
//! (G12, E37).

use hashbrown::HashMap;
use inkwell::values::{IntValue, PointerValue};
use warploom_layout::{Dim, Layout, Transfer, TransferKind};

use super::Lower;
use super::conversion::{image_of, picked};
use super::linear::of_thread;
use crate::error::{Result, internal};
use crate::llvm::Val;

impl<'c> Lower<'c, '_> {
    /// Stores what lanes hold; lanes that hold copies do not.
    pub(super) fn send(&mut self, elements: &[IntValue<'c>], by: &Transfer, bits: u32) -> Result<()> {
        let mut starts = Starts::of(self, by, bits)?;
        let acts = match idle(by) {
            0 => None,
            idle => Some(self.has_none(idle)?.into()),
        };
        let done = self.only_where(acts)?;
        for pieces in all_pieces(by) {
            let word = |piece: &Vec<u64>| {
                let bytes = bits / 8 * piece.len() as u32;
                self.packed(&picked(elements, piece.iter().copied())?, self.access(bytes))
            };
            let words = pieces.iter().map(word).collect::<Result<Vec<_>>>()?;
            let address = starts.at(self, &pieces)?;
            match (by.kind, words.as_slice()) {
                (TransferKind::Matrices { trans, .. }, _) => {
                    let args: Vec<Val<'c>> = std::iter::once(address.into()).chain(words).collect();
                    self.ir.overloaded_effect(stmatrix(pieces.len(), trans)?, &args)?;
                }
                (TransferKind::Pieces, &[word]) => {
                    self.ir.store(word, address, bits / 8 * by.access.width() as u32)?;
                }
                _ => return Err(internal("several pieces by one store")),
            }
        }
        self.rejoin(done)
    }

    /// Loads what each lane wants in so many registers; those that are copies of others are zero.
    pub(super) fn take(&mut self, by: &Transfer, registers: u64, bits: u32) -> Result<Vec<IntValue<'c>>> {
        let mut starts = Starts::of(self, by, bits)?;
        let mut found = vec![self.ir.int(bits).const_zero(); registers as usize];
        for pieces in all_pieces(by) {
            let address = starts.at(self, &pieces)?;
            let bytes = bits / 8 * by.access.width() as u32;
            let whole = match by.kind {
                TransferKind::Matrices { trans, .. } => {
                    self.ir.overloaded(ldmatrix(pieces.len(), trans)?, &[address.into()])?
                }
                TransferKind::Pieces => self.ir.load(self.access(bytes), address, bytes)?,
            };
            let alone = pieces.len() == 1;
            for (n, piece) in (0..).zip(pieces) {
                let word = if alone { whole } else { self.ir.member(whole, n)? };
                let elements = self.unpacked(word, piece.len(), bits)?;
                for (register, element) in piece.into_iter().zip(elements) {
                    let place = found.get_mut(register as usize);
                    *place.ok_or_else(|| internal("a register beyond the tile's"))? = element;
                }
            }
        }
        Ok(found)
    }
}

/// Addresses of a transfer in scratch memory: what depends on the thread is computed once.
struct Starts<'c, 't> {
    to: &'t Layout,
    bytes: u64,
    offset: u64,
    own: IntValue<'c>,
    /// Bits of an offset that depend on the thread.
    mask: u64,
    /// By what is added (xor) to them.
    known: HashMap<u64, PointerValue<'c>>,
}

impl<'c, 't> Starts<'c, 't> {
    fn of(lower: &Lower<'c, '_>, transfer: &'t Transfer, bits: u32) -> Result<Starts<'c, 't>> {
        let images = images(transfer)?;
        let own = lower.linear(&images)?;
        let mask = images.iter().fold(0, |mask, image| mask | image);
        let (to, bytes, offset) = (&transfer.to, u64::from(bits / 8), lower.scratch()?.offset);
        Ok(Starts { to, bytes, offset, own, mask, known: HashMap::new() })
    }

    /// Where the first of these pieces begins: what the others add, the thread's number says.
    fn at(&mut self, lower: &Lower<'c, '_>, pieces: &[Vec<u64>]) -> Result<PointerValue<'c>> {
        let first = pieces.first().and_then(|piece| piece.first());
        let first = first.map_or(0, |&register| image_of(self.to, register, Dim::Offset));
        let (inside, outside) = (first & self.mask, first & !self.mask);
        let start = match self.known.get(&inside) {
            Some(&known) => known,
            None => {
                let own = lower.ir.xor(self.own, lower.ir.c32(inside))?;
                let start = lower.ir.shared_at(lower.ir.scale(own, self.bytes)?)?;
                self.known.insert(inside, start);
                start
            }
        };
        lower.ir.plus(start, self.offset + outside * self.bytes)
    }
}

/// What the bits of a thread's number add to where it points. Of matrices each lane points at a row of eight, in the order of
/// the matrices.
fn images(transfer: &Transfer) -> Result<Vec<u64>> {
    let TransferKind::Matrices { count, trans } = transfer.kind else {
        return Ok(of_thread(&transfer.to, Dim::Offset));
    };
    let of_register = |register: &u64| image_of(&transfer.to, *register, Dim::Offset);
    let lanes = transfer.to.column(Dim::Lane, Dim::Offset);
    let &[a, b, c, d, e] = lanes.as_slice() else { return Err(internal("a matrix of fewer than 32 lanes")) };
    let mut images = match trans {
        true => vec![transfer.access.vector.first().map_or(0, of_register), a, b],
        false => vec![c, d, e],
    };
    images.extend(transfer.access.repeats.iter().take(count.ilog2() as usize).map(of_register));
    images.resize(5, 0);
    images.extend(transfer.to.column(Dim::Warp, Dim::Offset));
    Ok(images)
}

/// The registers of the pieces of each instruction.
fn all_pieces(transfer: &Transfer) -> Vec<Vec<Vec<u64>>> {
    let count = match transfer.kind {
        TransferKind::Matrices { count, .. } => count,
        TransferKind::Pieces => 1,
    };
    let access = &transfer.access;
    let registers =
        |piece: u64| (0..access.width()).map(|n| access.element(access.first(piece), n)).collect();
    let pieces: Vec<Vec<u64>> = (0..access.pieces()).map(registers).collect();
    pieces.chunks(count.max(1) as usize).map(<[_]>::to_vec).collect()
}

/// The intrinsic that stores so many matrices.
pub(super) fn stmatrix(count: usize, trans: bool) -> Result<&'static str> {
    Ok(match (count, trans) {
        (1, false) => "nvvm.stmatrix.sync.aligned.m8n8.x1.b16",
        (2, false) => "nvvm.stmatrix.sync.aligned.m8n8.x2.b16",
        (4, false) => "nvvm.stmatrix.sync.aligned.m8n8.x4.b16",
        (1, true) => "nvvm.stmatrix.sync.aligned.m8n8.x1.trans.b16",
        (2, true) => "nvvm.stmatrix.sync.aligned.m8n8.x2.trans.b16",
        (4, true) => "nvvm.stmatrix.sync.aligned.m8n8.x4.trans.b16",
        _ => return Err(internal(format!("{count} matrices"))),
    })
}

/// The intrinsic that loads them.
pub(super) fn ldmatrix(count: usize, trans: bool) -> Result<&'static str> {
    Ok(match (count, trans) {
        (1, false) => "nvvm.ldmatrix.sync.aligned.m8n8.x1.b16",
        (2, false) => "nvvm.ldmatrix.sync.aligned.m8n8.x2.b16",
        (4, false) => "nvvm.ldmatrix.sync.aligned.m8n8.x4.b16",
        (1, true) => "nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16",
        (2, true) => "nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16",
        (4, true) => "nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16",
        _ => return Err(internal(format!("{count} matrices"))),
    })
}

/// Bits of the number of a thread that must be zero for it to act.
fn idle(transfer: &Transfer) -> u64 {
    let bits = |&(dim, mask): &(Dim, u64)| if dim == Dim::Warp { mask << 5 } else { mask };
    transfer.idle.iter().map(bits).fold(0, |all, bits| all | bits)
}
