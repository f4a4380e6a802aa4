//! `wgmma.mma_async`: each warp multiplies its own 16 rows (E38-E42, C25).

use super::operand;
use super::products::{element, multiply};
use crate::isa::lanes::Lanes;
use crate::isa::op::{AccTy, Op, Wgmma, WgmmaA};
use crate::machine::core::Core;
use crate::machine::operations::{Operation, Wanted, Work};
use crate::machine::warp::{FULL, Warp};
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
    store(spec, warp, &acc, if poisoned { u64::MAX } else { 0 });
    true
}

/// Where value `i` of lane 0 stands in the 16 rows of `n` numbers of a warp (E38). The next three lanes stand two further
/// each, the next four in the next row.
fn place(n: usize, i: usize) -> usize {
    8 * n * (i >> 1 & 1) + 8 * (i >> 2) + (i & 1)
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

/// Puts the numbers of a register where they stand in the rows.
fn scatter(acc: &mut [f64], n: usize, i: usize, bits: &Lanes, read: impl Fn(u64) -> f64) {
    let first = place(n, i);
    for (row, bits) in acc.chunks_mut(n).skip(first / n).zip(bits.chunks_exact(4)) {
        for (d, bits) in row.iter_mut().skip(first % n).step_by(2).zip(bits) {
            *d = read(*bits);
        }
    }
}

/// Takes the numbers of a register from the rows.
fn gather(acc: &[f64], n: usize, i: usize, write: impl Fn(f64) -> u64) -> Lanes {
    let (first, mut out) = (place(n, i), [0; 32]);
    for (row, bits) in acc.chunks(n).skip(first / n).zip(out.chunks_exact_mut(4)) {
        for (v, d) in row.iter().skip(first % n).step_by(2).zip(bits) {
            *d = write(*v);
        }
    }
    out
}

fn accumulators(spec: &Wgmma, warp: &Warp) -> Vec<f64> {
    let n = spec.n as usize;
    let mut acc = vec![0.0; 16 * n];
    for (r, reg) in spec.d.iter().enumerate() {
        let Some(bits) = warp.regs.get(*reg as usize) else { continue };
        match spec.d_ty {
            AccTy::F16 => {
                scatter(&mut acc, n, 2 * r, bits, |b| f64::from(f16_value(b as u16)));
                scatter(&mut acc, n, 2 * r + 1, bits, |b| f64::from(f16_value((b >> 16) as u16)));
            }
            AccTy::S32 => scatter(&mut acc, n, r, bits, |b| f64::from(b as u32 as i32)),
            _ => scatter(&mut acc, n, r, bits, |b| f64::from(f32::from_bits(b as u32))),
        }
    }
    acc
}

fn store(spec: &Wgmma, warp: &mut Warp, acc: &[f64], poison: u64) {
    let n = spec.n as usize;
    for (r, reg) in spec.d.iter().enumerate() {
        let lanes = match spec.d_ty {
            AccTy::F16 => {
                let half = |v: f64| u64::from(F16.encode(v, Rounding::Even, false));
                let (low, high) = (gather(acc, n, 2 * r, half), gather(acc, n, 2 * r + 1, half));
                std::array::from_fn(|l| low[l] | high[l] << 16)
            }
            AccTy::S32 => gather(acc, n, r, |v| integer(v, spec.saturate)),
            _ => gather(acc, n, r, |v| u64::from((v as f32).to_bits())),
        };
        warp.set(*reg, &lanes, poison, FULL);
    }
}

/// A sum of integer products as s32: wrapped, or clamped with `.satfinite`.
pub(crate) fn integer(v: f64, saturate: bool) -> u64 {
    let v = v as i64;
    let v = if saturate { v.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) } else { v };
    u64::from(v as u32)
}
