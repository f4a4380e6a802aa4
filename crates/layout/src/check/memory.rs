//! Shared memory: what instructions do to it, and how long its banks take.

use super::machine::{MOST_PLACES, Map, Threads, masked};
use super::violation::{Place, Violation};
use crate::convert::{Transfer, TransferKind};
use crate::dim::Dim;

/// Instructions of a warp and their wavefronts.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Traffic {
    pub instructions: u64,
    pub wavefronts: u64,
}

/// The scratch memory of each CTA, by element: what is there, and which warp wrote it.
pub(super) struct Memory {
    threads: Threads,
    bytes: u64,
    own_warp: bool,
    /// By CTA, then by offset: the element, and the warp that stored it.
    cells: Vec<Option<(Option<u64>, u64)>>,
    elements: u64,
}

type Act<'a> = &'a mut dyn FnMut(&mut Memory, Place, u64) -> Result<(), Violation>;

impl Memory {
    pub fn empty(threads: Threads, size: u64, bytes: u64, own_warp: bool) -> Result<Memory, Violation> {
        let elements = size / bytes.max(1);
        let places = elements.saturating_mul(threads.ctas);
        if places > MOST_PLACES {
            return Err(Violation::TooLarge { places });
        }
        let cells = vec![None; places as usize];
        Ok(Memory { threads, bytes, own_warp, cells, elements })
    }

    fn index(&self, at: Place, offset: u64) -> Result<usize, Violation> {
        if offset < self.elements {
            return Ok((at.cta * self.elements + offset) as usize);
        }
        Err(Violation::Beyond { at, what: "offset", number: offset })
    }

    pub fn write(&mut self, at: Place, offset: u64, value: Option<u64>) -> Result<(), Violation> {
        let index = self.index(at, offset)?;
        match self.cells[index].replace((value, at.warp)) {
            None => Ok(()),
            Some(_) => Err(Violation::Access { at, what: "a second store", offset }),
        }
    }

    pub fn read(&mut self, at: Place, offset: u64) -> Result<Option<u64>, Violation> {
        match self.cells[self.index(at, offset)?] {
            Some((value, writer)) if !self.own_warp || writer == at.warp => Ok(value),
            Some(_) => Err(Violation::Access { at, what: "a load of what another warp stores", offset }),
            None => Err(Violation::Access { at, what: "a load of what nobody stores", offset }),
        }
    }

    /// Calls `act` with every place and its offset, instruction by instruction.
    pub fn transfer(&mut self, transfer: &Transfer, act: Act) -> Result<Traffic, Violation> {
        let map = Map::of(&transfer.to);
        let mut traffic = Traffic::default();
        let repeats = transfer.access.repeats.len() as u32;
        let count = match transfer.kind {
            TransferKind::Pieces => 1,
            TransferKind::Matrices { count: count @ (1 | 2 | 4), .. } if count <= 1 << repeats => count,
            TransferKind::Matrices { .. } => {
                let at = self.threads.place(0);
                return Err(Violation::Access { at, what: "a number of matrices", offset: 0 });
            }
        };
        for cta in 0..self.threads.ctas {
            for warp in 0..self.threads.warps {
                // Instructions are the same for every warp; the slowest counts.
                let mut own = Traffic::default();
                for instruction in 0..(1u64 << repeats) / count {
                    own.instructions += 1;
                    for part in 0..count {
                        let piece = instruction * count + part;
                        let register = masked(transfer.access.repeats.iter().copied(), piece);
                        let first = Place { register, lane: 0, warp, cta };
                        own.wavefronts += match transfer.kind {
                            TransferKind::Pieces => self.pieces(transfer, &map, first, act)?,
                            TransferKind::Matrices { trans, .. } => {
                                self.matrix(transfer, &map, first, trans, act)?
                            }
                        };
                    }
                }
                traffic.instructions = traffic.instructions.max(own.instructions);
                traffic.wavefronts = traffic.wavefronts.max(own.wavefronts);
            }
        }
        Ok(traffic)
    }

