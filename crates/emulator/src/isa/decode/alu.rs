//! Moves, integers, predicates, floats, conversions.

use super::context::{Context, Res};
use super::cvt::{cvt, rounding};
use super::mods::Mods;
use super::predicates::{predicate, selp, set, setp};
use super::qualifiers;
use super::seldom;
use crate::isa::lanes::float::Quals;
use crate::isa::lanes::{
    F2, F3, carry as chain, compare, directed, double, float, half, integer as int, old,
};
use crate::isa::op::{Join, Logic, Op, Special, Src};
use crate::isa::types::Ty;
use crate::number::Rounding;
use warploom_ptx::Operand;

/// Everything that computes on registers alone.
pub(crate) fn arithmetic<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    match m.base {
        "mov" => mov(cx, m, args),
        "setp" => setp(cx, m, args),
        "set" => set(cx, m, args),
        "testp" => {
            let name = m.first().ok_or_else(|| m.unknown("it has no property"))?;
            let ty = m.ty()?;
            let f = compare::property(name, ty).ok_or_else(|| m.unknown("property or type"))?;
            cx.count(args, 2, 2)?;
            let (d, a) = (cx.pdst(cx.arg(args, 0)?)?, cx.src(cx.arg(args, 1)?, ty)?);
            Ok(Op::Setp { f, d, q: None, a, b: a, with: None })
        }
        "slct" => {
            let ftz = m.flag("ftz");
            let (ty, by) = (m.ty()?, m.ty()?);
            let f = int::select(by, ftz).ok_or_else(|| m.unknown("type"))?;
            ter(cx, args, f, [ty, ty, by])
        }
        "selp" => selp(cx, m, args),
        "cvt" => cvt(cx, m, args),
        "and" | "or" | "xor" | "not" if m.has("pred") => predicate(cx, m, args),
        "mul" | "mad" | "mul24" | "mad24" if int_type(m) => multiply(cx, m, args),
        "add" | "sub" | "addc" | "subc" | "madc" if int_type(m) => sum(cx, m, args),
        "shl" | "shr" => {
            let left = m.base == "shl";
            let ty = m.ty()?;
            let f = int::shift(left, ty).ok_or_else(|| m.unknown("type"))?;
            bin(cx, args, f, [ty, Ty::U32])
        }
        "shf" => {
            let name = format!(
                "shf.{}.{}",
                m.one_of(&["l", "r"]).unwrap_or(""),
                m.one_of(&["wrap", "clamp"]).unwrap_or("")
            );
            let ty = m.ty()?;
            let f = int::ternary(&name, ty).ok_or_else(|| m.unknown("form"))?;
            ter(cx, args, f, [ty, ty, Ty::U32])
        }
        "bfe" => {
            let ty = m.ty()?;
            let f = int::ternary("bfe", ty).ok_or_else(|| m.unknown("type"))?;
            ter(cx, args, f, [ty, Ty::U32, Ty::U32])
        }
        "bfi" => {
            let ty = m.ty()?;
            cx.count(args, 5, 5)?;
            let d = cx.dst(cx.arg(args, 0)?)?;
            let (a, b) = (cx.src(cx.arg(args, 1)?, ty)?, cx.src(cx.arg(args, 2)?, ty)?);
            let (pos, len) = (cx.src(cx.arg(args, 3)?, Ty::U32)?, cx.src(cx.arg(args, 4)?, Ty::U32)?);
            Ok(Op::Bfi { d, a, b, pos, len, bits: ty.bits() as u8 })
        }
        "lop3" => lop3(cx, m, args),
        "prmt" => {
            let mode = m.one_of(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]).unwrap_or("");
            let ty = m.ty()?;
            let f = int::permutation(mode, ty).ok_or_else(|| m.unknown("type"))?;
            let mut op = ter(cx, args, f, [ty; 3])?;
            if let Op::Ter { join, .. } = &mut op {
                *join = Join::Bytes;
            }
            Ok(op)
        }
        "dp4a" | "dp2a" => {
            let part = if m.base == "dp4a" { "" } else { m.one_of(&["lo", "hi"]).unwrap_or("none") };
            let (a, b) = (m.ty()?, m.ty()?);
            let a = if a.signed() { "s32" } else { "u32" };
            let f = int::ternary(&format!("{}{part}.{a}", m.base), b).ok_or_else(|| m.unknown("types"))?;
            ter(cx, args, f, [Ty::B32; 3])
        }
        "bmsk" | "szext" => {
            let wrap = m.one_of(&["wrap", "clamp"]) == Some("wrap");
            let ty = m.ty()?;
            let f = old::masked(m.base, wrap, ty).ok_or_else(|| m.unknown("type"))?;
            bin(cx, args, f, [ty, Ty::U32])
        }
        _ => plain(cx, m, args),
    }
}

