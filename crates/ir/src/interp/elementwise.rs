//! Operations that treat every element alike: `arith`, `math` and the element-wise part of `tt`.
//!
//! They are evaluated on flat vectors of any equal length, so that the same code serves tiles, scalars and
//! the combining regions of reductions. Floating-point results are computed in `f64` and rounded once:
//! correctly rounded for `+ - * /`, square roots, `fma` and casts, within 0.51 units in the last place for
//! the functions of `math` (C68's approximations are the compiler's business, not the kernel's meaning).

use super::attrs;
use super::data::{Data, float_kind, from_bits, int_width, signed, to_bits, wrap};
use super::error::Fault;
use super::float::{self, Rounding, cast_overflow};
use super::options::{Accumulate, Options};
use crate::entity::OpId;
use crate::module::Module;
use crate::opcode::Opcode;
use crate::types::{FloatKind, Type};

/// What element-wise evaluation needs to know of its surroundings.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub module: &'a Module,
    pub options: &'a Options,
}

impl Context<'_> {
    /// Rounds a computed value to its format. In `f64` accumulation `f32` values stay unrounded.
    pub(super) fn round(&self, kind: FloatKind, value: f64) -> f64 {
        float::round(self.held(kind), value)
    }

    /// The format in which values of `kind` are held.
    fn held(&self, kind: FloatKind) -> FloatKind {
        match (kind, self.options.accumulate) {
            (FloatKind::F32, Accumulate::F64) => FloatKind::F64,
            _ => kind,
        }
    }
}

/// Whether [`eval`] knows the operation.
pub(super) fn is_elementwise(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        AddI | SubI
            | MulI
            | DivSI
            | DivUI
            | RemSI
            | RemUI
            | AndI
            | OrI
            | XOrI
            | ShLI
            | ShRSI
            | ShRUI
            | MinSI
            | MaxSI
            | MinUI
            | MaxUI
            | CmpI
            | AddF
            | SubF
            | MulF
            | DivF
            | RemF
            | NegF
            | MaxNumF
            | MinNumF
            | MaximumF
            | MinimumF
            | CmpF
            | Select
            | Constant
            | ExtSI
            | ExtUI
            | TruncI
            | ExtF
            | TruncF
            | SIToFP
            | UIToFP
            | FPToSI
            | FPToUI
            | ArithBitcast
            | IndexCast
            | Exp
            | Exp2
            | Log
            | Log2
            | Sqrt
            | Rsqrt
            | Sin
            | Cos
            | Tanh
            | Erf
            | AbsF
            | AbsI
            | Floor
            | Ceil
            | Fma
            | Bitcast
            | FpToFp
            | IntToPtr
            | PtrToInt
            | ClampF
            | PreciseSqrt
            | PreciseDivF
            | MulHiUI
            | ExternElementwise
            | ElementwiseInlineAsm
    )
}

/// Evaluates one operation on operands of `count` elements each.
pub(super) fn eval(cx: Context<'_>, op: OpId, args: &[&Data], count: usize) -> Result<Data, Fault> {
    let module = cx.module;
    let operation = &module.ops[op];
    let to = match operation.results.as_slice() {
        [result] => module.ty(*result).elem(),
        _ => return Err(Fault::Malformed(format!("{} needs one result", module.op_name(op)))),
    };
    let from = operation.operands.first().map_or(to, |&v| module.ty(v).elem());
    if args.iter().any(|a| a.len() != count) {
        return Err(Fault::Malformed(format!("{} on tiles of different sizes", module.op_name(op))));
    }
    match (operation.opcode, args) {
        (Opcode::Constant, []) => attrs::constant(module, op, to, count),
        (Opcode::Select, [c, x, y]) => select(c, x, y),
        (Opcode::CmpI, [x, y]) => compare_ints(cx, op, from, x, y),
        (Opcode::CmpF, [x, y]) => compare_floats(cx, op, x, y),
        (Opcode::Fma, [a, b, c]) => {
            let kind = cx.held(float_kind(to)?);
            let (a, b, c) = (a.floats()?, b.floats()?, c.floats()?);
            let fused = a.iter().zip(b).zip(c).map(|((&a, &b), &c)| float::fused_multiply_add(kind, a, b, c));
            Ok(Data::Float(fused.collect()))
        }
        (Opcode::ClampF, [x, low, high]) => clamp(cx, op, x, low, high),
        (Opcode::ExternElementwise | Opcode::ElementwiseInlineAsm, args) => foreign(cx, op, to, args),
        (_, [x]) => unary(cx, op, from, to, x),
        (_, [x, y]) => match (x, y) {
            (Data::Int(x), Data::Int(y)) => int_binary(cx, op, int_width(to)?, x, y),
            (Data::Float(x), Data::Float(y)) => float_binary(cx, op, float_kind(to)?, x, y),
            _ => Err(Fault::Malformed(format!("{} on an integer and a float", module.op_name(op)))),
        },
        _ => Err(wrong_operands(module, op)),
    }
}

