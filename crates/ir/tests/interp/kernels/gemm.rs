//! Matrix products.

use warploom_ir::interp::{Accumulate, Tensor};
use warploom_ir::{FloatKind, Type};

use super::{BOTH, Launch, assert_rounded, kernel, product, transposed};
use crate::build::random;

const BF16: Type = Type::Float(FloatKind::BF16);
const F16: Type = Type::Float(FloatKind::F16);
const E4M3: Type = Type::Float(FloatKind::F8E4M3FN);
const E5M2: Type = Type::Float(FloatKind::F8E5M2);

fn zeros(elem: &Type, shape: &[u64]) -> Tensor {
    Tensor::zeros(elem.clone(), shape).unwrap()
}

/// How far sums of `k` products of values up to 1 may be off.
fn slack(accumulate: Accumulate, k: u64) -> f64 {
    match accumulate {
        Accumulate::F64 => 1e-7,
        _ => (k * k) as f64 / 3.0 * 2f64.powi(-24),
    }
}

/// A plain product: element types, tile, and which operands are stored transposed.
struct Plain {
    name: &'static str,
    elem: Type,
    out: Type,
    tile: [u64; 2],
    /// A is [K, M], B is [N, K].
    turned: [bool; 2],
}

fn plain(name: &'static str, elem: Type, out: Type, tile: [u64; 2]) -> Plain {
    Plain { name, elem, out, tile, turned: [false, true] }
}

fn check(case: &Plain, [m, n, k]: [u64; 3]) {
    let module = kernel(case.name);
    let order = |rows, turned: bool| if turned { [k, rows] } else { [rows, k] };
    let a = random(case.elem.clone(), &order(m, case.turned[0]), 1);
    let b = random(case.elem.clone(), &order(n, !case.turned[1]), 2);
    let cut = |t: &Tensor| -> Vec<f64> {
        let tf32 = |x: f64| f64::from(f32::from_bits((x as f32).to_bits() >> 13 << 13));
        t.to_f64().into_iter().map(|x| if case.elem == Type::F32 { tf32(x) } else { x }).collect()
    };
    let x = if case.turned[0] { transposed(&cut(&a), m as usize) } else { cut(&a) };
    let y = if case.turned[1] { cut(&b) } else { transposed(&cut(&b), n as usize) };
    let expected = product(&x, &y, k as usize);
    let grid = [m.div_ceil(case.tile[0]), n.div_ceil(case.tile[1]), 1];
    for accumulate in BOTH {
        let launch = Launch::new().desc(&a).desc(&b).desc(&zeros(&case.out, &[m, n])).int(k);
        let c = launch.run(&module, grid, accumulate, 2);
        assert_rounded(case.name, &c, &expected, slack(accumulate, k));
    }
}

#[test]
fn bf16() {
    check(&plain("gemm_bf16", BF16, BF16, [128, 256]), [140, 300, 100]);
    check(&plain("gemm_bf16", BF16, BF16, [128, 256]), [128, 256, 128]);
    check(&plain("gemm_bf16", BF16, BF16, [128, 256]), [1, 1, 1]);
    check(&plain("gemm_bf16.loc", BF16, BF16, [128, 256]), [30, 40, 65]);
    check(&plain("gemm_bf16_128", BF16, BF16, [128, 128]), [129, 60, 130]);
    check(&plain("gemm_bf16_64", BF16, BF16, [64, 64]), [65, 130, 63]);
    check(&plain("gemm_bf16_f32", BF16, Type::F32, [128, 128]), [100, 140, 70]);
    check(&plain("gemm_bf16_128.sm80", BF16, BF16, [128, 128]), [129, 60, 130]);
    check(&plain("while_loop", BF16, BF16, [128, 128]), [50, 140, 130]);
}

#[test]
fn f16_in_every_order() {
    for (name, turned) in
        [("gemm_f16_nn", [false, false]), ("gemm_f16_tn", [true, false]), ("gemm_f16_tt", [true, true])]
    {
        check(&Plain { name, elem: F16, out: F16, tile: [128, 256], turned }, [140, 260, 70]);
    }
}