/// `lop3.b32 d, a, b, c, table`, and `lop3.or.b32 d|p, a, b, c, table, q` with a predicate of whether `d` is not zero.
fn lop3<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let logic = m.take(|w| match w {
        "and" => Some(Logic::And),
        "or" => Some(Logic::Or),
        _ => None,
    });
    m.ty()?;
    let want = 5 + usize::from(logic.is_some());
    cx.count(args, want, want)?;
    let (d, test) = match logic {
        None => (Some(cx.dst(cx.arg(args, 0)?)?), None),
        Some(logic) => {
            let (d, p) = cx.dst_pair(cx.arg(args, 0)?)?;
            let p = p.ok_or_else(|| cx.fail("d|p is expected"))?;
            (d, Some((p, logic, cx.psrc(cx.arg(args, 5)?)?)))
        }
    };
    let [a, b, c] = three(cx, args, [Ty::B32; 3])?;
    match cx.src(cx.arg(args, 4)?, Ty::B8)? {
        Src::Imm(table) => Ok(Op::Lop3 { d, a, b, c, table: table as u8, test }),
        _ => Err(cx.fail("the table of lop3 must be a constant")),
    }
}

fn int_type(m: &Mods<'_>) -> bool {
    ["u16", "u32", "u64", "s16", "s32", "s64", "u16x2", "s16x2"].iter().any(|t| m.has(t))
}

fn join(ty: Ty) -> Join {
    if ty == Ty::F32x2 { Join::Halves } else { Join::Whole }
}

fn three<'a>(cx: &mut Context<'_, 'a>, args: &[Operand<'a>], ty: [Ty; 3]) -> Res<[Src; 3]> {
    Ok([cx.src(cx.arg(args, 1)?, ty[0])?, cx.src(cx.arg(args, 2)?, ty[1])?, cx.src(cx.arg(args, 3)?, ty[2])?])
}

fn bin<'a>(cx: &mut Context<'_, 'a>, args: &[Operand<'a>], f: F2, ty: [Ty; 2]) -> Res<Op> {
    cx.count(args, 3, 3)?;
    let d = cx.dst(cx.arg(args, 0)?)?;
    Ok(Op::Bin {
        join: join(ty[0]),
        f,
        d,
        a: cx.src(cx.arg(args, 1)?, ty[0])?,
        b: cx.src(cx.arg(args, 2)?, ty[1])?,
    })
}

fn ter<'a>(cx: &mut Context<'_, 'a>, args: &[Operand<'a>], f: F3, ty: [Ty; 3]) -> Res<Op> {
    cx.count(args, 4, 4)?;
    let d = cx.dst(cx.arg(args, 0)?)?;
    let [a, b, c] = three(cx, args, ty)?;
    Ok(Op::Ter { join: join(ty[0]), f, d, a, b, c })
}

/// `mov`, with packing, unpacking and predicates.
fn mov<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let ty = m.ty()?;
    cx.count(args, 2, 2)?;
    let (to, from) = (cx.arg(args, 0)?, cx.arg(args, 1)?);
    if ty == Ty::Pred {
        let Some(d) = cx.pdst(to)? else { return Ok(Op::Nop) };
        if matches!(from, Operand::Name("%is_explicit_cluster")) {
            // A cluster of one CTA is as good as none.
            let f = compare::compare("gt", Ty::U32, false).ok_or_else(|| m.unknown("type"))?;
            let (a, b) = (Src::Special(Special::ClusterSize), Src::Imm(1));
            return Ok(Op::Setp { f, d: Some(d), q: None, a, b, with: None });
        }
        return Ok(Op::PMov { d, a: cx.psrc(from)? });
    }
    if ty == Ty::B128 {
        let pair = |list: &[Operand<'a>]| list.len() == 2;
        let d = match to {
            Operand::Vector(list) if pair(list) => [cx.dst_opt(&list[0])?, cx.dst_opt(&list[1])?],
            raw => cx.wide(raw)?.map(Some),
        };
        let a = match from {
            Operand::Vector(list) if pair(list) => [cx.src(&list[0], Ty::B64)?, cx.src(&list[1], Ty::B64)?],
            raw => cx.wide(raw)?.map(Src::Reg),
        };
        return Ok(Op::MovPair { d, a });
    }
    if let Operand::Vector(parts) = to {
        let bits = part_bits(cx, ty, parts.len())?;
        let mut d = smallvec::SmallVec::new();
        for p in parts {
            d.push(cx.dst_opt(p)?);
        }
        return Ok(Op::Unpack { d, a: cx.src(from, ty)?, bits });
    }
    let d = cx.dst(to)?;
    if let Operand::Vector(list) = from {
        let bits = part_bits(cx, ty, list.len())?;
        let mut parts = smallvec::SmallVec::new();
        for p in list {
            parts.push(cx.src(p, if bits == 32 { Ty::B32 } else { Ty::B16 })?);
        }
        return Ok(Op::Pack { d, parts, bits });
    }
    Ok(Op::Un { f: crate::isa::lanes::lanes!(|a| a), d, a: cx.src(from, ty)? })
}

