//! Functions of one operand.

use super::context::Context;
use super::data::{Data, float_kind, int_width, signed, wrap};
use super::error::Fault;
use crate::entity::OpId;
use crate::opcode::Opcode;
use crate::types::Type;

/// A function evaluated in `f64` before its result is rounded.
pub(super) type Function = fn(f64) -> f64;

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

/// Functions of one operand that kernels reach by a name outside `math`: libdevice symbols, and inline
/// assembly of one instruction.
const FOREIGN: [(&str, &str, Function); 10] = [
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
pub(super) fn foreign(cx: Context<'_>, op: OpId, to: &Type, args: &[&Data]) -> Result<Data, Fault> {
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
        (Some((.., f)), [x]) => apply(cx, to, x, *f),
        _ => Err(Fault::Unsupported(format!("{} of `{what}`", cx.module.op_name(op)))),
    }
}
