//! `tcgen05.*`: allocation, issue of products, loads and stores (E43-E52).

use super::alu::poisoned;
use super::flow::Flow;
use super::idesc;
use super::memory::checked_addresses;
use super::pair::{allocated, pair};
use super::scaled;
use crate::isa::op::{Addr, Space, Src, Tcgen, TcgenA, TcgenMma, TmemShape};
use crate::machine::actor::{Actor, actor};
use crate::machine::asynchronous::issue;
use crate::machine::asynchronous::signal::use_mbarrier;
use crate::machine::core::{Core, Spot};
use crate::machine::operations::{Move, OperandLayout, Product, SignalWork, SourceA, TmemWork, Work};
use crate::machine::tmem::{COLUMNS, LANES};
use crate::machine::warp::{Cond, Wait, Warp};
use crate::race::access::Act;
use crate::race::channel::{Kind, channel};
use std::rc::Rc;

const LOADED_EARLY: &str =
    "tcgen05.wait::ld before the registers are used: a chip need not wait by itself (E50)";

/// One tcgen05 instruction.
pub(crate) fn run(core: &mut Core<'_>, w: &mut Warp, t: &Tcgen, pc: u32, mask: u32) -> Flow {
    match t {
        Tcgen::Alloc { dst, columns, group } => return alloc(core, w, *dst, *columns, *group, pc, mask),
        Tcgen::Dealloc { addr, columns, group } => {
            group_of(core, w, *group, pc, mask);
            dealloc(core, w, *addr, *columns, *group, pc, mask);
        }
        Tcgen::Relinquish { group } => {
            group_of(core, w, *group, pc, mask);
            for c in pair(core, w.cta, *group) {
                if let Some(c) = core.cta(c) {
                    c.tmem.relinquished = true;
                }
            }
        }
        Tcgen::Mma(m) => {
            group_of(core, w, m.group, pc, mask);
            for l in (0..32).filter(|l| mask >> l & 1 == 1) {
                if let Err((code, why)) = product(core, w, m, pc, l) {
                    let a = actor(w, pc, 1 << l);
                    core.error(code, &a, why, "see E44 to E47 for what a product may say");
                }
            }
        }
        Tcgen::Cp { addr, desc, rows, chunks, group } => {
            group_of(core, w, *group, pc, mask);
            for l in (0..32).filter(|l| mask >> l & 1 == 1) {
                if let Err((code, why)) =
                    scaled::copy(core, w, (*addr, *desc), (*rows, *chunks), *group, pc, l)
                {
                    let a = actor(w, pc, 1 << l);
                    core.error(code, &a, why, "see E44 and E45 for what a copy may say");
                }
            }
        }
        Tcgen::Commit { mbar, multicast, group } => {
            group_of(core, w, *group, pc, mask);
            commit(core, w, *mbar, *multicast, pc, mask);
        }
        Tcgen::Ld { d, addr, shape, split, pack } => {
            let registers: Vec<_> = d.clone();
            let m = Move {
                lane: 0,
                column: 0,
                shape: *shape,
                split: *split as u32,
                pack: *pack,
                registers,
                values: Vec::new(),
                poisoned: 0,
            };
            if let Some(m) = place(core, w, *addr, m, d.len() as u32, pc, mask) {
                let n = issue(core, w, Kind::TcgenLd, mask, pc, Work::Tmem(Box::new(TmemWork::Load(m))));
                w.tmem_ld.push(n);
                w.tmem_pending.push((n, d.iter().flatten().copied().collect()));
            }
        }
        Tcgen::St { s, addr, shape, split, unpack } => {
            let values = s.iter().map(|s| w.value(core, *s)).collect();
            let poison = s.iter().fold(0, |p, s| p | w.poison_of(*s));
            let m = Move {
                lane: 0,
                column: 0,
                shape: *shape,
                split: *split as u32,
                pack: *unpack,
                registers: Vec::new(),
                values,
                poisoned: super::alu::poison_lanes(poison),
            };
            if let Some(m) = place(core, w, *addr, m, s.len() as u32, pc, mask) {
                let n = issue(core, w, Kind::TcgenSt, mask, pc, Work::Tmem(Box::new(TmemWork::Store(m))));
                w.tmem_st.push(n);
            }
        }
        Tcgen::WaitLd => return wait(core, w, false),
        Tcgen::WaitSt => return wait(core, w, true),
    }
    Flow::Next
}