#[test]
fn narrow_and_wide_operands() {
    check(&plain("gemm_fp8", E4M3, BF16, [128, 256]), [130, 100, 150]);
    check(&plain("gemm_fp8_e5m2", E5M2, F16, [128, 128]), [130, 100, 150]);
    check(&plain("hints", E4M3, BF16, [128, 128]), [130, 100, 150]);
    check(&plain("gemm_tf32", Type::F32, Type::F32, [128, 128]), [130, 100, 50]);
}

#[test]
fn persistent_programs_cover_every_tile() {
    for name in ["gemm_persistent", "gemm_persistent_flat"] {
        let module = kernel(name);
        let [m, n, k] = [300, 600, 20];
        let (a, b) = (random(BF16, &[m, k], 1), random(BF16, &[n, k], 2));
        let expected = product(&a.to_f64(), &b.to_f64(), k as usize);
        for programs in [1, 2, 20] {
            let launch = Launch::new().desc(&a).desc(&b).desc(&zeros(&BF16, &[m, n])).int(m).int(n).int(k);
            let c = launch.run(&module, [programs, 1, 1], Accumulate::F32, 2);
            assert_rounded(name, &c, &expected, slack(Accumulate::F32, k));
        }
    }
}

#[test]
fn batched() {
    let module = kernel("gemm_batched");
    let [p, m, n, k] = [3, 130, 20, 70];
    let (a, b) = (random(BF16, &[p, m, k], 1), random(BF16, &[p, n, k], 2));
    let (x, y) = (a.to_f64(), b.to_f64());
    let batches = x.chunks_exact((m * k) as usize).zip(y.chunks_exact((n * k) as usize));
    let expected: Vec<f64> = batches.flat_map(|(x, y)| product(x, y, k as usize)).collect();
    let launch = Launch::new().desc(&a).desc(&b).desc(&zeros(&BF16, &[p, m, n])).int(k);
    let c = launch.run(&module, [2, 1, p], Accumulate::F32, 2);
    assert_rounded("gemm_batched", &c, &expected, slack(Accumulate::F32, k));
}

#[test]
fn pointers_and_descriptors_made_inside() {
    let [m, n, k] = [140, 130, 50];
    let module = kernel("gemm_pointers");
    let (a, b) = (random(F16, &[m, k], 1), random(F16, &[k, n], 2));
    let expected = product(&a.to_f64(), &transposed(&b.to_f64(), n as usize), k as usize);
    let launch = Launch::new().ptr(&a).ptr(&b).ptr(&zeros(&F16, &[m, n]));
    let launch = launch.int(m).int(n).int(k).int(k).int(n).int(n);
    let c = launch.run(&module, [2, 2, 1], Accumulate::F32, 2);
    assert_rounded("gemm_pointers", &c, &expected, slack(Accumulate::F32, k));
    let module = kernel("gemm_device_descriptors");
    let (a, b) = (random(BF16, &[m, k], 1), random(BF16, &[n, k], 2));
    let expected = product(&a.to_f64(), &b.to_f64(), k as usize);
    let launch = Launch::new().ptr(&a).ptr(&b).ptr(&zeros(&BF16, &[m, n]));
    let launch = launch.int(m).int(n).int(k).int(k).int(k).int(n);
    let c = launch.run(&module, [2, 1, 1], Accumulate::F32, 2);
    assert_rounded("gemm_device_descriptors", &c, &expected, slack(Accumulate::F32, k));
}

#[test]
fn split_k_adds_its_parts_atomically() {
    let module = kernel("split_k");
    let [m, n, k] = [128, 256, 330];
    let (a, b) = (random(BF16, &[m, k], 1), random(BF16, &[n, k], 2));
    let expected = product(&a.to_f64(), &b.to_f64(), k as usize);
    let launch = Launch::new().desc(&a).desc(&b).ptr(&zeros(&Type::F32, &[m, n])).int(n).int(k);
    let c = launch.run(&module, [1, 2, 4], Accumulate::F32, 2);
    assert_rounded("split_k", &c, &expected, slack(Accumulate::F32, k));
}

