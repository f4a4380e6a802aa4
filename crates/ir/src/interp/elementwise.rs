//! Operations that treat every element alike: `arith`, `math` and the element-wise part of `tt`.
//!
//! They are evaluated on flat vectors of any equal length, so that the same code serves tiles, scalars and
//! the combining regions of reductions. Floating-point results are computed in `f64` and rounded once:
//! correctly rounded for `+ - * /`, square roots, `fma` and casts, within 0.51 units in the last place for
//! the functions of `math` (C68's approximations are the compiler's business, not the kernel's meaning).

use super::context::{Context, wrong_operands};
use super::data::{Data, float_kind, int_width, signed, wrap};
use super::error::Fault;
use super::{attrs, casts, float, functions, inline_asm};
use crate::entity::OpId;
use crate::opcode::Opcode;
use crate::types::{FloatKind, Type};

/// Whether [`eval`] computes the operation. Sums of pointers and integers are the memory's.
pub(super) fn is_elementwise(opcode: Opcode) -> bool {
    opcode == Opcode::Constant || (opcode.is_elementwise() && opcode != Opcode::AddPtr)
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
    // A select may take whole tiles by one condition.
    let scalars =
        usize::from(operation.opcode == Opcode::Select && args.first().is_some_and(|c| c.len() == 1));
    if args.iter().skip(scalars).any(|a| a.len() != count) {
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
        (Opcode::ExternElementwise, args) => functions::foreign(cx, op, to, args),
        (Opcode::ElementwiseInlineAsm, args) => {
            inline_asm::eval(cx, op, args, count)?.pop().ok_or_else(|| wrong_operands(module, op))
        }
        (Opcode::AbsI, [x]) => functions::absolute(to, x),
        (opcode, [x]) => match functions::function(opcode) {
            Some(function) => functions::apply(cx, to, x, function),
            None => casts::cast(cx, op, from, to, x),
        },
        (_, [_, _]) if operation.operands.iter().any(|&v| module.ty(v).elem() != to) => {
            Err(wrong_operands(module, op))
        }
        (_, [x, y]) => match (x, y) {
            (Data::Int(x), Data::Int(y)) => int_binary(cx, op, int_width(to)?, x, y),
            (Data::Float(x), Data::Float(y)) => float_binary(cx, op, float_kind(to)?, x, y),
            _ => Err(Fault::Malformed(format!("{} on an integer and a float", module.op_name(op)))),
        },
        _ => Err(wrong_operands(module, op)),
    }
}

fn select(condition: &Data, x: &Data, y: &Data) -> Result<Data, Fault> {
    fn pick<T: Copy>(c: &[u64], x: &[T], y: &[T]) -> Vec<T> {
        match c {
            [c] if x.len() == y.len() => {
                if c & 1 == 1 {
                    x.to_vec()
                } else {
                    y.to_vec()
                }
            }
            _ => c.iter().zip(x).zip(y).map(|((&c, &x), &y)| if c & 1 == 1 { x } else { y }).collect(),
        }
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
        Opcode::DivF | Opcode::PreciseDivF | Opcode::ApproxDivF => map(&|a, b| a / b),
        Opcode::RemF => map(&libm::fmod),
        Opcode::MaxNumF => map(&max_num),
        Opcode::MinNumF => map(&min_num),
        Opcode::MaximumF => map(&maximum),
        Opcode::MinimumF => map(&minimum),
        _ => Err(wrong_operands(cx.module, op)),
    }
}
