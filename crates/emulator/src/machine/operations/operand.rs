//! Matrix operands in shared memory, as numbers (E39, E40). The warps of a warpgroup read the same bytes one after the
//! other: what they decode to is kept, with the bytes, which are compared each time.

use super::layout::OperandLayout;
use crate::isa::op::MatTy;
use crate::machine::asynchronous::products::elements;
use crate::machine::shared::Shared;
use crate::race::shadow::GRANULE;
use std::rc::Rc;

/// Operands that are kept.
const KEPT: usize = 64;

/// What an instruction reads of an operand: rows `first .. first + rows` (along M or N) by `k` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub cta: u32,
    pub layout: OperandLayout,
    pub ty: MatTy,
    pub first: u64,
    pub rows: u64,
    pub k: u64,
    /// Element (r, k) of the result is at `k * rows + r`, else at `r * k + k`.
    pub by_k: bool,
}

/// Sixteen bytes of an operand, and where the first element and the next go.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    at: u32,
    slot: u32,
    bytes: [u8; 16],
}

/// An operand as it was read last.
#[derive(Debug)]
pub(crate) struct Kept {
    wanted: Wanted,
    chunks: Vec<Chunk>,
    /// From element to element of a chunk.
    step: usize,
    /// The first byte, and one past the last.
    start: u64,
    end: u64,
    /// How often those between had been written when the values were taken.
    writes: Option<u64>,
    /// Granules, and their bytes.
    pub touched: Vec<(u64, u32)>,
    pub values: Rc<Vec<f64>>,
}

/// The operands that a cluster read last.
#[derive(Debug, Default)]
pub(crate) struct Operands {
    kept: Vec<Kept>,
    /// Which of them the next one replaces.
    next: usize,
}

impl Operands {
    /// Takes an operand from those kept, or makes it; `keep` puts it back.
    pub(crate) fn take(&mut self, wanted: &Wanted) -> Kept {
        match self.kept.iter().position(|k| k.wanted == *wanted) {
            Some(at) => self.kept.swap_remove(at),
            None => Kept::of(*wanted),
        }
    }

    /// Keeps an operand, if need be instead of another one.
    pub(crate) fn keep(&mut self, operand: Kept) {
        if self.kept.len() < KEPT {
            self.kept.push(operand);
            return;
        }
        self.next = (self.next + 1) % KEPT;
        if let Some(old) = self.kept.get_mut(self.next) {
            *old = operand;
        }
    }
}

impl Kept {
    fn of(wanted: Wanted) -> Kept {
        let Wanted { layout, first, rows, k, .. } = wanted;
        let read = wanted.ty.dense().map_or(16, |bits| 2 * bits * wanted.ty.packed());
        let (e, packed) = (u64::from(wanted.ty.bytes()), u64::from(wanted.ty.packed()));
        let (outer, inner) = if layout.mn_major { (k, rows) } else { (rows, k) };
        let (mut chunks, mut touched) = (Vec::new(), Vec::new());
        for o in 0..outer {
            for c in (0..inner).step_by((16 * packed / e) as usize) {
                let (r, kk) = if layout.mn_major { (c, o) } else { (o, c) };
                let at = layout.address(first + r, kk / packed, e);
                note(&mut touched, at, read);
                let slot = if wanted.by_k { kk * rows + r } else { r * k + kk };
                chunks.push(Chunk { at: at as u32, slot: slot as u32, bytes: [0; 16] });
            }
        }
        // Along the line of a chunk, elements stand together or a row apart.
        let step = match (layout.mn_major, wanted.by_k) {
            (true, true) | (false, false) => 1,
            (true, false) => k,
            (false, true) => rows,
        };
        let start = chunks.iter().map(|c| u64::from(c.at)).min().unwrap_or(0);
        let end = chunks.iter().map(|c| u64::from(c.at) + 16).max().unwrap_or(0);
        let values = Rc::new(Vec::new());
        Kept { wanted, chunks, step: step as usize, start, end, writes: None, touched, values }
    }

    /// Where sixteen of its bytes begin: such as are outside of so many bytes of shared memory, or the last ones.
    pub(crate) fn furthest(&self, size: u64) -> u64 {
        if self.end <= size {
            return self.end.saturating_sub(16);
        }
        let outside = self.chunks.iter().map(|c| u64::from(c.at)).find(|at| at + 16 > size);
        outside.unwrap_or(self.end.saturating_sub(16))
    }

    /// Takes the bytes from shared memory, and decodes those that changed.
    pub(crate) fn refresh(&mut self, shared: &Shared) {
        let writes = Some(shared.writes(self.start as usize..self.end as usize));
        if self.writes == writes {
            return;
        }
        self.writes = writes;
        let ty = self.wanted.ty;
        let all = self.values.is_empty();
        if all {
            self.values = Rc::new(vec![0.0; (self.wanted.rows * self.wanted.k) as usize]);
        }
        let values = Rc::make_mut(&mut self.values);
        for chunk in &mut self.chunks {
            let at = chunk.at as usize;
            let Some(now) = shared.get(at..at + 16).and_then(|b| <[u8; 16]>::try_from(b).ok()) else {
                continue;
            };
            if !all && now == chunk.bytes {
                continue;
            }
            chunk.bytes = now;
            elements(ty, &now, values.iter_mut().skip(chunk.slot as usize).step_by(self.step));
        }
    }
}

/// Adds so many bytes of a 16-byte chunk to a list of granules, joining them with the last one.
fn note(list: &mut Vec<(u64, u32)>, at: u64, bytes: u32) {
    let (g, mask) = (at / GRANULE, ((1_u32 << bytes) - 1) << (at % GRANULE));
    match list.last_mut() {
        Some((last, m)) if *last == g => *m |= mask,
        _ => list.push((g, mask)),
    }
}
