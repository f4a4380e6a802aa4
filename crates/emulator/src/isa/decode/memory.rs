//! Loads, stores, atomics, addresses.

use super::context::{Context, Res};
use super::mods::Mods;
use crate::isa::op::{Addr, Atom, AtomOp, Load, Op, Order, Space, Src, Store};
use crate::isa::types::Ty;
use crate::race::scope::Scope;
use smallvec::SmallVec;
use warploom_ptx::Operand;

/// What discarded bytes hold: no number.
const DISCARDED: u64 = 0x7ff8_dead_7fc0_dead;

/// Takes the state space; none means generic.
pub(crate) fn space(m: &mut Mods<'_>) -> Space {
    m.take(|w| {
        Some(match w {
            "global" => Space::Global,
            "shared" | "shared::cta" => Space::Shared,
            "shared::cluster" => Space::SharedCluster,
            "local" => Space::Local,
            "param" | "param::entry" | "param::func" => Space::Param,
            "const" => Space::Const,
            _ => return None,
        })
    })
    .unwrap_or(Space::Generic)
}

/// Takes the scope of a strong access or fence: all threads where none is written.
pub(crate) fn scope(m: &mut Mods<'_>) -> Scope {
    let scope = m.one_of(&["cta", "cluster", "gpu", "sys", "gl"]);
    m.ignore(&["mmio"]);
    match scope {
        Some("cta") => Scope::Cta,
        Some("cluster") => Scope::Cluster,
        _ => Scope::Gpu,
    }
}

/// Takes memory order and scope.
pub(crate) fn order(m: &mut Mods<'_>) -> (Order, Scope) {
    let order = m.take(|w| {
        Some(match w {
            "weak" => Order::Weak,
            "relaxed" | "volatile" => Order::Relaxed,
            "acquire" => Order::Acquire,
            "release" => Order::Release,
            "acq_rel" => Order::AcqRel,
            _ => return None,
        })
    });
    (order.unwrap_or(Order::Weak), scope(m))
}

fn vector(m: &mut Mods<'_>) -> usize {
    match m.one_of(&["v2", "v4", "v8"]) {
        Some("v2") => 2,
        Some("v4") => 4,
        Some(_) => 8,
        None => 1,
    }
}

/// Parameters of functions and of calls stand in the frame, which is local memory.
fn in_frame(space: Space, addr: Addr) -> Space {
    match (space, addr.base) {
        (Space::Param, Src::Frame(_)) => Space::Local,
        _ => space,
    }
}

/// `ld`.
pub(crate) fn load<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let (order, scope) = order(m);
    let constant = m.has("nc");
    let policy = m.cache_hints();
    m.ignore(&["unified"]);
    let (space, n) = (space(m), vector(m));
    let ty = m.ty()?;
    cx.count(args, 2, 2 + usize::from(policy))?;
    if ty == Ty::B128 {
        let halves = cx.wide(cx.arg(args, 0)?)?;
        let addr = cx.addr(cx.arg(args, 1)?)?;
        let (space, ty, dsts) =
            (in_frame(space, addr), Ty::B64, halves.map(|d| Some((d, 64))).into_iter().collect());
        return Ok(Op::Ld(Box::new(Load { space, ty, addr, dsts, order, scope, constant, guess: false })));
    }
    let list = cx.parts(cx.arg(args, 0)?);
    if list.len() != n {
        return Err(cx.fail(format!("{} registers for .v{n}", list.len())));
    }
    let mut dsts = SmallVec::new();
    for raw in list {
        let d = cx.dst_opt(raw)?;
        dsts.push(d.map(|d| (d, cx.width(d) as u8)));
    }
    let addr = cx.addr(cx.arg(args, 1)?)?;
    let space = in_frame(space, addr);
    Ok(Op::Ld(Box::new(Load { space, ty, addr, dsts, order, scope, constant, guess: false })))
}

/// `st`, `st.async`.
pub(crate) fn store<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    if m.flag("async") {
        return store_async(cx, m, args);
    }
    let (order, scope) = order(m);
    let policy = m.cache_hints();
    let (space, n) = (space(m), vector(m));
    let ty = m.ty()?;
    cx.count(args, 2, 2 + usize::from(policy))?;
    let addr = cx.addr(cx.arg(args, 0)?)?;
    let space = in_frame(space, addr);
    if ty == Ty::B128 {
        let (ty, srcs) = (Ty::B64, cx.wide(cx.arg(args, 1)?)?.map(Src::Reg).into_iter().collect());
        return Ok(Op::St(Box::new(Store {
            space,
            ty,
            addr,
            srcs,
            order,
            scope,
            mbar: None,
            reduces: None,
        })));
    }
    let list = cx.parts(cx.arg(args, 1)?);
    if list.len() != n {
        return Err(cx.fail(format!("{} values for .v{n}", list.len())));
    }
    let mut srcs = SmallVec::new();
    for raw in list {
        srcs.push(cx.src(raw, ty)?);
    }
    Ok(Op::St(Box::new(Store { space, ty, addr, srcs, order, scope, mbar: None, reduces: None })))
}

