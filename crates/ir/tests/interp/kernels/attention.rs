//! Attention forward against soft-max(scale Q K^T) V, row by row.

use warploom_ir::interp::{Accumulate, Tensor};
use warploom_ir::{FloatKind, Type};

use super::{Launch, kernel};
use crate::build::random;

const BF16: Type = Type::Float(FloatKind::BF16);
const F16: Type = Type::Float(FloatKind::F16);

/// Output and logarithm of the sum of exponentials of one query row over these key and value rows.
fn row(q: &[f64], keys: &[&[f64]], values: &[&[f64]], scale: f64) -> (Vec<f64>, f64) {
    let scores: Vec<f64> =
        keys.iter().map(|k| scale * q.iter().zip(*k).map(|(a, b)| a * b).sum::<f64>()).collect();
    let peak = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = scores.iter().map(|s| (s - peak).exp()).collect();
    let total: f64 = weights.iter().sum();
    let out = (0..q.len()).map(|d| weights.iter().zip(values).map(|(w, v)| w * v[d]).sum::<f64>() / total);
    (out.collect(), peak + total.ln())
}

/// Weights are rounded to the operand type before the second product: this bounds what that does to sums.
fn assert_close(name: &str, found: &Tensor, expected: &[f64], bound: f64) {
    let difference = found.compare(expected).unwrap();
    assert!(difference.max_abs <= bound, "{name}: {difference:?}");
    assert!(expected.iter().any(|x| x.abs() > 0.05), "{name}: a reference of zeros");
}

struct Case {
    name: &'static str,
    elem: Type,
    d: u64,
    causal: bool,
}

fn check(case: &Case, length: u64, heads: u64) {
    let module = kernel(case.name);
    let rows = length * heads;
    let [q, k, v] = [1, 2, 3].map(|seed| random(case.elem.clone(), &[rows, case.d], seed));
    let scale = 1.0 / (case.d as f64).sqrt() * 3.0;
    let (x, y, z) = (q.to_f64(), k.to_f64(), v.to_f64());
    let split = |v: &'_ [f64]| v.chunks_exact(case.d as usize).map(<[f64]>::to_vec).collect::<Vec<_>>();
    let (x, y, z) = (split(&x), split(&y), split(&z));
    let (mut outputs, mut logs) = (Vec::new(), Vec::new());
    for (at, query) in x.iter().enumerate() {
        let base = at / length as usize * length as usize;
        let end = if case.causal { at + 1 } else { base + length as usize };
        let select = |rows: &'_ [Vec<f64>]| rows[base..end].to_vec();
        let (keys, values) = (select(&y), select(&z));
        let refs = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> { rows.to_vec() };
        let (keys, values) = (refs(&keys), refs(&values));
        let keys: Vec<&[f64]> = keys.iter().map(Vec::as_slice).collect();
        let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
        let (out, log) = row(query, &keys, &values, scale);
        outputs.extend(out);
        logs.push(log);
    }
    let log2e = std::f64::consts::LOG2_E;
    let zeros = |elem: &Type, shape: &[u64]| Tensor::zeros(elem.clone(), shape).unwrap();
    let mut launch = Launch::new().desc(&q).desc(&k).desc(&v).desc(&zeros(&case.elem, &[rows, case.d]));
    launch = launch.ptr(&zeros(&Type::F32, &[rows])).int(length).float(scale * log2e);
    launch.go(&module, [length / 128, heads, 1], Accumulate::F32);
    let bound = if case.elem == F16 { 1e-3 } else { 8e-3 };
    assert_close(case.name, &launch.tensor(3), &outputs, bound);
    assert_close(case.name, &launch.tensor(4), &logs, 1e-5);
}

#[test]
fn whole() {
    check(&Case { name: "attention", elem: BF16, d: 128, causal: false }, 256, 2);
    check(&Case { name: "attention_64", elem: BF16, d: 64, causal: false }, 256, 1);
    check(&Case { name: "attention.sm80", elem: BF16, d: 128, causal: false }, 128, 2);
}

#[test]
fn causal() {
    check(&Case { name: "attention_causal", elem: BF16, d: 128, causal: true }, 256, 2);
    check(&Case { name: "attention_causal.loc", elem: BF16, d: 128, causal: true }, 128, 1);
    check(&Case { name: "attention_causal_f16", elem: F16, d: 64, causal: true }, 256, 2);
}

#[test]
fn packed_sequences_of_unequal_length() {
    let module = kernel("attention_ragged");
    let (heads, d, starts) = (2usize, 64usize, [0usize, 70, 70, 231]);
    let (tokens, width) = (231u64, (heads * d) as u64);
    let [q, k, v] = [1, 2, 3].map(|seed| random(BF16, &[tokens, width], seed));
    let (x, y, z) = (q.to_f64(), k.to_f64(), v.to_f64());
    let scale = 0.3;
    let mut expected = vec![0.0; x.len()];
    let part = |v: &'_ [f64], token: usize, head: usize| v[(token * heads + head) * d..][..d].to_vec();
    for pair in starts.windows(2) {
        for head in 0..heads {
            let rows = |v: &[f64]| (pair[0]..pair[1]).map(|t| part(v, t, head)).collect::<Vec<_>>();
            let (keys, values) = (rows(&y), rows(&z));
            let keys: Vec<&[f64]> = keys.iter().map(Vec::as_slice).collect();
            let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
            for token in pair[0]..pair[1] {
                let (out, _) = row(&part(&x, token, head), &keys, &values, scale);
                expected[(token * heads + head) * d..][..d].copy_from_slice(&out);
            }
        }
    }
    let mut offsets = Tensor::zeros(Type::I32, &[4]).unwrap();
    offsets.fill(|i| starts[i] as f64);
    let out = Tensor::zeros(BF16, &[tokens, width]).unwrap();
    let launch = Launch::new().desc(&q).desc(&k).desc(&v).ptr(&out).ptr(&offsets);
    let launch = launch.float(scale * std::f64::consts::LOG2_E).int(heads as u64);
    let found = launch.run(&module, [2, 3, heads as u64], Accumulate::F32, 3);
    assert_close("attention_ragged", &found, &expected, 8e-3);
}