fn part_bits(cx: &Context<'_, '_>, ty: Ty, n: usize) -> Res<u8> {
    match (ty.bits(), n) {
        (16, 2) => Ok(8),
        (32, 2) | (64, 4) => Ok(16),
        (32, 4) => Ok(8),
        (64, 2) => Ok(32),
        _ => Err(cx.fail("these parts do not make up the type")),
    }
}

/// `mul` and `mad` of integers, plain or in a carry chain.
fn multiply<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let part = m.one_of(&["lo", "hi", "wide"]).ok_or_else(|| m.unknown("it has no .lo, .hi or .wide"))?;
    if m.has("cc") {
        return carry(cx, m, args, &format!("mad.{part}"));
    }
    let saturates = part == "hi" && m.base != "mul" && m.flag("sat");
    let ty = m.ty()?;
    let wide = match (part, ty.bits()) {
        ("wide", 16) => Ty::B32,
        ("wide", _) => Ty::B64,
        _ => ty,
    };
    if m.base == "mul" {
        let f = int::multiply(part, ty).ok_or_else(|| m.unknown("type"))?;
        bin(cx, args, f, [ty; 2])
    } else if m.base == "mad" {
        let f = if saturates { old::multiply_saturating(ty) } else { int::multiply_add(part, ty) };
        let f = f.ok_or_else(|| m.unknown("type"))?;
        ter(cx, args, f, [ty, ty, wide])
    } else {
        let add = m.base == "mad24";
        let f = if saturates { old::multiply_24_saturating(ty) } else { int::multiply_24(part, ty) };
        let f = f.ok_or_else(|| m.unknown("part or type"))?;
        if add {
            return ter(cx, args, f, [ty; 3]);
        }
        cx.count(args, 3, 3)?;
        let d = cx.dst(cx.arg(args, 0)?)?;
        let (a, b) = (cx.src(cx.arg(args, 1)?, ty)?, cx.src(cx.arg(args, 2)?, ty)?);
        Ok(Op::Ter { f, d, a, b, c: Src::Imm(0), join: Join::Whole })
    }
}

fn sum<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    match m.base {
        "addc" => return carry(cx, m, args, "add"),
        "subc" => return carry(cx, m, args, "sub"),
        "madc" => {
            let part = m.one_of(&["lo", "hi"]).ok_or_else(|| m.unknown("it has no .lo or .hi"))?;
            return carry(cx, m, args, &format!("mad.{part}"));
        }
        base if m.has("cc") => return carry(cx, m, args, base),
        _ => {}
    }
    let saturates = m.flag("sat");
    let ty = m.ty()?;
    let f = if saturates { int::saturating(m.base, ty) } else { int::binary(m.base, ty) };
    let f = f.ok_or_else(|| m.unknown("type"))?;
    bin(cx, args, f, [ty; 2])
}

fn carry<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>], name: &str) -> Res<Op> {
    let sets = m.flag("cc");
    // add.cc starts a chain, addc continues it.
    let chained = m.base.ends_with('c');
    let ty = m.ty()?;
    let f = chain::step(name, ty).ok_or_else(|| m.unknown("type"))?;
    let n = if name.starts_with("mad") { 4 } else { 3 };
    cx.count(args, n, n)?;
    let d = cx.dst(cx.arg(args, 0)?)?;
    let (a, b) = (cx.src(cx.arg(args, 1)?, ty)?, cx.src(cx.arg(args, 2)?, ty)?);
    let c = if n == 4 { cx.src(cx.arg(args, 3)?, ty)? } else { Src::Imm(0) };
    // What is subtracted is added as its complement, and one.
    let first = if name == "sub" { u32::MAX } else { 0 };
    Ok(Op::Carry { f, d, a, b, c, sets, chained, first })
}

