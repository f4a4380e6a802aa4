//! Host-side tensors: what tests fill, upload, download and compare.

use super::data::{elem_bytes, from_bits, int_width, pattern, wrap};
use super::error::Fault;
use super::float::{Rounding, cast_overflow, encode};
use crate::types::Type;

/// A strided tensor in host memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Tensor {
    elem: Type,
    shape: Vec<u64>,
    strides: Vec<u64>,
    bytes: Vec<u8>,
}

/// How far two tensors are apart.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Difference {
    /// Largest absolute difference; infinite where exactly one of two values is NaN, or the infinities differ.
    pub max_abs: f64,
    /// Largest difference relative to the largest magnitude of the expected values.
    pub max_rel: f64,
    /// Position of the largest absolute difference, row-major.
    pub at: usize,
    /// The value found there.
    pub found: f64,
    /// The value expected there.
    pub expected: f64,
}

impl Tensor {
    /// A row-major tensor of zeros.
    ///
    /// # Errors
    /// [`Fault::Unsupported`] for elements without a size in memory, [`Fault::TileLimit`] for more bytes than
    /// an address can count.
    pub fn zeros(elem: Type, shape: &[u64]) -> Result<Tensor, Fault> {
        let mut strides = vec![1u64; shape.len()];
        for d in (1..shape.len()).rev() {
            strides[d - 1] = strides[d].saturating_mul(shape[d].max(1));
        }
        Tensor::with_strides(elem, shape, &strides)
    }

    /// A tensor of zeros with these strides in elements; gaps between rows are zero too.
    ///
    /// # Errors
    /// As [`Tensor::zeros`], and [`Fault::Malformed`] if shape and strides differ in rank.
    pub fn with_strides(elem: Type, shape: &[u64], strides: &[u64]) -> Result<Tensor, Fault> {
        if shape.len() != strides.len() {
            return Err(Fault::Malformed("shape and strides of different rank".into()));
        }
        let size = elem_bytes(&elem)? as u64;
        let last = shape
            .iter()
            .zip(strides)
            .try_fold(0u64, |at, (&n, &s)| at.checked_add(n.checked_sub(1)?.checked_mul(s)?));
        let elements = if shape.contains(&0) { Some(0) } else { last.and_then(|at| at.checked_add(1)) };
        let bytes = elements.and_then(|n| n.checked_mul(size)).and_then(|n| usize::try_from(n).ok());
        match bytes.filter(|&n| n <= isize::MAX as usize) {
            Some(n) => {
                Ok(Tensor { elem, shape: shape.to_vec(), strides: strides.to_vec(), bytes: vec![0; n] })
            }
            None => Err(Fault::TileLimit(isize::MAX as u64)),
        }
    }

    /// Element type.
    pub fn elem(&self) -> &Type {
        &self.elem
    }

    /// Extents, outermost first.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Strides in elements, outermost first.
    pub fn strides(&self) -> &[u64] {
        &self.strides
    }

    /// The bytes, gaps included.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same tensor with other bytes; `None` if their number differs.
    pub fn with_bytes(&self, bytes: Vec<u8>) -> Option<Tensor> {
        (bytes.len() == self.bytes.len()).then(|| Tensor { bytes, ..self.clone() })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        if self.is_empty() { 0 } else { self.shape.iter().product::<u64>() as usize }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Byte positions of the elements, row-major.
    fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let size = elem_bytes(&self.elem).unwrap_or(1);
        let (shape, strides) = (self.shape.clone(), self.strides.clone());
        (0..self.len()).map(move |mut index| {
            let mut at = 0;
            for (&extent, &stride) in shape.iter().zip(&strides).rev() {
                at += index % extent as usize * stride as usize;
                index /= extent as usize;
            }
            at * size
        })
    }

    /// Sets every element, row-major, rounding as casts of C68 do; integers take the low bits of the value.
    pub fn fill(&mut self, mut value: impl FnMut(usize) -> f64) {
        let size = elem_bytes(&self.elem).unwrap_or(1);
        for (index, place) in self.places().enumerate() {
            let value = value(index);
            let bits = match &self.elem {
                Type::Float(kind) => encode(*kind, value, Rounding::NearestEven, cast_overflow(*kind)),
                other => wrap(value as i64 as u64, int_width(other).unwrap_or(64)),
            };
            self.bytes[place..place + size].copy_from_slice(&bits.to_le_bytes()[..size]);
        }
    }

    /// Sets every element to a random value in `low..high`, the same for the same seed on every machine.
    /// Integer elements get whole numbers.
    pub fn fill_random(&mut self, seed: u64, low: f64, high: f64) {
        let mut random = SplitMix64(seed);
        self.fill(|_| low + (high - low) * random.unit());
    }

