//! Conversions of one element, or of two at once (C68).

use inkwell::FloatPredicate;
use inkwell::types::BasicTypeEnum;
use inkwell::values::InstructionOpcode as Llvm;
use warploom_chips::{Feature, PtxVersion};
use warploom_ir::diag::Code;
use warploom_ir::{FloatKind, OpId, Opcode, Type, ValueId};

use super::Lower;
use super::value::Coords;
use crate::error::{Result, refuse};
use crate::llvm::{Val, as_int};

/// The 8-bit floats: conversion to pairs, and back.
const FP8: [(FloatKind, &str, &str); 2] = [
    (FloatKind::F8E4M3FN, "nvvm.ff.to.e4m3x2.rn", "nvvm.e4m3x2.to.f16x2.rn"),
    (FloatKind::F8E5M2, "nvvm.ff.to.e5m2x2.rn", "nvvm.e5m2x2.to.f16x2.rn"),
];

/// First version of PTX that converts them.
const FP8_LEAST: PtxVersion = PtxVersion { major: 8, minor: 1 };

impl<'c> Lower<'c, '_> {
    pub(super) fn resize(&mut self, op: OpId, a: Val<'c>, cast: Llvm) -> Result<Val<'c>> {
        let (a, ty) = (as_int(a)?, self.result_type(op)?);
        let BasicTypeEnum::IntType(to) = ty else { return Err(self.bad_type(op)) };
        let (from, width) = (a.get_type().get_bit_width(), to.get_bit_width());
        match (cast, from.cmp(&width)) {
            (_, std::cmp::Ordering::Equal) => Ok(a.into()),
            (Llvm::Trunc, std::cmp::Ordering::Greater) => self.ir.cast(Llvm::Trunc, a.into(), ty),
            (Llvm::SExt | Llvm::ZExt, std::cmp::Ordering::Less) => self.ir.cast(cast, a.into(), ty),
            _ => Err(self.bad_type(op)),
        }
    }

    pub(super) fn int_to_float(&mut self, op: OpId, a: Val<'c>, cast: Llvm) -> Result<Val<'c>> {
        match self.result_type(op)? {
            ty @ BasicTypeEnum::FloatType(_) if a.is_int_value() => self.ir.cast(cast, a, ty),
            _ => Err(self.bad_type(op)),
        }
    }

    pub(super) fn float_to_int(&mut self, op: OpId, a: Val<'c>, cast: Llvm) -> Result<Val<'c>> {
        match self.result_type(op)? {
            ty @ BasicTypeEnum::IntType(_) if a.is_float_value() => self.ir.cast(cast, a, ty),
            _ => Err(self.bad_type(op)),
        }
    }

    /// Conversions between floating-point formats, round to nearest even, or from f32 to 16 bits towards zero; 8-bit ones
    /// saturate (C68).
    pub(super) fn convert(&mut self, op: OpId, a: Val<'c>) -> Result<Val<'c>> {
        let (from, to) = (self.operand_elem(op, 0)?.clone(), self.result_elem(op)?.clone());
        let (Type::Float(from), Type::Float(to)) = (from, to) else { return Err(self.bad_type(op)) };
        if let (FloatKind::F32, Some(name)) = (from, self.towards_zero(op, to)) {
            let zero = self.ir.cf32(0.0);
            let pair = self.ir.intrinsic(name, &[zero, a])?;
            return self.ir.lane(pair, 0);
        }
        if let (FloatKind::F32 | FloatKind::F16, FloatKind::F8E5M2, true) = (from, to, self.truncates(op)) {
            return self.cut_to_e5m2(a, from);
        }
        if !self.rounds_to_even(op) {
            let text = "a conversion with another rounding than to nearest even";
            return Err(refuse(Code::Op, text).rule("C68").into());
        }
        if from == to {
            return Ok(a);
        }
        // An 8-bit float stands in an integer, and becomes one of 32 bits first.
        let wide = match from {
            FloatKind::F64 if self.result_type(op)?.is_float_type() => {
                return self.ir.cast(Llvm::FPTrunc, a, self.result_type(op)?);
            }
            FloatKind::F64 => self.rounded_to_odd(a)?,
            _ => self.widened(op, a, from)?,
        };
        match to {
            FloatKind::F64 => self.ir.cast(Llvm::FPExt, wide, self.result_type(op)?),
            _ => self.narrowed_to(op, wide, to),
        }
    }

    /// An f64 as f32 for another rounding behind it: cut off, the last bit telling whether anything was.
    fn rounded_to_odd(&mut self, a: Val<'c>) -> Result<Val<'c>> {
        let short = self.ir.intrinsic("nvvm.d2f.rz", &[a])?;
        let back = self.ir.cast(Llvm::FPExt, short, a.get_type())?;
        let inexact = self.ir.fcmp(FloatPredicate::UNE, back, a)?;
        let word = self.ir.i32();
        let bits = as_int(self.ir.bits(short, word.into())?)?;
        let odd = self.ir.or(bits, self.ir.zext(inexact, word)?)?;
        self.ir.bits(odd.into(), self.ir.f32().into())
    }

    /// Whether the chip, and the version of PTX, convert 8-bit floats.
    fn converts_fp8(&self) -> bool {
        self.ir.ptx >= FP8_LEAST && self.ir.target.has(Feature::Fp8Convert)
    }

    /// The upper byte of an f16: e5m2 is what is left of one that is cut off.
    fn cut_to_e5m2(&mut self, a: Val<'c>, from: FloatKind) -> Result<Val<'c>> {
        let half = match from {
            FloatKind::F16 => a,
            _ => {
                let zero = self.ir.cf32(0.0);
                let pair = self.ir.intrinsic("nvvm.ff2f16x2.rz", &[zero, a])?;
                self.ir.lane(pair, 0)?
            }
        };
        let bits = as_int(self.ir.bits(half, self.ir.int(16).into())?)?;
        let byte = self.ir.cast(Llvm::Trunc, self.ir.shr(bits, 8)?.into(), self.ir.int(8).into())?;
        // What tells a NaN from an infinity may be among the bits that go.
        let is_nan = self.ir.fcmp(FloatPredicate::UNO, half, half)?;
        self.ir.select(is_nan, self.ir.int(8).const_int(0x7f, false).into(), byte)
    }

    /// Whether a conversion asks for rounding towards zero.
    fn truncates(&self, op: OpId) -> bool {
        ["rounding", "roundingmode"].iter().any(|name| {
            let mode = self.module.attr(op, name);
            mode.is_some_and(|mode| matches!(mode.as_str(), Some("rtz" | "toward_zero")))
        })
    }

    /// The instruction that converts an f32 to 16 bits and rounds towards zero, where the operation asks for it.
    fn towards_zero(&self, op: OpId, to: FloatKind) -> Option<&'static str> {
        match to {
            FloatKind::F16 if self.truncates(op) => Some("nvvm.ff2f16x2.rz"),
            FloatKind::BF16 if self.truncates(op) => Some("nvvm.ff2bf16x2.rz"),
            _ => None,
        }
    }

    /// Whether a conversion asks for no other rounding than to nearest even.
    fn rounds_to_even(&self, op: OpId) -> bool {
        ["rounding", "roundingmode"].iter().all(|name| {
            let mode = self.module.attr(op, name);
            mode.is_none_or(|mode| matches!(mode.as_str(), Some("rtne" | "to_nearest_even")))
        })
    }

    /// Any format up to 32 bits as `f32`; exact.
    pub(super) fn widened(&mut self, op: OpId, a: Val<'c>, from: FloatKind) -> Result<Val<'c>> {
        let f32 = self.ir.f32().into();
        match from {
            FloatKind::F32 => Ok(a),
            FloatKind::BF16 if let Some(wide) = self.upper_half(a)? => Ok(wide),
            FloatKind::F16 | FloatKind::BF16 => self.ir.cast(Llvm::FPExt, a, f32),
            _ => {
                let entry = FP8.iter().find(|(kind, ..)| *kind == from);
                let (_, _, name) = entry.ok_or_else(|| self.bad_type(op))?;
                if !self.converts_fp8() {
                    return self.widen_fp8(as_int(a)?, from)?.ok_or_else(|| self.bad_type(op));
                }
                let wide = self.ir.zext(as_int(a)?, self.ir.int(16))?;
                let pair = self.ir.intrinsic(name, &[wide.into()])?;
                let low = self.ir.lane(pair, 0)?;
                self.ir.cast(Llvm::FPExt, low, f32)
            }
        }
    }

    /// The bf16 in the upper half of a word as f32, which it is already but for the lower half; `None` where it is not known
    /// to stand there. Cutting it out and moving it up again takes ptxas two instructions.
    fn upper_half(&self, a: Val<'c>) -> Result<Option<Val<'c>>> {
        let Some(word) = self.ir.word_above(a) else { return Ok(None) };
        let bits = self.ir.and(word, 0xffff_0000)?;
        self.ir.bits(bits.into(), self.ir.f32().into()).map(Some)
    }

    /// `f32` as a format up to 32 bits.
    pub(super) fn narrowed_to(&mut self, op: OpId, a: Val<'c>, to: FloatKind) -> Result<Val<'c>> {
        match to {
            FloatKind::F32 => Ok(a),
            FloatKind::F16 => self.ir.cast(Llvm::FPTrunc, a, self.ir.ctx.f16_type().into()),
            FloatKind::BF16 => self.ir.cast(Llvm::FPTrunc, a, self.ir.ctx.bf16_type().into()),
            _ => {
                let entry = FP8.iter().find(|(kind, ..)| *kind == to);
                let (_, name, _) = entry.ok_or_else(|| self.bad_type(op))?;
                if !self.converts_fp8() {
                    return self.narrow_fp8(a, to)?.map(Into::into).ok_or_else(|| self.bad_type(op));
                }
                let zero = self.ir.cf32(0.0);
                let pair = self.ir.intrinsic(name, &[zero, a])?;
                self.ir.cast(Llvm::Trunc, pair, self.ir.int(8).into())
            }
        }
    }

    /// Two neighbouring elements of a conversion from f32, by one packed instruction: 16-bit formats as
    /// `i32`. `None` where the value is no such conversion.
    pub(super) fn converted_pair(
        &mut self,
        value: ValueId,
        even: &Coords,
        odd: &Coords,
    ) -> Result<Option<Val<'c>>> {
        let Some((source, kind)) = self.narrowed(value)? else { return Ok(None) };
        let name = match kind {
            FloatKind::BF16 => "nvvm.ff2bf16x2.rn",
            FloatKind::F16 => "nvvm.ff2f16x2.rn",
            _ => return Ok(None),
        };
        let (low, high) = (self.at(source, even.clone())?, self.at(source, odd.clone())?);
        let pair = self.ir.intrinsic(name, &[high, low])?;
        Ok(Some(self.ir.bits(pair, self.ir.i32().into())?))
    }

    /// Two neighbouring elements of a conversion from f32 to an 8-bit format, as `i16`.
    pub(super) fn converted_bytes(
        &mut self,
        value: ValueId,
        even: &Coords,
        odd: &Coords,
    ) -> Result<Option<Val<'c>>> {
        let Some((source, kind)) = self.narrowed(value)? else { return Ok(None) };
        let Some((_, name, _)) = FP8.iter().find(|(k, ..)| *k == kind) else { return Ok(None) };
        if !self.converts_fp8() {
            return Ok(None);
        }
        let (low, high) = (self.at(source, even.clone())?, self.at(source, odd.clone())?);
        Ok(Some(self.ir.intrinsic(name, &[high, low])?))
    }

    /// The f32 tile that a tile is converted from, and the format.
    fn narrowed(&self, value: ValueId) -> Result<Option<(ValueId, FloatKind)>> {
        let Some(op) = self.module.def_op(value) else { return Ok(None) };
        if !matches!(self.module.ops[op].opcode, Opcode::TruncF | Opcode::FpToFp) {
            return Ok(None);
        }
        let source = self.operand(op, 0)?;
        let same_shape = self.module.ty(source).shape() == self.module.ty(value).shape();
        let plain = self.rounds_to_even(op);
        match (self.module.ty(source).elem(), self.module.ty(value).elem()) {
            (Type::Float(FloatKind::F32), Type::Float(kind)) if same_shape && plain => {
                Ok(Some((source, *kind)))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn reinterpret(&mut self, op: OpId, a: Val<'c>) -> Result<Val<'c>> {
        let (from, to) = (self.operand_elem(op, 0)?, self.result_elem(op)?);
        match (from, to) {
            (Type::Ptr { .. }, Type::Ptr { .. }) => Ok(a),
            _ if from.elem_bits() == to.elem_bits()
                && !matches!((from, to), (Type::Ptr { .. }, _) | (_, Type::Ptr { .. })) =>
            {
                let ty = self.result_type(op)?;
                self.ir.bits(a, ty)
            }
            _ => Err(self.bad_type(op)),
        }
    }
}