/// Named operations whose last type decides integer, float or half.
fn plain<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    // A multiply and an add of floats are fused on all chips there are.
    let name = if m.base == "mad" { "fma" } else { m.base };
    let directed = m.take(|w| rounding(w).filter(|(_, whole)| !whole));
    let approx = m.flag("approx");
    m.ignore(&["full"]);
    let xorsign = m.flag("xorsign");
    let q = Quals {
        ftz: m.flag("ftz"),
        sat: m.flag("sat"),
        nan: m.flag("NaN"),
        xorsign_abs: xorsign && m.flag("abs"),
    };
    let (relu, oob) = (m.flag("relu"), name == "fma" && m.flag("oob"));
    let clamped =
        if relu && matches!(name, "min" | "max") { format!("{name}.relu") } else { name.to_string() };
    let name = clamped.as_str();
    if relu && !matches!(name, "min.relu" | "max.relu" | "fma") {
        return Err(m.unknown("it has no .relu"));
    }
    let name = if m.flag("shiftamt") { "bfind.shiftamt" } else { name };
    let (ty, n) = (m.ty()?, args.len());
    if let Some(qualifier) = qualifiers::foreign(m.base, ty, q, approx) {
        return Err(m.unknown(&format!("it has no .{qualifier}")));
    }
    // Of f64 there are rough ones with `.ftz`.
    let name = match (name, approx && q.ftz && ty == Ty::F64) {
        ("rcp", true) => "rcp.rough",
        ("rsqrt", true) => "rsqrt.rough",
        _ => name,
    };
    let halves = matches!(ty, Ty::F16 | Ty::BF16 | Ty::F16x2 | Ty::BF16x2);
    let chooses = n == 3 && matches!(name, "min" | "max") && (halves || ty == Ty::F32);
    if xorsign && !(q.xorsign_abs && chooses) {
        return Err(m.unknown("it has no .xorsign.abs"));
    }
    if let Some((r, _)) = directed.filter(|(r, _)| *r != Rounding::Even) {
        return directed_op(cx, m, args, (r, q), ty);
    }
    if let Some(second) = m.take(Ty::of) {
        let mixed = ty == Ty::F32 && matches!(second, Ty::F16 | Ty::BF16) && !q.ftz;
        if mixed && name == "fma" {
            let f = half::mixed_fma(second, q.sat).ok_or_else(|| m.unknown("types"))?;
            return ter(cx, args, f, [second, second, ty]);
        }
        let f = if mixed { half::mixed(name, second, q.sat) } else { None };
        return bin(cx, args, f.ok_or_else(|| m.unknown("types"))?, [second, ty]);
    }
    if ty == Ty::F32 && m.flag("abs") {
        return seldom::magnitudes(cx, m, args, q);
    }
    match n {
        2 => {
            let f = float::unary(name, ty, q)
                .or_else(|| half::unary(name, ty, q))
                .or_else(|| int::unary(name, ty));
            let f = f.ok_or_else(|| m.unknown("operation or type"))?;
            let d = cx.dst(cx.arg(args, 0)?)?;
            Ok(Op::Un { f, d, a: cx.src(cx.arg(args, 1)?, ty)? })
        }
        3 => {
            let f = if halves {
                half::binary(name, ty, q)
            } else {
                float::binary(name, ty, q).or_else(|| int::binary(name, ty))
            };
            bin(cx, args, f.ok_or_else(|| m.unknown("operation or type"))?, [ty; 2])
        }
        _ => {
            let f = if halves && name == "fma" {
                half::ternary(ty, relu, q)
            } else {
                float::ternary(name, ty, q).or_else(|| int::ternary(name, ty)).filter(|_| !relu)
            };
            let op = ter(cx, args, f.ok_or_else(|| m.unknown("operation or type"))?, [ty; 3])?;
            if oob { seldom::outside(op, ty).ok_or_else(|| m.unknown("type")) } else { Ok(op) }
        }
    }
}

/// f32 and f64 arithmetic that does not round to nearest.
fn directed_op<'a>(
    cx: &mut Context<'_, 'a>,
    m: &mut Mods<'_>,
    args: &[Operand<'a>],
    (r, q): (Rounding, Quals),
    ty: Ty,
) -> Res<Op> {
    if !matches!(ty, Ty::F32 | Ty::F64) || q.sat || m.has("f16") || m.has("bf16") {
        return seldom::directed(cx, m, args, (r, q), ty);
    }
    let wide = ty == Ty::F64;
    let base = if m.base == "mad" { "fma" } else { m.base };
    let unknown = |m: &Mods<'_>| m.unknown("operation");
    match args.len() {
        2 => {
            let f = if wide { double::unary(m.base, r) } else { directed::unary(m.base, r, q.ftz) };
            let f = f.ok_or_else(|| unknown(m))?;
            let d = cx.dst(cx.arg(args, 0)?)?;
            Ok(Op::Un { f, d, a: cx.src(cx.arg(args, 1)?, ty)? })
        }
        3 => {
            let f = if wide { double::binary(m.base, r) } else { directed::binary(m.base, r, q.ftz) };
            bin(cx, args, f.ok_or_else(|| unknown(m))?, [ty; 2])
        }
        _ => {
            let f = if wide { double::ternary(base, r) } else { directed::ternary(base, r, q.ftz) };
            ter(cx, args, f.ok_or_else(|| unknown(m))?, [ty; 3])
        }
    }
}