/// `st.async.weak.shared::cluster.mbarrier::complete_tx::bytes{.v}.type [a], b, [mbar]`, and `red.async` with its operation.
fn store_async<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let (order, scope) = order(m);
    if !m.flag("mbarrier::complete_tx::bytes") {
        return Err(m.unknown("only the mbarrier form"));
    }
    let (space, n) = (space(m), vector(m));
    let reduces = if m.base == "red" { atom_op(m) } else { None };
    let ty = m.ty()?;
    let missing = match reduces {
        None => m.base == "red",
        Some(op) => match ty {
            Ty::U32 => false,
            Ty::S32 => !matches!(op, AtomOp::Add | AtomOp::Min | AtomOp::Max),
            Ty::U64 => op != AtomOp::Add,
            Ty::B32 => !matches!(op, AtomOp::And | AtomOp::Or | AtomOp::Xor),
            _ => true,
        },
    };
    if missing || n != 1 && reduces.is_some() {
        return Err(m.unknown("operation or type"));
    }
    cx.count(args, 3, 3)?;
    let addr = cx.addr(cx.arg(args, 0)?)?;
    let list = cx.parts(cx.arg(args, 1)?);
    if list.len() != n {
        return Err(cx.fail(format!("{} values for .v{n}", list.len())));
    }
    let mut srcs = SmallVec::new();
    for raw in list {
        srcs.push(cx.src(raw, ty)?);
    }
    let mbar = Some(cx.addr(cx.arg(args, 2)?)?);
    Ok(Op::St(Box::new(Store { space, ty, addr, srcs, order, scope, mbar, reduces })))
}

/// The operation of an atomic or a bulk reduction.
pub(crate) fn atom_op(m: &mut Mods<'_>) -> Option<AtomOp> {
    m.take(|w| {
        Some(match w {
            "add" => AtomOp::Add,
            "min" => AtomOp::Min,
            "max" => AtomOp::Max,
            "and" => AtomOp::And,
            "or" => AtomOp::Or,
            "xor" => AtomOp::Xor,
            "inc" => AtomOp::Inc,
            "dec" => AtomOp::Dec,
            "exch" => AtomOp::Exch,
            "cas" => AtomOp::Cas,
            _ => return None,
        })
    })
}

/// `atom` and `red`.
pub(crate) fn atomic<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let returns = m.base == "atom";
    if m.flag("async") {
        return store_async(cx, m, args);
    }
    let (order, scope) = match order(m) {
        (Order::Weak, scope) => (Order::Relaxed, scope),
        strong => strong,
    };
    let policy = m.cache_hints();
    m.ignore(&["noftz"]);
    let (space, n) = (space(m), vector(m));
    let op = atom_op(m).ok_or_else(|| m.unknown("operation"))?;
    let ty = m.ty()?;
    if ty == Ty::B128 && returns && n == 1 && matches!(op, AtomOp::Cas | AtomOp::Exch) {
        let want = 3 + usize::from(op == AtomOp::Cas);
        cx.count(args, want, want + usize::from(policy))?;
        let dsts = match cx.arg(args, 0)? {
            Operand::Name("_") => [None; 2],
            raw => cx.wide(raw)?.map(Some),
        };
        let addr = cx.addr(cx.arg(args, 1)?)?;
        let b = cx.wide(cx.arg(args, 2)?)?.map(Src::Reg).into_iter().collect();
        let c =
            if op == AtomOp::Cas { cx.wide(cx.arg(args, 3)?)?.map(Src::Reg).into() } else { SmallVec::new() };
        let (ty, dsts) = (Ty::B64, dsts.into_iter().collect());
        return Ok(Op::Atom(Box::new(Atom { space, op, ty, addr, dsts, b, c, order, scope })));
    }
    let integer = ty.integer() && ty.bits() >= 32;
    let float_add = matches!(ty, Ty::F32 | Ty::F64 | Ty::F16 | Ty::BF16 | Ty::F16x2 | Ty::BF16x2);
    let cas16 = ty == Ty::B16 && matches!(op, AtomOp::Cas | AtomOp::Exch);
    let half = matches!(ty, Ty::F16 | Ty::BF16 | Ty::F16x2 | Ty::BF16x2);
    if !(integer
        || cas16
        || (float_add && op == AtomOp::Add)
        || (half && matches!(op, AtomOp::Min | AtomOp::Max)))
    {
        return Err(m.unknown("type"));
    }
    let first = usize::from(returns);
    let want = first + 2 + usize::from(op == AtomOp::Cas);
    cx.count(args, want, want + usize::from(policy))?;
    let mut dsts = SmallVec::new();
    if returns {
        for raw in cx.parts(cx.arg(args, 0)?) {
            dsts.push(cx.dst_opt(raw)?);
        }
    }
    let addr = cx.addr(cx.arg(args, first)?)?;
    let mut b = SmallVec::new();
    let list = cx.parts(cx.arg(args, first + 1)?);
    if list.len() != n || (returns && dsts.len() != n) {
        return Err(cx.fail(format!("{} values for .v{n}", list.len())));
    }
    for raw in list {
        b.push(cx.src(raw, ty)?);
    }
    let mut c = SmallVec::new();
    if op == AtomOp::Cas {
        c.push(cx.src(cx.arg(args, first + 2)?, ty)?);
    }
    Ok(Op::Atom(Box::new(Atom { space, op, ty, addr, dsts, b, c, order, scope })))
}

