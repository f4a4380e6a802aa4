//! Soft-max and layer normalisation.

use warploom_ir::interp::{Accumulate, Tensor};
use warploom_ir::{FloatKind, Type};

use super::{Launch, assert_rounded, kernel};
use crate::build::random;

const BF16: Type = Type::Float(FloatKind::BF16);

fn softmax(row: &[f64]) -> Vec<f64> {
    let peak = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = row.iter().map(|x| (x - peak).exp()).sum();
    row.iter().map(|x| (x - peak).exp() / total).collect()
}

/// Normalised rows, their means and reciprocal deviations.
fn layernorm(x: &[f64], weight: &[f64], bias: &[f64], eps: f64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (mut out, mut means, mut deviations) = (Vec::new(), Vec::new(), Vec::new());
    for row in x.chunks_exact(weight.len()) {
        let n = row.len() as f64;
        let mean = row.iter().sum::<f64>() / n;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        let deviation = (variance + eps).powf(-0.5);
        out.extend(row.iter().zip(weight).zip(bias).map(|((x, w), b)| (x - mean) * deviation * w + b));
        means.push(mean);
        deviations.push(deviation);
    }
    (out, means, deviations)
}

/// Rows with a large spread, so that a wrong maximum would overflow or vanish.
fn spread(shape: &[u64], seed: u64) -> Tensor {
    let mut t = Tensor::zeros(BF16, shape).unwrap();
    t.fill_random(seed, -30.0, 30.0);
    t
}

#[test]
fn softmax_of_rows() {
    let module = kernel("softmax");
    let (rows, cols) = (5, 1000);
    let x = spread(&[rows, cols], 1);
    let expected: Vec<f64> = x.to_f64().chunks_exact(cols as usize).flat_map(softmax).collect();
    let out = Tensor::zeros(BF16, &[rows, cols]).unwrap();
    let launch = Launch::new().ptr(&x).ptr(&out).int(cols).int(cols).int(rows).int(cols);
    let y = launch.run(&module, [2, 1, 1], Accumulate::F32, 1);
    assert_rounded("softmax", &y, &expected, 1e-6);
    let module = kernel("softmax_online");
    let (rows, cols) = (20, 600);
    let x = spread(&[rows, cols], 2);
    let expected: Vec<f64> = x.to_f64().chunks_exact(cols as usize).flat_map(softmax).collect();
    let out = Tensor::zeros(BF16, &[rows, cols]).unwrap();
    let launch = Launch::new().desc(&x).desc(&out).int(cols);
    let y = launch.run(&module, [2, 1, 1], Accumulate::F32, 1);
    assert_rounded("softmax_online", &y, &expected, 1e-6);
}

#[test]
fn layer_normalisation() {
    let eps = 1e-3;
    let module = kernel("layernorm");
    let (rows, cols) = (3, 1500);
    let (x, w, b) = (spread(&[rows, cols], 1), random(BF16, &[cols], 2), random(BF16, &[cols], 3));
    let (y, means, deviations) = layernorm(&x.to_f64(), &w.to_f64(), &b.to_f64(), eps);
    let zeros = |elem, shape: &[u64]| Tensor::zeros(elem, shape).unwrap();
    let mut launch = Launch::new().ptr(&x).ptr(&zeros(BF16, &[rows, cols])).ptr(&w).ptr(&b);
    launch =
        launch.ptr(&zeros(Type::F32, &[rows])).ptr(&zeros(Type::F32, &[rows])).int(cols).int(cols).float(eps);
    launch.go(&module, [rows, 1, 1], Accumulate::F32);
    assert_rounded("layernorm", &launch.tensor(1), &y, 1e-5);
    assert_rounded("layernorm", &launch.tensor(4), &means, 1e-5);
    assert_rounded("layernorm", &launch.tensor(5), &deviations, 1e-6);
    let module = kernel("layernorm_rows");
    let (rows, cols) = (19, 512);
    let (x, w, b) = (spread(&[rows, cols], 4), random(BF16, &[cols], 5), random(BF16, &[cols], 6));
    let (y, ..) = layernorm(&x.to_f64(), &w.to_f64(), &b.to_f64(), eps);
    let out = Tensor::zeros(BF16, &[rows, cols]).unwrap();
    let launch = Launch::new().desc(&x).desc(&out).desc(&w).desc(&b).int(rows).float(eps);
    let found = launch.run(&module, [2, 1, 1], Accumulate::F32, 1);
    assert_rounded("layernorm_rows", &found, &y, 1e-5);
}
