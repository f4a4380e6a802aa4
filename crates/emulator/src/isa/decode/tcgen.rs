//! `tcgen05.*`.

use super::context::{Context, Res};
use super::mods::Mods;
use crate::isa::op::{
    CopyRows, Fence, Op, PSrc, Presence, Src, Tcgen, TcgenA, TcgenKind, TcgenMma, TmemShape,
};
use crate::isa::types::Ty;
use smallvec::SmallVec;
use warploom_ptx::Operand;

/// Fifth-generation tensor core instructions.
pub(crate) fn tcgen05<'a>(
    cx: &mut Context<'_, 'a>,
    m: &mut Mods<'_>,
    args: &[Operand<'a>],
    presence: &mut Presence,
) -> Res<Op> {
    let what = m.first().ok_or_else(|| m.unknown("operation"))?;
    let group = if m.flag("cta_group::2") { 2 } else { 1 };
    m.ignore(&["cta_group::1"]);
    if m.flag("sync") {
        m.flag("aligned");
        *presence = Presence::Warp;
    }
    let op = match what {
        "alloc" => {
            m.ignore(&["shared", "shared::cta", "b32"]);
            cx.count(args, 2, 2)?;
            Tcgen::Alloc {
                dst: cx.addr(cx.arg(args, 0)?)?,
                columns: cx.src(cx.arg(args, 1)?, Ty::U32)?,
                group,
            }
        }
        "dealloc" => {
            m.flag("b32");
            cx.count(args, 2, 2)?;
            let addr = cx.src(cx.arg(args, 0)?, Ty::B32)?;
            Tcgen::Dealloc { addr, columns: cx.src(cx.arg(args, 1)?, Ty::U32)?, group }
        }
        "relinquish_alloc_permit" => Tcgen::Relinquish { group },
        "mma" => mma(cx, m, args, group)?,
        "commit" => {
            m.ignore(&["mbarrier::arrive::one", "shared::cluster", "b64"]);
            let multicast = m.flag("multicast::cluster");
            cx.count(args, 1 + usize::from(multicast), 1 + usize::from(multicast))?;
            let mbar = cx.addr(cx.arg(args, 0)?)?;
            let multicast = if multicast { Some(cx.src(cx.arg(args, 1)?, Ty::U16)?) } else { None };
            Tcgen::Commit { mbar, multicast, group }
        }
        "cp" => copy(cx, m, args, group)?,
        "ld" | "st" => move_tmem(cx, m, args, what == "ld")?,
        "wait::ld" => Tcgen::WaitLd,
        "wait::st" => Tcgen::WaitSt,
        "fence::before_thread_sync" => return Ok(Op::Fence(Fence::TcgenBefore)),
        "fence::after_thread_sync" => return Ok(Op::Fence(Fence::TcgenAfter)),
        _ => return Err(m.unknown("operation")),
    };
    Ok(Op::Tcgen(Box::new(op)))
}

fn mma<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>], group: u8) -> Res<Tcgen> {
    if m.has("sp") || m.has("ws") || m.has("ashift") {
        return Err(m.unknown("sparse, weight-stationary and shifted products"));
    }
    let kind = m.take(kind).ok_or_else(|| m.unknown("kind"))?;
    m.ignore(&["collector::a::discard", "collector::a::lastuse", "collector::a::fill", "collector::a::use"]);
    let scaled = scale_vector(m, kind)?;
    if scaled.is_some() && group == 2 {
        return Err(m.unknown("block-scaled products of two CTAs"));
    }
    cx.count(args, if scaled.is_some() { 7 } else { 5 }, 7)?;
    let d = cx.addr(cx.arg(args, 0)?)?;
    let a = match cx.arg(args, 1)? {
        raw @ Operand::Address(_) => TcgenA::Tmem(cx.addr(raw)?),
        raw => TcgenA::Desc(cx.src(raw, Ty::B64)?),
    };
    let b = cx.src(cx.arg(args, 2)?, Ty::B64)?;
    let idesc = cx.src(cx.arg(args, 3)?, Ty::B32)?;
    let mut at = 4;
    let mut scales = None;
    if let Some(along) = scaled {
        scales = Some(Box::new((cx.addr(cx.arg(args, 4)?)?, cx.addr(cx.arg(args, 5)?)?, along)));
        at = 6;
    }
    let mut disable = SmallVec::new();
    if let Operand::Vector(list) = cx.arg(args, at)? {
        for r in list {
            disable.push(cx.src(r, Ty::B32)?);
        }
        at += 1;
    }
    let enable_d: PSrc = cx.psrc(cx.arg(args, at)?)?;
    let scale_d = match args.get(at + 1) {
        None => None,
        Some(raw) => match cx.src(raw, Ty::U32)? {
            Src::Imm(n) if n <= 15 => Some(n as u32),
            _ => return Err(cx.fail("scale-input-d is a constant 0 to 15")),
        },
    };
    Ok(Tcgen::Mma(TcgenMma { group, kind, d, a, b, idesc, disable, enable_d, scale_d, scales }))
}

