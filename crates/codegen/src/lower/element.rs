//! Element-wise operations on one element: scalars and elements of tiles alike (C48, C68).

use inkwell::types::BasicTypeEnum;
use inkwell::values::{InstructionOpcode as Llvm, IntValue};
use inkwell::{FloatPredicate, IntPredicate};
use warploom_ir::diag::Code;
use warploom_ir::{Attr, Category, FloatKind, OpId, Opcode, Type, ValueDef, ValueId};

use super::Lower;
use crate::error::{Refusal, Result, called_from, internal, refuse};
use crate::intrinsic::{PROGRAM, PROGRAMS};
use crate::llvm::{Val, as_int, as_ptr};

/// Comparisons of integers in MLIR's numbering.
pub(super) const INT_PREDICATES: [(&str, IntPredicate); 10] = [
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

impl<'c> Lower<'c, '_> {
    /// One element of the result of an operation, or the result itself where it is a scalar.
    pub(super) fn element(&mut self, op: OpId, args: &[Val<'c>]) -> Result<Val<'c>> {
        // Computed where it is used, it still comes from where it stands.
        let user = self.ir.come_from(called_from(self.module, op));
        let value = self.one(op, args);
        self.ir.come_back(user);
        value
    }

    /// Whether what an operation makes may stay what it is while a loop runs: elements of tiles, which are made where they are
    /// used, and numbers that are made in a loop of others that are not.
    fn may_stay(&self, op: OpId) -> bool {
        let module = self.module;
        let parents = |op: OpId| std::iter::successors(module.parent(op), |&at| module.parent(at));
        let tile = module.result(op).is_some_and(|result| module.ty(result).is_tensor());
        let mut around =
            parents(op).filter(|&at| matches!(module.ops[at].opcode, Opcode::For | Opcode::While));
        let Some(inner) = around.next() else { return tile };
        let changes = |&value: &ValueId| match module.values[value].def {
            ValueDef::Result { op, .. } => parents(op).any(|at| at == inner),
            ValueDef::Argument { block, .. } => {
                let region = module.blocks[block].region;
                let owner = region.and_then(|region| module.regions[region].parent);
                owner.is_some_and(|at| at == inner || parents(at).any(|at| at == inner))
            }
        };
        tile || !module.ops[op].operands.iter().any(changes)
    }

    /// What an operation computes from these arguments.
    fn one(&mut self, op: OpId, args: &[Val<'c>]) -> Result<Val<'c>> {
        use Opcode::*;
        let opcode = self.module.ops[op].opcode;
        self.check_class(op)?;
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
                let divides = matches!(llvm, Llvm::SDiv | Llvm::UDiv | Llvm::SRem | Llvm::URem);
                match divides && self.may_stay(op) {
                    true => self.ir.division(llvm, *a, *b),
                    false => self.ir.binary(llvm, *a, *b),
                }
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
            (RemF, [a, b]) => self.remainder(op, *a, *b),
            (NegF, [a]) => self.negate(*a),
            (DivF | PreciseDivF | ApproxDivF, [a, b]) => self.divide(op, *a, *b, opcode == PreciseDivF),
            (MaxNumF, _) => self.extremum(op, "maxnum", args),
            (MinNumF, _) => self.extremum(op, "minnum", args),
            (MaximumF, _) => self.extremum(op, "maximum", args),
            (MinimumF, _) => self.extremum(op, "minimum", args),
            (ClampF, [x, low, high]) => {
                let keeps_nan = self
                    .module
                    .attr(op, "propagateNan")
                    .is_some_and(|a| a.as_str() == Some("all") || a.as_i64().is_some_and(|v| v != 0));
                let (max, min) = if keeps_nan { ("maximum", "minimum") } else { ("maxnum", "minnum") };
                let above = self.extremum(op, max, &[*x, *low])?;
                self.extremum(op, min, &[above, *high])
            }
            (Fma, _) => self.ir.overloaded("fma", args),
            // 8-bit floats are held as integers: their first bit is the sign.
            (AbsF, [Val::IntValue(bits)]) => Ok(self.ir.and(*bits, 0x7f)?.into()),
            (AbsF, _) => self.ir.overloaded("fabs", args),
            (ExternElementwise, _) => self.foreign_function(op, args),
            (ElementwiseInlineAsm, _) => self.foreign_assembly(op, args),
            (ExtSI, [a]) => self.resize(op, *a, Llvm::SExt),
            (ExtUI, [a]) => self.resize(op, *a, Llvm::ZExt),
            (TruncI, [a]) => self.resize(op, *a, Llvm::Trunc),
            (IndexCast, [a]) => self.resize(op, *a, Llvm::SExt),
            (SIToFP, [a]) => self.int_to_float(op, *a, Llvm::SIToFP),
            (UIToFP, [a]) => self.int_to_float(op, *a, Llvm::UIToFP),
            (FPToSI, [a]) => self.float_to_int(op, *a, Llvm::FPToSI),
            (FPToUI, [a]) => self.float_to_int(op, *a, Llvm::FPToUI),
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
            (_, [x]) => self.function_of(op, *x),
            _ => Err(self.unsupported(op)),
        }
    }

    /// Refuses operands that are no integers where integers are needed, and no floats with arithmetic of
    /// their own (8-bit ones have none) where floats are.
    fn check_class(&self, op: OpId) -> Result<()> {
        let operand = self.module.ops[op].operands.first().map(|&v| self.module.ty(v).elem());
        let opcode = self.module.ops[op].opcode;
        let fits = match (opcode.facts().category, operand) {
            (_, Some(Type::Float(FloatKind::F8E4M3FN | FloatKind::F8E5M2))) if opcode == Opcode::AbsF => true,
            (Category::Integers, Some(ty)) => matches!(ty, Type::Int(..)),
            (Category::Floats, Some(ty)) => {
                matches!(ty, Type::Float(FloatKind::F16 | FloatKind::BF16 | FloatKind::F32 | FloatKind::F64))
            }
            _ => true,
        };
        if fits { Ok(()) } else { Err(self.bad_type(op)) }
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
    pub(super) fn result_type(&self, op: OpId) -> Result<BasicTypeEnum<'c>> {
        self.element_type(self.module.ty(self.only_result(op)?))
    }

    pub(super) fn bad_type(&self, op: OpId) -> Refusal {
        let name = self.module.op_name(op);
        let operand = self.module.ops[op].operands.first().or(self.module.ops[op].results.first());
        let ty = operand.map(|&v| self.module.ty(v).to_string()).unwrap_or_default();
        refuse(Code::Type, format!("{name} of {ty} is not supported")).rule("C68").into()
    }

    pub(super) fn predicate<P: Copy, const N: usize>(&self, op: OpId, table: &[(&str, P); N]) -> Result<P> {
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
            (Some(Attr::Int { value, .. }), BasicTypeEnum::IntType(ty)) => {
                Ok(ty.const_int(*value as u64, false).into())
            }
            (Some(Attr::Bool(value)), BasicTypeEnum::IntType(ty)) => {
                Ok(ty.const_int(u64::from(*value), false).into())
            }
            (Some(Attr::Float { bits, .. }), BasicTypeEnum::IntType(ty)) => {
                Ok(ty.const_int(*bits, false).into())
            }
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
        let names = if self.module.ops[op].opcode == Opcode::GetProgramId { PROGRAM } else { PROGRAMS };
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

    pub(super) fn negate(&mut self, a: Val<'c>) -> Result<Val<'c>> {
        let BasicTypeEnum::FloatType(ty) = a.get_type() else { return Err(internal("negation of no float")) };
        self.ir.binary(Llvm::FSub, ty.const_float(-0.0).into(), a)
    }

    fn absolute(&mut self, a: IntValue<'c>) -> Result<Val<'c>> {
        let negative = self.ir.icmp(IntPredicate::SLT, a, a.get_type().const_zero())?;
        let opposite = self.ir.sub(a.get_type().const_zero(), a)?;
        self.ir.select(negative, opposite.into(), a.into())
    }

    pub(super) fn multiply_high(&mut self, a: IntValue<'c>, b: IntValue<'c>) -> Result<Val<'c>> {
        let narrow = a.get_type();
        let bits = narrow.get_bit_width();
        let wide = match bits {
            64 => self.ir.ctx.i128_type(),
            _ => self.ir.int(2 * bits),
        };
        let (a, b) = (self.ir.zext(a, wide)?, self.ir.zext(b, wide)?);
        let product = as_int(self.ir.binary(Llvm::Mul, a.into(), b.into())?)?;
        self.ir.cast(Llvm::Trunc, self.ir.shr(product, u64::from(bits))?.into(), narrow.into())
    }

    fn extremum(&mut self, op: OpId, name: &'static str, args: &[Val<'c>]) -> Result<Val<'c>> {
        match self.result_elem(op)? {
            Type::Float(FloatKind::F32 | FloatKind::F16 | FloatKind::BF16 | FloatKind::F64) => {
                self.ir.overloaded(name, args)
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
