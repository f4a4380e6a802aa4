//! Rows and columns that lanes of several warps share, folded together: the lanes of a warp deal out what they fold, so that
//! each exchange halves what is left to exchange; every warp leaves its part in shared memory once, all meet, and each lane
//! folds what the warps left, in their order, for all of them (C65).

use inkwell::types::BasicTypeEnum;
use inkwell::values::{InstructionOpcode as Llvm, IntValue, PointerValue};
use warploom_ir::BlockId;
use warploom_ir::diag::Code;

use super::Lower;
use super::across::{Row, width};
use crate::error::{Result, internal, refuse};
use crate::family::Group;
use crate::llvm::{Val, as_int};

/// Bytes of the widest access.
const WIDEST: u64 = 16;

/// Values of some rows, a power of two, that one lane has of those that share them.
struct Dealt<'c> {
    /// Those of the lane.
    rows: Vec<Row<'c>>,
    /// The row that its first one is.
    first: IntValue<'c>,
    /// Rows of all lanes together.
    count: u64,
    /// Bits of the number of a lane that say which rows it has.
    bits: u64,
}

/// Where the words of some rows lie in scratch memory: for each plane and warp, chunks of neighbouring rows, those of lanes
/// that hold other rows or columns side by side.
#[derive(Clone, Copy)]
struct Shelf {
    /// Where it begins.
    offset: u64,
    /// Bytes of a word.
    unit: u64,
    /// Rows of a chunk.
    chunk: u64,
    /// Lanes whose chunks lie side by side.
    across: u64,
    /// Bytes of a warp in a plane.
    warp: u64,
    /// Bytes of a plane: a word of each row.
    plane: u64,
}

impl Shelf {
    fn new(count: u64, unit: u64, lanes: usize, warps: u64) -> Shelf {
        let across = 32 >> halvings(count, lanes);
        let warp = across * count * unit;
        Shelf { offset: 0, unit, chunk: (WIDEST / unit).min(count), across, warp, plane: warp * warps }
    }

    /// From one chunk to the next.
    fn step(&self) -> u64 {
        self.across * self.chunk * self.unit
    }
}

/// How often lanes halve so many rows.
fn halvings(count: u64, lanes: usize) -> u32 {
    count.trailing_zeros().min(lanes as u32)
}