/// T06: one cta_group for the whole kernel.
fn group_of(core: &mut Core<'_>, w: &Warp, group: u8, pc: u32, mask: u32) {
    if core.cta_group == 0 {
        core.cta_group = group;
    } else if core.cta_group != group {
        let a = actor(w, pc, mask);
        let message = format!("cta_group::{group} in a kernel that used cta_group::{}", core.cta_group);
        core.error("T06", &a, message, "use one cta_group in a kernel (T13)");
    }
}

/// `tcgen05.alloc`: writes the address to shared memory, blocks while there is no room.
fn alloc(core: &mut Core<'_>, w: &mut Warp, dst: Addr, columns: Src, group: u8, pc: u32, mask: u32) -> Flow {
    group_of(core, w, group, pc, mask);
    let n = w.scalar(core, columns, mask) as u32;
    let a = actor(w, pc, mask);
    if !n.is_power_of_two() || !(32..=COLUMNS).contains(&n) {
        core.error("T01", &a, format!("tcgen05.alloc of {n} columns"), "a power of two from 32 to 512 (T14)");
        return Flow::Next;
    }
    let line = core.code.insts.get(pc as usize).map_or(0, |i| i.line);
    if core.ctas.get(w.cta as usize).is_some_and(|c| c.tmem.relinquished) {
        core.error("T04", &a, "tcgen05.alloc after relinquish_alloc_permit", "allocate first (T14)");
    }
    let at = core.ctas.get(w.cta as usize).and_then(|c| c.tmem.room(n));
    let Some(at) = at else { return Flow::Stay(Wait::Retry(Cond::TmemAlloc { columns: n })) };
    let (addrs, lanes) = checked_addresses(core, w, dst, pc, mask);
    for c in pair(core, w.cta, group) {
        if let Some(c) = core.cta(c) {
            c.tmem.wake();
            c.tmem.allocs.push((at, n, line));
        }
    }
    core.stats.tmem_used = core.stats.tmem_used.max(at + n);
    core.progress += 1;
    drop(a);
    if core.race {
        w.sync_lanes(mask);
    }
    // Triton reuses the bytes for TMA without a proxy fence, so the write does not count as generic [U].
    let a = Actor { proxy: true, ..actor(w, pc, 1 << lanes.trailing_zeros().min(31)) };
    if let Spot::Shared(_, s) =
        core.spot(Space::Shared, addrs[lanes.trailing_zeros().min(31) as usize], w.cta)
    {
        for c in pair(core, w.cta, group) {
            if core.shared_bounds(c, s, 4, &a) {
                if let Some(to) = core.cta(c).and_then(|c| c.shared.get_mut(s as usize..s as usize + 4)) {
                    to.copy_from_slice(&at.to_le_bytes());
                }
                core.touch_shared(c, s, 4, &a, Act::Write);
            }
        }
    }
    Flow::Next
}

fn dealloc(core: &mut Core<'_>, w: &mut Warp, addr: Src, columns: Src, group: u8, pc: u32, mask: u32) {
    let a = actor(w, pc, mask);
    let (at, n) = (w.scalar(core, addr, mask) as u32 & 0xffff, w.scalar(core, columns, mask) as u32);
    let mut found = false;
    for c in pair(core, w.cta, group) {
        if let Some(c) = core.cta(c) {
            let before = c.tmem.allocs.len();
            c.tmem.allocs.retain(|(x, k, _)| (*x, *k) != (at, n));
            found |= c.tmem.allocs.len() != before;
        }
    }
    core.progress += 1;
    if !found {
        let message =
            format!("tcgen05.dealloc of columns {at}..{} that are no allocation", at.saturating_add(n));
        core.error("T01", &a, message, "free what alloc returned, with its size");
        return;
    }
    // Freeing is a write of all cells: whoever still uses them races with it.
    for c in pair(core, w.cta, group) {
        for column in at..at + n {
            for q in 0..4 {
                core.touch_tmem(c, column, q, u32::MAX, &a, Act::Write);
                core.undefine_tmem(c, column, [u32::MAX; 4]);
            }
        }
    }
}

