//! `tt.dot`: products of tiles.
//!
//! An element of the result is `c + a0 b0 + a1 b1 + ..` in the order of K. Products of 16-bit, 8-bit and tf32
//! operands are exact in `f32`; each sum is rounded to `f32`, or to `f64` in that mode. Tensor cores align
//! products before they add and truncate: they differ from this by a few units in the last place of the
//! largest term. `maxNumImpreciseAcc` (C7) bounds the error of such hardware and changes nothing here.

use std::ops::{Add, Mul};

use super::attrs;
use super::context::Context;
use super::data::{Data, int_width, signed, wrap};
use super::error::Fault;
use super::float::tf32;
use super::machine::Interpreter;
use super::options::Accumulate;
use super::value::Value;
use crate::entity::OpId;
use crate::types::{FloatKind, Type};

/// Extents of a product, batched or not.
#[derive(Clone, Copy)]
pub(super) struct Extents {
    pub batch: usize,
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

/// Names of `inputPrecision` in the order of their numbers.
const PRECISIONS: [&str; 5] = ["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"];

impl Interpreter<'_> {
    pub(super) fn dot(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let module = self.module;
        let [a, b, c] = module.ops[op].operands[..] else {
            return Err(Fault::Malformed("tt.dot needs three operands".into()));
        };
        let result = self.result_type(op, 0)?;
        let extents = extents(module.ty(a), module.ty(b), module.ty(c), result)?;
        let work = [extents.batch, extents.m, extents.n, extents.k]
            .iter()
            .fold(1u64, |w, &n| w.saturating_mul(n as u64));
        self.spend(work)?;
        let (from, to) = (module.ty(a).elem(), result.elem());
        let (a, b, c) = (self.tile(a)?, self.tile(b)?, self.tile(c)?);
        let data = match (from, to) {
            (Type::Float(from), Type::Float(to)) => {
                let truncate = *from == FloatKind::F32 && self.uses_tf32(op)?;
                float_dot(self.context(), extents, truncate, *from, *to, [&a, &b, &c])?
            }
            (Type::Int(..), Type::Int(..)) => {
                int_dot(extents, int_width(from)?, int_width(to)?, [&a, &b, &c])?
            }
            _ => return Err(Fault::Malformed(format!("tt.dot from {from} to {to}"))),
        };
        Ok(vec![data.into()])
    }

    /// Whether `f32` operands lose their low bits; no `inputPrecision` means `ieee` (C5).
    fn uses_tf32(&self, op: OpId) -> Result<bool, Fault> {
        // Sums of products of parts come near to all bits.
        Ok(attrs::keyword(self.module, op, "inputPrecision", &PRECISIONS)? == Some(0))
    }
}

fn extents(a: &Type, b: &Type, c: &Type, result: &Type) -> Result<Extents, Fault> {
    let shapes = match (a.shape(), b.shape(), result.shape()) {
        ([m, k], [k2, n], [m2, n2]) if k == k2 && m == m2 && n == n2 => Some([1, *m, *n, *k]),
        ([p, m, k], [p2, k2, n], [p3, m2, n2]) if p == p2 && p == p3 && k == k2 && m == m2 && n == n2 => {
            Some([*p, *m, *n, *k])
        }
        _ => None,
    };
    match shapes {
        Some([batch, m, n, k]) if c == result && a.elem_bits() == b.elem_bits() => {
            Ok(Extents { batch: batch as usize, m: m as usize, n: n as usize, k: k as usize })
        }
        _ => Err(Fault::Malformed(format!("tt.dot of {a} and {b} into {c}"))),
    }
}

fn float_dot(
    cx: Context<'_>,
    extents: Extents,
    truncate: bool,
    from: FloatKind,
    to: FloatKind,
    [a, b, c]: [&Data; 3],
) -> Result<Data, Fault> {
    let operand = |v: &Data| -> Result<Vec<f64>, Fault> {
        let v = v.floats()?;
        Ok(if truncate { v.iter().map(|&x| f64::from(tf32(x as f32))).collect() } else { v.to_vec() })
    };
    let (a, b, c) = (operand(a)?, operand(b)?, c.floats()?);
    let wide = from == FloatKind::F64 || to == FloatKind::F64 || cx.options.accumulate == Accumulate::F64;
    let sums = if wide {
        let mut sums = c.to_vec();
        multiply(extents, &a, &b, &mut sums);
        sums
    } else {
        let narrow = |v: &[f64]| v.iter().map(|&x| x as f32).collect::<Vec<f32>>();
        let mut sums = narrow(c);
        multiply(extents, &narrow(&a), &narrow(&b), &mut sums);
        sums.into_iter().map(f64::from).collect()
    };
    Ok(Data::Float(sums.into_iter().map(|x| cx.round(to, x)).collect()))
}

fn int_dot(extents: Extents, from: u32, to: u32, [a, b, c]: [&Data; 3]) -> Result<Data, Fault> {
    use std::num::Wrapping;
    let widen = |v: &Data, bits| -> Result<Vec<_>, Fault> {
        Ok(v.ints()?.iter().map(|&x| Wrapping(signed(x, bits))).collect())
    };
    let mut sums = widen(c, to)?;
    multiply(extents, &widen(a, from)?, &widen(b, from)?, &mut sums);
    Ok(Data::Int(sums.into_iter().map(|x| wrap(x.0 as u64, to)).collect()))
}

/// `c += a b`, each sum in the order of K; row-major operands.
pub(super) fn multiply<T: Copy + Add<Output = T> + Mul<Output = T>>(
    e: Extents,
    a: &[T],
    b: &[T],
    c: &mut [T],
) {
    if [e.batch, e.m, e.n, e.k].contains(&0) {
        return;
    }
    let batches = a.chunks_exact(e.m * e.k).zip(b.chunks_exact(e.k * e.n)).zip(c.chunks_exact_mut(e.m * e.n));
    for ((a, b), c) in batches.take(e.batch) {
        for (a_row, c_row) in a.chunks_exact(e.k).zip(c.chunks_exact_mut(e.n)) {
            // Four rows of B at a time: the sums stay in registers, in unchanged order.
            let (a_fours, a_rest) = a_row.as_chunks::<4>();
            let mut b_fours = b.chunks_exact(4 * e.n);
            for (&[a0, a1, a2, a3], rows) in a_fours.iter().zip(&mut b_fours) {
                let (b01, b23) = rows.split_at(2 * e.n);
                let ((b0, b1), (b2, b3)) = (b01.split_at(e.n), b23.split_at(e.n));
                for ((((c, &b0), &b1), &b2), &b3) in c_row.iter_mut().zip(b0).zip(b1).zip(b2).zip(b3) {
                    *c = *c + a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3;
                }
            }
            for (&a, row) in a_rest.iter().zip(b_fours.remainder().chunks_exact(e.n)) {
                c_row.iter_mut().zip(row).for_each(|(c, &b)| *c = *c + a * b);
            }
        }
    }
}
