//! `cp.async`, bulk and tensor copies, tensor maps.

use super::context::{Context, Res};
use super::memory::atom_op;
use super::mods::Mods;
use crate::isa::op::{
    Addr, AtomOp, BulkCopy, CopyWay, CpAsync, MapField, MbarOp, Op, PSrc, Space, Src, TensorCopy,
};
use crate::isa::types::Ty;
use smallvec::SmallVec;
use warploom_ptx::{Address, Operand};

/// `cp.*`.
pub(crate) fn copies<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let reduce = m.flag("reduce");
    if !m.flag("async") {
        return Err(m.unknown("only cp.async and cp.reduce.async"));
    }
    let bulk = m.flag("bulk");
    if m.flag("commit_group") {
        cx.count(args, 0, 0)?;
        return Ok(if bulk { Op::BulkCommit } else { Op::CpAsyncCommit });
    }
    if m.flag("wait_all") {
        return Ok(Op::CpAsyncWait { keep: 0, all: true });
    }
    if m.flag("wait_group") {
        cx.count(args, 1, 1)?;
        let keep = match cx.src(cx.arg(args, 0)?, Ty::U32)? {
            Src::Imm(n) => u32::try_from(n).unwrap_or(u32::MAX),
            _ => return Err(cx.fail("the group count must be a constant")),
        };
        return Ok(if bulk {
            Op::BulkWait { keep, read: m.flag("read") }
        } else {
            Op::CpAsyncWait { keep, all: false }
        });
    }
    if m.flag("mbarrier") {
        let space = {
            m.flag("arrive");
            super::memory::space(m)
        };
        let noinc = m.flag("noinc");
        m.flag("b64");
        cx.count(args, 1, 1)?;
        let addr = cx.addr(cx.arg(args, 0)?)?;
        return Ok(Op::Mbar { addr, space, op: Box::new(MbarOp::CopiesArrive { noinc }) });
    }
    match (bulk, m.flag("tensor")) {
        (true, true) => tensor(cx, m, args, reduce),
        (true, false) => plain_bulk(cx, m, args, reduce),
        _ => cp_async(cx, m, args),
    }
}

fn cp_async<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let level = m.one_of(&["ca", "cg"]).ok_or_else(|| m.unknown(".ca or .cg is missing"))?;
    let policy = m.cache_hints();
    m.ignore(&["shared", "shared::cta", "global"]);
    cx.count(args, 3, 5)?;
    let (dst, src) = (cx.addr(cx.arg(args, 0)?)?, cx.addr(cx.arg(args, 1)?)?);
    let bytes = match cx.src(cx.arg(args, 2)?, Ty::U32)? {
        Src::Imm(n) if n == 16 || (level == "ca" && (n == 4 || n == 8)) => n as u32,
        _ => return Err(cx.fail("cp.async copies 4, 8 or 16 bytes, .cg 16 only (T11)")),
    };
    let (mut src_size, mut ignore) = (None, None);
    let extra = args.len().saturating_sub(3).saturating_sub(usize::from(policy));
    if extra > 0 {
        let raw = cx.arg(args, 3)?;
        match cx.psrc(raw) {
            Ok(p) if !matches!(raw, Operand::Int(_)) => ignore = Some(p),
            _ => src_size = Some(cx.src(raw, Ty::U32)?),
        }
    }
    Ok(Op::CpAsync(Box::new(CpAsync { dst, src, bytes, src_size, ignore })))
}

/// The way of a bulk copy from its spaces, destination first.
fn way(m: &mut Mods<'_>, reduce: Option<AtomOp>) -> Option<CopyWay> {
    let to_shared = m.has("shared::cta") || m.has("shared::cluster");
    if !m.has("global") {
        m.ignore(&["shared::cta", "shared::cluster"]);
        return to_shared.then_some(reduce.map_or(CopyWay::Peer, CopyWay::ReducePeer));
    }
    // In source order: the first of the two is the destination.
    let global_first = m.take(|w| match w {
        "global" => Some(true),
        "shared::cta" | "shared::cluster" => Some(false),
        _ => None,
    })?;
    m.ignore(&["global", "shared::cta", "shared::cluster"]);
    match (global_first, to_shared, reduce) {
        (true, true, Some(op)) => Some(CopyWay::Reduce(op)),
        (true, true, None) => Some(CopyWay::Store),
        (false, _, None) => Some(CopyWay::Load),
        (true, false, None) => Some(CopyWay::Prefetch),
        _ => None,
    }
}