/// `tcgen05.commit`: an arrival when all earlier products are done (E49).
fn commit(core: &mut Core<'_>, w: &mut Warp, mbar: Addr, multicast: Option<Src>, pc: u32, mask: u32) {
    let (addrs, lanes) = checked_addresses(core, w, mbar, pc, mask);
    let next = core.numbers.get(channel(w.id, Kind::TcgenMma) as usize).copied().unwrap_or(0);
    for l in (0..32).filter(|l| lanes >> l & 1 == 1) {
        let a = actor(w, pc, 1 << l);
        let Spot::Shared(cta, at) = core.spot(Space::SharedCluster, addrs[l as usize], w.cta) else {
            core.error(
                "A03",
                &a,
                "the mbarrier of tcgen05.commit is not in shared memory",
                "mend the address",
            );
            continue;
        };
        let ctas = match multicast {
            None => vec![cta],
            Some(m) => {
                let m = w.scalar(core, m, 1 << l);
                (0..core.ctas.len() as u32).filter(|c| m >> c & 1 == 1).collect()
            }
        };
        let mut targets = Vec::new();
        for c in ctas {
            if use_mbarrier(core, &a, c, at) {
                if let Some(b) = core.cta(c).and_then(|c| c.mbars.get_mut(&(at as u32))) {
                    b.in_flight += 1;
                }
                targets.push((c, at, 1));
            }
        }
        drop(a);
        let work = SignalWork { after: vec![(Kind::TcgenMma, next)], targets };
        issue(core, w, Kind::Signal, 1 << l, pc, Work::Signal(work));
    }
}

/// Fills in the place of a load or store; reports T01 and T02.
fn place(
    core: &mut Core<'_>,
    w: &Warp,
    addr: Addr,
    mut m: Move,
    registers: u32,
    pc: u32,
    mask: u32,
) -> Option<Move> {
    let a = actor(w, pc, mask);
    if w.poison_of(addr.base) != 0 {
        poisoned(core, w, pc, mask, "a TMEM address");
        return None;
    }
    let at = w.scalar(core, addr.base, mask).wrapping_add(addr.offset) as u32;
    (m.lane, m.column) = (at >> 16, at & 0xffff);
    let quarter = w.index % 4;
    let rows = if m.shape == TmemShape::S32x32b { 32 } else { 16 };
    if m.lane / 32 != quarter || m.lane % 32 + rows > 32 {
        let message = format!("warp {} reaches TMEM lanes {}..{}", w.index, m.lane, m.lane + rows);
        core.error("T02", &a, message, "a warp reaches lanes 32*(warp%4) to +31 only (T14)");
        return None;
    }
    let columns = m.columns(registers);
    let last = columns.last().map_or(0, |c| c.0);
    if last >= COLUMNS || !columns.iter().all(|(c, _)| allocated(core, w.cta, *c)) {
        let message = format!("TMEM columns {}..{} are not all allocated", m.column, last + 1);
        core.error("T01", &a, message, "tcgen05.alloc first");
        return None;
    }
    Some(m)
}

fn wait(core: &mut Core<'_>, w: &mut Warp, store: bool) -> Flow {
    let kind = if store { Kind::TcgenSt } else { Kind::TcgenLd };
    let list = if store { &w.tmem_st } else { &w.tmem_ld };
    if list.iter().any(|n| core.in_flight(w.id, kind, *n)) {
        return Flow::Stay(Wait::Retry(Cond::Tmem { store }));
    }
    let done = std::mem::take(if store { &mut w.tmem_st } else { &mut w.tmem_ld });
    if core.race {
        let id = w.id;
        let c = Rc::make_mut(&mut w.clock);
        done.iter().for_each(|n| c.complete(channel(id, kind), *n));
    }
    if !store {
        w.tmem_pending.clear();
    }
    Flow::Next
}