fn wrong_operands(module: &Module, op: OpId) -> Fault {
    let types: Vec<String> = module.ops[op].operands.iter().map(|&v| module.ty(v).to_string()).collect();
    Fault::Malformed(format!("{} on ({})", module.op_name(op), types.join(", ")))
}

fn select(condition: &Data, x: &Data, y: &Data) -> Result<Data, Fault> {
    fn pick<T: Copy>(c: &[u64], x: &[T], y: &[T]) -> Vec<T> {
        c.iter().zip(x).zip(y).map(|((&c, &x), &y)| if c & 1 == 1 { x } else { y }).collect()
    }
    let c = condition.ints()?;
    match (x, y) {
        (Data::Int(x), Data::Int(y)) => Ok(Data::Int(pick(c, x, y))),
        (Data::Float(x), Data::Float(y)) => Ok(Data::Float(pick(c, x, y))),
        _ => Err(Fault::Malformed("arith.select between an integer and a float".into())),
    }
}

/// Integer predicates in the order of their numbers.
const INT_PREDICATES: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];

fn compare_ints(cx: Context<'_>, op: OpId, from: &Type, x: &Data, y: &Data) -> Result<Data, Fault> {
    let bits = int_width(from)?;
    let holds: fn(u64, u64, i64, i64) -> bool =
        match attrs::required(cx.module, op, "predicate", &INT_PREDICATES)? {
            0 => |a, b, _, _| a == b,
            1 => |a, b, _, _| a != b,
            2 => |_, _, a, b| a < b,
            3 => |_, _, a, b| a <= b,
            4 => |_, _, a, b| a > b,
            5 => |_, _, a, b| a >= b,
            6 => |a, b, _, _| a < b,
            7 => |a, b, _, _| a <= b,
            8 => |a, b, _, _| a > b,
            _ => |a, b, _, _| a >= b,
        };
    let pairs = x.ints()?.iter().zip(y.ints()?);
    Ok(Data::Int(pairs.map(|(&a, &b)| u64::from(holds(a, b, signed(a, bits), signed(b, bits)))).collect()))
}

/// Floating-point predicates in the order of their numbers.
const FLOAT_PREDICATES: [&str; 16] = [
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une",
    "uno", "true",
];

fn compare_floats(cx: Context<'_>, op: OpId, x: &Data, y: &Data) -> Result<Data, Fault> {
    use std::cmp::Ordering;
    // The set of outcomes that a predicate holds for. Bit 0: equal, 1: greater, 2: less, 3: unordered.
    let outcomes = match attrs::required(cx.module, op, "predicate", &FLOAT_PREDICATES)? {
        ordered @ 0..=7 => ordered,
        unordered @ 8..=13 => (unordered - 7) | 8,
        14 => 8,
        _ => 15,
    };
    let outcome = |a: &f64, b: &f64| match a.partial_cmp(b) {
        Some(Ordering::Equal) => 1,
        Some(Ordering::Greater) => 2,
        Some(Ordering::Less) => 4,
        None => 8,
    };
    let pairs = x.floats()?.iter().zip(y.floats()?);
    Ok(Data::Int(pairs.map(|(a, b)| u64::from(outcomes & outcome(a, b) != 0)).collect()))
}

