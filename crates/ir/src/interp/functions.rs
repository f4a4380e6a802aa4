//! Functions of one operand.

use super::context::Context;
use super::data::{Data, float_kind, int_width, signed, wrap};
use super::error::Fault;
use super::libdevice::{self, Function};
use crate::entity::OpId;
use crate::opcode::Opcode;
use crate::types::Type;

/// The function of an operation of one float; `None` for any other operation.
pub(super) fn function(opcode: Opcode) -> Option<Function> {
    Some(match opcode {
        Opcode::NegF => |v| -v,
        Opcode::AbsF => f64::abs,
        Opcode::Floor => libm::floor,
        Opcode::Ceil => libm::ceil,
        Opcode::Sqrt | Opcode::PreciseSqrt => libm::sqrt,
        Opcode::Rsqrt => |v| 1.0 / libm::sqrt(v),
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

/// The absolute value of every integer; that of the least one is itself.
pub(super) fn absolute(to: &Type, x: &Data) -> Result<Data, Fault> {
    let bits = int_width(to)?;
    let absolute = |v| wrap(signed(v, bits).unsigned_abs(), bits);
    Ok(Data::Int(x.ints()?.iter().map(|&v| absolute(v)).collect()))
}

/// Applies a function to every element and rounds.
pub(super) fn apply(cx: Context<'_>, to: &Type, x: &Data, f: Function) -> Result<Data, Fault> {
    let kind = float_kind(to)?;
    Ok(Data::Float(x.floats()?.iter().map(|&v| cx.round(kind, f(v))).collect()))
}

/// Functions that inline assembly of one instruction computes.
const INSTRUCTIONS: [(&str, Function); 7] = [
    ("ex2", libm::exp2),
    ("lg2", libm::log2),
    ("sin", libm::sin),
    ("cos", libm::cos),
    ("tanh", libm::tanh),
    ("sqrt", libm::sqrt),
    ("rsqrt", |v| 1.0 / libm::sqrt(v)),
];

/// `tt.extern_elementwise` of a function of libdevice.
pub(super) fn foreign(cx: Context<'_>, op: OpId, to: &Type, args: &[&Data]) -> Result<Data, Fault> {
    let text = |name| cx.module.attr(op, name).and_then(|a| a.as_str()).unwrap_or("?");
    let unknown = |what: &str| Fault::Unsupported(format!("{} of `{what}`", cx.module.op_name(op)));
    let symbol = text("symbol");
    match args {
        [x] if matches!(to, Type::Int(..)) => {
            let f = libdevice::integral(symbol).ok_or_else(|| unknown(symbol))?;
            let bits = int_width(to)?;
            Ok(Data::Int(x.floats()?.iter().map(|&v| wrap(f(v) as u64, bits)).collect()))
        }
        [x] => apply(cx, to, x, libdevice::unary(symbol).ok_or_else(|| unknown(symbol))?),
        [x, y] => {
            let f = libdevice::binary(symbol).ok_or_else(|| unknown(symbol))?;
            let kind = float_kind(to)?;
            let pairs = x.floats()?.iter().zip(y.floats()?);
            Ok(Data::Float(pairs.map(|(&a, &b)| cx.round(kind, f(a, b))).collect()))
        }
        _ => Err(unknown(symbol)),
    }
}

/// Assembly of one instruction whose function is known, `ex2.approx.ftz.f32 $0, $1;`: the function itself, not its
/// approximation.
pub(super) fn instruction(
    cx: Context<'_>,
    op: OpId,
    text: &str,
    args: &[&Data],
) -> Result<Option<Data>, Fault> {
    let name = text.strip_suffix(".f32 $0, $1;").and_then(|n| n.split('.').next());
    let known = INSTRUCTIONS.iter().find(|(ptx, _)| Some(*ptx) == name);
    match (known, args, cx.module.ops[op].results.as_slice()) {
        (Some((_, f)), [x], &[result]) => apply(cx, cx.module.ty(result).elem(), x, *f).map(Some),
        _ => Ok(None),
    }
}
