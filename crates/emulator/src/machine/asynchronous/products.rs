//! Elements of matrices as numbers, and the product itself (E41, E57).

use crate::isa::op::MatTy;
use crate::number::minifloat::{E2M1, E2M3, E3M2, E4M3, E5M2, bf16_value, f16_value};

/// The value of one element from its bits.
pub(crate) fn element(ty: MatTy, bits: u64) -> f64 {
    match ty {
        MatTy::F16 => f64::from(f16_value(bits as u16)),
        MatTy::BF16 => f64::from(bf16_value(bits as u16)),
        // tf32 drops the low 13 bits (E41).
        MatTy::TF32 => f64::from(f32::from_bits(bits as u32 & !0x1fff)),
        MatTy::E4M3 => E4M3.decode(bits as u32 & 0xff),
        MatTy::E5M2 => E5M2.decode(bits as u32 & 0xff),
        MatTy::E2M3 => E2M3.decode(bits as u32 & 0x3f),
        MatTy::E3M2 => E3M2.decode(bits as u32 & 0x3f),
        MatTy::E2M1 => E2M1.decode(bits as u32 >> 2 & 0xf),
        MatTy::PaddedE2M3 => E2M3.decode(bits as u32 & 0x3f),
        MatTy::PaddedE3M2 => E3M2.decode(bits as u32 & 0x3f),
        MatTy::PaddedE2M1 | MatTy::PackedE2M1 => E2M1.decode(bits as u32 & 0xf),
        MatTy::S8 => f64::from(bits as u8 as i8),
        MatTy::U8 => f64::from(bits as u8),
        MatTy::F64 => f64::from_bits(bits),
    }
}

/// The values of elements that stand side by side in sixteen bytes.
pub(crate) fn elements<'a>(ty: MatTy, bytes: &[u8; 16], to: impl Iterator<Item = &'a mut f64>) {
    if let Some(width) = ty.dense() {
        let all = u128::from_le_bytes(*bytes);
        let count = 16 * ty.packed();
        to.zip(0..count).for_each(|(d, i)| *d = element(ty, (all >> (i * width)) as u64));
        return;
    }
    let halves = bytes.as_chunks::<2>().0.iter().map(|b| u16::from_le_bytes(*b));
    // The kinds that products of tensor cores mostly have, without a choice for each element.
    match ty {
        MatTy::BF16 => to.zip(halves).for_each(|(d, b)| *d = f64::from(bf16_value(b))),
        MatTy::F16 => to.zip(halves).for_each(|(d, b)| *d = f64::from(f16_value(b))),
        _ => {
            let raw = bytes.chunks_exact(ty.bytes() as usize);
            let raw = raw.map(|raw| raw.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b)));
            to.zip(raw).for_each(|(d, bits)| *d = element(ty, bits));
        }
    }
}

/// Elements along k that are added before a sum is put back.
const ALONG: usize = 4;

/// `acc[m][n] += sum over k of a[m][k] * b[k][n]`, exact products, sums in f64 in the order of k (E57). Two rows go
/// through `b` together. The width of the vectors changes no sum: products and sums are rounded one by one.
pub(crate) fn multiply(acc: &mut [f64], a: &[f64], b: &[f64], n: usize, k: usize) {
    pulp::Arch::new().dispatch(Product { acc, a, b, n, k });
}

/// A product to be done with vectors of some width: a closure would be called without them.
struct Product<'a> {
    acc: &'a mut [f64],
    a: &'a [f64],
    b: &'a [f64],
    n: usize,
    k: usize,
}

impl pulp::WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        all_rows(self.acc, self.a, self.b, self.n, self.k);
    }
}

#[inline(always)]
fn all_rows(acc: &mut [f64], a: &[f64], b: &[f64], n: usize, k: usize) {
    for (rows, a_rows) in acc.chunks_mut(2 * n).zip(a.chunks(2 * k)) {
        let (row, k) = (n.min(rows.len()), k.min(a_rows.len()));
        let ((d, e), (x, z)) = (rows.split_at_mut(row), a_rows.split_at(k));
        let whole = if e.len() == n { k / ALONG * ALONG } else { 0 };
        for ((x, z), y) in x.chunks_exact(ALONG).zip(z.chunks_exact(ALONG)).zip(b.chunks_exact(ALONG * n)) {
            two_rows(d, e, [x, z], y);
        }
        one_by_one(d, x, b, whole);
        one_by_one(e, z, b, whole);
    }
}

/// Adds the products of `ALONG` elements of two rows.
#[inline(always)]
fn two_rows(d: &mut [f64], e: &mut [f64], [x, z]: [&[f64]; 2], y: &[f64]) {
    let mut rows = y.chunks_exact(d.len());
    let (&[x0, x1, x2, x3], &[z0, z1, z2, z3]) = (x, z) else { return };
    let (Some(y0), Some(y1), Some(y2), Some(y3)) = (rows.next(), rows.next(), rows.next(), rows.next())
    else {
        return;
    };
    let ys = y0.iter().zip(y1).zip(y2.iter().zip(y3));
    for ((d, e), ((y0, y1), (y2, y3))) in d.iter_mut().zip(e).zip(ys) {
        *d = *d + x0 * y0 + x1 * y1 + x2 * y2 + x3 * y3;
        *e = *e + z0 * y0 + z1 * y1 + z2 * y2 + z3 * y3;
    }
}

/// Adds the products of the elements of a row from `first` on.
#[inline(always)]
fn one_by_one(row: &mut [f64], xs: &[f64], b: &[f64], first: usize) {
    if !row.is_empty() {
        for (x, b_row) in xs.iter().zip(b.chunks(row.len())).skip(first) {
            row.iter_mut().zip(b_row).for_each(|(d, y)| *d += x * y);
        }
    }
}
