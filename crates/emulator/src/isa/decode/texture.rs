//! `tex`, `tld4`, `txq`, `suld`, `sust`, `suq`.

use super::context::{Context, Res};
use super::mods::Mods;
use crate::isa::op::{Coords, Fetch, Lod, Op, Outside, Src, SurfaceAccess, TextureQuery};
use crate::isa::types::Ty;
use crate::texture::TextureKind;
use smallvec::SmallVec;
use warploom_ptx::Operand;

/// Instructions on textures and surfaces.
pub(crate) fn texture<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    match m.base {
        "tex" | "tld4" => fetch(cx, m, args),
        "txq" | "suq" => query(cx, m, args),
        "suld" | "sust" => surface(cx, m, args),
        _ => Err(m.unknown("reductions on surfaces are not modelled")),
    }
}

fn kind(m: &mut Mods<'_>) -> Res<TextureKind> {
    m.take(TextureKind::named).ok_or_else(|| m.unknown("textures with several samples are not modelled"))
}

/// `[handle, {coordinates}]`
fn place<'a>(
    cx: &mut Context<'_, 'a>,
    m: &Mods<'_>,
    raw: &Operand<'a>,
    first: Ty,
    rest: Ty,
) -> Res<(Src, Coords)> {
    let Operand::Address(a) = raw else { return Err(cx.fail("[texture, {coordinates}] is expected")) };
    if a.sampler.is_some() {
        return Err(m.unknown("samplers apart from the texture are not modelled"));
    }
    let mut coords = Coords::new();
    for (i, c) in a.coords.iter().enumerate() {
        coords.push(cx.src(c, if i == 0 { first } else { rest })?);
    }
    Ok((cx.address(a)?.base, coords))
}

fn vector<'a>(cx: &mut Context<'_, 'a>, raw: &Operand<'a>, ty: Ty) -> Res<Coords> {
    let mut out = Coords::new();
    for part in cx.parts(raw) {
        out.push(cx.src(part, ty)?);
    }
    Ok(out)
}

fn expect(cx: &Context<'_, '_>, coords: &Coords, kind: TextureKind) -> Res<()> {
    let least = usize::from(kind.layered()) + if kind.cubic() { 3 } else { kind.rank() };
    if coords.len() >= least && coords.len() <= 4 {
        return Ok(());
    }
    Err(cx.fail(format!("{} coordinates where {least} are expected", coords.len())))
}

fn fetch<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let gathers = m.base == "tld4";
    let mode = if gathers { None } else { m.one_of(&["level", "grad", "base"]) };
    let gather = match m.take(|w| ["r", "g", "b", "a"].iter().position(|c| *c == w)) {
        Some(channel) if gathers => Some(channel as u8),
        None if !gathers => None,
        _ => return Err(m.unknown("the channel")),
    };
    let kind = kind(m)?;
    if !m.flag("v4") {
        return Err(m.unknown("four values are fetched: .v4"));
    }
    let (ty, at) = (m.ty()?, m.ty()?);
    if !matches!(ty, Ty::U32 | Ty::S32 | Ty::F32 | Ty::F16) || !matches!(at, Ty::S32 | Ty::F32) {
        return Err(m.unknown("type"));
    }
    if gathers && (kind.rank() != 2 || at != Ty::F32) || kind.cubic() && at != Ty::F32 {
        return Err(m.unknown("kind of texture and type of coordinates"));
    }
    let more = match mode {
        Some("level") => 1,
        Some("grad") => 2,
        _ => 0,
    };
    cx.count(args, 2 + more, 3 + more)?;
    let mut dsts = SmallVec::new();
    let (list, resident) = match cx.arg(args, 0)? {
        Operand::VectorPair(list, p) => (list.as_slice(), cx.pdst(&Operand::Name(p))?),
        other => (cx.parts(other), None),
    };
    for r in list {
        dsts.push(cx.dst_opt(r)?);
    }
    if dsts.len() != 4 {
        return Err(cx.fail("four destinations are expected"));
    }
    let first = if kind.layered() { Ty::U32 } else { at };
    let (handle, coords) = place(cx, m, cx.arg(args, 1)?, first, at)?;
    expect(cx, &coords, kind)?;
    let lod = match mode {
        Some("level") => Lod::Level(cx.src(cx.arg(args, 2)?, at)?),
        Some("grad") => {
            Lod::Gradient(vector(cx, cx.arg(args, 2)?, Ty::F32)?, vector(cx, cx.arg(args, 3)?, Ty::F32)?)
        }
        _ => Lod::Base,
    };
    let offsets = match args.get(2 + more) {
        // A vector moves the coordinates; a number is the depth that a depth texture is compared with.
        Some(raw @ Operand::Vector(_)) if !kind.cubic() => vector(cx, raw, Ty::S32)?,
        Some(_) => return Err(m.unknown("depth textures are not modelled")),
        None => Coords::new(),
    };
    let whole = at == Ty::S32;
    Ok(Op::Fetch(Box::new(Fetch { kind, handle, coords, whole, lod, gather, offsets, ty, dsts, resident })))
}