/// `maxnumf`: a NaN loses, and +0 is greater than -0 (C7).
fn max_num(a: f64, b: f64) -> f64 {
    match () {
        () if a.is_nan() => b,
        () if b.is_nan() => a,
        () if a == b => {
            if a.is_sign_negative() {
                b
            } else {
                a
            }
        }
        () if a > b => a,
        () => b,
    }
}

fn min_num(a: f64, b: f64) -> f64 {
    -max_num(-a, -b)
}

/// `maximumf`: a NaN wins (C7).
fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { max_num(a, b) }
}

fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { min_num(a, b) }
}

fn clamp(cx: Context<'_>, op: OpId, x: &Data, low: &Data, high: &Data) -> Result<Data, Fault> {
    let propagate = match cx.module.attr(op, "propagateNan") {
        Some(_) => {
            attrs::required(cx.module, op, "propagateNan", &["none", "all"]).or_else(|fault| {
                // In numbers, `all` is 0xFFFF.
                if attrs::int(cx.module, op, "propagateNan") == Ok(0xFFFF) { Ok(1) } else { Err(fault) }
            })? == 1
        }
        None => false,
    };
    let one = |x: f64, low: f64, high: f64| match propagate {
        true => minimum(maximum(x, low), high),
        false => min_num(max_num(x, low), high),
    };
    let triples = x.floats()?.iter().zip(low.floats()?).zip(high.floats()?);
    Ok(Data::Float(triples.map(|((&x, &l), &h)| one(x, l, h)).collect()))
}

fn int_binary(cx: Context<'_>, op: OpId, bits: u32, x: &[u64], y: &[u64]) -> Result<Data, Fault> {
    let s = |v: u64| signed(v, bits);
    let shift = |amount: u64| if amount < u64::from(bits) { Some(amount as u32) } else { None };
    let map = |f: &dyn Fn(u64, u64) -> u64| {
        Ok(Data::Int(x.iter().zip(y).map(|(&a, &b)| wrap(f(a, b), bits)).collect()))
    };
    let divide = |f: &dyn Fn(u64, u64) -> u64| match y.contains(&0) {
        true => Err(Fault::DivisionByZero),
        false => map(f),
    };
    match cx.module.ops[op].opcode {
        Opcode::AddI => map(&|a, b| a.wrapping_add(b)),
        Opcode::SubI => map(&|a, b| a.wrapping_sub(b)),
        Opcode::MulI => map(&|a, b| a.wrapping_mul(b)),
        Opcode::DivSI => divide(&|a, b| s(a).wrapping_div(s(b)) as u64),
        Opcode::DivUI => divide(&|a, b| a / b),
        Opcode::RemSI => divide(&|a, b| s(a).wrapping_rem(s(b)) as u64),
        Opcode::RemUI => divide(&|a, b| a % b),
        Opcode::AndI => map(&|a, b| a & b),
        Opcode::OrI => map(&|a, b| a | b),
        Opcode::XOrI => map(&|a, b| a ^ b),
        // Shifts by the width or more are what PTX makes of them: all bits out.
        Opcode::ShLI => map(&|a, b| shift(b).map_or(0, |n| a << n)),
        Opcode::ShRUI => map(&|a, b| shift(b).map_or(0, |n| a >> n)),
        Opcode::ShRSI => map(&|a, b| (s(a) >> shift(b).unwrap_or(63)) as u64),
        Opcode::MinSI => map(&|a, b| if s(a) < s(b) { a } else { b }),
        Opcode::MaxSI => map(&|a, b| if s(a) > s(b) { a } else { b }),
        Opcode::MinUI => map(&|a, b| a.min(b)),
        Opcode::MaxUI => map(&|a, b| a.max(b)),
        Opcode::MulHiUI => map(&|a, b| ((u128::from(a) * u128::from(b)) >> bits) as u64),
        _ => Err(wrong_operands(cx.module, op)),
    }
}

