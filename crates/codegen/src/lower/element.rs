//! Element-wise operations on one element: scalars and elements of tiles alike (C48, C68).

use inkwell::types::BasicTypeEnum;
use inkwell::values::{InstructionOpcode as Llvm, IntValue};
use inkwell::{FloatPredicate, IntPredicate};
use warploom_ir::diag::Code;
use warploom_ir::{Attr, FloatKind, OpId, Opcode, Type, ValueId};

use super::Lower;
use super::value::Coords;
use crate::error::{Refusal, Result, internal, refuse};
use crate::llvm::{Val, as_int, as_ptr};

/// Comparisons of integers in MLIR's numbering.
const INT_PREDICATES: [(&str, IntPredicate); 10] = [
    ("eq", IntPredicate::EQ),
    ("ne", IntPredicate::NE),
    ("slt", IntPredicate::SLT),
    ("sle", IntPredicate::SLE),
    ("sgt", IntPredicate::SGT),
    ("sge", IntPredicate::SGE),
    ("ult", IntPredicate::ULT),
    ("ule", IntPredicate::ULE),
    ("ugt", IntPredicate::UGT),
    ("uge", IntPredicate::UGE),
];

/// Comparisons of floating-point numbers in MLIR's numbering.
const FLOAT_PREDICATES: [(&str, FloatPredicate); 16] = [
    ("false", FloatPredicate::PredicateFalse),
    ("oeq", FloatPredicate::OEQ),
    ("ogt", FloatPredicate::OGT),
    ("oge", FloatPredicate::OGE),
    ("olt", FloatPredicate::OLT),
    ("ole", FloatPredicate::OLE),
    ("one", FloatPredicate::ONE),
    ("ord", FloatPredicate::ORD),
    ("ueq", FloatPredicate::UEQ),
    ("ugt", FloatPredicate::UGT),
    ("uge", FloatPredicate::UGE),
    ("ult", FloatPredicate::ULT),
    ("ule", FloatPredicate::ULE),
    ("une", FloatPredicate::UNE),
    ("uno", FloatPredicate::UNO),
    ("true", FloatPredicate::PredicateTrue),
];

/// The 8-bit floats: conversion to pairs, and back.
const FP8: [(FloatKind, &str, &str); 2] = [
    (FloatKind::F8E4M3FN, "nvvm.ff.to.e4m3x2.rn", "nvvm.e4m3x2.to.f16x2.rn"),
    (FloatKind::F8E5M2, "nvvm.ff.to.e5m2x2.rn", "nvvm.e5m2x2.to.f16x2.rn"),
];

