//! `tcgen05.mma`, `ld`, `st` as operations (E43-E52).

use super::lanes::{lane_set, touch};
use super::operand;
use super::products::{element, multiply};
use super::scaled;
use super::wgmma::integer;
use crate::isa::op::AccTy;
use crate::machine::actor::Actor;
use crate::machine::core::Core;
use crate::machine::operations::{Move, Operation, Product, SourceA, TmemWork, Wanted, Work};
use crate::machine::warp::{FULL, Warp};
use crate::number::Rounding;
use crate::number::minifloat::{F16, f16_value};
use crate::race::access::Act;
use crate::race::channel::Kind;

/// A product waits for earlier ones on its accumulators and for copies; the rest may overtake.
pub(crate) fn ready(core: &Core<'_>, op: &Operation, work: &TmemWork) -> bool {
    !core.ops.iter().any(|o| {
        o.warp == op.warp
            && o.kind == Kind::TcgenMma
            && o.number < op.number
            && matches!(&o.work, Work::Tmem(t) if work.follows(t))
    })
}

/// Loads and stores are one event, products and copies two.
pub(crate) fn advance(core: &mut Core<'_>, warps: &mut [Warp], op: &mut Operation) -> bool {
    let actor = op.actor(true);
    let (cta, stage) = (op.cta, op.stage);
    let Work::Tmem(work) = &mut op.work else { return true };
    match &mut **work {
        TmemWork::Product(p) => {
            if stage == 0 {
                read(core, &actor, p);
                return false;
            }
            write(core, &actor, p);
            true
        }
        TmemWork::Copy(c) => {
            if stage == 0 {
                scaled::read(core, &actor, c);
                return false;
            }
            scaled::write(core, &actor, c);
            true
        }
        TmemWork::Load(m) => {
            if let Some(w) = warps.get_mut(op.warp as usize) {
                load(core, w, &actor, cta, m);
            }
            true
        }
        TmemWork::Store(m) => {
            store(core, &actor, cta, m);
            true
        }
    }
}

fn read(core: &mut Core<'_>, actor: &Actor, p: &mut Product) {
    let pair = p.ctas.len().max(1) as u32;
    let (rows, columns) = (p.m / pair, p.n / pair);
    let k = p.k as usize;
    let mut a = Vec::with_capacity(p.m as usize * k);
    let mut b = vec![0.0; k * p.n as usize];
    for (i, cta) in p.ctas.clone().into_iter().enumerate() {
        match p.a {
            SourceA::Shared(layout) => {
                let wanted = Wanted {
                    cta,
                    layout,
                    ty: p.a_ty,
                    first: 0,
                    rows: u64::from(rows),
                    k: u64::from(p.k),
                    by_k: false,
                };
                a.extend_from_slice(&operand::read(core, actor, wanted));
            }
            SourceA::Tmem(lane, column) => a.extend(tmem_operand(core, actor, cta, p, (lane, column), rows)),
        }
        let (rows, k) = (u64::from(columns), u64::from(p.k));
        let wanted = Wanted { cta, layout: p.b, ty: p.b_ty, first: 0, rows, k, by_k: true };
        let part = operand::read(core, actor, wanted);
        for (row, from) in b.chunks_mut(p.n as usize).zip(part.chunks(columns as usize)) {
            let at = i * columns as usize;
            if let Some(to) = row.get_mut(at..at + from.len()) {
                to.copy_from_slice(from);
            }
        }
    }
    if p.negate {
        a.iter_mut().for_each(|v| *v = -*v);
    }
    if let Some(scales) = p.scales {
        scaled::apply(core, actor, p, scales, (&mut a, &mut b));
    }
    p.values = (a, b);
}

/// A from TMEM: consecutive k packed low first (E44).
fn tmem_operand(
    core: &mut Core<'_>,
    actor: &Actor,
    cta: u32,
    p: &Product,
    (lane0, column0): (u32, u32),
    rows: u32,
) -> Vec<f64> {
    let per = 4 / p.a_ty.bytes();
    let bits = 8 * p.a_ty.bytes();
    let lane_of = |r: u32| if rows == 64 && p.ctas.len() < 2 { r % 16 + 32 * (r / 16) } else { r };
    let mut out = Vec::with_capacity((rows * p.k) as usize);
    if let Some(c) = core.cta(cta) {
        c.tmem.wake();
        for r in 0..rows {
            for k in 0..p.k {
                let cell = c.tmem.get(lane0 + lane_of(r), column0 + k / per);
                let raw = u64::from(cell >> (bits * (k % per))) & ((1_u64 << bits) - 1);
                out.push(element(p.a_ty, raw));
            }
        }
    }
    let lanes = lane_set(rows, lane0, &lane_of);
    for c in 0..p.k.div_ceil(per) {
        touch(core, actor, cta, column0 + c, lanes, Act::Read);
    }
    out
}