fn float_binary(cx: Context<'_>, op: OpId, kind: FloatKind, x: &[f64], y: &[f64]) -> Result<Data, Fault> {
    let map = |f: &dyn Fn(f64, f64) -> f64| {
        Ok(Data::Float(x.iter().zip(y).map(|(&a, &b)| cx.round(kind, f(a, b))).collect()))
    };
    match cx.module.ops[op].opcode {
        Opcode::AddF => map(&|a, b| a + b),
        Opcode::SubF => map(&|a, b| a - b),
        Opcode::MulF => map(&|a, b| a * b),
        Opcode::DivF | Opcode::PreciseDivF => map(&|a, b| a / b),
        Opcode::RemF => map(&libm::fmod),
        Opcode::MaxNumF => map(&max_num),
        Opcode::MinNumF => map(&min_num),
        Opcode::MaximumF => map(&maximum),
        Opcode::MinimumF => map(&minimum),
        _ => Err(wrong_operands(cx.module, op)),
    }
}

fn unary(cx: Context<'_>, op: OpId, from: &Type, to: &Type, x: &Data) -> Result<Data, Fault> {
    let floats = |f: &dyn Fn(f64) -> f64| {
        let kind = float_kind(to)?;
        Ok(Data::Float(x.floats()?.iter().map(|&v| cx.round(kind, f(v))).collect()))
    };
    let ints = |f: &dyn Fn(u64, u32) -> u64| {
        let (source, target) = (int_width(from)?, int_width(to)?);
        Ok(Data::Int(x.ints()?.iter().map(|&v| wrap(f(v, source), target)).collect()))
    };
    match cx.module.ops[op].opcode {
        Opcode::NegF => floats(&|v| -v),
        Opcode::AbsF => floats(&f64::abs),
        Opcode::Floor => floats(&libm::floor),
        Opcode::Ceil => floats(&libm::ceil),
        Opcode::Sqrt | Opcode::PreciseSqrt => floats(&libm::sqrt),
        Opcode::Rsqrt => floats(&|v| 1.0 / libm::sqrt(v)),
        Opcode::ExtSI => ints(&|v, bits| signed(v, bits) as u64),
        Opcode::IndexCast => ints(&|v, bits| signed(v, bits) as u64),
        Opcode::ExtUI | Opcode::TruncI | Opcode::IntToPtr | Opcode::PtrToInt => ints(&|v, _| v),
        Opcode::AbsI => ints(&|v, bits| signed(v, bits).unsigned_abs()),
        Opcode::ExtF | Opcode::TruncF | Opcode::FpToFp => cast_floats(cx, op, float_kind(to)?, x.floats()?),
        Opcode::SIToFP => {
            let (bits, kind) = (int_width(from)?, float_kind(to)?);
            Ok(Data::Float(
                x.ints()?.iter().map(|&v| int_to_float(cx, kind, i128::from(signed(v, bits)))).collect(),
            ))
        }
        Opcode::UIToFP => {
            let kind = float_kind(to)?;
            Ok(Data::Float(x.ints()?.iter().map(|&v| int_to_float(cx, kind, i128::from(v))).collect()))
        }
        Opcode::FPToSI => {
            let bits = int_width(to)?;
            let limit = 1i128 << (bits - 1);
            let convert = |v: f64| wrap((v as i128).clamp(-limit, limit - 1) as u64, bits);
            Ok(Data::Int(x.floats()?.iter().map(|&v| convert(v)).collect()))
        }
        Opcode::FPToUI => {
            let bits = int_width(to)?;
            let convert = |v: f64| (v as i128).clamp(0, (1i128 << bits) - 1) as u64;
            Ok(Data::Int(x.floats()?.iter().map(|&v| convert(v)).collect()))
        }
        Opcode::ArithBitcast | Opcode::Bitcast => bitcast(from, to, x),
        opcode => match math_function(opcode) {
            Some(f) => floats(&f),
            None => Err(wrong_operands(cx.module, op)),
        },
    }
}

/// Functions of `math` without an exact result.
fn math_function(opcode: Opcode) -> Option<fn(f64) -> f64> {
    Some(match opcode {
        Opcode::Exp => libm::exp,
        Opcode::Exp2 => libm::exp2,
        Opcode::Log => libm::log,
        Opcode::Log2 => libm::log2,
        Opcode::Sin => libm::sin,
        Opcode::Cos => libm::cos,
        Opcode::Tanh => libm::tanh,
        Opcode::Erf => libm::erf,
        _ => return None,
    })
}