    /// A load or store of up to 16 bytes by every lane of a warp.
    fn pieces(&mut self, transfer: &Transfer, map: &Map, first: Place, act: Act) -> Result<u64, Violation> {
        let vector = &transfer.access.vector;
        let wide = 1u64 << vector.len().min(63);
        if wide * self.bytes > 16 {
            return Err(Violation::Access { at: first, what: "more than 16 bytes", offset: wide });
        }
        let mut starts = Vec::new();
        for lane in 0..self.threads.lanes {
            let start = Place { lane, ..first };
            let base = map.at(start);
            if !base.is_multiple_of(wide) {
                return Err(Violation::Access {
                    at: start,
                    what: "a piece that is not aligned",
                    offset: base,
                });
            }
            starts.push(base.wrapping_mul(self.bytes));
            let number = |dim| match dim {
                Dim::Lane => start.lane,
                Dim::Warp => start.warp,
                _ => 0,
            };
            let idle = transfer.idle.iter().any(|&(dim, mask)| number(dim) & mask != 0);
            for j in 0..wide {
                let register = start.register ^ masked(vector.iter().copied(), j);
                let at = Place { register, ..start };
                if map.at(at) != base + j {
                    return Err(Violation::Access { at, what: "a piece with a gap", offset: map.at(at) });
                }
                if !idle {
                    act(self, at, base + j)?;
                }
            }
        }
        let together = (128 / (wide * self.bytes)).clamp(1, 32) as usize;
        Ok(starts.chunks(together).map(|phase| slowest_bank(phase, wide * self.bytes)).sum())
    }

    /// One matrix of `ldmatrix` or `stmatrix` (E37): lane `l` has row `l / 4` and 4 bytes from `4 (l % 4)` on;
    /// transposed, rows `2 (l % 4)` and the next, 2 bytes from `2 (l / 4)` on.
    fn matrix(
        &mut self,
        transfer: &Transfer,
        map: &Map,
        first: Place,
        trans: bool,
        act: Act,
    ) -> Result<u64, Violation> {
        let vector = &transfer.access.vector;
        let in_word = 1u64 << vector.len().min(63);
        let whole = in_word * self.bytes == 4 && (!trans || self.bytes == 2);
        let all_lanes = transfer.idle.iter().all(|(dim, _)| *dim == Dim::Warp);
        if self.threads.lanes != 32 || !whole || !all_lanes {
            return Err(Violation::Access { at: first, what: "no matrix of 16-byte rows", offset: 0 });
        }
        // The address of each row, given by the place that has its first bytes.
        let mut rows = Vec::new();
        for row in 0..8u64 {
            let (register, lane) = match trans {
                true => (first.register ^ masked(vector.iter().copied(), row % 2), row / 2),
                false => (first.register, 4 * row),
            };
            let at = Place { register, lane, ..first };
            let offset = map.at(at);
            if !offset.wrapping_mul(self.bytes).is_multiple_of(16) {
                return Err(Violation::Access { at, what: "a row that is not aligned", offset });
            }
            rows.push(offset.wrapping_mul(self.bytes));
        }
        let idle = transfer.idle.iter().any(|&(_, mask)| first.warp & mask != 0);
        for lane in (0..32u64).filter(|_| !idle) {
            for element in 0..in_word {
                let register = first.register ^ masked(vector.iter().copied(), element);
                let at = Place { register, lane, ..first };
                let (row, byte) = match trans {
                    true => (2 * (lane % 4) + element, 2 * (lane / 4)),
                    false => (lane / 4, 4 * (lane % 4) + element * self.bytes),
                };
                let offset = (rows[row as usize] + byte) / self.bytes;
                if map.at(at) != offset {
                    return Err(Violation::Access { at, what: "a matrix beside the map", offset });
                }
                act(self, at, offset)?;
            }
        }
        Ok(slowest_bank(&rows, 16))
    }
}

/// How many different words the busiest of the 32 banks has to give: wavefronts of one phase.
fn slowest_bank(starts: &[u64], bytes: u64) -> u64 {
    let mut words: Vec<u64> = Vec::new();
    for &start in starts {
        words.extend((start / 4..).take(bytes.div_ceil(4) as usize));
    }
    words.sort_unstable();
    words.dedup();
    let mut banks = [0u64; 32];
    for word in words {
        banks[(word % 32) as usize] += 1;
    }
    banks.into_iter().max().unwrap_or(0).max(1)
}
