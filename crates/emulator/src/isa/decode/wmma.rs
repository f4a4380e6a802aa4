//! `wmma.load`, `wmma.store`, `wmma.mma`.

use super::context::{Context, Res};
use super::memory::space;
use super::mods::Mods;
use super::tensor::{acc_ty, mat_ty, shape};
use crate::isa::op::{AccTy, Fragment, FragmentMove, MatTy, Op, Part, Reg, Src, WmmaProduct, WmmaTy};
use crate::isa::types::Ty;
use smallvec::SmallVec;
use warploom_ptx::Operand;

/// `wmma`.
pub(crate) fn wmma<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let what = m.first().ok_or_else(|| m.unknown("operation"))?;
    m.ignore(&["sync", "aligned"]);
    match what {
        "load" => moved(cx, m, args, true),
        "store" => moved(cx, m, args, false),
        "mma" => product(cx, m, args),
        _ => Err(m.unknown("operation")),
    }
}

fn operand_ty(word: &str) -> Option<WmmaTy> {
    Some(match word {
        "s4" => WmmaTy::S4,
        "u4" => WmmaTy::U4,
        "b1" => WmmaTy::B1,
        other => WmmaTy::Plain(mat_ty(other).filter(|t| !matches!(t, MatTy::E4M3 | MatTy::E5M2))?),
    })
}

/// Whether a type has products of these rows, columns and depth.
fn legal(ty: WmmaTy, (m, n, k): (u32, u32, u32)) -> bool {
    let large = matches!((m, n), (16, 16) | (32, 8) | (8, 32));
    match ty {
        WmmaTy::Plain(MatTy::TF32) => (m, n, k) == (16, 16, 8),
        WmmaTy::Plain(MatTy::F64) => (m, n, k) == (8, 8, 4),
        WmmaTy::Plain(_) => large && k == 16,
        WmmaTy::S4 | WmmaTy::U4 => (m, n, k) == (8, 8, 32),
        WmmaTy::B1 => (m, n, k) == (8, 8, 128),
    }
}

/// Registers of a fragment. Those of f16 operands are eight, whatever the shape; the rest are copies.
fn registers(fragment: &Fragment, f16_operand: bool) -> usize {
    match fragment.bits {
        _ if f16_operand => 8,
        64 => fragment.elements() as usize,
        bits => (fragment.elements() * bits).div_ceil(32) as usize,
    }
}

fn word(fragment: &Fragment) -> Ty {
    if fragment.bits == 64 { Ty::F64 } else { Ty::B32 }
}

type Sources = SmallVec<[Src; 8]>;
type Destinations = SmallVec<[Option<Reg>; 8]>;

fn sources<'a>(cx: &mut Context<'_, 'a>, raw: &Operand<'a>, fragment: &Fragment, f16: bool) -> Res<Sources> {
    let mut out = Sources::new();
    for r in cx.parts(raw) {
        out.push(cx.src(r, word(fragment))?);
    }
    if out.len() == registers(fragment, f16) { Ok(out) } else { Err(wrong(cx)) }
}

fn destinations<'a>(
    cx: &mut Context<'_, 'a>,
    raw: &Operand<'a>,
    fragment: &Fragment,
    f16: bool,
) -> Res<Destinations> {
    let mut out = Destinations::new();
    for r in cx.parts(raw) {
        out.push(cx.dst_opt(r)?);
    }
    if out.len() == registers(fragment, f16) { Ok(out) } else { Err(wrong(cx)) }
}

fn wrong(cx: &Context<'_, '_>) -> crate::error::RefusalReason {
    cx.fail("the fragment has the wrong number of registers")
}

fn moved<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>], loads: bool) -> Res<Op> {
    let part = match m.one_of(&["a", "b", "c", "d"]) {
        Some("a") if loads => Part::A,
        Some("b") if loads => Part::B,
        Some("c") if loads => Part::Sum,
        Some("d") if !loads => Part::Sum,
        _ => return Err(m.unknown("the matrix")),
    };
    let by_column = match m.one_of(&["row", "col"]) {
        Some(order) => order == "col",
        None => return Err(m.unknown("the order of rows and columns")),
    };
    let size = m.take(shape).ok_or_else(|| m.unknown("the shape is missing"))?;
    let space = space(m);
    let (bits, fits, f16) = if part == Part::Sum {
        let ty = m.take(acc_ty).ok_or_else(|| m.unknown("type"))?;
        let any = [MatTy::F16, MatTy::TF32, MatTy::F64].map(WmmaTy::Plain);
        let fits = any.into_iter().chain([WmmaTy::S4, WmmaTy::B1]).any(|t| legal(t, size));
        (ty.bits(), fits, false)
    } else {
        let ty = m.take(operand_ty).ok_or_else(|| m.unknown("type"))?;
        (ty.bits(), legal(ty, size), ty == WmmaTy::Plain(MatTy::F16))
    };
    if !fits {
        return Err(m.unknown("shape and type"));
    }
    let (rows, columns) = match part {
        Part::A => (size.0, size.2),
        Part::B => (size.2, size.1),
        Part::Sum => (size.0, size.1),
    };
    let fragment = Fragment { part, rows, columns, bits };
    if bits < 8 && by_column != (part == Part::B) {
        return Err(m.unknown("elements below a byte lie along k"));
    }
    cx.count(args, 2, 3)?;
    let (regs, at) = if loads { (0, 1) } else { (1, 0) };
    let (mut dsts, mut srcs) = (Destinations::new(), Sources::new());
    if loads {
        dsts = destinations(cx, cx.arg(args, regs)?, &fragment, f16)?;
    } else {
        srcs = sources(cx, cx.arg(args, regs)?, &fragment, f16)?;
    }
    let addr = cx.addr(cx.arg(args, at)?)?;
    let stride = match args.get(2) {
        Some(raw) => Some(cx.src(raw, Ty::U32)?),
        None => None,
    };
    let op = Box::new(FragmentMove { fragment, space, addr, stride, by_column, dsts, srcs });
    Ok(if loads { Op::WmmaLoad(op) } else { Op::WmmaStore(op) })
}

