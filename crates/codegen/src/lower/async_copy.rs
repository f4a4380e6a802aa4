//! Copies from global to shared memory by the lanes themselves: `cp.async` where neighbouring elements make a
//! chunk that can be copied whole, or up to where a mask ends; loads and stores elsewhere (C24, C48, C60).

use inkwell::values::{InstructionOpcode as Llvm, IntValue, PointerValue};
use smallvec::SmallVec;
use warploom_chips::Feature;
use warploom_ir::diag::Code;
use warploom_ir::{OpId, ValueId};

use super::Lower;
use super::chunks::CHUNK;
use super::value::{Coord, Coords, View, element_bits};
use crate::error::{Result, refuse};
use crate::family::{Axis, Blocked, Family};
use crate::llvm::{Val, as_int, as_ptr};

/// What is copied.
struct Copy {
    pointers: ValueId,
    mask: Option<ValueId>,
    other: Option<ValueId>,
    /// Bits of an element.
    bits: u32,
    /// Whether the lanes wait for it before they do anything else.
    awaited: bool,
}

impl<'c> Lower<'c, '_> {
    /// `warploom.async_copy`.
    pub(super) fn async_copy(&mut self, op: OpId) -> Result<()> {
        if self.place.elected {
            return Err(refuse(Code::Op, "a copy by all lanes inside warploom.elect").rule("C24").into());
        }
        let ring = self.program.ring(self.module, op)?;
        let slot = self.int(self.operand(op, 0)?)?;
        let payload = usize::try_from(self.count(op, "payload")?).unwrap_or(usize::MAX);
        let Some(target) = self.program.rings[ring].payloads.get(payload) else {
            let text = format!("the pipeline has no payload {payload}");
            return Err(refuse(Code::Verify, text).rule("C35").into());
        };
        let (layout, tile) = (target.layout, target.tile.clone());
        let bits = element_bits(&tile).filter(|bits| matches!(bits, 8 | 16 | 32 | 64));
        let bits =
            bits.ok_or_else(|| refuse(Code::Type, format!("a copy of {tile} is not supported")).rule("C48"))?;
        let operands = &self.module.ops[op].operands;
        let (mask, other) = (operands.get(2).copied(), operands.get(3).copied());
        let awaited = self.program.rings[ring].straight;
        let copy = Copy { pointers: self.operand(op, 1)?, mask, other, bits, awaited };
        if self.module.ty(copy.pointers).shape() != tile.shape() || tile.shape().is_empty() {
            return Err(refuse(Code::Verify, "a copy of another shape than the slot's").rule("C35").into());
        }
        let view = View { ring, payload, slot, transposed: false, written: None };
        let blocked = self.chunks(layout, 1);
        let width = self.copy_width(&copy);
        self.each_chunk(&view, blocked, |lower, at, to| lower.copy_chunk(&copy, blocked, at, to, width))
    }

    /// Bytes of one `cp.async`: 16, 8 or 4; 0 where elements go through registers.
    fn copy_width(&mut self, copy: &Copy) -> u64 {
        let bytes = u64::from(copy.bits / 8);
        let dim = self.module.ty(copy.pointers).shape().len().saturating_sub(1);
        let run = self.runs.along(self.module, copy.pointers, dim);
        let mut elements = run.consecutive;
        if let Some(mask) = copy.mask {
            elements = elements.min(self.runs.along(self.module, mask, dim).leading());
        }
        let zero = copy.other.is_none_or(|other| self.module.is_zero(other));
        let width = (elements.saturating_mul(bytes)).min(run.multiple).min(CHUNK);
        let able = zero && self.ir.target.has(Feature::CpAsync);
        if able && width >= 4 && width >= bytes { width } else { 0 }
    }

    /// The position of an element of the lane's chunk.
    fn chunk_at(&self, value: ValueId, family: Blocked, (row, col): (u64, u64), element: u64) -> Coords {
        let family = Family::Blocked(family);
        let mut at = Coords::new();
        let rank = self.module.ty(value).shape().len();
        at.extend(std::iter::repeat_n(Coord::ZERO, rank.saturating_sub(2)));
        if rank > 1 {
            at.push(family.coord(Axis::Row, row));
        }
        at.push(family.coord(Axis::Col, col + element));
        at
    }

    /// Copies one chunk of the lane.
    fn copy_chunk(
        &mut self,
        copy: &Copy,
        family: Blocked,
        at: (u64, u64),
        to: PointerValue<'c>,
        width: u64,
    ) -> Result<()> {
        if width == 0 {
            return self.move_chunk(copy, family, at, to);
        }
        let (name, plain) = match width {
            16 => ("nvvm.cp.async.cg.shared.global.16.s", "nvvm.cp.async.cg.shared.global.16"),
            8 => ("nvvm.cp.async.ca.shared.global.8.s", "nvvm.cp.async.ca.shared.global.8"),
            _ => ("nvvm.cp.async.ca.shared.global.4.s", "nvvm.cp.async.ca.shared.global.4"),
        };
        let step = width * 8 / u64::from(copy.bits);
        let whole = copy.awaited && self.masked_whole(copy, step);
        for part in 0..CHUNK / width {
            let place = self.chunk_at(copy.pointers, family, at, part * step);
            let from = self.at(copy.pointers, place.clone())?;
            let to = self.ir.plus(to, part * width)?;
            if whole {
                let mask = copy.mask.map(|mask| self.holds(&self.key(mask, place))).transpose()?;
                self.move_whole(from, mask, to, width)?;
                continue;
            }
            let to = to.into();
            match copy.mask {
                None => self.ir.effect(plain, &[to, from])?,
                Some(mask) => {
                    let bytes = self.leading(&self.key(mask, place), step, u64::from(copy.bits / 8))?;
                    self.ir.effect(name, &[to, from, bytes.into()])?;
                }
            }
        }
        Ok(())
    }

    /// Whether a mask holds for all of so many neighbours in a row or for none.
    fn masked_whole(&mut self, copy: &Copy, count: u64) -> bool {
        let dim = self.module.ty(copy.pointers).shape().len().saturating_sub(1);
        copy.mask.is_none_or(|mask| self.runs.along(self.module, mask, dim).equal >= count)
    }

    /// Moves some bytes through registers at once: nothing else is done until they are there, so that `cp.async` would
    /// gain nothing.
    fn move_whole(
        &mut self,
        from: Val<'c>,
        mask: Option<Val<'c>>,
        to: PointerValue<'c>,
        width: u64,
    ) -> Result<()> {
        let (word, count) = (self.ir.i32(), (width / 4) as u32);
        let all = match mask {
            Some(mask) => {
                let none = vec![word.const_zero(); count as usize];
                let words = self.load_masked(from, mask, &none, "")?.into_iter().map(Val::from);
                self.ir.vector(&words.collect::<Vec<_>>())?
            }
            None => {
                // LLVM packs halves into words; words it would pair up, where the chip adds pairs of f32.
                let ty = if count == 1 { word.into() } else { self.ir.int(16).vec_type(2 * count).into() };
                self.ir.load(ty, as_ptr(from)?, width as u32)?
            }
        };
        self.ir.store(all, to, width as u32)
    }

    /// Moves one chunk element by element through registers.
    fn move_chunk(
        &mut self,
        copy: &Copy,
        family: Blocked,
        at: (u64, u64),
        to: PointerValue<'c>,
    ) -> Result<()> {
        let count = CHUNK * 8 / u64::from(copy.bits);
        let mut parts = SmallVec::<[IntValue<'c>; 16]>::new();
        for element in 0..count {
            let place = self.chunk_at(copy.pointers, family, at, element);
            let pointer = self.at(copy.pointers, place.clone())?;
            let mask = copy.mask.map(|mask| self.holds(&self.key(mask, place.clone()))).transpose()?;
            let other = copy.other.map(|other| self.at(other, place)).transpose()?;
            parts.push(self.load_bits(pointer, mask, other, (copy.bits, ""))?);
        }
        let narrow = self.ir.int(copy.bits);
        for part in &mut parts {
            if part.get_type() != narrow {
                *part = as_int(self.ir.cast(Llvm::Trunc, (*part).into(), narrow.into())?)?;
            }
        }
        let whole = self.packed(&parts, self.access(CHUNK as u32))?;
        self.ir.store(whole, to, CHUNK as u32)
    }

    /// `warploom.async_commit`.
    pub(super) fn async_commit(&mut self) -> Result<()> {
        self.ir.effect("nvvm.cp.async.commit.group", &[])
    }

    /// `warploom.async_wait`.
    pub(super) fn async_wait(&mut self, op: OpId) -> Result<()> {
        let pending = self.count(op, "pending")?;
        let pending = self.ir.c32(pending).into();
        self.ir.effect("nvvm.cp.async.wait.group", &[pending])
    }
}
