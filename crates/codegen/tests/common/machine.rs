//! Runs the PTX of a test program on the emulator and compares the product with a plain one in f64.

#![allow(dead_code, reason = "each test file uses its own part")]

#[path = "launch.rs"]
pub mod launch;

use half::{bf16, f16};
use launch::Case as Launch;
use warploom_codegen::Emitted;
use warploom_emulator::{Arg, Policy};

use crate::common::Gemm;

/// A matrix in memory: bytes of its elements, row by row.
pub struct Matrix {
    pub rows: u64,
    pub cols: u64,
    pub elem: &'static str,
    pub bytes: Vec<u8>,
}

/// An 8-bit float by its exponent bits and bias; no infinities wanted.
fn minifloat(bits: u8, exponent: u32, mantissa: u32) -> f64 {
    let bias = (1i32 << (exponent - 1)) - 1;
    let e = i32::from(bits >> mantissa) & ((1 << exponent) - 1);
    let m = f64::from(bits & ((1 << mantissa) - 1)) / f64::from(1u32 << mantissa);
    let size = if e == 0 { m * 2f64.powi(1 - bias) } else { (1.0 + m) * 2f64.powi(e - bias) };
    if bits & 0x80 != 0 { -size } else { size }
}

/// One element.
pub fn value(elem: &str, bytes: &[u8]) -> f64 {
    match elem {
        "f32" => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
        "f16" => f16::from_le_bytes(bytes.try_into().unwrap()).to_f64(),
        "bf16" => bf16::from_le_bytes(bytes.try_into().unwrap()).to_f64(),
        "f8E4M3FN" => minifloat(bytes[0], 4, 3),
        _ => minifloat(bytes[0], 5, 2),
    }
}

/// Small numbers that every format holds exactly: multiples of 1/8 in -1..1.
pub fn fill(elem: &str, count: u64, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 33) % 15) as f32 / 8.0 - 0.875
    };
    let small = |exponent, mantissa, x: f32| {
        let wanted = f64::from(x);
        let near = |b: &u8| (minifloat(*b, exponent, mantissa) - wanted).abs();
        (0..=255u8).filter(|b| b & 0x7f < 0x78).min_by(|a, b| near(a).total_cmp(&near(b))).unwrap()
    };
    let encode = |x: f32| match elem {
        "f32" => x.to_le_bytes().to_vec(),
        "f16" => f16::from_f32(x).to_le_bytes().to_vec(),
        "bf16" => bf16::from_f32(x).to_le_bytes().to_vec(),
        "f8E4M3FN" => vec![small(4, 3, x)],
        _ => vec![small(5, 2, x)],
    };
    let table: Vec<Vec<u8>> = (0..15).map(|i| encode(i as f32 / 8.0 - 0.875)).collect();
    (0..count).flat_map(|_| table[((next() + 0.875) * 8.0) as usize].clone()).collect()
}

impl Matrix {
    pub fn random(rows: u64, cols: u64, elem: &'static str, seed: u64) -> Matrix {
        Matrix { rows, cols, elem, bytes: fill(elem, rows * cols, seed) }
    }

    pub fn zero(rows: u64, cols: u64, elem: &'static str) -> Matrix {
        let bytes = vec![0; (rows * cols * crate::common::bytes(elem)) as usize];
        Matrix { rows, cols, elem, bytes }
    }

    pub fn values(&self) -> Vec<f64> {
        self.bytes
            .chunks_exact(crate::common::bytes(self.elem) as usize)
            .map(|b| value(self.elem, b))
            .collect()
    }
}

/// Sizes of a run, and the arguments behind K.
pub struct Case {
    pub size: [u64; 3],
    pub policy: Policy,
    /// Buffers and scalars for the parameters of the epilogue.
    pub args: Vec<Extra>,
}

/// An argument of the epilogue.
pub enum Extra {
    /// A pointer to these bytes.
    Buffer(Vec<u8>),
    /// A scalar.
    Scalar(Arg),
}

/// Result of a run: the product before the epilogue, the tile beside it, and what the kernel stored.
pub struct Run {
    pub product: Vec<f64>,
    pub extra: Vec<f64>,
    pub stored: Vec<f64>,
    /// The buffers of the epilogue afterwards.
    pub buffers: Vec<Vec<u8>>,
}

/// Runs a program. Panics where the emulator finds anything.
pub fn run(gemm: &Gemm, emitted: &Emitted, case: &Case) -> Run {
    let [m, n, trips_k] = case.size;
    // A tensor map has no empty dimension.
    let k = trips_k.max(gemm.k);
    let shape = |major: bool, outer: u64| if major { (outer, k) } else { (k, outer) };
    let ((ar, ac), (br, bc)) = (shape(gemm.k_major[0], m), shape(gemm.k_major[1], n));
    let a = Matrix::random(ar, ac, gemm.elems[0], 1);
    let b = Matrix::random(br, bc, gemm.elems[1], 2);
    let c = Matrix::zero(m, n, gemm.out);
    let e = gemm.extra.map(|elem| Matrix::random(m, n, elem, 3));
    let mut launch = Launch::new(gemm.chip, emitted);
    for matrix in [&a, &b, &c].into_iter().chain(&e) {
        launch = launch.matrix(&matrix.bytes, matrix.rows, matrix.cols);
    }
    launch = launch.scalar(Arg::I32(trips_k as i32));
    for extra in &case.args {
        launch = match extra {
            Extra::Buffer(bytes) => launch.buffer(bytes),
            Extra::Scalar(arg) => launch.scalar(arg.clone()),
        };
    }
    let grid = [m.div_ceil(gemm.m) as u32, n.div_ceil(gemm.n) as u32, 1];
    let mut after = launch.run(grid, case.policy);
    let buffers = after.split_off(if e.is_some() { 4 } else { 3 });
    let stored = Matrix { bytes: after.swap_remove(2), ..c };
    let (va, vb) = (a.values(), b.values());
    let at = |values: &[f64], major: bool, width: u64, outer: u64, k: u64| {
        values[if major { outer * width + k } else { k * width + outer } as usize]
    };
    let mut product = Vec::new();
    for i in 0..m {
        for j in 0..n {
            let term = |k| at(&va, gemm.k_major[0], ac, i, k) * at(&vb, gemm.k_major[1], bc, j, k);
            product.push((0..trips_k).map(term).sum());
        }
    }
    Run { product, buffers, extra: e.map(|e| e.values()).unwrap_or_default(), stored: stored.values() }
}

/// Largest difference between what was stored and what should have been, relative to 1 + its size.
pub fn error(found: &[f64], wanted: impl Iterator<Item = f64>) -> f64 {
    found
        .iter()
        .zip(wanted)
        .map(|(f, w)| if f.is_finite() { (f - w).abs() / (1.0 + w.abs()) } else { f64::MAX })
        .fold(0.0, f64::max)
}
