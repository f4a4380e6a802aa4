//! What lanes of other warps know: each lane leaves its part in shared memory, everybody meets, and every lane reads what it
//! wants (C65).

use inkwell::types::BasicTypeEnum;
use inkwell::values::{InstructionOpcode as Llvm, IntValue, PointerValue};
use smallvec::SmallVec;
use warploom_ir::diag::Code;

use super::Lower;
use crate::error::{Refusal, Result, internal, refuse};
use crate::family::{Group, Peers};
use crate::llvm::{Val, as_int};
use crate::program::Scratch;

/// Bytes that the lanes of a warp leave for one word.
const LINE: u64 = 32 * 4;

impl<'c> Lower<'c, '_> {
    /// The scratch memory of the partition.
    pub(super) fn scratch(&self) -> Result<Scratch> {
        self.place.scratch.ok_or_else(|| {
            let text = "values of several warps are brought together without scratch memory";
            let fix = "scratch = array<i64: offset, bytes>, barrier = @name of the partition; or a layout whose \
                       rows lie in one warp";
            refuse(Code::Op, text).rule("C65").note("instead", fix).into()
        })
    }

    /// All lanes of the partition meet.
    pub(super) fn meet_all(&mut self) -> Result<()> {
        if self.place.warps > 1 {
            let scratch = self.scratch()?;
            return self.meet(&scratch);
        }
        self.meet_warp()
    }

    /// The lanes of each warp meet.
    pub(super) fn meet_warp(&mut self) -> Result<()> {
        let all = self.ir.c32(u64::from(u32::MAX)).into();
        self.ir.effect("nvvm.bar.warp.sync", &[all])
    }

    /// What the lanes with zeros in the bits of their peers know, in the first warp of each group, becomes known
    /// to all peers.
    pub(super) fn spread(&mut self, mut row: Row<'c>, peers: &Peers) -> Result<Row<'c>> {
        let bits: u64 = peers.lanes.iter().sum();
        if bits > 0 {
            let lane = self.ir.and(self.thread, 31 & !bits)?;
            for value in &mut row {
                *value = self.fetched(*value, lane)?;
            }
        }
        self.across_warps(row, peers.warps)
    }

    /// The value of another lane of the warp.
    pub(super) fn fetched(&mut self, value: Val<'c>, lane: IntValue<'c>) -> Result<Val<'c>> {
        let mut words = Vec::new();
        for word in self.split_words(value)? {
            let all = self.ir.c32(u64::from(u32::MAX)).into();
            let args = [all, word.into(), lane.into(), self.ir.c32(31).into()];
            words.push(as_int(self.ir.intrinsic("nvvm.shfl.sync.idx.i32", &args)?)?);
        }
        self.whole(&words, value.get_type())
    }

    /// The warps of the partition meet.
    pub(super) fn meet(&mut self, scratch: &Scratch) -> Result<()> {
        let (id, threads) = (scratch.barrier.id, scratch.barrier.threads);
        let args = [self.ir.c32(id).into(), self.ir.c32(threads).into()];
        self.ir.effect("nvvm.barrier.cta.sync.aligned.count", &args)
    }

    /// What the first warp of a group knows becomes known to all of them.
    fn across_warps(&mut self, row: Row<'c>, group: Option<Group>) -> Result<Row<'c>> {
        let Some(group) = group else { return Ok(row) };
        let scratch = self.scratch()?;
        let line = LINE * self.place.warps;
        let mut words = Vec::new();
        for &value in &row {
            words.extend(self.split_words(value)?);
        }
        if scratch.bytes < words.len() as u64 * line {
            return Err(too_small(&scratch, words.len() as u64 * line));
        }
        let warp = self.ir.sub(self.warp, self.ir.c32(self.place.warp))?;
        let lane = self.ir.shl(self.ir.and(self.thread, 31)?, 2)?;
        let start = self.ir.plus(self.ir.shared_at(lane)?, scratch.offset)?;
        let (own, head) = (self.line(start, warp)?, self.line(start, group.first(self, warp)?)?);
        for (n, bits) in (0..).zip(words) {
            self.ir.store(bits.into(), self.ir.plus(own, n * line)?, 4)?;
        }
        self.meet(&scratch)?;
        let (mut told, mut at) = (Row::new(), 0);
        for value in row {
            let count = word_count(value.get_type())?;
            told.push(self.joined_words(self.ir.plus(head, at)?, count, line, value.get_type())?);
            at += count * line;
        }
        self.meet(&scratch)?;
        Ok(told)
    }

    /// What the threads hold whose numbers in the partition differ (xor) by `away`: all rows that fit at once.
    pub(super) fn met_in_memory(&mut self, rows: Vec<Row<'c>>, away: u64) -> Result<Vec<Row<'c>>> {
        let Some(first) = rows.first() else { return Ok(Vec::new()) };
        let scratch = self.scratch()?;
        let types: Vec<BasicTypeEnum> = first.iter().map(|v| v.get_type()).collect();
        let words = types.iter().map(|&ty| word_count(ty)).sum::<Result<u64>>()?;
        let line = LINE * self.place.warps;
        let together = scratch.bytes / (words * line).max(1);
        if together == 0 {
            return Err(too_small(&scratch, words * line));
        }
        let own = self.ir.sub(self.thread, self.ir.c32(32 * self.place.warp))?;
        let other = self.ir.xor(own, self.ir.c32(away))?;
        let start = |this: &Self, thread| -> Result<PointerValue<'c>> {
            this.ir.plus(this.ir.shared_at(this.ir.shl(thread, 2)?)?, scratch.offset)
        };
        let (own, other) = (start(self, own)?, start(self, other)?);
        let mut met = Vec::new();
        for rows in rows.chunks(together as usize) {
            let mut at = 0;
            for &value in rows.iter().flatten() {
                for bits in self.split_words(value)? {
                    self.ir.store(bits.into(), self.ir.plus(own, at)?, 4)?;
                    at += line;
                }
            }
            self.meet(&scratch)?;
            at = 0;
            for _ in rows {
                let mut row = Row::new();
                for &ty in &types {
                    let count = word_count(ty)?;
                    row.push(self.joined_words(self.ir.plus(other, at)?, count, line, ty)?);
                    at += count * line;
                }
                met.push(row);
            }
            self.meet(&scratch)?;
        }
        Ok(met)
    }

    /// Where the lines of a warp start.
    fn line(&self, start: PointerValue<'c>, warp: IntValue<'c>) -> Result<PointerValue<'c>> {
        self.ir.offset(start, self.ir.int(8).into(), self.ir.scale(warp, LINE)?)
    }

    /// A value as words of 32 bits, low first.
    pub(super) fn split_words(&mut self, value: Val<'c>) -> Result<Vec<IntValue<'c>>> {
        let bits = width(value.get_type())?;
        let int = as_int(self.ir.bits(value, self.ir.int(bits).into())?)?;
        if bits < 64 {
            return Ok(vec![self.ir.zext(int, self.ir.i32())?]);
        }
        let word = self.ir.i32().into();
        let low = self.ir.cast(Llvm::Trunc, int.into(), word)?;
        let high = self.ir.cast(Llvm::Trunc, self.ir.shr(int, 32)?.into(), word)?;
        Ok(vec![as_int(low)?, as_int(high)?])
    }

    /// The value whose words stand at an address, `step` bytes apart.
    fn joined_words(
        &mut self,
        at: PointerValue<'c>,
        count: u64,
        step: u64,
        ty: BasicTypeEnum<'c>,
    ) -> Result<Val<'c>> {
        let word = self.ir.i32().into();
        let mut words = Vec::new();
        for n in 0..count {
            words.push(as_int(self.ir.load(word, self.ir.plus(at, n * step)?, 4)?)?);
        }
        self.whole(&words, ty)
    }

    /// The value of these words, low first.
    pub(super) fn whole(&mut self, words: &[IntValue<'c>], ty: BasicTypeEnum<'c>) -> Result<Val<'c>> {
        let bits = width(ty)?;
        let int = match *words {
            [low] if bits == 32 => low.into(),
            [low] => self.ir.cast(Llvm::Trunc, low.into(), self.ir.int(bits).into())?,
            [low, high] => {
                let (low, high) = (self.ir.zext(low, self.ir.int(64))?, self.ir.zext(high, self.ir.int(64))?);
                self.ir.or(low, self.ir.shl(high, 32)?)?.into()
            }
            _ => return Err(internal("a number of other words")),
        };
        self.ir.bits(int, ty)
    }
}

fn too_small(scratch: &Scratch, needs: u64) -> Refusal {
    let text = format!("{} B of scratch memory for a reduction over warps", scratch.bytes);
    refuse(Code::Capacity, text).rule("C65").note("needs", format!("{needs} B")).into()
}

/// Bits of a number.
pub(super) fn width(ty: BasicTypeEnum) -> Result<u32> {
    match ty {
        BasicTypeEnum::FloatType(ty) => Ok(ty.get_bit_width()),
        BasicTypeEnum::IntType(ty) => Ok(ty.get_bit_width()),
        _ => Err(refuse(Code::Type, "an exchange of pointers between warps").rule("C65").into()),
    }
}

/// Words of 32 bits that hold a number.
fn word_count(ty: BasicTypeEnum) -> Result<u64> {
    Ok(u64::from(width(ty)?.div_ceil(32)))
}

/// One element of each operand.
pub(super) type Row<'c> = SmallVec<[Val<'c>; 2]>;
