//! Barriers, fences, warp-wide operations, register moves.

use super::context::{Context, Res};
use super::memory::{order, scope, space};
use super::mods::Mods;
use crate::isa::lanes::{F2, float, integer as int};
use crate::isa::op::{BarMode, Fence, MbarOp, Op, Order, PSrc, Presence, Shuffle, Src, Vote};
use crate::isa::types::Ty;
use warploom_ptx::Operand;

/// `bar.*`, `barrier.*`.
pub(crate) fn barrier<'a>(
    cx: &mut Context<'_, 'a>,
    m: &mut Mods<'_>,
    args: &[Operand<'a>],
    presence: &mut Presence,
) -> Res<Op> {
    if m.flag("warp") {
        m.flag("sync");
        cx.count(args, 1, 1)?;
        let mask = cx.src(cx.arg(args, 0)?, Ty::B32)?;
        *presence = Presence::Mask(mask);
        return Ok(Op::BarWarp { mask });
    }
    let aligned = m.flag("aligned") || m.base == "bar";
    if aligned {
        *presence = Presence::Warp;
    }
    if m.flag("cluster") {
        cx.count(args, 0, 0)?;
        let (order, _) = order(m);
        let relaxed = order == Order::Relaxed;
        return match m.one_of(&["arrive", "wait"]) {
            Some("arrive") => Ok(Op::ClusterArrive { release: !relaxed }),
            Some(_) => Ok(Op::ClusterWait { acquire: !relaxed }),
            None => Err(m.unknown("arrive or wait is missing")),
        };
    }
    m.ignore(&["cta"]);
    let mode = match m.one_of(&["sync", "arrive", "red"]) {
        Some("sync") => BarMode::Sync,
        Some("arrive") => BarMode::Arrive,
        Some(_) => match m.one_of(&["popc", "and", "or"]) {
            Some("popc") => BarMode::Popc,
            Some("and") => BarMode::And,
            _ => BarMode::Or,
        },
        None => return Err(m.unknown("sync, arrive or red is missing")),
    };
    let reduces = matches!(mode, BarMode::Popc | BarMode::And | BarMode::Or);
    let (mut d, mut p, mut pred, mut rest) = (None, None, PSrc::Imm(true), args);
    if reduces {
        m.ignore(&["pred", "u32"]);
        let (last, front) = args.split_last().ok_or_else(|| cx.fail("operands are missing"))?;
        pred = cx.psrc(last)?;
        let (head, tail) = front.split_first().ok_or_else(|| cx.fail("operands are missing"))?;
        if mode == BarMode::Popc {
            d = cx.dst_opt(head)?
        } else {
            p = cx.pdst(head)?
        }
        rest = tail;
    }
    cx.count(rest, 1, 2)?;
    let id = cx.src(cx.arg(rest, 0)?, Ty::U32)?;
    let count = match rest.get(1) {
        Some(c) => Some(cx.src(c, Ty::U32)?),
        None => None,
    };
    if mode == BarMode::Arrive && count.is_none() {
        return Err(cx.fail("arrive needs a thread count (T7)"));
    }
    Ok(Op::Bar { mode, id, count, pred, d, p })
}