fn product<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    m.ignore(&["row", "col", "rn"]);
    let saturate = m.flag("satfinite");
    let differ = m.flag("xor");
    let compares = differ || m.flag("and");
    let bits = compares && m.flag("popc");
    let size = m.take(shape).ok_or_else(|| m.unknown("the shape is missing"))?;
    let d_ty = m.take(acc_ty).ok_or_else(|| m.unknown("type of D"))?;
    let mut pair = [WmmaTy::Plain(MatTy::F16); 2];
    // Products of f16 name D and C alone.
    let named = m.has("f64") || ["bf16", "tf32", "s8", "u8", "s4", "u4", "b1"].iter().any(|t| m.has(t));
    if named {
        for ty in &mut pair {
            *ty = m.take(operand_ty).ok_or_else(|| m.unknown("type of A or B"))?;
        }
    }
    let c_ty = m.take(acc_ty).ok_or_else(|| m.unknown("type of C"))?;
    let [a_ty, b_ty] = pair;
    let sums = match a_ty {
        WmmaTy::Plain(MatTy::F16) => [d_ty, c_ty].iter().all(|t| matches!(t, AccTy::F16 | AccTy::F32)),
        WmmaTy::Plain(MatTy::F64) => [d_ty, c_ty] == [AccTy::F64; 2],
        WmmaTy::Plain(MatTy::BF16 | MatTy::TF32) => [d_ty, c_ty] == [AccTy::F32; 2],
        _ => [d_ty, c_ty] == [AccTy::S32; 2],
    };
    if !legal(a_ty, size) || a_ty != b_ty || !sums || bits != (a_ty == WmmaTy::B1) {
        return Err(m.unknown("shape and types"));
    }
    cx.count(args, 4, 4)?;
    finish(cx, args, (size, [a_ty, b_ty], [c_ty, d_ty]), saturate, differ)
}

/// Shape, types of A and B, types of C and D.
type Kind = ((u32, u32, u32), [WmmaTy; 2], [AccTy; 2]);

/// A product with its operands.
fn finish<'a>(
    cx: &mut Context<'_, 'a>,
    args: &[Operand<'a>],
    ((m, n, k), [a_ty, b_ty], [c_ty, d_ty]): Kind,
    saturate: bool,
    differ: bool,
) -> Res<Op> {
    let none = Sources::new;
    let mut op = WmmaProduct {
        m,
        n,
        k,
        a_ty,
        b_ty,
        c_ty,
        d_ty,
        d: Destinations::new(),
        a: none(),
        b: none(),
        c: none(),
        saturate,
        differ,
    };
    let [fa, fb, fc, fd] = op.fragments();
    let f16 = a_ty == WmmaTy::Plain(MatTy::F16);
    op.d = destinations(cx, cx.arg(args, 0)?, &fd, false)?;
    op.a = sources(cx, cx.arg(args, 1)?, &fa, f16)?;
    op.b = sources(cx, cx.arg(args, 2)?, &fb, f16)?;
    op.c = sources(cx, cx.arg(args, 3)?, &fc, false)?;
    Ok(Op::Wmma(Box::new(op)))
}

/// Whether a product of `mma.sync` is one of those.
pub(crate) fn is_narrow(m: &Mods<'_>) -> bool {
    m.base == "mma" && ["s4", "u4", "b1", "m8n8k16"].iter().any(|word| m.has(word))
}

/// `mma.sync` of integers below a byte, of bits, and of 8x8 bytes: fragments of `wmma` are laid out as those of `mma`.
pub(crate) fn narrow<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    m.ignore(&["sync", "aligned", "row", "col"]);
    let saturate = m.flag("satfinite");
    let size = m.take(shape).ok_or_else(|| m.unknown("the shape is missing"))?;
    let d_ty = m.take(acc_ty).ok_or_else(|| m.unknown("type of D"))?;
    let a_ty = m.take(operand_ty).ok_or_else(|| m.unknown("type of A"))?;
    let b_ty = m.take(operand_ty).ok_or_else(|| m.unknown("type of B"))?;
    let c_ty = m.take(acc_ty).ok_or_else(|| m.unknown("type of C"))?;
    let differ = m.flag("xor");
    let bits = (differ || m.flag("and")) && m.flag("popc");
    let same_width = a_ty.bits() == b_ty.bits();
    let fits = match a_ty {
        WmmaTy::Plain(MatTy::S8 | MatTy::U8) => size == (8, 8, 16),
        WmmaTy::S4 | WmmaTy::U4 => matches!(size, (8, 8, 32) | (16, 8, 32 | 64)),
        WmmaTy::B1 => matches!(size, (8, 8, 128) | (16, 8, 128 | 256)),
        WmmaTy::Plain(_) => false,
    };
    if !fits || !same_width || [d_ty, c_ty] != [AccTy::S32; 2] || bits != (a_ty == WmmaTy::B1) {
        return Err(m.unknown("shape and types"));
    }
    cx.count(args, 4, 4)?;
    finish(cx, args, (size, [a_ty, b_ty], [c_ty, d_ty]), saturate, differ)
}
