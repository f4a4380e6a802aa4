//! `ldmatrix`, `stmatrix`, `mma.sync` (E36, E37).

use super::alu::poison_lanes;
use super::flow::Flow;
use super::memory::checked_addresses;
use crate::isa::lanes::Lanes;
use crate::isa::op::{AccTy, MatTy, MatrixMove, Mma, Space, Src};
use crate::isa::types::low_mask;
use crate::machine::actor::{Actor, actor};
use crate::machine::asynchronous::products::element;
use crate::machine::asynchronous::wgmma::integer;
use crate::machine::core::{Core, Spot};
use crate::machine::warp::Warp;
use crate::number::Rounding;
use crate::number::minifloat::{F16, f16_value};
use crate::race::access::Act;
use crate::race::shadow::GRANULE;
use smallvec::SmallVec;

/// The shared offsets of the rows of the matrices: row r of matrix j comes from lane 8j + r.
fn rows(
    core: &mut Core<'_>,
    w: &Warp,
    m: &MatrixMove,
    n: usize,
    pc: u32,
    mask: u32,
) -> Option<Vec<(u32, u64)>> {
    let used = if n >= 4 { u32::MAX } else { (1 << (8 * n)) - 1 };
    let (addrs, lanes) = checked_addresses(core, w, m.addr, pc, mask & used);
    let mut out = Vec::new();
    for (l, addr) in addrs.iter().enumerate().take(8 * n) {
        let a = Actor { lanes: 1 << l, ..actor(w, pc, mask) };
        if lanes >> l & 1 == 0 {
            return None;
        }
        match core.spot(Space::Shared, *addr, w.cta) {
            Spot::Shared(c, at) if c == w.cta => {
                if at % 16 != 0 {
                    core.error(
                        "A02",
                        &a,
                        format!("matrix row at shared {at}"),
                        "rows are aligned to 16 bytes (E37)",
                    );
                    return None;
                }
                if !core.shared_bounds(c, at, 16, &a) {
                    return None;
                }
                out.push((l as u32, at));
            }
            _ => {
                core.error("A03", &a, "a matrix row is not in the CTA's shared memory", "mend the address");
                return None;
            }
        }
    }
    Some(out)
}

/// The granules of rows, and the sixteen bytes of each.
fn granules_of(rows: &[(u32, u64)]) -> SmallVec<[(u64, u32); 32]> {
    rows.iter().map(|(_, at)| (at / GRANULE, 0xffff << (at % GRANULE))).collect()
}

/// `ldmatrix`: lane gets row g, elements 2t and 2t+1; transposed: (2t, g) and (2t+1, g). Of 16x16 bytes, transposed: column g,
/// then g+8, of rows 4t to 4t+3.
pub(crate) fn load(core: &mut Core<'_>, w: &mut Warp, m: &MatrixMove, pc: u32, mask: u32) -> Flow {
    let n = m.dsts.len();
    let Some(rows) = rows(core, w, m, n, pc, mask) else {
        for d in m.dsts.iter().flatten() {
            w.put(*d, &[0; 32], (0, true), mask);
        }
        return Flow::Next;
    };
    let shared = core.ctas.get(w.cta as usize).map_or(&[][..], |c| &*c.shared);
    let half = |j: usize, r: usize, c: usize| {
        let at = rows.get(8 * j + r).map_or(0, |x| x.1) as usize + 2 * c;
        shared.get(at..at + 2).map_or(0, |b| b.iter().rev().fold(0_u64, |v, x| v << 8 | u64::from(*x)))
    };
    let byte = |r: usize, c: usize| {
        let at = rows.get(r).map_or(0, |x| x.1) as usize + c;
        shared.get(at).map_or(0, |&b| u64::from(b))
    };
    let mut out = vec![[0_u64; 32]; n];
    for (j, v) in out.iter_mut().enumerate() {
        for (l, x) in v.iter_mut().enumerate() {
            let (g, t) = (l >> 2, l & 3);
            *x = if m.bytes {
                let of = |i: usize| byte(16 * (j / 2) + 4 * t + i, g + 8 * (j % 2)) << (8 * i);
                of(0) | of(1) | of(2) | of(3)
            } else if m.trans {
                half(j, 2 * t, g) | half(j, 2 * t + 1, g) << 16
            } else {
                half(j, g, 2 * t) | half(j, g, 2 * t + 1) << 16
            };
        }
    }
    let poison = if rows.iter().any(|(_, at)| core.holds_poison(w.cta, *at, 16)) { u64::MAX } else { 0 };
    for (d, v) in m.dsts.iter().zip(&out) {
        if let Some(d) = d {
            w.put(*d, v, (poison, true), mask);
        }
    }
    let a = actor(w, pc, mask);
    core.touch_operand(w.cta, &granules_of(&rows), &a, Act::Read);
    Flow::Next
}