#[test]
fn a_branch_in_the_loop() {
    for name in ["if_in_loop", "if_in_loop.loc"] {
        let module = kernel(name);
        let [m, n, k] = [100, 128, 150];
        let (a, b, bias) = (random(BF16, &[m, k], 1), random(BF16, &[n, k], 2), random(Type::F32, &[n], 3));
        let mut expected = product(&a.to_f64(), &b.to_f64(), k as usize);
        let bias_values = bias.to_f64();
        expected.iter_mut().enumerate().for_each(|(p, x)| *x += bias_values[p % n as usize]);
        let launch = Launch::new().desc(&a).desc(&b).desc(&zeros(&BF16, &[m, n])).ptr(&bias).int(k);
        let c = launch.run(&module, [1, 1, 1], Accumulate::F32, 2);
        assert_rounded(name, &c, &expected, slack(Accumulate::F32, k));
    }
}

/// The error function by its series, which converges for every argument.
fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

#[test]
fn epilogues() {
    type Activation = fn(f64) -> f64;
    let cases: [(&str, bool, bool, Activation); 5] = [
        ("gemm_epilogue_relu", true, true, |x| x.max(0.0)),
        ("gemm_epilogue_gelu", true, true, |x| 0.5 * x * (1.0 + erf(x / 2f64.sqrt()))),
        ("gemm_epilogue_gelu.loc", true, true, |x| 0.5 * x * (1.0 + erf(x / 2f64.sqrt()))),
        ("gemm_epilogue_silu", true, false, |x| x / (1.0 + (-x).exp())),
        ("gemm_epilogue_alpha", false, false, |x| x),
    ];
    let [m, n, k] = [130, 140, 60];
    let (alpha, beta) = (0.25, -1.5);
    let (a, b) = (random(BF16, &[m, k], 1), random(BF16, &[n, k], 2));
    let (c, bias) = (random(BF16, &[m, n], 3), random(BF16, &[n], 4));
    let (c_values, bias_values) = (c.to_f64(), bias.to_f64());
    let sums = product(&a.to_f64(), &b.to_f64(), k as usize);
    for (name, with_bias, with_c, activation) in cases {
        let module = kernel(name);
        let expected: Vec<f64> = sums
            .iter()
            .enumerate()
            .map(|(p, sum)| {
                let scaled = alpha * sum + if with_c { beta * c_values[p] } else { 0.0 };
                activation(scaled + if with_bias { bias_values[p % n as usize] } else { 0.0 })
            })
            .collect();
        for accumulate in BOTH {
            let launch = Launch::new().desc(&a).desc(&b).desc(&c).desc(&zeros(&BF16, &[m, n])).ptr(&bias);
            let launch = launch.float(alpha).float(beta).int(n).int(k);
            let d = launch.run(&module, [2, 1, 1], accumulate, 3);
            assert_rounded(name, &d, &expected, slack(accumulate, k));
        }
    }
}

#[test]
fn row_scales() {
    let module = kernel("gemm_fp8_scaled");
    let [m, n, k] = [140, 150, 200];
    let (a, b) = (random(E4M3, &[m, k], 1), random(E4M3, &[n, k], 2));
    let (sa, sb) = (random(Type::F32, &[m], 3), random(Type::F32, &[n], 4));
    let (x, y) = (sa.to_f64(), sb.to_f64());
    let mut expected = product(&a.to_f64(), &b.to_f64(), k as usize);
    expected.iter_mut().enumerate().for_each(|(p, v)| *v *= x[p / n as usize] * y[p % n as usize]);
    let launch = Launch::new().desc(&a).desc(&b).desc(&zeros(&BF16, &[m, n])).ptr(&sa).ptr(&sb);
    let c = launch.int(m).int(n).int(k).run(&module, [2, 2, 1], Accumulate::F32, 2);
    assert_rounded("gemm_fp8_scaled", &c, &expected, slack(Accumulate::F32, k));
}
