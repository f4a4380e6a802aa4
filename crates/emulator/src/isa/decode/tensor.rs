//! `mma.sync`, `wgmma`, `ldmatrix`, `stmatrix`.

use super::context::{Context, Res};
use super::mods::Mods;
use crate::isa::op::{AccTy, MatTy, MatrixMove, Mma, Op, Src, Wgmma, WgmmaA};
use crate::isa::types::Ty;
use smallvec::SmallVec;
use warploom_ptx::Operand;

/// Warp- and warpgroup-wide matrix instructions.
pub(crate) fn matrix<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    match m.base {
        "wgmma" => wgmma(cx, m, args),
        "mma" => mma(cx, m, args),
        "ldmatrix" | "stmatrix" => move_matrix(cx, m, args),
        "movmatrix" => {
            m.ignore(&["sync", "aligned"]);
            if !(m.flag("m8n8") && m.flag("trans") && m.flag("b16")) {
                return Err(m.unknown("only m8n8.trans.b16"));
            }
            cx.count(args, 2, 2)?;
            Ok(Op::MovMatrix { d: cx.dst(cx.arg(args, 0)?)?, a: cx.src(cx.arg(args, 1)?, Ty::B32)? })
        }
        _ => Err(m.unknown("operation")),
    }
}

/// The operand type of a modifier.
pub(crate) fn mat_ty(word: &str) -> Option<MatTy> {
    Some(match word {
        "f16" => MatTy::F16,
        "bf16" => MatTy::BF16,
        "tf32" => MatTy::TF32,
        "e4m3" => MatTy::E4M3,
        "e5m2" => MatTy::E5M2,
        "s8" => MatTy::S8,
        "u8" => MatTy::U8,
        "f64" => MatTy::F64,
        _ => return None,
    })
}

/// The accumulator type of a modifier.
pub(crate) fn acc_ty(word: &str) -> Option<AccTy> {
    Some(match word {
        "f16" => AccTy::F16,
        "f32" => AccTy::F32,
        "s32" => AccTy::S32,
        "f64" => AccTy::F64,
        _ => return None,
    })
}

/// `m64n256k16` as three numbers.
pub(crate) fn shape(word: &str) -> Option<(u32, u32, u32)> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some((m.parse().ok()?, n.parse().ok()?, k.parse().ok()?))
}

fn regs<'a, const N: usize>(cx: &mut Context<'_, 'a>, raw: &Operand<'a>, ty: Ty) -> Res<SmallVec<[Src; N]>>
where
    [Src; N]: smallvec::Array<Item = Src>,
{
    let mut out = SmallVec::new();
    for r in cx.parts(raw) {
        out.push(cx.src(r, ty)?);
    }
    Ok(out)
}

fn mma<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    if m.has("sp") || m.has("block_scale") || m.has("kind::mxf8f6f4") {
        return Err(m.unknown("sparse and block-scaled products"));
    }
    m.ignore(&["sync", "aligned", "row", "col"]);
    let narrow = m.flag("kind::f8f6f4");
    let mat_ty = |word: &str| match word {
        "e2m1" if narrow => Some(MatTy::E2M1),
        "e2m3" if narrow => Some(MatTy::E2M3),
        "e3m2" if narrow => Some(MatTy::E3M2),
        word => mat_ty(word),
    };
    let saturate = m.flag("satfinite");
    let (rows, n, k) = m.take(shape).ok_or_else(|| m.unknown("the shape is missing"))?;
    let d_ty = m.take(acc_ty).ok_or_else(|| m.unknown("type of D"))?;
    let a_ty = m.take(mat_ty).ok_or_else(|| m.unknown("type of A"))?;
    let b_ty = m.take(mat_ty).ok_or_else(|| m.unknown("type of B"))?;
    let c_ty = m.take(acc_ty).ok_or_else(|| m.unknown("type of C"))?;
    let double = a_ty == MatTy::F64;
    let legal = match a_ty {
        MatTy::F64 => (rows == 8 && k == 4) || (rows == 16 && matches!(k, 4 | 8 | 16)),
        MatTy::F16 | MatTy::BF16 => k == 8 || k == 16,
        MatTy::TF32 => k == 4 || k == 8,
        _ if a_ty.bytes() == 1 => k == 16 || k == 32,
        _ => false,
    };
    let outputs_fit = double == (d_ty == AccTy::F64) && double == (c_ty == AccTy::F64);
    if !(rows == 16 || double)
        || saturate && !a_ty.integer()
        || n != 8
        || !legal
        || !outputs_fit
        || a_ty.bytes() != b_ty.bytes()
        || a_ty.integer() != b_ty.integer()
    {
        return Err(m.unknown("shape and types"));
    }
    cx.count(args, 4, 4)?;
    let mut d = SmallVec::new();
    for r in cx.parts(cx.arg(args, 0)?) {
        d.push(cx.dst_opt(r)?);
    }
    let word = if double { Ty::F64 } else { Ty::B32 };
    let a = regs(cx, cx.arg(args, 1)?, word)?;
    let b = regs(cx, cx.arg(args, 2)?, word)?;
    let c = regs(cx, cx.arg(args, 3)?, word)?;
    let words = |t: AccTy| match t {
        AccTy::F16 => 2,
        AccTy::F64 => rows as usize / 4,
        _ => 4,
    };
    // Bytes of 32 lanes: rows x k elements of A, 8 x k of B.
    let (per_lane, bytes) = (k as usize * a_ty.bytes() as usize, word.bytes() as usize);
    if a.len() * 32 * bytes != per_lane * rows as usize
        || b.len() * 32 * bytes != per_lane * 8
        || d.len() != words(d_ty)
        || c.len() != words(c_ty)
    {
        return Err(cx.fail("the fragments have the wrong number of registers"));
    }
    Ok(Op::Mma(Box::new(Mma { m: rows, k, a_ty, b_ty, d_ty, c_ty, d, a, b, c, saturate })))
}