fn query<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let ask = m.take(|w| {
        Some(match w {
            "width" => TextureQuery::Extent(0),
            "height" => TextureQuery::Extent(1),
            "depth" => TextureQuery::Extent(2),
            "array_size" => TextureQuery::Layers,
            "num_mipmap_levels" => TextureQuery::Levels,
            "normalized_coords" => TextureQuery::Normalized,
            _ => return None,
        })
    });
    let ask =
        ask.ok_or_else(|| m.unknown("of a texture are known: extents, layers, levels, kind of coordinates"))?;
    let level = m.flag("level");
    if m.ty()? != Ty::B32 {
        return Err(m.unknown("type"));
    }
    let want = 2 + usize::from(level);
    cx.count(args, want, want)?;
    let d = cx.dst(cx.arg(args, 0)?)?;
    let handle = cx.addr(cx.arg(args, 1)?)?.base;
    let level = if level { Some(cx.src(cx.arg(args, 2)?, Ty::U32)?) } else { None };
    Ok(Op::TextureQuery { d, handle, level, ask })
}

fn surface<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let loads = m.base == "suld";
    if !m.flag("b") {
        return Err(m.unknown("only the form that copies bits: .b"));
    }
    let kind = kind(m)?;
    if kind.cubic() {
        return Err(m.unknown("a cube is a surface of layers: .a2d"));
    }
    m.cache_hints();
    let n = match m.one_of(&["v2", "v4"]) {
        Some("v2") => 2,
        Some(_) => 4,
        None => 1,
    };
    let ty = m.ty()?;
    if !matches!(ty, Ty::B8 | Ty::B16 | Ty::B32 | Ty::B64) {
        return Err(m.unknown("type"));
    }
    let outside = match m.one_of(&["trap", "clamp", "zero"]) {
        Some("clamp") => Outside::Clamp,
        Some("zero") => Outside::Zero,
        _ => Outside::Trap,
    };
    cx.count(args, 2, 2)?;
    let (values, at) = if loads { (0, 1) } else { (1, 0) };
    let (mut dsts, mut srcs) = (SmallVec::new(), SmallVec::new());
    for r in cx.parts(cx.arg(args, values)?) {
        if loads { dsts.push(cx.dst_opt(r)?) } else { srcs.push(cx.src(r, ty)?) }
    }
    if dsts.len() + srcs.len() != n {
        return Err(cx.fail(format!("{n} values are expected")));
    }
    let (handle, coords) = place(cx, m, cx.arg(args, at)?, Ty::S32, Ty::S32)?;
    expect(cx, &coords, kind)?;
    Ok(Op::Surface(Box::new(SurfaceAccess { kind, handle, coords, ty, outside, dsts, srcs })))
}