/// Checks and issues one product; the error is a code and why.
fn product(
    core: &mut Core<'_>,
    w: &mut Warp,
    m: &TcgenMma,
    pc: u32,
    lane: u32,
) -> Result<(), (&'static str, String)> {
    let one = 1 << lane;
    let get = |core: &Core<'_>, w: &Warp, s: Src| w.scalar(core, s, one);
    let desc_poison = match m.a {
        TcgenA::Desc(s) => w.poison_of(s),
        TcgenA::Tmem(a) => w.poison_of(a.base),
    };
    if (w.poison_of(m.d.base) | w.poison_of(m.b) | w.poison_of(m.idesc) | desc_poison) as u32 & one != 0 {
        poisoned(core, w, pc, one, "an operand of tcgen05.mma");
    }
    let ctas = pair(core, w.cta, m.group);
    if m.group == 2 && ctas.len() != 2 {
        return Err(("L01", "cta_group::2 in a cluster without a pair of CTAs".into()));
    }
    let i = idesc::read(get(core, w, m.idesc) as u32, m.kind, m.group == 2).map_err(|e| ("T05", e))?;
    let b = OperandLayout::tcgen(get(core, w, m.b), i.trans_b).map_err(|e| ("W03", e))?;
    let a = match m.a {
        TcgenA::Desc(s) => {
            SourceA::Shared(OperandLayout::tcgen(get(core, w, s), i.trans_a).map_err(|e| ("W03", e))?)
        }
        TcgenA::Tmem(t) => {
            let at = get(core, w, t.base).wrapping_add(t.offset) as u32;
            SourceA::Tmem(at >> 16, at & 0xffff)
        }
    };
    let k = 32 * i.a.packed() / i.a.bytes();
    let at = get(core, w, m.d.base).wrapping_add(m.d.offset) as u32;
    let mut p = Product::new(a, b, (i.a, i.b, i.d), (i.m, i.n, k));
    p.d = (at >> 16, at & 0xffff);
    let columns = if ctas.len() == 2 && i.m == 128 { i.n / 2 } else { i.n };
    let base_ok = p.d.0 == 0 || (i.m == 64 && p.d.0 == 16);
    if !base_ok || p.d.0 >= LANES {
        return Err(("T01", format!("accumulator at TMEM lane {}", p.d.0)));
    }
    if matches!(p.a, SourceA::Tmem(..)) && i.a.dense().is_some() {
        return Err(("T05", "operands of fewer than eight bits are not read from tensor memory here".into()));
    }
    let a_columns = k * i.a.bytes() / 4;
    let mut used: Vec<u32> = (p.d.1..p.d.1 + columns).collect();
    if let SourceA::Tmem(_, c) = p.a {
        used.extend(c..c + a_columns);
    }
    for c in &ctas {
        if let Some(x) = used.iter().find(|x| !allocated(core, *c, **x)) {
            return Err(("T01", format!("TMEM column {x} is not allocated")));
        }
    }
    p.scales = scaled::scales(core, w, m, &i, one)?;
    for (n, s) in m.disable.iter().enumerate() {
        let v = get(core, w, *s) as u32;
        if let Some(d) = p.disabled.get_mut(n / 4).and_then(|d| d.get_mut(n % 4)) {
            *d = v;
        }
    }
    p.negate = i.negate;
    p.saturate = i.saturate;
    p.accumulate = w.predicate(m.enable_d) & one != 0;
    p.scale = m.scale_d.unwrap_or(0);
    p.ctas = ctas;
    issue(core, w, Kind::TcgenMma, one, pc, Work::Tmem(Box::new(TmemWork::Product(p))));
    Ok(())
}

/// The load in flight that writes a register of the instruction at `pc`; with `strict` nobody may touch it before the wait.
pub(crate) fn loading(core: &mut Core<'_>, w: &mut Warp, pc: u32, mask: u32) -> Option<u32> {
    let uses = core.code.uses.get(pc as usize)?;
    let (number, _) = w.tmem_pending.iter().find(|(_, regs)| uses.iter().any(|(r, _)| regs.contains(r)))?;
    let number = *number;
    if core.opts.strict {
        let a = actor(w, pc, mask);
        core.error("W01", &a, "a register that tcgen05.ld brings is touched before its wait", LOADED_EARLY);
    }
    let flying = core.in_flight(w.id, Kind::TcgenLd, number);
    if !flying {
        w.tmem_pending.retain(|(n, _)| *n != number);
    }
    flying.then_some(number)
}
