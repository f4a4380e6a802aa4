//! `tt.dot_scaled`: products of narrow floats with one scale for each group of elements along K.
//!
//! An element is its value times 2^(scale - 127) for 8-bit integer scales (255 is NaN), or times the magnitude of the
//! scale for 8-bit float scales: tensor cores take those of e4m3 without a sign (ue4m3). Scaled products exceed the range of
//! `f32`, so sums are kept in `f64` and rounded once.

use super::attrs;
use super::data::Data;
use super::dot::{Extents, multiply};
use super::error::Fault;
use super::float::decode;
use super::machine::Interpreter;
use super::value::Value;
use crate::attr::Attr;
use crate::entity::{OpId, ValueId};
use crate::types::{FloatKind, Type};

/// Element formats in the order of their numbers.
const FORMATS: [&str; 7] = ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "bf16", "fp16"];
const E2M1: usize = 4;

/// The magnitudes of the eight e2m1 codes; the fourth bit is the sign.
const E2M1_VALUES: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

pub(super) fn e2m1(code: u64) -> f64 {
    let magnitude = E2M1_VALUES[(code & 7) as usize];
    if code & 8 != 0 { -magnitude } else { magnitude }
}

/// A matrix of scaled operands, [rows, K].
struct Operand {
    rows: usize,
    k: usize,
    values: Vec<f64>,
}

impl Interpreter<'_> {
    pub(super) fn dot_scaled(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let operands = &self.module.ops[op].operands;
        let (a, b, c) = (self.operand(op, 0)?, self.operand(op, 1)?, self.operand(op, 2)?);
        let given = match attrs::ints(self.module, op, "operandSegmentSizes") {
            Ok(sizes) => [sizes.get(3) == Some(&1), sizes.get(4) == Some(&1)],
            Err(_) => [operands.len() > 3, operands.len() > 4],
        };
        let mut scales = operands.iter().skip(3).copied();
        let mut next = |given: bool| if given { scales.next() } else { None };
        let (a_scale, b_scale) = (next(given[0]), next(given[1]));
        let x = self.scaled(op, "a_elem_type", "lhs_k_pack", a, false, a_scale)?;
        let y = self.scaled(op, "b_elem_type", "rhs_k_pack", b, true, b_scale)?;
        let result = self.result_type(op, 0)?;
        if x.k != y.k || result.shape() != [x.rows as u64, y.rows as u64] || self.module.ty(c) != result {
            return Err(Fault::Malformed("tt.dot_scaled of shapes that do not belong together".into()));
        }
        let Type::Float(kind) = *result.elem() else {
            return Err(Fault::Malformed("tt.dot_scaled into integers".into()));
        };
        let extents = Extents { batch: 1, m: x.rows, n: y.rows, k: x.k };
        self.spend((x.rows as u64).saturating_mul(y.rows as u64).saturating_mul(x.k as u64))?;
        // The right operand goes back to [K, N].
        let right: Vec<f64> = (0..y.k).flat_map(|l| y.values.iter().skip(l).step_by(y.k)).copied().collect();
        let mut sums = self.tile(c)?.floats()?.to_vec();
        multiply(extents, &x.values, &right, &mut sums);
        let cx = self.context();
        Ok(vec![Data::Float(sums.into_iter().map(|v| cx.round(kind, v)).collect()).into()])
    }

    /// The values of an operand, scaled; `columns` says that it is stored [K, rows].
    fn scaled(
        &self,
        op: OpId,
        format: &str,
        packing: &str,
        id: ValueId,
        columns: bool,
        scale: Option<ValueId>,
    ) -> Result<Operand, Fault> {
        let ty = self.module.ty(id);
        let format = attrs::required(self.module, op, format, &FORMATS)?;
        let packed = format == E2M1;
        if packed && self.module.attr(op, packing).is_some_and(|a| *a == Attr::Bool(false)) {
            return Err(Fault::Unsupported(format!("tt.dot_scaled with {packing} = false")));
        }
        let &[outer, inner] = ty.shape() else {
            return Err(Fault::Malformed(format!("tt.dot_scaled of {ty}")));
        };
        let (rows, stored) =
            if columns { (inner as usize, outer as usize) } else { (outer as usize, inner as usize) };
        let k = if packed { stored.saturating_mul(2) } else { stored };
        let data = self.tile(id)?;
        let at = |row: usize, i: usize| if columns { i * rows + row } else { row * stored + i };
        let value = |row: usize, l: usize| -> Option<f64> {
            let at = at(row, if packed { l / 2 } else { l });
            match (&*data, format) {
                (Data::Int(v), E2M1) => Some(e2m1(v.get(at)? >> (4 * (l % 2)))),
                (Data::Int(v), 0) => Some(decode(FloatKind::F8E4M3FN, *v.get(at)?)),
                (Data::Int(v), 1) => Some(decode(FloatKind::F8E5M2, *v.get(at)?)),
                (Data::Float(v), 0 | 1 | 5 | 6) => v.get(at).copied(),
                _ => None,
            }
        };
        let unknown = || Fault::Unsupported(format!("tt.dot_scaled of {ty} as {}", FORMATS[format]));
        let scales = scale.map(|s| self.scales(s, rows)).transpose()?;
        let groups = scales.as_ref().map_or(1, |s| s.len() / rows.max(1));
        if groups == 0 || k % groups != 0 {
            return Err(Fault::Malformed("tt.dot_scaled with groups that do not divide K".into()));
        }
        let mut values = Vec::with_capacity(rows.saturating_mul(k));
        for row in 0..rows {
            for l in 0..k {
                let scale = scales.as_ref().map_or(1.0, |s| s[row * groups + l / (k / groups)]);
                values.push(value(row, l).ok_or_else(unknown)? * scale);
            }
        }
        Ok(Operand { rows, k, values })
    }

    /// The scales [rows, groups] as factors.
    fn scales(&self, id: ValueId, rows: usize) -> Result<Vec<f64>, Fault> {
        if self.module.ty(id).shape().first() != Some(&(rows as u64)) {
            return Err(Fault::Malformed("tt.dot_scaled with scales of another shape".into()));
        }
        match &*self.tile(id)? {
            Data::Int(codes) => Ok(codes.iter().map(|&code| e8m0(code)).collect()),
            Data::Float(values) => Ok(values.iter().map(|scale| scale.abs()).collect()),
        }
    }
}

/// A power of two by its biased exponent.
pub(super) fn e8m0(code: u64) -> f64 {
    match code {
        0..=254 => f64::from_bits((code + 1023 - 127) << 52),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_four_bits_and_of_scales() {
        // e2m1 by its definition: two exponent bits with bias 1, one mantissa bit.
        for code in 0..16u64 {
            let (exponent, mantissa) = (code >> 1 & 3, (code & 1) as f64 / 2.0);
            let magnitude =
                if exponent == 0 { mantissa } else { (1.0 + mantissa) * 2f64.powi(exponent as i32 - 1) };
            assert_eq!(e2m1(code), if code > 7 { -magnitude } else { magnitude });
        }
        assert_eq!((e8m0(127), e8m0(0), e8m0(254)), (1.0, 2f64.powi(-127), 2f64.powi(127)));
        assert!(e8m0(255).is_nan());
    }
}