fn write(core: &mut Core<'_>, actor: &Actor, p: &mut Product) {
    let (m, n) = (p.m, p.n);
    let mut acc = vec![0.0; (m * n) as usize];
    let scale = f64::from(p.scale);
    if p.accumulate {
        for (i, v) in acc.iter_mut().enumerate() {
            let (c, lane, column) = p.place(i as u32 / n, i as u32 % n);
            let cell = p
                .ctas
                .get(c)
                .and_then(|c| core.ctas.get(*c as usize))
                .map_or(0, |c| c.tmem.get(lane, column));
            let x = match p.d_ty {
                AccTy::F16 => f64::from(f16_value(cell as u16)),
                AccTy::S32 => f64::from(cell as i32),
                _ => f64::from(f32::from_bits(cell)),
            };
            *v = if p.scale == 0 { x } else { x * (-scale).exp2() };
        }
    }
    multiply(&mut acc, &p.values.0, &p.values.1, n as usize, p.k as usize);
    for cta in p.ctas.clone() {
        if let Some(c) = core.cta(cta) {
            c.tmem.wake();
        }
    }
    for (i, v) in acc.iter().enumerate() {
        let (c, lane, column) = p.place(i as u32 / n, i as u32 % n);
        let off = p
            .disabled
            .get(c)
            .and_then(|d| d.get((lane / 32) as usize))
            .is_some_and(|d| d >> (lane % 32) & 1 == 1);
        if off {
            continue;
        }
        let bits = match p.d_ty {
            AccTy::F16 => F16.encode(*v, Rounding::Even, false),
            AccTy::S32 => integer(*v, p.saturate) as u32,
            _ => (*v as f32).to_bits(),
        };
        if let Some(c) = p.ctas.get(c).copied().and_then(|c| core.cta(c)) {
            c.tmem.put(lane, column, bits);
        }
    }
    for (i, cta) in p.ctas.clone().into_iter().enumerate() {
        let pair = p.ctas.len() == 2;
        let rows = if pair { 128 } else { m };
        let lane_of = |r: u32| if !pair && m == 64 { r % 16 + 32 * (r / 16) } else { r };
        let mut lanes = lane_set(rows, p.d.0, &lane_of);
        for (l, d) in lanes.iter_mut().zip(p.disabled.get(i).copied().unwrap_or_default()) {
            *l &= !d;
        }
        for c in 0..p.columns() {
            if p.accumulate {
                touch(core, actor, cta, p.d.1 + c, lanes, Act::Read);
            }
            touch(core, actor, cta, p.d.1 + c, lanes, Act::Write);
        }
    }
}

fn load(core: &mut Core<'_>, w: &mut Warp, actor: &Actor, cta: u32, m: &Move) {
    match core.cta(cta) {
        Some(c) => c.tmem.wake(),
        None => return,
    }
    for (j, reg) in m.registers.iter().enumerate() {
        let Some(reg) = reg else { continue };
        let mut v = [0; 32];
        let mut poison = 0_u64;
        let Some(tmem) = core.ctas.get(cta as usize).map(|c| &c.tmem) else { return };
        for (l, x) in v.iter_mut().enumerate() {
            let [(lane, column), (lane2, column2)] = m.cells(l as u32, j as u32);
            let low = tmem.get(lane, column);
            *x = u64::from(if m.pack { low & 0xffff | tmem.get(lane2, column2) << 16 } else { low });
            let undefined =
                |lane: u32, column: u32| core.undefined_tmem(cta, column, lane / 32) >> (lane % 32) & 1 == 1;
            if undefined(lane, column) || undefined(lane2, column2) {
                poison |= 1 << l | 1 << (l + 32);
            }
        }
        w.put(*reg, &v, (poison, true), FULL);
    }
    for (column, lanes) in m.columns(m.registers.len() as u32) {
        touch(core, actor, cta, column, lanes, Act::Read);
    }
}

fn store(core: &mut Core<'_>, actor: &Actor, cta: u32, m: &Move) {
    let Some(c) = core.cta(cta) else { return };
    c.tmem.wake();
    for (j, v) in m.values.iter().enumerate() {
        for (l, x) in v.iter().enumerate() {
            let [(lane, column), (lane2, column2)] = m.cells(l as u32, j as u32);
            if m.pack {
                c.tmem.put(lane, column, *x as u32 & 0xffff);
                c.tmem.put(lane2, column2, (*x >> 16) as u32 & 0xffff);
            } else {
                c.tmem.put(lane, column, *x as u32);
            }
        }
    }
    for (column, lanes) in m.columns(m.values.len() as u32) {
        touch(core, actor, cta, column, lanes, Act::Write);
        if m.poisoned != 0 {
            core.poison_tmem(cta, column, lanes);
        }
    }
}