fn tensor<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>], reduce: bool) -> Res<Op> {
    let prefetch = m.flag("prefetch");
    m.ignore(&["L2"]);
    let rank = match m.one_of(&["1d", "2d", "3d", "4d", "5d"]) {
        Some(r) => usize::from(r.as_bytes()[0] - b'0'),
        None => return Err(m.unknown("the rank is missing")),
    };
    let gather = m.flag("tile::gather4") || m.flag("tile::scatter4");
    if m.has("im2col") || m.has("im2col_no_offs") {
        return Err(m.unknown("im2col mode"));
    }
    let multicast = m.flag("multicast::cluster");
    let cta_group = if m.flag("cta_group::2") { 2 } else { 1 };
    m.ignore(&["tile", "cta_group::1", "mbarrier::complete_tx::bytes", "bulk_group"]);
    let policy = m.cache_hints();
    let op = if reduce { Some(atom_op(m).ok_or_else(|| m.unknown("operation"))?) } else { None };
    let way = if prefetch {
        m.ignore(&["global"]);
        Some(CopyWay::Prefetch)
    } else {
        way(m, op)
    };
    let way = way.ok_or_else(|| m.unknown("direction"))?;
    let (shared_at, map_at, mbar_at) = match way {
        CopyWay::Load => (Some(0), 1, Some(2)),
        CopyWay::Prefetch => (None, 0, None),
        CopyWay::Peer | CopyWay::ReducePeer(_) | CopyWay::Nothing => return Err(m.unknown("direction")),
        _ => (Some(1), 0, None),
    };
    let fixed = 1 + usize::from(shared_at.is_some()) + usize::from(mbar_at.is_some());
    let want = fixed + usize::from(multicast) + usize::from(policy);
    cx.count(args, want, want)?;
    let Operand::Address(a) = cx.arg(args, map_at)? else {
        return Err(cx.fail("[map, {coordinates}] is expected"));
    };
    let (map, coords) = map_and_coords(cx, a)?;
    if coords.len() != if gather { 5 } else { rank } || (gather && rank != 2) {
        return Err(cx.fail(format!("{} coordinates for rank {rank}", coords.len())));
    }
    let shared = match shared_at {
        Some(i) => Some(cx.addr(cx.arg(args, i)?)?),
        None => None,
    };
    let mbar = match mbar_at {
        Some(i) => Some(cx.addr(cx.arg(args, i)?)?),
        None => None,
    };
    let multicast = if multicast { Some(cx.src(cx.arg(args, fixed)?, Ty::U16)?) } else { None };
    Ok(Op::Tensor(Box::new(TensorCopy { way, shared, map, coords, mbar, multicast, cta_group, gather })))
}

fn map_and_coords<'a>(cx: &mut Context<'_, 'a>, a: &Address<'a>) -> Res<(Addr, SmallVec<[Src; 5]>)> {
    let mut coords = SmallVec::new();
    for c in &a.coords {
        coords.push(cx.src(c, Ty::S32)?);
    }
    Ok((cx.address(a)?, coords))
}

/// `cp.async.bulk` and `cp.reduce.async.bulk` without a map.
fn plain_bulk<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>], reduce: bool) -> Res<Op> {
    if m.flag("prefetch") {
        while m.first().is_some() {}
        return Ok(Op::Nop);
    }
    let multicast = m.flag("multicast::cluster");
    let (masked, skips) = (m.flag("cp_mask"), m.flag("ignore_oob"));
    let signals = m.flag("mbarrier::complete_tx::bytes");
    m.ignore(&["bulk_group", "noftz"]);
    let policy = m.cache_hints();
    let op = if reduce { Some(atom_op(m).ok_or_else(|| m.unknown("operation"))?) } else { None };
    let way = way(m, op).ok_or_else(|| m.unknown("direction"))?;
    let ty = if reduce { m.ty()? } else { Ty::B8 };
    // Into shared memory there are fewer: those of `red.async`.
    let missing = match way {
        CopyWay::ReducePeer(AtomOp::And | AtomOp::Or | AtomOp::Xor) => ty != Ty::B32,
        CopyWay::ReducePeer(AtomOp::Inc | AtomOp::Dec) => ty != Ty::U32,
        CopyWay::ReducePeer(AtomOp::Add) => !matches!(ty, Ty::U32 | Ty::S32 | Ty::U64),
        CopyWay::ReducePeer(AtomOp::Min | AtomOp::Max) => !matches!(ty, Ty::U32 | Ty::S32),
        CopyWay::ReducePeer(_) => true,
        _ => false,
    };
    if missing {
        return Err(m.unknown("operation or type"));
    }
    if masked && way != CopyWay::Store || skips && way != CopyWay::Load {
        return Err(m.unknown("direction"));
    }
    let first = if skips { 5 } else { 3 };
    let fixed = first + usize::from(signals);
    let want = fixed + usize::from(multicast) + usize::from(policy) + usize::from(masked);
    cx.count(args, want, want)?;
    let (dst, src) = (cx.addr(cx.arg(args, 0)?)?, cx.addr(cx.arg(args, 1)?)?);
    let size = cx.src(cx.arg(args, 2)?, Ty::U32)?;
    let skip = match skips {
        true => Some([cx.src(cx.arg(args, 3)?, Ty::U32)?, cx.src(cx.arg(args, 4)?, Ty::U32)?]),
        false => None,
    };
    let mbar = if signals { Some(cx.addr(cx.arg(args, first)?)?) } else { None };
    let multicast = if multicast { Some(cx.src(cx.arg(args, fixed)?, Ty::U16)?) } else { None };
    // It stands last, behind the policy.
    let mask = if masked { Some(cx.src(cx.arg(args, want - 1)?, Ty::U16)?) } else { None };
    Ok(Op::Bulk(Box::new(BulkCopy { way, dst, src, size, mbar, multicast, mask, skip, ty })))
}