/// `multimem`: here the memory of one device, which is its own sum.
pub(crate) fn multimem<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    match m.one_of(&["ld_reduce", "st", "red"]) {
        Some("ld_reduce") => {
            atom_op(m).ok_or_else(|| m.unknown("operation"))?;
            m.ignore(&["acc::f32", "acc::f16"]);
            load(cx, m, args)
        }
        Some("st") => store(cx, m, args),
        Some(_) => atomic(cx, m, args),
        None => Err(m.unknown("operation")),
    }
}

/// `cvta`, `isspacep`, `mapa`, `getctarank`.
pub(crate) fn address<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let base = m.base;
    let to = base == "cvta" && m.flag("to");
    let space = space(m);
    if base == "isspacep" && space == Space::Const {
        return Err(m.unknown("constants lie among global variables here"));
    }
    if base == "isspacep" {
        cx.count(args, 2, 2)?;
        let Some(p) = cx.pdst(cx.arg(args, 0)?)? else { return Ok(Op::Nop) };
        return Ok(Op::IsSpace { p, a: cx.src(cx.arg(args, 1)?, Ty::U64)?, space });
    }
    let ty = m.ty()?;
    let d = cx.dst(cx.arg(args, 0)?)?;
    let a = cx.src(cx.arg(args, 1)?, ty)?;
    match base {
        "cvta" => {
            cx.count(args, 2, 2)?;
            Ok(Op::Cvta { d, a, space, to })
        }
        "mapa" => {
            cx.count(args, 3, 3)?;
            let rank = cx.src(cx.arg(args, 2)?, Ty::U32)?;
            Ok(Op::Mapa { d, a, rank, generic: space == Space::Generic, get_rank: false })
        }
        _ => {
            cx.count(args, 2, 2)?;
            Ok(Op::Mapa { d, a, rank: a, generic: space == Space::Generic, get_rank: true })
        }
    }
}

/// `discard.L2 [a], 128`: a weak write of whatever, so that nothing may still be read there.
fn discard<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let space = space(m);
    m.flag("L2");
    cx.count(args, 2, 2)?;
    let addr = cx.addr(cx.arg(args, 0)?)?;
    let Src::Imm(128) = cx.src(cx.arg(args, 1)?, Ty::U32)? else {
        return Err(cx.fail("discard takes 128 bytes"));
    };
    let (ty, srcs) = (Ty::B64, (0..16).map(|_| Src::Imm(DISCARDED)).collect());
    let (order, scope) = (Order::Weak, Scope::Gpu);
    Ok(Op::St(Box::new(Store { space, ty, addr, srcs, order, scope, mbar: None, reduces: None })))
}

/// Prefetches and cache policies: no effect but a defined register.
pub(crate) fn hint<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    if m.base == "discard" {
        return discard(cx, m, args);
    }
    let creates = m.base == "createpolicy";
    while m.first().is_some() {}
    if creates {
        let d = cx.dst(cx.arg(args, 0)?)?;
        return Ok(Op::Un { f: crate::isa::lanes::lanes!(|a| a), d, a: Src::Imm(0) });
    }
    Ok(Op::Nop)
}
