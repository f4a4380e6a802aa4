//! Comparisons, predicates, selection.

use super::context::{Context, Res};
use super::mods::Mods;
use crate::isa::lanes::compare;
use crate::isa::op::{Logic, Op, PSrc};
use crate::isa::types::Ty;
use warploom_ptx::Operand;

/// `setp.cmp[.bool][.ftz].type p[|q], a, b[, c]`.
pub(crate) fn setp<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let cmp = m.first().ok_or_else(|| m.unknown("it has no comparison"))?;
    let logic = m.take(|w| match w {
        "and" => Some(Logic::And),
        "or" => Some(Logic::Or),
        "xor" => Some(Logic::Xor),
        _ => None,
    });
    let ftz = m.flag("ftz");
    let ty = m.ty()?;
    if let Some(half) = halves_of(ty) {
        let f = compare::compare(cmp, half, ftz).ok_or_else(|| m.unknown("comparison or type"))?;
        let want = 3 + usize::from(logic.is_some());
        cx.count(args, want, want)?;
        let Operand::Pair(d, q) = cx.arg(args, 0)? else { return Err(cx.fail("p|q is expected")) };
        let d = if *d == "_" { None } else { Some(cx.pred(d)?) };
        let q = if *q == "_" { None } else { Some(cx.pred(q)?) };
        let (a, b) = (cx.src(cx.arg(args, 1)?, ty)?, cx.src(cx.arg(args, 2)?, ty)?);
        let with = match logic {
            Some(l) => Some((l, cx.psrc(cx.arg(args, 3)?)?)),
            None => None,
        };
        return Ok(Op::SetpHalves { f, d, q, a, b, with });
    }
    let f = compare::compare(cmp, ty, ftz).ok_or_else(|| m.unknown("comparison or type"))?;
    let want = 3 + usize::from(logic.is_some());
    cx.count(args, want, want)?;
    let (d, q) = match cx.arg(args, 0)? {
        Operand::Pair(d, q) => {
            let d = if *d == "_" { None } else { Some(cx.pred(d)?) };
            (d, if *q == "_" { None } else { Some(cx.pred(q)?) })
        }
        other => (cx.pdst(other)?, None),
    };
    let (a, b) = (cx.src(cx.arg(args, 1)?, ty)?, cx.src(cx.arg(args, 2)?, ty)?);
    let with = match logic {
        Some(l) => Some((l, cx.psrc(cx.arg(args, 3)?)?)),
        None => None,
    };
    Ok(Op::Setp { f, d, q, a, b, with })
}

/// The element of a packed type.
fn halves_of(ty: Ty) -> Option<Ty> {
    match ty {
        Ty::F16x2 => Some(Ty::F16),
        Ty::BF16x2 => Some(Ty::BF16),
        _ => None,
    }
}

/// `set.cmp[.bool][.ftz].dtype.stype d, a, b[, c]`.
pub(crate) fn set<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let cmp = m.first().ok_or_else(|| m.unknown("it has no comparison"))?;
    let logic = m.take(|w| match w {
        "and" => Some(Logic::And),
        "or" => Some(Logic::Or),
        "xor" => Some(Logic::Xor),
        _ => None,
    });
    let ftz = m.flag("ftz");
    let (to, ty) = (m.ty()?, m.ty()?);
    let halves = halves_of(ty).filter(|_| to.bits() == 32);
    let f =
        compare::compare(cmp, halves.unwrap_or(ty), ftz).ok_or_else(|| m.unknown("comparison or type"))?;
    let yes = match to {
        Ty::F32 => 0x3f80_0000,
        Ty::F16 | Ty::F16x2 => 0x3c00,
        Ty::BF16 | Ty::BF16x2 => 0x3f80,
        Ty::U16 | Ty::S16 => 0xffff,
        Ty::U32 | Ty::S32 if halves.is_some() => 0xffff,
        Ty::U32 | Ty::S32 => 0xffff_ffff,
        _ => return Err(m.unknown("type of the result")),
    };
    let want = 3 + usize::from(logic.is_some());
    cx.count(args, want, want)?;
    let d = cx.dst(cx.arg(args, 0)?)?;
    let (a, b) = (cx.src(cx.arg(args, 1)?, ty)?, cx.src(cx.arg(args, 2)?, ty)?);
    let with = match logic {
        Some(l) => Some((l, cx.psrc(cx.arg(args, 3)?)?)),
        None => None,
    };
    Ok(Op::Set { f, d, a, b, with, yes, halves: halves.is_some() })
}

/// `selp`.
pub(crate) fn selp<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let ty = m.ty()?;
    cx.count(args, 4, 4)?;
    let d = cx.dst(cx.arg(args, 0)?)?;
    let (a, b) = (cx.src(cx.arg(args, 1)?, ty)?, cx.src(cx.arg(args, 2)?, ty)?);
    Ok(Op::Selp { d, a, b, p: cx.psrc(cx.arg(args, 3)?)? })
}

pub(crate) fn predicate<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    m.flag("pred");
    let Some(d) = cx.pdst(cx.arg(args, 0)?)? else { return Ok(Op::Nop) };
    let a = cx.psrc(cx.arg(args, 1)?)?;
    if m.base == "not" {
        cx.count(args, 2, 2)?;
        let a = match a {
            PSrc::Reg(r, n) => PSrc::Reg(r, !n),
            PSrc::Imm(v) => PSrc::Imm(!v),
        };
        return Ok(Op::PMov { d, a });
    }
    cx.count(args, 3, 3)?;
    let logic = match m.base {
        "and" => Logic::And,
        "or" => Logic::Or,
        _ => Logic::Xor,
    };
    Ok(Op::PLogic { d, a, b: cx.psrc(cx.arg(args, 2)?)?, logic })
}
