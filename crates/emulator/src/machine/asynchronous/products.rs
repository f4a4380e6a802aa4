//! Elements of matrices as numbers, and the product itself (E41, E57).

use crate::isa::op::MatTy;
use crate::number::minifloat::{E4M3, E5M2, bf16_value, f16_value};

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

/// Elements along k that are added before a sum is put back.
const ALONG: usize = 4;

/// `acc[m][n] += sum over k of a[m][k] * b[k][n]`, exact products, sums in f64 in the order of k (E57).
pub(crate) fn multiply(acc: &mut [f64], a: &[f64], b: &[f64], n: usize, k: usize) {
    for (row, a_row) in acc.chunks_mut(n).zip(a.chunks(k)) {
        for (xs, b_rows) in a_row.chunks(ALONG).zip(b.chunks(ALONG * n)) {
            let mut rows = b_rows.chunks_exact(n);
            if let ([x0, x1, x2, x3], Some(y0), Some(y1), Some(y2), Some(y3)) =
                (xs, rows.next(), rows.next(), rows.next(), rows.next())
            {
                let ys = y0.iter().zip(y1).zip(y2.iter().zip(y3));
                for (d, ((y0, y1), (y2, y3))) in row.iter_mut().zip(ys) {
                    *d = *d + x0 * y0 + x1 * y1 + x2 * y2 + x3 * y3;
                }
                continue;
            }
            for (x, b_row) in xs.iter().zip(b_rows.chunks(n)) {
                row.iter_mut().zip(b_row).for_each(|(d, y)| *d += x * y);
            }
        }
    }
}
