//! `tt.store` through pointers: scalars, vectors, matrices (C33).

use inkwell::IntPredicate;
use inkwell::values::InstructionOpcode as Llvm;
use warploom_ir::diag::Code;
use warploom_ir::{OpId, Type, ValueId};

use super::Lower;
use super::family::{Axis, Family};
use super::value::{Coords, Form, element_bits};
use crate::error::{Result, refuse};
use crate::llvm::Val;

/// What is stored where.
#[derive(Clone, Copy)]
struct Stored<'m> {
    pointer: ValueId,
    value: ValueId,
    mask: Option<ValueId>,
    elem: &'m Type,
    bits: u32,
}

impl<'c> Lower<'c, '_> {
    /// `tt.store`, predicated where there is a mask.
    pub(super) fn store(&mut self, op: OpId) -> Result<()> {
        let (pointer, value) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let mask = self.module.ops[op].operands.get(2).copied();
        let module = self.module;
        let elem = module.ty(value).elem();
        let bits = element_bits(module.ty(value)).filter(|bits| matches!(bits, 8 | 16 | 32 | 64));
        let bits = bits.ok_or_else(|| refuse(Code::Type, format!("tt.store of {elem} is not supported")))?;
        let stored = Stored { pointer, value, mask, elem, bits };
        if !module.ty(pointer).is_tensor() {
            let (pointer, value) = (self.scalar(pointer)?, self.scalar(value)?);
            let mask = mask.map(|m| self.scalar(m)).transpose()?;
            let lane = self.first_thread()?;
            let mask = self.both(mask, Some(lane))?;
            return self.store_one(pointer, value, mask, bits, elem);
        }
        let family = self.family()?;
        match self.form(value, family)? {
            Form::Slice { axis, extent } => self.store_slice(&stored, family, axis, extent),
            Form::Tile { cols, .. } => {
                let (rows, _) = self.matrix(value)?;
                for i in 0..family.count(rows, cols)? {
                    let at = self.place_at(value, family, i)?;
                    self.store_at(&stored, at, None)?;
                }
                Ok(())
            }
        }
    }

    /// A vector: of the lanes that hold an element, the one whose own other coordinate is 0 stores it.
    fn store_slice(&mut self, stored: &Stored, family: Family, axis: Axis, extent: u64) -> Result<()> {
        let other = if axis == Axis::Row { Axis::Col } else { Axis::Row };
        let place = family.first(self, other)?;
        let mine = self.ir.icmp(IntPredicate::EQ, place, self.ir.c32(0))?.into();
        for offset in family.held(axis, extent)? {
            let at = self.slice_at(stored.value, family, axis, offset);
            self.store_at(stored, at, Some(mine))?;
        }
        Ok(())
    }

    /// The element at one position, if `mine`.
    fn store_at(&mut self, stored: &Stored, at: Coords, mine: Option<Val<'c>>) -> Result<()> {
        let to = self.at(stored.pointer, at.clone())?;
        let mask = stored.mask.map(|m| self.at(m, at.clone())).transpose()?;
        let mask = self.both(mask, mine)?;
        let from = self.at(stored.value, at)?;
        self.store_one(to, from, mask, stored.bits, stored.elem)
    }

    /// Whether this is the thread that stores scalars: the agent's first, or the elected one.
    pub(super) fn first_thread(&mut self) -> Result<Val<'c>> {
        if self.place.elected {
            return Ok(self.ir.int(1).const_all_ones().into());
        }
        let first = self.ir.c32(32 * self.place.warp);
        Ok(self.ir.icmp(IntPredicate::EQ, self.thread, first)?.into())
    }

    /// Both conditions, where there are any.
    pub(super) fn both(&self, a: Option<Val<'c>>, b: Option<Val<'c>>) -> Result<Option<Val<'c>>> {
        match (a, b) {
            (Some(a), Some(b)) => self.ir.binary(Llvm::And, a, b).map(Some),
            (one, other) => Ok(one.or(other)),
        }
    }
}