/// `mbarrier.*`.
pub(crate) fn mbarrier<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let what = m.first().ok_or_else(|| m.unknown("operation"))?;
    let expect = m.flag("expect_tx") || what == "expect_tx";
    let (no_complete, parity) = (m.flag("noComplete"), m.flag("parity"));
    // Scopes of mbarriers are not told apart: libraries wait with cta scope for arrivals of the cluster.
    let (order, _) = order(m);
    let space = space(m);
    m.flag("b64");
    if what == "pending_count" {
        cx.count(args, 2, 2)?;
        return Ok(Op::MbarPending { d: cx.dst(cx.arg(args, 0)?)?, a: cx.src(cx.arg(args, 1)?, Ty::B64)? });
    }
    let release = order != Order::Relaxed;
    let (at, op) = match what {
        "init" => {
            cx.count(args, 2, 2)?;
            (0, MbarOp::Init { count: cx.src(cx.arg(args, 1)?, Ty::U32)? })
        }
        "inval" => {
            cx.count(args, 1, 1)?;
            (0, MbarOp::Inval)
        }
        "expect_tx" | "complete_tx" => {
            cx.count(args, 2, 2)?;
            let tx = cx.src(cx.arg(args, 1)?, Ty::U32)?;
            (0, if what == "expect_tx" { MbarOp::ExpectTx { tx } } else { MbarOp::CompleteTx { tx } })
        }
        "arrive" | "arrive_drop" => {
            // The state result is optional for remote barriers.
            let has_result = !matches!(cx.arg(args, 0)?, Operand::Address(_));
            let first = usize::from(has_result);
            cx.count(args, first + 1, first + 2)?;
            let d = if has_result { cx.dst_opt(cx.arg(args, 0)?)? } else { None };
            let number = match args.get(first + 1) {
                Some(raw) => Some(cx.src(raw, Ty::U32)?),
                None => None,
            };
            let (count, tx) = if expect {
                (Src::Imm(1), Some(number.ok_or_else(|| cx.fail("the byte count is missing"))?))
            } else {
                (number.unwrap_or(Src::Imm(1)), None)
            };
            let drop = what == "arrive_drop";
            (first, MbarOp::Arrive { d, count, tx, drop, release, no_complete })
        }
        "test_wait" | "try_wait" => {
            cx.count(args, 3, 3 + usize::from(what == "try_wait"))?;
            let p = match cx.arg(args, 0)? {
                Operand::Pair(p, _) => Some(cx.pred(p)?),
                other => cx.pdst(other)?,
            };
            let value = cx.src(cx.arg(args, 2)?, if parity { Ty::U32 } else { Ty::B64 })?;
            (1, MbarOp::Wait { p, parity, value, acquire: order != Order::Relaxed })
        }
        _ => return Err(m.unknown("operation")),
    };
    Ok(Op::Mbar { addr: cx.addr(cx.arg(args, at)?)?, space, op: Box::new(op) })
}

/// `fence`, `membar`.
pub(crate) fn fence<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let scope = scope(m);
    let half = m.one_of(&["acquire", "release"]);
    // membar is the same as fence.sc.
    let sequential = m.one_of(&["sc", "acq_rel"]) == Some("sc") || m.base == "membar";
    let (acquires, releases) = (half != Some("release"), half != Some("acquire"));
    let thread = Fence::Thread { scope, acquires, releases, sequential };
    m.ignore(&["sync_restrict::shared::cta", "sync_restrict::shared::cluster"]);
    let kind = if m.flag("mbarrier_init") {
        Fence::MbarrierInit
    } else if m.flag("proxy") {
        match m.first() {
            Some("async") => {
                let word = m.one_of(&["shared::cta", "shared::cluster", "global"]);
                Fence::ProxyAsync {
                    shared: word.is_none_or(|w| w != "global"),
                    global: word.is_none_or(|w| w == "global"),
                }
            }
            Some("async::generic") => {
                m.ignore(&["shared::cluster", "shared::cta"]);
                Fence::ProxyAsync { shared: true, global: false }
            }
            Some("tensormap::generic") if half == Some("acquire") => {
                cx.count(args, 2, 2)?;
                Fence::AcquireMap(cx.addr(cx.arg(args, 0)?)?)
            }
            Some("tensormap::generic") if half == Some("release") => Fence::ReleaseMap,
            Some("alias") => thread,
            _ => return Err(m.unknown("proxy")),
        }
    } else {
        thread
    };
    Ok(Op::Fence(kind))
}

