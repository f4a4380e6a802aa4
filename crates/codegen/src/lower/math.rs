//! Functions of one number, by the approximations of C68. No libdevice: `erf` and `tanh` of f32 are our own
//! polynomials, whose error is measured by a test; those of f64 are programs of [`crate::double`].

use inkwell::FloatPredicate;
use inkwell::values::InstructionOpcode as Llvm;
use warploom_ir::{FloatKind, OpId, Opcode, Type};

use super::Lower;
use crate::approx::{ERF_NEAR, ERF_TAIL, ERF_TURN, TANH_NEAR, TANH_TURN};
use crate::error::Result;
use crate::llvm::Val;

impl<'c> Lower<'c, '_> {
    /// A function of one element; 16-bit formats are computed in f32.
    pub(super) fn function_of(&mut self, op: OpId, x: Val<'c>) -> Result<Val<'c>> {
        let Type::Float(kind) = *self.operand_elem(op, 0)? else { return Err(self.unsupported(op)) };
        if kind == FloatKind::F64 {
            return self.double_function(op, x);
        }
        let x = self.widened(op, x, kind)?;
        let y = self.single_function(op, self.module.ops[op].opcode, x)?;
        self.narrowed_to(op, y, kind)
    }

    /// A function of an f64: what the machine has, else one of [`crate::double`].
    fn double_function(&mut self, op: OpId, x: Val<'c>) -> Result<Val<'c>> {
        let name = match self.module.ops[op].opcode {
            Opcode::Sqrt | Opcode::PreciseSqrt => return self.ir.overloaded("sqrt", &[x]),
            Opcode::Floor => return self.ir.overloaded("floor", &[x]),
            Opcode::Ceil => return self.ir.overloaded("ceil", &[x]),
            Opcode::Rsqrt => "__nv_rsqrt",
            Opcode::Exp => "__nv_exp",
            Opcode::Exp2 => "__nv_exp2",
            Opcode::Log => "__nv_log",
            Opcode::Log2 => "__nv_log2",
            Opcode::Sin => "__nv_sin",
            Opcode::Cos => "__nv_cos",
            Opcode::Tanh => "__nv_tanh",
            Opcode::Erf => "__nv_erf",
            _ => return Err(self.unsupported(op)),
        };
        self.named_function(op, name, FloatKind::F64, &[x])
    }

    /// A function of an f32.
    pub(super) fn single_function(&mut self, op: OpId, function: Opcode, x: Val<'c>) -> Result<Val<'c>> {
        match function {
            Opcode::Exp2 => self.exp2(x),
            Opcode::Exp => self.exp(x),
            Opcode::Log2 => self.approximate("nvvm.lg2.approx.ftz.f", "nvvm.lg2.approx.f", x),
            Opcode::Log => {
                let log2 = self.approximate("nvvm.lg2.approx.ftz.f", "nvvm.lg2.approx.f", x)?;
                self.ir.binary(Llvm::FMul, log2, self.ir.cf32(std::f32::consts::LN_2))
            }
            Opcode::Sqrt => self.approximate("nvvm.sqrt.approx.ftz.f", "nvvm.sqrt.approx.f", x),
            Opcode::PreciseSqrt => self.ir.overloaded("sqrt", &[x]),
            Opcode::Rsqrt => self.approximate("nvvm.rsqrt.approx.ftz.f", "nvvm.rsqrt.approx.f", x),
            Opcode::Floor => self.ir.overloaded("floor", &[x]),
            Opcode::Ceil => self.ir.overloaded("ceil", &[x]),
            Opcode::Tanh => self.tanh(x),
            Opcode::Erf => self.erf(x),
            Opcode::Sin => self.sine(x, false),
            Opcode::Cos => self.sine(x, true),
            _ => Err(self.unsupported(op)),
        }
    }

    /// `e^x` as `2^(x log2 e)`.
    fn exp(&mut self, x: Val<'c>) -> Result<Val<'c>> {
        let scaled = self.ir.binary(Llvm::FMul, x, self.ir.cf32(std::f32::consts::LOG2_E))?;
        self.exp2(scaled)
    }

    /// `2^x`.
    fn exp2(&mut self, x: Val<'c>) -> Result<Val<'c>> {
        self.ir.overloaded(if self.ir.flush { "nvvm.ex2.approx.ftz" } else { "nvvm.ex2.approx" }, &[x])
    }

    /// A function of the special-function unit that takes numbers too small to be normal for zero, or one that does not.
    fn approximate(&mut self, flushes: &'static str, keeps: &'static str, x: Val<'c>) -> Result<Val<'c>> {
        self.ir.intrinsic(if self.ir.flush { flushes } else { keeps }, &[x])
    }

    /// Division: `div.full`, or rounded to nearest.
    pub(super) fn divide(&mut self, op: OpId, a: Val<'c>, b: Val<'c>, precise: bool) -> Result<Val<'c>> {
        let Type::Float(kind) = *self.operand_elem(op, 0)? else { return Err(self.unsupported(op)) };
        if precise || kind == FloatKind::F64 {
            return self.ir.binary(Llvm::FDiv, a, b);
        }
        let (a, b) = (self.widened(op, a, kind)?, self.widened(op, b, kind)?);
        let quotient = self.ir.intrinsic("nvvm.div.full", &[a, b])?;
        self.narrowed_to(op, quotient, kind)
    }

    /// Horner's rule, highest coefficient first, by fused steps.
    pub(super) fn polynomial(&mut self, x: Val<'c>, coefficients: &[f32]) -> Result<Val<'c>> {
        let mut sum = self.ir.cf32(0.0);
        for (i, &c) in coefficients.iter().enumerate() {
            let c = self.ir.cf32(c);
            sum = if i == 0 { c } else { self.ir.overloaded("fma", &[sum, x, c])? };
        }
        Ok(sum)
    }

    /// `copysign(a, x)` of a non-negative `a`.
    fn with_sign(&mut self, a: Val<'c>, x: Val<'c>) -> Result<Val<'c>> {
        let int = self.ir.i32();
        let sign = self.ir.bits(x, int.into())?;
        let sign = self.ir.and(crate::llvm::as_int(sign)?, 0x8000_0000)?;
        let bits = crate::llvm::as_int(self.ir.bits(a, int.into())?)?;
        let joined = self.ir.or(bits, sign)?;
        self.ir.bits(joined.into(), self.ir.f32().into())
    }

    /// `erf(x)`: `x P(x^2)` near zero, `sign(x) (1 - 2^Q(|x|))` beyond; see [`crate::approx`].
    fn erf(&mut self, x: Val<'c>) -> Result<Val<'c>> {
        let magnitude = self.ir.overloaded("fabs", &[x])?;
        let square = self.ir.binary(Llvm::FMul, x, x)?;
        let near = self.polynomial(square, &ERF_NEAR)?;
        let near = self.ir.overloaded("fma", &[near, x, x])?;
        let exponent = self.polynomial(magnitude, &ERF_TAIL)?;
        let tail = self.exp2(exponent)?;
        let far = self.ir.binary(Llvm::FSub, self.ir.cf32(1.0), tail)?;
        let far = self.with_sign(far, x)?;
        let is_far = self.ir.fcmp(FloatPredicate::OGE, magnitude, self.ir.cf32(ERF_TURN))?;
        self.ir.select(is_far, far, near)
    }

    /// `tanh(x)`: `x P(x^2)` near zero, `sign(x) (1 - 2 / (1 + e^2|x|))` beyond; see [`crate::approx`].
    fn tanh(&mut self, x: Val<'c>) -> Result<Val<'c>> {
        let magnitude = self.ir.overloaded("fabs", &[x])?;
        let square = self.ir.binary(Llvm::FMul, x, x)?;
        let near = self.polynomial(square, &TANH_NEAR)?;
        let near = self.ir.overloaded("fma", &[near, x, x])?;
        let twice = self.ir.binary(Llvm::FAdd, magnitude, magnitude)?;
        let power = self.exp(twice)?;
        let below = self.ir.binary(Llvm::FAdd, power, self.ir.cf32(1.0))?;
        let part = self.ir.intrinsic("nvvm.div.full", &[self.ir.cf32(2.0), below])?;
        let far = self.ir.binary(Llvm::FSub, self.ir.cf32(1.0), part)?;
        let far = self.with_sign(far, x)?;
        let is_far = self.ir.fcmp(FloatPredicate::OGE, magnitude, self.ir.cf32(TANH_TURN))?;
        self.ir.select(is_far, far, near)
    }
}