fn kind(word: &str) -> Option<TcgenKind> {
    Some(match word {
        "kind::f16" => TcgenKind::F16,
        "kind::tf32" => TcgenKind::TF32,
        "kind::f8f6f4" => TcgenKind::F8F6F4,
        "kind::i8" => TcgenKind::I8,
        "kind::mxf8f6f4" => TcgenKind::MxF8F6F4,
        "kind::mxf4" => TcgenKind::MxF4,
        "kind::mxf4nvf4" => TcgenKind::MxF4NvF4,
        _ => return None,
    })
}

/// Scales along K of a block-scaled product.
fn scale_vector(m: &mut Mods<'_>, kind: TcgenKind) -> Res<Option<u32>> {
    let names = ["scale_vec::1X", "scale_vec::2X", "scale_vec::4X", "block16", "block32"];
    let (is_scaled, vector) = (m.flag("block_scale"), m.one_of(&names));
    let along = match (kind, vector) {
        (TcgenKind::MxF8F6F4, None | Some("scale_vec::1X" | "block32")) => 1,
        (TcgenKind::MxF4, None | Some("scale_vec::2X" | "block32")) => 2,
        (TcgenKind::MxF4NvF4, Some("scale_vec::2X" | "block32")) => 2,
        (TcgenKind::MxF4NvF4, Some("scale_vec::4X" | "block16")) => 4,
        (TcgenKind::MxF8F6F4 | TcgenKind::MxF4 | TcgenKind::MxF4NvF4, _) => {
            return Err(m.unknown("scales of these blocks"));
        }
        _ if is_scaled || vector.is_some() => return Err(m.unknown("scales of blocks of this kind")),
        _ => return Ok(None),
    };
    if is_scaled { Ok(Some(along)) } else { Err(m.unknown("a kind with scales, without .block_scale")) }
}

fn copy<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>], group: u8) -> Res<Tcgen> {
    let shape = m.one_of(&["128x256b", "4x256b", "128x128b", "64x128b", "32x128b"]);
    let spread = m.one_of(&["warpx2::02_13", "warpx2::01_23", "warpx4"]);
    let (rows, chunks) = match (shape, spread) {
        (Some("128x256b"), None) => (CopyRows::All, 2),
        (Some("4x256b"), None) => (CopyRows::Four, 2),
        (Some("128x128b"), None) => (CopyRows::All, 1),
        (Some("64x128b"), Some("warpx2::02_13")) => (CopyRows::Alternating, 1),
        (Some("64x128b"), Some("warpx2::01_23")) => (CopyRows::Neighbours, 1),
        (Some("32x128b"), Some("warpx4")) => (CopyRows::Quarters, 1),
        _ => return Err(m.unknown("shape")),
    };
    cx.count(args, 2, 2)?;
    let addr = cx.addr(cx.arg(args, 0)?)?;
    Ok(Tcgen::Cp { addr, desc: cx.src(cx.arg(args, 1)?, Ty::B64)?, rows, chunks, group })
}

fn move_tmem<'a>(
    cx: &mut Context<'_, 'a>,
    m: &mut Mods<'_>,
    args: &[Operand<'a>],
    loads: bool,
) -> Res<Tcgen> {
    if m.has("red") {
        return Err(m.unknown(".red"));
    }
    let (shape, per) = match m.one_of(&["32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"]) {
        Some("32x32b") => (TmemShape::S32x32b, 1),
        Some("16x64b") => (TmemShape::S16x64b, 1),
        Some("16x128b") => (TmemShape::S16x128b, 2),
        Some("16x256b") => (TmemShape::S16x256b, 4),
        Some(_) => (TmemShape::S16x32bx2, 1),
        None => return Err(m.unknown("shape")),
    };
    let times = m
        .take(|w| w.strip_prefix('x').and_then(|n| n.parse::<usize>().ok()).filter(|n| n.is_power_of_two()))
        .ok_or_else(|| m.unknown("repetition"))?;
    let packs = if loads { m.flag("pack::16b") } else { m.flag("unpack::16b") };
    m.flag("b32");
    let split_form = shape == TmemShape::S16x32bx2;
    cx.count(args, 2 + usize::from(split_form), 2 + usize::from(split_form))?;
    let (regs_at, addr_at) = if !loads { (args.len() - 1, 0) } else { (0, 1) };
    let split = if split_form {
        match cx.src(cx.arg(args, if loads { 2 } else { 1 })?, Ty::U32)? {
            Src::Imm(n) => n,
            _ => return Err(cx.fail("the split must be a constant")),
        }
    } else {
        0
    };
    let addr = cx.addr(cx.arg(args, addr_at)?)?;
    let list = cx.parts(cx.arg(args, regs_at)?);
    if times > 128 || list.len() != per * times {
        return Err(cx.fail(format!("{} registers where {} are expected", list.len(), per * times)));
    }
    if loads {
        let mut d = Vec::new();
        for r in list {
            d.push(cx.dst_opt(r)?);
        }
        Ok(Tcgen::Ld { d, addr, shape, split, pack: packs })
    } else {
        let mut s = Vec::new();
        for r in list {
            s.push(cx.src(r, Ty::B32)?);
        }
        Ok(Tcgen::St { s, addr, shape, split, unpack: packs })
    }
}
