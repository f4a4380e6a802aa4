//! Conversions.

use super::context::{Context, Res};
use super::mods::Mods;
use super::qualifiers;
use crate::isa::cvt::{Spec, packed};
use crate::isa::formula::Formula;
use crate::isa::lanes::integer as int;
use crate::isa::op::{Join, Op, Src};
use crate::isa::types::Ty;
use crate::number::Rounding;
use warploom_ptx::Operand;

pub(super) fn rounding(word: &str) -> Option<(Rounding, bool)> {
    Some(match word {
        "rn" => (Rounding::Even, false),
        "rna" => (Rounding::Away, false),
        "rz" => (Rounding::Zero, false),
        "rm" => (Rounding::Down, false),
        "rp" => (Rounding::Up, false),
        "rni" => (Rounding::Even, true),
        "rzi" => (Rounding::Zero, true),
        "rmi" => (Rounding::Down, true),
        "rpi" => (Rounding::Up, true),
        _ => return None,
    })
}

pub(super) fn cvt<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    if m.flag("pack") {
        return pack_integers(cx, m, args);
    }
    if m.has("rs") {
        return Err(m.unknown("stochastic rounding"));
    }
    let (rounding, whole) = m.take(rounding).unwrap_or((Rounding::Even, false));
    let (ftz, sat) = (m.flag("ftz"), m.flag("sat"));
    let (satfinite, relu) = (m.flag("satfinite"), m.flag("relu"));
    let (to, from) = (m.ty()?, m.ty()?);
    let two = packed(to) && from == Ty::F32;
    let n = if two { 3 } else { 2 };
    cx.count(args, n, n)?;
    let d = cx.dst(cx.arg(args, 0)?)?;
    let spec = Spec { to, from, rounding, whole, ftz, sat, satfinite, relu, register: cx.width(d) };
    if !spec.known() {
        return Err(m.unknown("types"));
    }
    if let Some(qualifier) = qualifiers::foreign_conversion(spec) {
        return Err(m.unknown(&format!("it has no .{qualifier}")));
    }
    let a = cx.src(cx.arg(args, 1)?, from)?;
    let b = if two { Some(cx.src(cx.arg(args, 2)?, from)?) } else { None };
    Ok(Op::Cvt { spec, d, a, b })
}

/// `cvt.pack.sat.{u16,s16,u8,s8}.s32[.b32] d, a, b[, c]`: b below a, and c above both.
pub(super) fn pack_integers<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    if !m.flag("sat") {
        return Err(m.unknown("only the saturating form exists"));
    }
    let narrow = m.take(|w| {
        Some(match w {
            "u2" => (2, false),
            "s2" => (2, true),
            "u4" => (4, false),
            "s4" => (4, true),
            _ => return None,
        })
    });
    if let Some((bits, signed)) = narrow {
        if m.ty()? != Ty::S32 || !m.flag("b32") {
            return Err(m.unknown("types"));
        }
        return pack_narrow(cx, args, bits, signed);
    }
    let (to, from) = (m.ty()?, m.ty()?);
    m.flag("b32");
    let f = int::pack(to).filter(|_| from == Ty::S32).ok_or_else(|| m.unknown("types"))?;
    let three = to.bits() == 8;
    cx.count(args, if three { 4 } else { 3 }, if three { 4 } else { 3 })?;
    let d = cx.dst(cx.arg(args, 0)?)?;
    let (a, b) = (cx.src(cx.arg(args, 1)?, Ty::S32)?, cx.src(cx.arg(args, 2)?, Ty::S32)?);
    let c = if three { cx.src(cx.arg(args, 3)?, Ty::B32)? } else { Src::Imm(0) };
    Ok(Op::Ter { f, d, a, b, c, join: Join::Whole })
}

/// As that, of integers of two or four bits.
fn pack_narrow<'a>(cx: &mut Context<'_, 'a>, args: &[Operand<'a>], bits: u32, signed: bool) -> Res<Op> {
    cx.count(args, 4, 4)?;
    let d = cx.dst(cx.arg(args, 0)?)?;
    let (a, b) = (cx.src(cx.arg(args, 1)?, Ty::S32)?, cx.src(cx.arg(args, 2)?, Ty::S32)?);
    let c = cx.src(cx.arg(args, 3)?, Ty::B32)?;
    let (least, most) =
        if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let cut = move |x: u64| (x as u32 as i32).clamp(least, most) as u64 & ((1 << bits) - 1);
    let f = Formula::new(move |a, b, c| (c << (2 * bits) | cut(a) << bits | cut(b)) & 0xffff_ffff);
    Ok(Op::Formula { f, d, srcs: [a, b, c].into() })
}
