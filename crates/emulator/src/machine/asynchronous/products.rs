//! Matrix operands: from shared memory or registers to numbers, and the product itself (E39-E41, E57).

use crate::isa::op::MatTy;
use crate::machine::actor::Actor;
use crate::machine::core::Core;
use crate::machine::operations::OperandLayout;
use crate::number::minifloat::{E4M3, E5M2, bf16_value, f16_value};
use crate::race::shadow::{Act, GRANULE};

/// The value of one element from its bits.
pub(crate) fn element(ty: MatTy, bits: u64) -> f64 {
    match ty {
        MatTy::F16 => f64::from(f16_value(bits as u16)),
        MatTy::BF16 => f64::from(bf16_value(bits as u16)),
        // tf32 drops the low 13 bits (E41).
        MatTy::TF32 => f64::from(f32::from_bits(bits as u32 & !0x1fff)),
        MatTy::E4M3 => E4M3.decode(bits as u32 & 0xff),
        MatTy::E5M2 => E5M2.decode(bits as u32 & 0xff),
        MatTy::S8 => f64::from(bits as u8 as i8),
        MatTy::U8 => f64::from(bits as u8),
        MatTy::F64 => f64::from_bits(bits),
    }
}

/// The elements of a chunk of memory.
fn elements(ty: MatTy, bytes: &[u8; 16], out: &mut [f64; 16]) -> usize {
    let e = ty.bytes() as usize;
    let n = 16 / e;
    for (i, (d, chunk)) in out.iter_mut().zip(bytes.chunks(e)).enumerate() {
        if i < n {
            let bits = chunk.iter().rev().fold(0_u64, |v, b| v << 8 | u64::from(*b));
            *d = element(ty, bits);
        }
    }
    n
}

/// Reads rows `first .. first + rows` (along M or N) by `k` elements from shared memory; element (r, k) of the
/// result is at `k * rows + r` if `by_k`, else at `r * k + k`.
#[allow(clippy::too_many_arguments, reason = "an operand has this many sides")]
pub(crate) fn read_operand(
    core: &mut Core<'_>,
    actor: &Actor,
    cta: u32,
    layout: &OperandLayout,
    ty: MatTy,
    first: u64,
    rows: u64,
    k: u64,
    by_k: bool,
) -> Vec<f64> {
    let e = u64::from(ty.bytes());
    let per = 16 / e;
    let mut out = vec![0.0; (rows * k) as usize];
    let mut touched: Vec<(u64, u32)> = Vec::with_capacity((rows * k * e / 16) as usize);
    let mut values = [0.0; 16];
    let (outer, inner) = if layout.mn_major { (k, rows) } else { (rows, k) };
    for o in 0..outer {
        for c in (0..inner).step_by(per as usize) {
            let (r, kk) = if layout.mn_major { (c, o) } else { (o, c) };
            let at = layout.address(first + r, kk, e);
            if !core.shared_bounds(cta, at, 16, actor) {
                return out;
            }
            note(&mut touched, at);
            let mut bytes = [0; 16];
            if let Some(from) = core.cta(cta).and_then(|c| c.shared.get(at as usize..at as usize + 16)) {
                bytes.copy_from_slice(from);
            }
            let n = elements(ty, &bytes, &mut values);
            for (i, v) in values.iter().take(n).enumerate() {
                let i = i as u64;
                let (rr, kk) = if layout.mn_major { (r + i, kk) } else { (r, kk + i) };
                let slot = if by_k { kk * rows + rr } else { rr * k + kk };
                if let Some(d) = out.get_mut(slot as usize) {
                    *d = *v;
                }
            }
        }
    }
    for (g, mask) in touched {
        let low = u64::from(mask.trailing_zeros());
        core.touch_shared(cta, g * GRANULE + low, u64::from(mask.count_ones()), actor, Act::Read);
    }
    out
}

/// Adds a 16-byte chunk to a list of granules, joining it with the last one.
fn note(list: &mut Vec<(u64, u32)>, at: u64) {
    let (g, mask) = (at / GRANULE, 0xffff_u32 << (at % GRANULE));
    match list.last_mut() {
        Some((last, m)) if *last == g => *m |= mask,
        _ => list.push((g, mask)),
    }
}

/// `acc[m][n] += sum over k of a[m][k] * b[k][n]`, exact products, sums in f64 (E57).
pub(crate) fn multiply(acc: &mut [f64], a: &[f64], b: &[f64], n: usize, k: usize) {
    for (row, a_row) in acc.chunks_mut(n).zip(a.chunks(k)) {
        for (x, b_row) in a_row.iter().zip(b.chunks(n)) {
            for (d, y) in row.iter_mut().zip(b_row) {
                *d += x * y;
            }
        }
    }
}