fn constant(cx: &mut Context<'_, '_>, raw: &Operand<'_>, what: &str) -> Res<i64> {
    match raw {
        Operand::Int(v) => Ok(*v as i64),
        _ => Err(cx.fail(format!("{what} must be a constant"))),
    }
}

fn wgmma<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let what = m.first().ok_or_else(|| m.unknown("operation"))?;
    m.ignore(&["sync", "aligned"]);
    match what {
        "fence" => return Ok(Op::WgmmaFence),
        "commit_group" => return Ok(Op::WgmmaCommit),
        "wait_group" => {
            cx.count(args, 1, 1)?;
            let keep = constant(cx, cx.arg(args, 0)?, "the group count")?;
            return Ok(Op::WgmmaWait { keep: u32::try_from(keep).unwrap_or(u32::MAX) });
        }
        "mma_async" => {}
        _ => return Err(m.unknown("operation")),
    }
    if m.has("sp") {
        return Err(m.unknown("sparse products"));
    }
    let saturate = m.flag("satfinite");
    let (rows, n, k) = m.take(shape).ok_or_else(|| m.unknown("the shape is missing"))?;
    let d_ty = m.take(acc_ty).ok_or_else(|| m.unknown("type of D"))?;
    let a_ty = m.take(mat_ty).ok_or_else(|| m.unknown("type of A"))?;
    let b_ty = m.take(mat_ty).ok_or_else(|| m.unknown("type of B"))?;
    let step = if a_ty.integer() && n > 24 { 16 } else { 8 };
    if rows != 64
        || !(8..=256).contains(&n)
        || n % step != 0
        || k * a_ty.bytes() != 32
        || a_ty.bytes() != b_ty.bytes()
        || a_ty.integer() != b_ty.integer()
        || a_ty.integer() != (d_ty == AccTy::S32)
        || d_ty == AccTy::F64
        || saturate && !a_ty.integer()
    {
        return Err(m.unknown("shape and types (T12)"));
    }
    cx.count(args, 4, 8)?;
    let mut d = Vec::new();
    for r in cx.parts(cx.arg(args, 0)?) {
        d.push(cx.dst(r)?);
    }
    let words = if d_ty == AccTy::F16 { n / 4 } else { n / 2 };
    if d.len() != words as usize {
        return Err(cx.fail(format!("{} accumulators where {words} are expected", d.len())));
    }
    let a = match cx.arg(args, 1)? {
        Operand::Vector(_) => {
            let list = regs(cx, cx.arg(args, 1)?, Ty::B32)?;
            if list.len() != 4 {
                return Err(cx.fail("A in registers is four of them"));
            }
            WgmmaA::Regs(list)
        }
        raw => WgmmaA::Desc(cx.src(raw, Ty::B64)?),
    };
    let b = cx.src(cx.arg(args, 2)?, Ty::B64)?;
    let scale_d = cx.psrc(cx.arg(args, 3)?)?;
    let mut scale = [1, 1];
    let mut trans = [0, 0];
    if !a_ty.integer() {
        for (i, s) in scale.iter_mut().enumerate() {
            *s = constant(cx, cx.arg(args, 4 + i)?, "imm-scale")?;
            if *s != 1 && *s != -1 {
                return Err(cx.fail("imm-scale is 1 or -1"));
            }
        }
    }
    if matches!(a_ty, MatTy::F16 | MatTy::BF16) {
        let first = usize::from(matches!(a, WgmmaA::Regs(_)));
        for (at, slot) in (first..2).enumerate() {
            trans[slot] = constant(cx, cx.arg(args, 6 + at)?, "imm-trans")?;
        }
    }
    Ok(Op::Wgmma(Box::new(Wgmma {
        n,
        k,
        a_ty,
        b_ty,
        d_ty,
        d,
        a,
        b,
        scale_d,
        negate_a: scale[0] < 0,
        negate_b: scale[1] < 0,
        trans_a: trans[0] != 0,
        trans_b: trans[1] != 0,
        saturate,
    })))
}

fn move_matrix<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    m.ignore(&["sync", "aligned", "shared", "shared::cta"]);
    let n = match m.one_of(&["x1", "x2", "x4"]) {
        Some("x1") => 1,
        Some("x2") => 2,
        Some(_) => 4,
        None => return Err(m.unknown("the number of matrices is missing")),
    };
    let (loads, bytes) = (m.base == "ldmatrix", m.flag("m16n16"));
    let known = if bytes { loads && n < 4 } else { m.flag("m8n8") };
    let trans = m.flag("trans");
    if !known || bytes && !trans || m.ty()? != if bytes { Ty::B8 } else { Ty::B16 } {
        return Err(m.unknown("only 8x8 matrices of 16 bits, or 16x16 bytes that are loaded transposed"));
    }
    let n = if bytes { 2 * n } else { n };
    cx.count(args, 2, 2)?;
    let (regs_at, addr_at) = if loads { (0, 1) } else { (1, 0) };
    let (mut srcs, mut dsts) = (SmallVec::new(), SmallVec::new());
    for r in cx.parts(cx.arg(args, regs_at)?) {
        if loads { dsts.push(cx.dst_opt(r)?) } else { srcs.push(cx.src(r, Ty::B32)?) }
    }
    if srcs.len() + dsts.len() != n {
        return Err(cx.fail(format!("{n} registers are expected")));
    }
    let op = Box::new(MatrixMove { trans, bytes, addr: cx.addr(cx.arg(args, addr_at)?)?, regs: srcs, dsts });
    Ok(if loads { Op::LdMatrix(op) } else { Op::StMatrix(op) })
}