    /// The elements, row-major; integers are read as signed unless their type says otherwise.
    pub fn to_f64(&self) -> Vec<f64> {
        use crate::types::Signedness;
        let size = elem_bytes(&self.elem).unwrap_or(1);
        let patterns: Vec<u64> = self.places().map(|p| pattern(&self.bytes[p..p + size])).collect();
        let bits = int_width(&self.elem).unwrap_or(64);
        match (&self.elem, from_bits(&self.elem, patterns)) {
            (_, Ok(super::data::Data::Float(values))) => values,
            (Type::Int(1, _) | Type::Int(_, Signedness::Unsigned), Ok(super::data::Data::Int(values))) => {
                values.into_iter().map(|v| v as f64).collect()
            }
            (_, Ok(super::data::Data::Int(values))) => {
                values.into_iter().map(|v| super::data::signed(v, bits) as f64).collect()
            }
            (_, Err(_)) => Vec::new(),
        }
    }

    /// How far this is from the expected values, row-major. `None` if their number differs or is zero.
    pub fn compare(&self, expected: &[f64]) -> Option<Difference> {
        let found = self.to_f64();
        if found.len() != expected.len() {
            return None;
        }
        let scale = expected.iter().filter(|x| x.is_finite()).fold(0.0f64, |m, x| m.max(x.abs()));
        let apart = |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
            (true, true) => 0.0,
            (false, false) if a == b => 0.0,
            (false, false) => (a - b).abs(),
            _ => f64::INFINITY,
        };
        let pairs = found.iter().zip(expected).enumerate();
        let (at, max_abs) =
            pairs.map(|(i, (&a, &b))| (i, apart(a, b))).reduce(|x, y| if y.1 > x.1 { y } else { x })?;
        let max_rel = if max_abs == 0.0 { 0.0 } else { max_abs / scale };
        Some(Difference { max_abs, max_rel, at, found: found[at], expected: expected[at] })
    }
}

/// Steele, Lea and Flood's SplitMix64: small, seeded, the same everywhere.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A value in `0..1`.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::FloatKind;

    #[test]
    fn values_are_rounded_to_the_element_type_and_read_back() {
        let mut t = Tensor::zeros(Type::Float(FloatKind::F8E4M3FN), &[2, 2]).unwrap();
        t.fill(|i| [0.3, -1000.0, 1.0, f64::NAN][i]);
        let values = t.to_f64();
        assert_eq!(values[..3], [0.3125, -448.0, 1.0]);
        assert!(values[3].is_nan());
        let mut t = Tensor::zeros(Type::int(8), &[2]).unwrap();
        t.fill(|i| [-3.0, 127.0][i]);
        assert_eq!(t.to_f64(), [-3.0, 127.0]);
    }

    #[test]
    fn strides_leave_gaps_and_may_transpose() {
        let mut t = Tensor::with_strides(Type::int(8), &[2, 3], &[1, 4]).unwrap();
        t.fill(|i| i as f64 + 1.0);
        assert_eq!(t.bytes(), [1, 4, 0, 0, 2, 5, 0, 0, 3, 6]);
        assert_eq!(t.to_f64(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn a_seed_gives_the_same_values_again() {
        let mut a = Tensor::zeros(Type::F32, &[64]).unwrap();
        let mut b = a.clone();
        a.fill_random(1, -1.0, 1.0);
        b.fill_random(1, -1.0, 1.0);
        assert_eq!(a, b);
        b.fill_random(2, -1.0, 1.0);
        assert_ne!(a, b);
        assert!(a.to_f64().iter().all(|x| (-1.0..=1.0).contains(x)));
    }

    #[test]
    fn differences_count_nan_and_infinity() {
        let mut t = Tensor::zeros(Type::F32, &[3]).unwrap();
        t.fill(|i| [1.0, f64::NAN, f64::INFINITY][i]);
        assert_eq!(t.compare(&[1.0, f64::NAN, f64::INFINITY]).unwrap().max_abs, 0.0);
        let d = t.compare(&[1.5, f64::NAN, f64::INFINITY]).unwrap();
        assert_eq!((d.max_abs, d.at, d.found, d.expected), (0.5, 0, 1.0, 1.5));
        assert_eq!(t.compare(&[1.0, 0.0, f64::INFINITY]).unwrap().max_abs, f64::INFINITY);
        assert_eq!(t.compare(&[1.0, f64::NAN, 0.0]).unwrap().max_abs, f64::INFINITY);
        assert!(t.compare(&[1.0]).is_none());
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert!(Tensor::zeros(Type::F32, &[u64::MAX, 2]).is_err());
        assert!(Tensor::zeros(Type::Index, &[1 << 62]).is_err());
        assert!(Tensor::with_strides(Type::F32, &[2], &[]).is_err());
        assert!(Tensor::zeros(Type::None, &[1]).is_err());
    }
}