impl<'c> Lower<'c, '_> {
    /// Folds each row with what the lanes and warps that share it have of it; all of them know all rows then.
    pub(super) fn fold_shared(
        &mut self,
        block: BlockId,
        rows: Vec<Row<'c>>,
        (lanes, group): (&[u64], Group),
    ) -> Result<Vec<Row<'c>>> {
        let Some(first) = rows.first() else { return Ok(rows) };
        let types: Vec<BasicTypeEnum> = first.iter().map(|v| v.get_type()).collect();
        let widths = types.iter().map(|&ty| width(ty)).collect::<Result<Vec<_>>>()?;
        let planes = widths.iter().map(|bits| u64::from(bits.div_ceil(32))).sum::<u64>();
        let unit = if widths.iter().all(|&bits| bits <= 16) { 2 } else { 4 };
        let scratch = self.scratch()?;
        let warps = self.place.warps;
        let shelf_of = |count| Shelf::new(count, unit, lanes.len(), warps);
        let (mut folded, mut rest) = (Vec::new(), rows.as_slice());
        while !rest.is_empty() {
            let (mut shelves, mut dealt, mut used) = (Vec::new(), Vec::new(), 0);
            while !rest.is_empty() {
                let most = 1u64 << rest.len().ilog2();
                let mut sizes = std::iter::successors(Some(most), |&n| (n > 1).then_some(n / 2));
                let fits = |&count: &u64| used + shelf_of(count).plane * planes <= scratch.bytes;
                let Some(count) = sizes.find(fits) else { break };
                let (now, later) = rest.split_at(count as usize);
                let shelf = Shelf { offset: scratch.offset + used, ..shelf_of(count) };
                used = (used + shelf.plane * planes).next_multiple_of(WIDEST);
                dealt.push(self.deal_out(block, now.to_vec(), lanes)?);
                shelves.push(shelf);
                rest = later;
            }
            if shelves.is_empty() {
                let text = format!("{} B of scratch memory for a reduction over warps", scratch.bytes);
                let needs = format!("{} B", shelf_of(1).plane * planes);
                return Err(refuse(Code::Capacity, text).rule("C65").note("needs", needs).into());
            }
            for (shelf, dealt) in shelves.iter().zip(&dealt) {
                self.leave_rows(shelf, dealt, &widths)?;
            }
            self.meet(&scratch)?;
            for (shelf, dealt) in shelves.iter().zip(&dealt) {
                folded.extend(self.fold_left(block, shelf, dealt, group, &types)?);
            }
            self.meet(&scratch)?;
        }
        Ok(folded)
    }

    /// Folds a row over lanes of a warp; each of them knows it then.
    pub(super) fn fold_lanes(&mut self, block: BlockId, mut row: Row<'c>, lanes: &[u64]) -> Result<Row<'c>> {
        for &lane in lanes {
            let other = row.iter().map(|&v| self.exchange(v, lane)).collect::<Result<Row<'c>>>()?;
            row = self.combine(block, &row, &other)?;
        }
        Ok(row)
    }

    /// Folds rows over lanes of a warp: of two lanes each goes on with half of the rows, as long as there are several.
    fn deal_out(&mut self, block: BlockId, mut rows: Vec<Row<'c>>, lanes: &[u64]) -> Result<Dealt<'c>> {
        let (count, mut first, mut bits) = (rows.len() as u64, self.ir.c32(0), 0);
        for &lane in lanes {
            let half = rows.len() / 2;
            if half == 0 {
                rows = vec![self.fold_lanes(block, rows.remove(0), &[lane])?];
                continue;
            }
            let own = self.ir.and(self.thread, lane)?;
            let lower = self.ir.icmp(inkwell::IntPredicate::EQ, own, self.ir.c32(0))?;
            let upper = rows.split_off(half);
            let mut kept = Vec::new();
            for (low, high) in rows.iter().zip(&upper) {
                let (mut keep, mut other) = (Row::new(), Row::new());
                for (&low, &high) in low.iter().zip(high) {
                    keep.push(self.ir.select(lower, low, high)?);
                    let sent = self.ir.select(lower, high, low)?;
                    other.push(self.exchange(sent, lane)?);
                }
                kept.push(self.combine(block, &keep, &other)?);
            }
            rows = kept;
            let place = self.ir.quotient(own, lane)?;
            first = self.ir.or(first, self.ir.scale(place, half as u64)?)?;
            bits |= lane;
        }
        Ok(Dealt { rows, first, count, bits })
    }

    /// Stores what a lane has of some rows.
    fn leave_rows(&mut self, shelf: &Shelf, dealt: &Dealt<'c>, widths: &[u32]) -> Result<()> {
        let warp = self.ir.sub(self.warp, self.ir.c32(self.place.warp))?;
        let start = self.shelf_at(shelf, dealt, warp)?;
        // The lane's first row: its chunk, and its place there.
        let chunk = self.ir.scale(self.ir.quotient(dealt.first, shelf.chunk)?, shelf.step())?;
        let inside = self.ir.scale(self.ir.and(dealt.first, shelf.chunk - 1)?, shelf.unit)?;
        let start = self.ir.offset(start, self.ir.int(8).into(), self.ir.add(chunk, inside)?)?;
        let run = shelf.chunk.min(dealt.rows.len() as u64);
        let mut plane = 0;
        for (operand, bits) in widths.iter().enumerate() {
            for word in 0..u64::from(bits.div_ceil(32)) {
                for (n, rows) in dealt.rows.chunks(run as usize).enumerate() {
                    let values = rows.iter().filter_map(|row| row.get(operand).copied());
                    let words = values.map(|value| self.unit_of(value, word, shelf.unit));
                    let words = words.collect::<Result<Vec<_>>>()?;
                    let words = self.ir.vector(&words)?;
                    let to = self.ir.plus(start, plane + n as u64 * shelf.step())?;
                    self.ir.store(words, to, (run * shelf.unit) as u32)?;
                }
                plane += shelf.plane;
            }
        }
        Ok(())
    }

    /// Folds what the warps of a group left of some rows.
    fn fold_left(
        &mut self,
        block: BlockId,
        shelf: &Shelf,
        dealt: &Dealt<'c>,
        group: Group,
        types: &[BasicTypeEnum<'c>],
    ) -> Result<Vec<Row<'c>>> {
        let warp = self.ir.sub(self.warp, self.ir.c32(self.place.warp))?;
        let start = self.shelf_at(shelf, dealt, group.first(self, warp)?)?;
        let mut folded: Vec<Row<'c>> = Vec::new();
        for member in 0..group.count {
            let mut found: Vec<Row<'c>> = vec![Row::new(); dealt.count as usize];
            let mut plane = member * group.stride * shelf.warp;
            for &ty in types {
                let words = u64::from(width(ty)?.div_ceil(32));
                let mut all = Vec::new();
                for _ in 0..words {
                    all.push(self.units(start, plane, shelf, dealt.count)?);
                    plane += shelf.plane;
                }
                for (n, row) in found.iter_mut().enumerate() {
                    let words: Vec<IntValue<'c>> = all.iter().map(|units| units[n]).collect();
                    row.push(self.whole(&words, ty)?);
                }
            }
            if member == 0 {
                folded = found;
                continue;
            }
            for (sum, other) in folded.iter_mut().zip(&found) {
                *sum = self.combine(block, sum, other)?;
            }
        }
        Ok(folded)
    }

    /// The words of a plane, all rows of it.
    fn units(
        &mut self,
        start: PointerValue<'c>,
        plane: u64,
        shelf: &Shelf,
        count: u64,
    ) -> Result<Vec<IntValue<'c>>> {
        let ty = self.ir.int(8 * shelf.unit as u32);
        let mut units = Vec::new();
        for n in 0..count / shelf.chunk {
            let from = self.ir.plus(start, plane + n * shelf.step())?;
            let bytes = (shelf.chunk * shelf.unit) as u32;
            if shelf.chunk == 1 {
                units.push(as_int(self.ir.load(ty.into(), from, bytes)?)?);
                continue;
            }
            let words = self.ir.load(ty.vec_type(shelf.chunk as u32).into(), from, bytes)?;
            for lane in 0..shelf.chunk {
                units.push(as_int(self.ir.lane(words, lane)?)?);
            }
        }
        Ok(units)
    }

    /// Where a warp's chunks of the rows or columns that the lane has lie.
    fn shelf_at(&self, shelf: &Shelf, dealt: &Dealt<'c>, warp: IntValue<'c>) -> Result<PointerValue<'c>> {
        // The bits of the lane's number that do not say which rows it has, side by side.
        let (mut place, mut next) = (self.ir.c32(0), 0);
        for bit in (0..5).filter(|bit| dealt.bits >> bit & 1 == 0) {
            let own = self.ir.and(self.thread, 1 << bit)?;
            place = self.ir.or(place, self.ir.shr(own, bit - next)?)?;
            next += 1;
        }
        let own = self.ir.scale(place, shelf.chunk * shelf.unit)?;
        let byte = self.ir.add(self.ir.scale(warp, shelf.warp)?, own)?;
        self.ir.plus(self.ir.shared_at(byte)?, shelf.offset)
    }

    /// A word of a number, in so many bytes.
    fn unit_of(&mut self, value: Val<'c>, word: u64, unit: u64) -> Result<Val<'c>> {
        let words = self.split_words(value)?;
        let word = words.get(word as usize).copied().ok_or_else(|| internal("a number of other words"))?;
        match unit {
            2 => self.ir.cast(Llvm::Trunc, word.into(), self.ir.int(16).into()),
            _ => Ok(word.into()),
        }
    }
}