/// Functions of one operand that kernels reach by a name outside `math`: libdevice symbols, and inline
/// assembly of one instruction.
const FOREIGN: [(&str, &str, fn(f64) -> f64); 10] = [
    ("exp", "", libm::exp),
    ("exp2", "ex2", libm::exp2),
    ("log", "", libm::log),
    ("log2", "lg2", libm::log2),
    ("sin", "sin", libm::sin),
    ("cos", "cos", libm::cos),
    ("tanh", "tanh", libm::tanh),
    ("erf", "", libm::erf),
    ("sqrt", "sqrt", libm::sqrt),
    ("rsqrt", "rsqrt", |v| 1.0 / libm::sqrt(v)),
];

/// `tt.extern_elementwise` and `tt.elementwise_inline_asm` of a function in [`FOREIGN`].
fn foreign(cx: Context<'_>, op: OpId, to: &Type, args: &[&Data]) -> Result<Data, Fault> {
    let text = |name| cx.module.attr(op, name).and_then(|a| a.as_str()).unwrap_or("?");
    let (what, found) = match cx.module.ops[op].opcode {
        Opcode::ExternElementwise => {
            let symbol = text("symbol");
            let name = symbol.strip_prefix("__nv_").map(|n| n.strip_suffix('f').unwrap_or(n));
            (symbol, FOREIGN.iter().find(|(libdevice, ..)| Some(*libdevice) == name))
        }
        _ => {
            // `ex2.approx.ftz.f32 $0, $1;`
            let asm = text("asm_string");
            let name = asm.strip_suffix(".f32 $0, $1;").and_then(|n| n.split('.').next());
            (asm, FOREIGN.iter().find(|(_, ptx, _)| !ptx.is_empty() && Some(*ptx) == name))
        }
    };
    match (found, args) {
        (Some((.., f)), [x]) => {
            let kind = float_kind(to)?;
            Ok(Data::Float(x.floats()?.iter().map(|&v| cx.round(kind, f(v))).collect()))
        }
        _ => Err(Fault::Unsupported(format!("{} of `{what}`", cx.module.op_name(op)))),
    }
}

/// Casts between formats; narrowing to 8 bits saturates (C68).
fn cast_floats(cx: Context<'_>, op: OpId, kind: FloatKind, x: &[f64]) -> Result<Data, Fault> {
    let name = if cx.module.attr(op, "rounding").is_some() { "rounding" } else { "roundingmode" };
    let rounding = match cx.module.attr(op, name).map(|a| a.as_str().unwrap_or("?")) {
        None | Some("rtne" | "to_nearest_even") => Rounding::NearestEven,
        Some("rtz" | "toward_zero") => Rounding::TowardsZero,
        Some(other) => return Err(Fault::Unsupported(format!("rounding `{other}`"))),
    };
    if cx.held(kind) == FloatKind::F64 {
        return Ok(Data::Float(x.to_vec()));
    }
    let overflow = cast_overflow(kind);
    let cast = |v: f64| float::decode(kind, float::encode(kind, v, rounding, overflow));
    Ok(Data::Float(x.iter().map(|&v| cast(v)).collect()))
}

/// An integer rounded once to a format, whatever its size.
fn int_to_float(cx: Context<'_>, kind: FloatKind, value: i128) -> f64 {
    if cx.held(kind) == FloatKind::F64 {
        return value as f64;
    }
    // What 53 bits cannot hold becomes a sticky last bit, so that the one rounding sees it.
    let magnitude = value.unsigned_abs();
    let drop = (128 - magnitude.leading_zeros()).saturating_sub(53);
    let sticky = u128::from(magnitude & ((1 << drop) - 1) != 0);
    let wide = (((magnitude >> drop) | sticky) << drop) as f64;
    cx.round(kind, if value < 0 { -wide } else { wide })
}

fn bitcast(from: &Type, to: &Type, x: &Data) -> Result<Data, Fault> {
    let width = |ty: &Type| ty.elem_bits();
    if width(from) != width(to) {
        return Err(Fault::Malformed(format!("a bitcast from {from} to {to}")));
    }
    from_bits(to, to_bits(from, x)?)
}
