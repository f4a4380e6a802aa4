//! Conversions between number formats.

use super::context::{Context, wrong_operands};
use super::data::{Data, float_kind, from_bits, int_width, signed, to_bits, wrap};
use super::error::Fault;
use super::float::{self, Overflow, Rounding, cast_overflow};
use crate::entity::OpId;
use crate::opcode::Opcode;
use crate::types::{FloatKind, Type};

/// Converts from elements of one type to another.
pub(super) fn cast(cx: Context<'_>, op: OpId, from: &Type, to: &Type, x: &Data) -> Result<Data, Fault> {
    let ints = |f: &dyn Fn(u64, u32) -> u64| {
        let (source, target) = (int_width(from)?, int_width(to)?);
        Ok(Data::Int(x.ints()?.iter().map(|&v| wrap(f(v, source), target)).collect()))
    };
    let to_float = |f: &dyn Fn(u64, u32) -> i128| {
        let (bits, kind) = (int_width(from)?, float_kind(to)?);
        Ok(Data::Float(x.ints()?.iter().map(|&v| int_to_float(cx, kind, f(v, bits))).collect()))
    };
    let to_int = |low: i128, high: i128| {
        let bits = int_width(to)?;
        // To the nearest end of the range; a NaN becomes 0.
        let convert = |v: f64| wrap((v as i128).clamp(low, high - 1) as u64, bits);
        Ok(Data::Int(x.floats()?.iter().map(|&v| convert(v)).collect()))
    };
    match cx.module.ops[op].opcode {
        Opcode::ExtSI | Opcode::IndexCast => ints(&|v, bits| signed(v, bits) as u64),
        Opcode::ExtUI | Opcode::TruncI | Opcode::IntToPtr | Opcode::PtrToInt => ints(&|v, _| v),
        Opcode::ExtF | Opcode::TruncF | Opcode::FpToFp => cast_floats(cx, op, float_kind(to)?, x.floats()?),
        Opcode::SIToFP => to_float(&|v, bits| i128::from(signed(v, bits))),
        Opcode::UIToFP => to_float(&|v, _| i128::from(v)),
        Opcode::FPToSI => {
            let half = 1i128 << (int_width(to)? - 1);
            to_int(-half, half)
        }
        Opcode::FPToUI => to_int(0, 1i128 << int_width(to)?),
        Opcode::ArithBitcast | Opcode::Bitcast => bitcast(from, to, x),
        _ => Err(wrong_operands(cx.module, op)),
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
    // What is cut off keeps infinities, where the format has them, and nothing else becomes one.
    let overflow = match (rounding, kind) {
        (Rounding::TowardsZero, FloatKind::F8E5M2) => Overflow::Infinity,
        _ => cast_overflow(kind),
    };
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
