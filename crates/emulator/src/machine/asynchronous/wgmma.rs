//! `wgmma.mma_async`: each warp multiplies its own 16 rows (E38-E42, C25).

use super::operand;
use super::products::{element, multiply};
use crate::isa::lanes::Lanes;
use crate::isa::op::{AccTy, Op, Wgmma, WgmmaA};
use crate::machine::core::Core;
use crate::machine::operations::{Operation, Wanted, Work};
use crate::machine::warp::Warp;
use crate::number::Rounding;
use crate::number::minifloat::{F16, f16_value};
use std::rc::Rc;

/// Reads the operands, then writes the accumulators.
pub(crate) fn advance(core: &mut Core<'_>, warps: &mut [Warp], op: &mut Operation) -> bool {
    let actor = op.actor(true);
    let cta = op.cta;
    let code = core.code;
    let Some(Op::Wgmma(spec)) = code.insts.get(op.pc as usize).map(|i| &i.op) else { return true };
    let Some(warp) = warps.get_mut(op.warp as usize) else { return true };
    let Work::Wgmma(work) = &mut op.work else { return true };
    if op.stage == 0 {
        let k = u64::from(spec.k);
        let part = |layout, ty, first, rows, by_k| Wanted { cta, layout, ty, first, rows, k, by_k };
        work.a_values = match (&spec.a, work.a) {
            (WgmmaA::Desc(_), Some(layout)) => {
                let first = u64::from(work.quarter) * 16;
                operand::read(core, &actor, part(layout, spec.a_ty, first, 16, false))
            }
            (WgmmaA::Regs(list), _) => {
                work.a_poison = list.iter().any(|s| warp.poison_of(*s) != 0);
                let words: Vec<Lanes> = list.iter().map(|s| warp.value(core, *s)).collect();
                Rc::new(a_fragment(spec, &words))
            }
            _ => Rc::default(),
        };
        work.b_values = operand::read(core, &actor, part(work.b, spec.b_ty, 0, u64::from(spec.n), true));
        if spec.negate_a != spec.negate_b {
            Rc::make_mut(&mut work.a_values).iter_mut().for_each(|v| *v = -*v);
        }
        return false;
    }
    let mut acc = if work.scale_d { accumulators(spec, warp) } else { vec![0.0; 16 * spec.n as usize] };
    multiply(&mut acc, &work.a_values, &work.b_values, spec.n as usize, spec.k as usize);
    let poisoned = work.a_poison || (work.scale_d && spec.d.iter().any(|r| warp.poison_at(*r) != 0));
    store(spec, warp, &mut acc, if poisoned { u64::MAX } else { 0 });
    true
}

/// Where values `i` and `i + 1`, `i` even, of lane 0 stand in the 16 rows of `n` numbers of a warp (E38): side by side. Those
/// of the next three lanes follow, those of the next four lanes stand in the next row.
fn place(n: usize, i: usize) -> usize {
    8 * n * (i >> 1 & 1) + 8 * (i >> 2)
}

/// A from registers, 16 rows by k (E36).
fn a_fragment(spec: &Wgmma, words: &[Lanes]) -> Vec<f64> {
    let k = spec.k as usize;
    let e = spec.a_ty.bytes() as usize;
    let per = 4 / e;
    let mut out = vec![0.0; 16 * k];
    for lane in 0..32 {
        let (g, t) = (lane / 4, lane & 3);
        for (j, word) in words.iter().enumerate() {
            for x in 0..per {
                let bits = word[lane] >> (8 * e * x);
                let row = g + 8 * (j & 1);
                let col = per * t + x + 4 * per * (j >> 1);
                if let Some(d) = out.get_mut(row * k + col) {
                    *d = element(spec.a_ty, bits & ((1 << (8 * e)) - 1));
                }
            }
        }
    }
    out
}

/// The numbers of two values that stand side by side, as `place` says: four lanes in each row.
fn rows(acc: &mut [f64], n: usize, i: usize) -> impl Iterator<Item = &mut [f64; 8]> {
    let first = place(n, i);
    let rows = acc.chunks_exact_mut(n).skip(first / n).take(8);
    rows.filter_map(move |row| row.get_mut(first % n..)?.first_chunk_mut())
}

/// Puts the numbers of the values `i` and `i + 1` where they stand in the rows.
fn scatter(acc: &mut [f64], n: usize, i: usize, bits: [&Lanes; 2], read: impl Fn(u64) -> f64) {
    let [one, other] = bits.map(|b| b.as_chunks::<4>().0);
    for ((to, one), other) in rows(acc, n, i).zip(one).zip(other) {
        for l in 0..4 {
            to[2 * l] = read(one[l]);
            to[2 * l + 1] = read(other[l]);
        }
    }
}

/// Takes the numbers of value `i`, or of its neighbour, from the rows.
fn gather(acc: &mut [f64], n: usize, i: usize, to: &mut Lanes, write: impl Fn(f64) -> u64) {
    for (from, to) in rows(acc, n, i & !1).zip(to.as_chunks_mut::<4>().0) {
        for l in 0..4 {
            to[l] = write(from[2 * l + (i & 1)]);
        }
    }
}

fn accumulators(spec: &Wgmma, warp: &Warp) -> Vec<f64> {
    let n = spec.n as usize;
    let mut acc = vec![0.0; 16 * n];
    let zero = [0; 32];
    let bits = |r: u32| warp.regs.get(r as usize).unwrap_or(&zero);
    if spec.d_ty == AccTy::F16 {
        for (r, reg) in spec.d.iter().enumerate() {
            let upper = bits(*reg).map(|b| b >> 16);
            scatter(&mut acc, n, 2 * r, [bits(*reg), &upper], |b| f64::from(f16_value(b as u16)));
        }
        return acc;
    }
    for (pair, i) in spec.d.as_chunks::<2>().0.iter().zip((0..).step_by(2)) {
        let two = pair.map(bits);
        match spec.d_ty {
            AccTy::S32 => scatter(&mut acc, n, i, two, |b| f64::from(b as u32 as i32)),
            _ => scatter(&mut acc, n, i, two, |b| f64::from(f32::from_bits(b as u32))),
        }
    }
    acc
}

fn store(spec: &Wgmma, warp: &mut Warp, acc: &mut [f64], poison: u64) {
    let n = spec.n as usize;
    for (i, reg) in spec.d.iter().enumerate() {
        // In place: there are many of them.
        let Some(slot) = warp.regs.get_mut(*reg as usize) else { continue };
        match spec.d_ty {
            AccTy::F16 => {
                let half = |v: f64| u64::from(F16.encode(v, Rounding::Even, false));
                let mut high = [0; 32];
                gather(acc, n, 2 * i, slot, half);
                gather(acc, n, 2 * i + 1, &mut high, half);
                slot.iter_mut().zip(high).for_each(|(v, high)| *v |= high << 16);
            }
            AccTy::S32 => gather(acc, n, i, slot, |v| integer(v, spec.saturate)),
            _ => gather(acc, n, i, slot, |v| u64::from((v as f32).to_bits())),
        }
        if let Some(p) = warp.poison.get_mut(*reg as usize) {
            *p = poison;
        }
    }
}

/// A sum of integer products as s32: wrapped, or clamped with `.satfinite`.
pub(crate) fn integer(v: f64, saturate: bool) -> u64 {
    let v = v as i64;
    let v = if saturate { v.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) } else { v };
    u64::from(v as u32)
}