impl<'c> Lower<'c, '_> {
    /// Whether an operation computes each element of its result from the elements at the same place.
    pub(super) fn is_elementwise(&self, op: OpId) -> bool {
        use Opcode::*;
        matches!(
            self.module.ops[op].opcode,
            AddI | SubI | MulI | DivSI | DivUI | RemSI | RemUI | AndI | OrI | XOrI | ShLI | ShRSI | ShRUI | MinSI
                | MaxSI | MinUI | MaxUI | CmpI | AddF | SubF | MulF | DivF | NegF | MaxNumF | MinNumF | MaximumF
                | MinimumF | CmpF | Select | ExtSI | ExtUI | TruncI | ExtF | TruncF | SIToFP | UIToFP | FPToSI
                | FPToUI | ArithBitcast | IndexCast | Exp | Exp2 | Log | Log2 | Sqrt | Rsqrt | Tanh | Erf | AbsF
                | AbsI | Floor | Ceil | Fma | Bitcast | FpToFp | IntToPtr | PtrToInt | AddPtr | ClampF | PreciseSqrt
                | PreciseDivF | MulHiUI
        )
    }

    /// One element of the result of an operation, or the result itself where it is a scalar.
    pub(super) fn element(&mut self, op: OpId, args: &[Val<'c>]) -> Result<Val<'c>> {
        use Opcode::*;
        let opcode = self.module.ops[op].opcode;
        match (opcode, args) {
            (Constant, []) => self.constant(op),
            (GetProgramId | GetNumPrograms, []) => self.grid(op),
            (Load, [pointer, rest @ ..]) => self.load(op, *pointer, rest),
            (Splat | Unsplat, [value]) => Ok(*value),
            (AddPtr, [pointer, offset]) => self.add_ptr(op, *pointer, *offset),
            (Select, [cond, a, b]) => self.ir.select(as_int(*cond)?, *a, *b),
            (CmpI, [a, b]) => {
                let p = self.predicate(op, &INT_PREDICATES)?;
                Ok(self.ir.icmp(p, as_int(*a)?, as_int(*b)?)?.into())
            }
            (CmpF, [a, b]) => {
                let p = self.predicate(op, &FLOAT_PREDICATES)?;
                Ok(self.ir.fcmp(p, *a, *b)?.into())
            }
            (_, [a, b]) if integer(opcode).is_some() => {
                let llvm = integer(opcode).ok_or_else(|| internal("no such operation"))?;
                self.ir.binary(llvm, *a, *b)
            }
            (MinSI, _) => self.ir.overloaded("smin", args),
            (MaxSI, _) => self.ir.overloaded("smax", args),
            (MinUI, _) => self.ir.overloaded("umin", args),
            (MaxUI, _) => self.ir.overloaded("umax", args),
            (MulHiUI, [a, b]) => self.multiply_high(as_int(*a)?, as_int(*b)?),
            (AbsI, [a]) => self.absolute(as_int(*a)?),
            (AddF, [a, b]) => self.ir.binary(Llvm::FAdd, *a, *b),
            (SubF, [a, b]) => self.ir.binary(Llvm::FSub, *a, *b),
            (MulF, [a, b]) => self.ir.binary(Llvm::FMul, *a, *b),
            (NegF, [a]) => self.negate(*a),
            (DivF | PreciseDivF, [a, b]) => self.divide(op, *a, *b, opcode == PreciseDivF),
            (MaxNumF, _) => self.extremum(op, "maxnum", args),
            (MinNumF, _) => self.extremum(op, "minnum", args),
            (MaximumF, _) => self.extremum(op, "maximum", args),
            (MinimumF, _) => self.extremum(op, "minimum", args),
            (ClampF, [x, low, high]) => {
                let keeps_nan = self.module.attr(op, "propagateNan").is_some_and(|a| {
                    a.as_str() == Some("all") || a.as_i64().is_some_and(|v| v != 0)
                });
                let (max, min) = if keeps_nan { ("maximum", "minimum") } else { ("maxnum", "minnum") };
                let above = self.extremum(op, max, &[*x, *low])?;
                self.extremum(op, min, &[above, *high])
            }
            (Fma, _) => self.ir.overloaded("fma", args),
            (AbsF, _) => self.ir.overloaded("fabs", args),
            (Floor | Ceil | Exp | Exp2 | Log | Log2 | Sqrt | PreciseSqrt | Rsqrt | Tanh | Erf, [x]) => {
                self.function_of(op, *x)
            }
            (ExtSI, [a]) => self.resize(op, *a, Llvm::SExt),
            (ExtUI, [a]) => self.resize(op, *a, Llvm::ZExt),
            (TruncI, [a]) => self.resize(op, *a, Llvm::Trunc),
            (IndexCast, [a]) => self.resize(op, *a, Llvm::SExt),
            (SIToFP, [a]) => self.from_int(op, *a, Llvm::SIToFP),
            (UIToFP, [a]) => self.from_int(op, *a, Llvm::UIToFP),
            (FPToSI, [a]) => self.to_int(op, *a, Llvm::FPToSI),
            (FPToUI, [a]) => self.to_int(op, *a, Llvm::FPToUI),
            (ExtF | TruncF | FpToFp, [a]) => self.convert(op, *a),
            (ArithBitcast | Bitcast, [a]) => self.reinterpret(op, *a),
            (IntToPtr, [a]) => {
                let ty = self.result_type(op)?;
                self.ir.cast(Llvm::IntToPtr, *a, ty)
            }
            (PtrToInt, [a]) => {
                let ty = self.result_type(op)?;
                self.ir.cast(Llvm::PtrToInt, *a, ty)
            }
            _ => Err(self.unsupported(op)),
        }
    }

    /// The MLIR element type of operand number `index`.
    pub(super) fn operand_elem(&self, op: OpId, index: usize) -> Result<&Type> {
        Ok(self.module.ty(self.operand(op, index)?).elem())
    }

    /// The MLIR element type of the result.
    pub(super) fn result_elem(&self, op: OpId) -> Result<&Type> {
        Ok(self.module.ty(self.only_result(op)?).elem())
    }

    /// The LLVM type of an element of the result.
    fn result_type(&self, op: OpId) -> Result<BasicTypeEnum<'c>> {
        self.element_type(self.module.ty(self.only_result(op)?))
    }

    fn bad_type(&self, op: OpId) -> Refusal {
        let name = self.module.op_name(op);
        let operand = self.module.ops[op].operands.first().or(self.module.ops[op].results.first());
        let ty = operand.map(|&v| self.module.ty(v).to_string()).unwrap_or_default();
        refuse(Code::Type, format!("{name} of {ty} is not supported")).rule("C68").into()
    }

    fn predicate<P: Copy, const N: usize>(&self, op: OpId, table: &[(&str, P); N]) -> Result<P> {
        let attr = self.module.attr(op, "predicate");
        let found = match attr {
            Some(Attr::Int { value, .. }) => usize::try_from(*value).ok().and_then(|i| table.get(i)),
            Some(other) => table.iter().find(|(name, _)| other.as_str() == Some(name)),
            None => None,
        };
        let text = || refuse(Code::Verify, format!("{} needs a predicate", self.module.op_name(op)));
        found.map(|(_, p)| *p).ok_or_else(|| text().into())
    }

    /// A constant, or the element of a constant splat.
    fn constant(&mut self, op: OpId) -> Result<Val<'c>> {
        let ty = self.result_type(op)?;
        let value = match self.module.attr(op, "value") {
            Some(Attr::Splat { value, .. }) => Some(&**value),
            other => other,
        };
        match (value, ty) {
            (Some(Attr::Int { value, .. }), BasicTypeEnum::IntType(ty)) => Ok(ty.const_int(*value as u64, false).into()),
            (Some(Attr::Bool(value)), BasicTypeEnum::IntType(ty)) => Ok(ty.const_int(u64::from(*value), false).into()),
            (Some(Attr::Float { bits, .. }), BasicTypeEnum::IntType(ty)) => Ok(ty.const_int(*bits, false).into()),
            (Some(Attr::Float { bits, ty: kind }), BasicTypeEnum::FloatType(ty)) => {
                let width = kind.elem_bits().ok_or_else(|| self.bad_type(op))?;
                self.ir.float_bits(ty, width, *bits)
            }
            _ => Err(self.bad_type(op)),
        }
    }

    /// `tt.get_program_id`, `tt.get_num_programs`.
    fn grid(&mut self, op: OpId) -> Result<Val<'c>> {
        let axis = match self.module.attr(op, "axis") {
            Some(attr @ Attr::Int { .. }) => attr.as_i64().and_then(|a| usize::try_from(a).ok()),
            Some(other) => ["x", "y", "z"].iter().position(|&n| other.as_str() == Some(n)),
            None => Some(0),
        };
        let ids = ["nvvm.read.ptx.sreg.ctaid.x", "nvvm.read.ptx.sreg.ctaid.y", "nvvm.read.ptx.sreg.ctaid.z"];
        let counts = ["nvvm.read.ptx.sreg.nctaid.x", "nvvm.read.ptx.sreg.nctaid.y", "nvvm.read.ptx.sreg.nctaid.z"];
        let names = if self.module.ops[op].opcode == Opcode::GetProgramId { ids } else { counts };
        let name = axis.and_then(|axis| names.get(axis).copied());
        let name = name.ok_or_else(|| refuse(Code::Verify, "a grid has axes x, y and z"))?;
        self.ir.intrinsic(name, &[])
    }

    fn add_ptr(&mut self, op: OpId, pointer: Val<'c>, offset: Val<'c>) -> Result<Val<'c>> {
        let Type::Ptr { pointee, .. } = self.result_elem(op)? else { return Err(self.bad_type(op)) };
        let pointee = self.element_type(&pointee.clone())?;
        // An i1 in memory is a byte.
        let pointee = if pointee == self.ir.int(1).into() { self.ir.int(8).into() } else { pointee };
        Ok(self.ir.offset(as_ptr(pointer)?, pointee, as_int(offset)?)?.into())
    }

    /// `tt.load` of one element: predicated where there is a mask, so that nothing is read outside it.
    fn load(&mut self, op: OpId, pointer: Val<'c>, rest: &[Val<'c>]) -> Result<Val<'c>> {
        if matches!(self.module.attr(op, "isVolatile"), Some(Attr::Bool(true))) {
            return Err(refuse(Code::Op, "volatile tt.load is not supported").into());
        }
        let ty = self.result_type(op)?;
        let bits = self.result_elem(op)?.elem_bits().ok_or_else(|| self.bad_type(op))?;
        if bits == 1 {
            return Err(self.bad_type(op));
        }
        let Some(mask) = rest.first() else {
            return self.ir.load(ty, as_ptr(pointer)?, bits / 8);
        };
        let int = self.ir.int(bits.max(16));
        let other = match rest.get(1) {
            Some(other) => self.as_bits(*other, bits)?,
            None => int.const_zero(),
        };
        let (class, mov, ld) = match bits {
            8 => ("h", "mov.b16", "ld.global.b8"),
            16 => ("h", "mov.b16", "ld.global.b16"),
            32 => ("r", "mov.b32", "ld.global.b32"),
            _ => ("l", "mov.b64", "ld.global.b64"),
        };
        let text = format!("{mov} $0, $3;\n\t@$2 {ld} $0, [$1];");
        let constraints = format!("=&{class},l,b,{class}");
        let args = [pointer, *mask, other.into()];
        let loaded = self.ir.assembly(&text, &constraints, &[int.into()], &args, false)?;
        let loaded = as_int(loaded.ok_or_else(|| internal("a load without a result"))?)?;
        let loaded = match bits {
            8 => self.ir.cast(Llvm::Trunc, loaded.into(), self.ir.int(8).into())?,
            _ => loaded.into(),
        };
        match ty {
            BasicTypeEnum::PointerType(_) => self.ir.cast(Llvm::IntToPtr, loaded, ty),
            _ => self.ir.bits(loaded, ty),
        }
    }

    /// A value as an integer of its width, bytes widened to 16 bits.
    pub(super) fn as_bits(&self, value: Val<'c>, bits: u32) -> Result<IntValue<'c>> {
        let int = self.ir.int(bits);
        let value = match value {
            Val::PointerValue(_) => self.ir.cast(Llvm::PtrToInt, value, int.into())?,
            other => self.ir.bits(other, int.into())?,
        };
        self.ir.zext(as_int(value)?, self.ir.int(bits.max(16)))
    }

    fn negate(&mut self, a: Val<'c>) -> Result<Val<'c>> {
        let BasicTypeEnum::FloatType(ty) = a.get_type() else { return Err(internal("negation of no float")) };
        self.ir.binary(Llvm::FSub, ty.const_float(-0.0).into(), a)
    }

    fn absolute(&mut self, a: IntValue<'c>) -> Result<Val<'c>> {
        let negative = self.ir.icmp(IntPredicate::SLT, a, a.get_type().const_zero())?;
        let opposite = self.ir.sub(a.get_type().const_zero(), a)?;
        self.ir.select(negative, opposite.into(), a.into())
    }

    fn multiply_high(&mut self, a: IntValue<'c>, b: IntValue<'c>) -> Result<Val<'c>> {
        if a.get_type() != self.ir.i32() {
            return Err(refuse(Code::Type, "tt.mulhiui of other types than i32").rule("C68").into());
        }
        let (a, b) = (self.ir.zext(a, self.ir.int(64))?, self.ir.zext(b, self.ir.int(64))?);
        let product = as_int(self.ir.binary(Llvm::Mul, a.into(), b.into())?)?;
        self.ir.cast(Llvm::Trunc, self.ir.shr(product, 32)?.into(), self.ir.i32().into())
    }

    fn extremum(&mut self, op: OpId, name: &'static str, args: &[Val<'c>]) -> Result<Val<'c>> {
        match self.result_elem(op)? {
            Type::Float(FloatKind::F32 | FloatKind::F16 | FloatKind::BF16) => self.ir.overloaded(name, args),
            _ => Err(self.bad_type(op)),
        }
    }

    fn resize(&mut self, op: OpId, a: Val<'c>, cast: Llvm) -> Result<Val<'c>> {
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

    fn from_int(&mut self, op: OpId, a: Val<'c>, cast: Llvm) -> Result<Val<'c>> {
        match self.result_type(op)? {
            ty @ BasicTypeEnum::FloatType(_) if a.is_int_value() => self.ir.cast(cast, a, ty),
            _ => Err(self.bad_type(op)),
        }
    }

    fn to_int(&mut self, op: OpId, a: Val<'c>, cast: Llvm) -> Result<Val<'c>> {
        match self.result_type(op)? {
            ty @ BasicTypeEnum::IntType(_) if a.is_float_value() => self.ir.cast(cast, a, ty),
            _ => Err(self.bad_type(op)),
        }
    }

    /// Conversions between floating-point formats, round to nearest even; 8-bit ones saturate (C68).
    fn convert(&mut self, op: OpId, a: Val<'c>) -> Result<Val<'c>> {
        let (from, to) = (self.operand_elem(op, 0)?.clone(), self.result_elem(op)?.clone());
        let (Type::Float(from), Type::Float(to)) = (from, to) else { return Err(self.bad_type(op)) };
        if !self.rounds_to_even(op) {
            let text = "a conversion with another rounding than to nearest even";
            return Err(refuse(Code::Op, text).rule("C68").into());
        }
        if from == to {
            return Ok(a);
        }
        if from == FloatKind::F64 || to == FloatKind::F64 {
            let cast = if to == FloatKind::F64 { Llvm::FPExt } else { Llvm::FPTrunc };
            return match a {
                Val::FloatValue(_) => self.ir.cast(cast, a, self.result_type(op)?),
                _ => Err(self.bad_type(op)),
            };
        }
        let wide = self.to_f32(op, a, from)?;
        self.from_f32(op, wide, to)
    }

    /// Whether a conversion asks for no other rounding than to nearest even.
    fn rounds_to_even(&self, op: OpId) -> bool {
        ["rounding", "roundingmode"].iter().all(|name| {
            let mode = self.module.attr(op, name);
            mode.is_none_or(|mode| matches!(mode.as_str(), Some("rtne" | "to_nearest_even")))
        })
    }

    /// Any format up to 32 bits as `f32`; exact.
    pub(super) fn to_f32(&mut self, op: OpId, a: Val<'c>, from: FloatKind) -> Result<Val<'c>> {
        let f32 = self.ir.f32().into();
        match from {
            FloatKind::F32 => Ok(a),
            FloatKind::F16 | FloatKind::BF16 => self.ir.cast(Llvm::FPExt, a, f32),
            _ => {
                let entry = FP8.iter().find(|(kind, ..)| *kind == from);
                let (_, _, name) = entry.ok_or_else(|| self.bad_type(op))?;
                let wide = self.ir.zext(as_int(a)?, self.ir.int(16))?;
                let pair = self.ir.intrinsic(name, &[wide.into()])?;
                let low = self.ir.lane(pair, 0)?;
                self.ir.cast(Llvm::FPExt, low, f32)
            }
        }
    }

    /// `f32` as a format up to 32 bits.
    pub(super) fn from_f32(&mut self, op: OpId, a: Val<'c>, to: FloatKind) -> Result<Val<'c>> {
        match to {
            FloatKind::F32 => Ok(a),
            FloatKind::F16 => self.ir.cast(Llvm::FPTrunc, a, self.ir.ctx.f16_type().into()),
            FloatKind::BF16 => self.ir.cast(Llvm::FPTrunc, a, self.ir.ctx.bf16_type().into()),
            _ => {
                let entry = FP8.iter().find(|(kind, ..)| *kind == to);
                let (_, name, _) = entry.ok_or_else(|| self.bad_type(op))?;
                let zero = self.ir.cf32(0.0);
                let pair = self.ir.intrinsic(name, &[zero, a])?;
                self.ir.cast(Llvm::Trunc, pair, self.ir.int(8).into())
            }
        }
    }

    /// Two neighbouring elements of a conversion from f32, by one packed instruction: 16-bit formats as
    /// `i32`. `None` where the value is no such conversion.
    pub(super) fn converted_pair(&mut self, value: ValueId, even: &Coords, odd: &Coords) -> Result<Option<Val<'c>>> {
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
    pub(super) fn converted_bytes(&mut self, value: ValueId, even: &Coords, odd: &Coords) -> Result<Option<Val<'c>>> {
        let Some((source, kind)) = self.narrowed(value)? else { return Ok(None) };
        let Some((_, name, _)) = FP8.iter().find(|(k, ..)| *k == kind) else { return Ok(None) };
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
            (Type::Float(FloatKind::F32), Type::Float(kind)) if same_shape && plain => Ok(Some((source, *kind))),
            _ => Ok(None),
        }
    }

    fn reinterpret(&mut self, op: OpId, a: Val<'c>) -> Result<Val<'c>> {
        let (from, to) = (self.operand_elem(op, 0)?, self.result_elem(op)?);
        match (from, to) {
            (Type::Ptr { .. }, Type::Ptr { .. }) => Ok(a),
            _ if from.elem_bits() == to.elem_bits() && !matches!((from, to), (Type::Ptr { .. }, _) | (_, Type::Ptr { .. })) => {
                let ty = self.result_type(op)?;
                self.ir.bits(a, ty)
            }
            _ => Err(self.bad_type(op)),
        }
    }
}

/// LLVM's name of an integer operation of two operands.
fn integer(opcode: Opcode) -> Option<Llvm> {
    Some(match opcode {
        Opcode::AddI => Llvm::Add,
        Opcode::SubI => Llvm::Sub,
        Opcode::MulI => Llvm::Mul,
        Opcode::DivSI => Llvm::SDiv,
        Opcode::DivUI => Llvm::UDiv,
        Opcode::RemSI => Llvm::SRem,
        Opcode::RemUI => Llvm::URem,
        Opcode::AndI => Llvm::And,
        Opcode::OrI => Llvm::Or,
        Opcode::XOrI => Llvm::Xor,
        Opcode::ShLI => Llvm::Shl,
        Opcode::ShRSI => Llvm::AShr,
        Opcode::ShRUI => Llvm::LShr,
        _ => return None,
    })
}