/// Operations across the lanes of a warp.
pub(crate) fn warp<'a>(
    cx: &mut Context<'_, 'a>,
    m: &mut Mods<'_>,
    args: &[Operand<'a>],
    presence: &mut Presence,
) -> Res<Op> {
    if m.base == "activemask" {
        m.ty()?;
        return Ok(Op::ActiveMask { d: cx.dst(cx.arg(args, 0)?)? });
    }
    if !m.flag("sync") {
        return Err(m.unknown("only the .sync form exists on these chips"));
    }
    let last = args.last().ok_or_else(|| cx.fail("operands are missing"))?;
    let mask = cx.src(last, Ty::B32)?;
    *presence = Presence::Mask(mask);
    match m.base {
        "elect" => {
            cx.count(args, 2, 2)?;
            let (d, p) = cx.dst_pair(cx.arg(args, 0)?)?;
            Ok(Op::Elect { d, p, mask })
        }
        "shfl" => {
            let mode = match m.one_of(&["up", "down", "bfly", "idx"]) {
                Some("up") => Shuffle::Up,
                Some("down") => Shuffle::Down,
                Some("bfly") => Shuffle::Butterfly,
                Some(_) => Shuffle::Index,
                None => return Err(m.unknown("mode")),
            };
            if m.ty()?.bits() != 32 {
                return Err(m.unknown("type"));
            }
            cx.count(args, 5, 5)?;
            let (d, p) = cx.dst_pair(cx.arg(args, 0)?)?;
            let d = d.ok_or_else(|| cx.fail("a destination is needed"))?;
            let a = cx.src(cx.arg(args, 1)?, Ty::B32)?;
            let (b, c) = (cx.src(cx.arg(args, 2)?, Ty::B32)?, cx.src(cx.arg(args, 3)?, Ty::B32)?);
            Ok(Op::Shfl { mode, d, p, a, b, c, mask })
        }
        "vote" => {
            let mode = match m.one_of(&["all", "any", "uni", "ballot"]) {
                Some("all") => Vote::All,
                Some("any") => Vote::Any,
                Some("uni") => Vote::Uniform,
                Some(_) => Vote::Ballot,
                None => return Err(m.unknown("mode")),
            };
            m.ty()?;
            cx.count(args, 3, 3)?;
            let a = cx.psrc(cx.arg(args, 1)?)?;
            let (d, p) = if mode == Vote::Ballot {
                (cx.dst_opt(cx.arg(args, 0)?)?, None)
            } else {
                (None, cx.pdst(cx.arg(args, 0)?)?)
            };
            Ok(Op::Vote { mode, d, p, a, mask })
        }
        "match" => {
            let all = m.one_of(&["any", "all"]) == Some("all");
            let ty = m.ty()?;
            cx.count(args, 3, 3)?;
            let (d, p) = cx.dst_pair(cx.arg(args, 0)?)?;
            let d = d.ok_or_else(|| cx.fail("a destination is needed"))?;
            Ok(Op::Match { all, d, p, a: cx.src(cx.arg(args, 1)?, ty)?, mask })
        }
        _ => {
            let name =
                m.one_of(&["add", "min", "max", "and", "or", "xor"]).ok_or_else(|| m.unknown("operation"))?;
            let (absolute, nan) = (m.flag("abs"), m.flag("NaN"));
            let ty = m.ty()?;
            let q = float::Quals { nan, ..float::Quals::default() };
            let f: Option<F2> = match ty {
                Ty::F32 if absolute => float::absolute(name, nan),
                Ty::F32 if matches!(name, "min" | "max") => float::binary(name, ty, q),
                Ty::F32 => None,
                _ if absolute || nan => None,
                _ => int::binary(name, ty),
            };
            let f = f.ok_or_else(|| m.unknown("type"))?;
            cx.count(args, 3, 3)?;
            let d = cx.dst(cx.arg(args, 0)?)?;
            Ok(Op::Redux { f, d, a: cx.src(cx.arg(args, 1)?, ty)?, mask })
        }
    }
}

/// `setmaxnreg` and what a machine without clocks ignores.
pub(crate) fn machine<'a>(
    cx: &mut Context<'_, 'a>,
    m: &mut Mods<'_>,
    args: &[Operand<'a>],
    presence: &mut Presence,
) -> Res<Op> {
    if m.base != "setmaxnreg" {
        while m.first().is_some() {}
        return Ok(Op::Nop);
    }
    let inc = match m.one_of(&["inc", "dec"]) {
        Some(w) => w == "inc",
        None => return Err(m.unknown("inc or dec is missing")),
    };
    m.ignore(&["sync", "aligned", "u32"]);
    cx.count(args, 1, 1)?;
    *presence = Presence::Warp;
    match cx.src(cx.arg(args, 0)?, Ty::U32)? {
        Src::Imm(n) if (24..=256).contains(&n) && n % 8 == 0 => Ok(Op::SetMaxNReg { inc, count: n as u32 }),
        Src::Imm(n) => Err(cx.fail(format!("setmaxnreg of {n}: it must be 24 to 256 in steps of 8 (T15)"))),
        _ => Err(cx.fail("the register count must be a constant")),
    }
}