/// `stmatrix`, the inverse.
pub(crate) fn store(core: &mut Core<'_>, w: &mut Warp, m: &MatrixMove, pc: u32, mask: u32) -> Flow {
    let Some(rows) = rows(core, w, m, m.regs.len(), pc, mask) else { return Flow::Next };
    let values: Vec<Lanes> = m.regs.iter().map(|s| w.value(core, *s)).collect();
    let poison = m.regs.iter().any(|s| poison_lanes(w.poison_of(*s)) & mask != 0);
    let mut same = true;
    if let Some(cta) = core.cta(w.cta) {
        for (j, v) in values.iter().enumerate() {
            for (l, x) in v.iter().enumerate() {
                let (g, t) = (l >> 2, l & 3);
                for i in 0..2 {
                    let (r, c) = if m.trans { (2 * t + i, g) } else { (g, 2 * t + i) };
                    let at = rows.get(8 * j + r).map_or(0, |x| x.1) as usize + 2 * c;
                    let bits = (x >> (16 * i)) as u16;
                    if let Some(d) = cta.shared.get_mut(at..at + 2) {
                        same &= d == bits.to_le_bytes();
                        d.copy_from_slice(&bits.to_le_bytes());
                    }
                }
            }
        }
    }
    core.progress += 1;
    let a = Actor { same, ..actor(w, pc, mask) };
    core.touch_operand(w.cta, &granules_of(&rows), &a, Act::Write);
    if poison {
        rows.iter().for_each(|(_, at)| core.poison_shared(w.cta, *at, 16));
    }
    Flow::Next
}

/// Row and column in A or B (row = k for B) of element `i` of a lane's fragment (E36).
fn a_place(l: usize, i: usize, bytes: u32) -> (usize, usize) {
    let (g, t) = (l >> 2, l & 3);
    match bytes {
        4 | 8 => (g + 8 * (i & 1), t + 4 * (i >> 1)),
        2 => (g + 8 * (i >> 1 & 1), 2 * t + (i & 1) + 8 * (i >> 2)),
        _ => (g + 8 * (i >> 2 & 1), 4 * t + (i & 3) + 16 * (i >> 3)),
    }
}

fn b_place(l: usize, i: usize, bytes: u32) -> (usize, usize) {
    let (g, t) = (l >> 2, l & 3);
    match bytes {
        4 | 8 => (t + 4 * i, g),
        2 => (2 * t + (i & 1) + 8 * (i >> 1), g),
        _ => (4 * t + (i & 3) + 16 * (i >> 2), g),
    }
}

fn gather(
    core: &Core<'_>,
    w: &Warp,
    regs: &[Src],
    ty: MatTy,
    size: usize,
    columns: usize,
    place: fn(usize, usize, u32) -> (usize, usize),
) -> Vec<f64> {
    let mut out = vec![0.0; size];
    let bits = 8 * ty.bytes() as usize;
    let per = 32_usize.div_ceil(bits);
    for (j, s) in regs.iter().enumerate() {
        let v = w.value(core, *s);
        for (l, word) in v.iter().enumerate() {
            for x in 0..per {
                let (row, col) = place(l, j * per + x, ty.bytes());
                let raw = word >> (bits * x) & low_mask(bits as u32);
                if let Some(d) = out.get_mut(row * columns + col) {
                    *d = element(ty, raw);
                }
            }
        }
    }
    out
}

/// The bits of a sum, rounded once.
pub(crate) fn sum_bits(ty: AccTy, sum: f64, saturate: bool) -> u64 {
    match ty {
        AccTy::F16 => u64::from(F16.encode(sum, Rounding::Even, false)),
        AccTy::S32 => integer(sum, saturate),
        AccTy::F64 => sum.to_bits(),
        AccTy::F32 => u64::from((sum as f32).to_bits()),
    }
}

/// `mma.sync` m16n8: exact products, sums in f64, one rounding (E57).
pub(crate) fn mma(core: &mut Core<'_>, w: &mut Warp, m: &Mma, mask: u32) -> Flow {
    let k = m.k as usize;
    let a = gather(core, w, &m.a, m.a_ty, m.m as usize * k, k, a_place);
    let b = gather(core, w, &m.b, m.b_ty, 8 * k, 8, b_place);
    let mut acc = [0.0_f64; 128];
    let place = |l: usize, i: usize| ((l >> 2) + 8 * (i >> 1)) * 8 + 2 * (l & 3) + (i & 1);
    for (r, s) in m.c.iter().enumerate() {
        let v = w.value(core, *s);
        for (l, bits) in v.iter().enumerate() {
            if m.c_ty == AccTy::F16 {
                acc[place(l, 2 * r)] = f64::from(f16_value(*bits as u16));
                acc[place(l, 2 * r + 1)] = f64::from(f16_value((bits >> 16) as u16));
            } else if m.c_ty == AccTy::F64 {
                acc[place(l, r)] = f64::from_bits(*bits);
            } else if m.c_ty == AccTy::S32 {
                acc[place(l, r)] = f64::from(*bits as u32 as i32);
            } else {
                acc[place(l, r)] = f64::from(f32::from_bits(*bits as u32));
            }
        }
    }
    crate::machine::asynchronous::products::multiply(&mut acc, &a, &b, 8, k);
    let all: Vec<Src> = m.a.iter().chain(&m.b).chain(&m.c).copied().collect();
    let bad = poison_lanes(w.meta(&all).0) & mask != 0;
    let meta = (if bad { u64::MAX } else { 0 }, w.meta(&all).1);
    for (r, d) in m.d.iter().enumerate() {
        let Some(d) = d else { continue };
        let mut out = [0; 32];
        for (l, x) in out.iter_mut().enumerate() {
            let bits = |i: usize| sum_bits(m.d_ty, acc[place(l, i)], m.saturate);
            *x = if m.d_ty == AccTy::F16 { bits(2 * r) | bits(2 * r + 1) << 16 } else { bits(r) };
        }
        w.put(*d, &out, meta, mask);
    }
    Flow::Next
}