/// `clusterlaunchcontrol`: a request to cancel a CTA that has not begun may always fail, and here it does.
pub(crate) fn cancel<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    cx.count(args, 2, 2)?;
    if m.flag("try_cancel") {
        m.ignore(&["async", "shared::cta", "mbarrier::complete_tx::bytes", "b128"]);
        let multicast = m.flag("multicast::cluster::all").then_some(Src::Imm(0xffff));
        let dst = cx.addr(cx.arg(args, 0)?)?;
        let mbar = Some(cx.addr(cx.arg(args, 1)?)?);
        let (way, size, ty) = (CopyWay::Nothing, Src::Imm(16), Ty::B8);
        let (mask, skip, src) = (None, None, dst);
        return Ok(Op::Bulk(Box::new(BulkCopy { way, dst, src, size, mbar, multicast, mask, skip, ty })));
    }
    if !m.flag("query_cancel") {
        return Err(m.unknown("operation"));
    }
    // What the answer holds is zero.
    let answer = cx.wide(cx.arg(args, 1)?)?;
    if m.flag("is_canceled") {
        m.ignore(&["pred", "b128"]);
        let Some(d) = cx.pdst(cx.arg(args, 0)?)? else { return Ok(Op::Nop) };
        return Ok(Op::PMov { d, a: PSrc::Imm(false) });
    }
    let (v4, first) = (m.flag("v4"), m.take(|w| w.starts_with("get_first_ctaid").then_some(())));
    first.ok_or_else(|| m.unknown("what is asked"))?;
    m.ignore(&["b32", "b128"]);
    let mut d = SmallVec::new();
    for r in cx.parts(cx.arg(args, 0)?) {
        d.push(cx.dst_opt(r)?);
    }
    if d.len() != if v4 { 4 } else { 1 } {
        return Err(cx.fail("a place in the grid is one register, or four"));
    }
    Ok(Op::Unpack { d, a: Src::Reg(answer[0]), bits: 16 })
}

/// `tensormap.replace`, `tensormap.cp_fenceproxy`.
pub(crate) fn tensormap<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    if m.flag("cp_fenceproxy") {
        m.ignore(&["global", "shared::cta", "tensormap::generic", "release", "sync", "aligned"]);
        m.ignore(&["cta", "cluster", "gpu", "sys"]);
        cx.count(args, 3, 3)?;
        return Ok(Op::MapPublish { dst: cx.addr(cx.arg(args, 0)?)?, src: cx.addr(cx.arg(args, 1)?)? });
    }
    if !m.flag("replace") {
        return Err(m.unknown("operation"));
    }
    m.ignore(&["tile", "b1024"]);
    let field = m.first().ok_or_else(|| m.unknown("the field is missing"))?;
    let space = super::memory::space(m);
    if !matches!(space, Space::Shared | Space::Global | Space::Generic) {
        return Err(m.unknown("space"));
    }
    let ty = m.ty()?;
    let indexed = matches!(field, "box_dim" | "global_dim" | "global_stride" | "element_stride");
    let want = 2 + usize::from(indexed);
    cx.count(args, want, want)?;
    let ordinal = if indexed {
        match cx.src(cx.arg(args, 1)?, Ty::U32)? {
            Src::Imm(n) if n < 5 => n as u8,
            _ => return Err(cx.fail("the ordinal must be a constant 0 to 4")),
        }
    } else {
        0
    };
    let field = match field {
        "global_address" => MapField::GlobalAddress,
        "rank" => MapField::Rank,
        "box_dim" => MapField::BoxDim(ordinal),
        "global_dim" => MapField::GlobalDim(ordinal),
        "global_stride" => MapField::GlobalStride(ordinal),
        "element_stride" => MapField::ElementStride(ordinal),
        "elemtype" => MapField::ElemType,
        "interleave_layout" => MapField::Interleave,
        "swizzle_mode" => MapField::Swizzle,
        "swizzle_atomicity" => MapField::Atomicity,
        "fill_mode" => MapField::Fill,
        _ => return Err(m.unknown("field")),
    };
    let addr = cx.addr(cx.arg(args, 0)?)?;
    Ok(Op::MapReplace { addr, space, field, value: cx.src(cx.arg(args, want - 1)?, ty)? })
}
