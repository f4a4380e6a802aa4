//! What the PTX computes: programs run on the emulator, with race detection, and the product compared.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/machine.rs"]
mod machine;

use common::{Gemm, messages};
use machine::{Case, Extra, error, run};
use warploom_emulator::{Arg, Policy};

fn computes(name: &str, gemm: &Gemm, size: [u64; 3], bound: f64) {
    let emitted = gemm.emit().unwrap_or_else(|e| panic!("{name}: {}", messages(&e)));
    for policy in [Policy::Eager, Policy::Random(7)] {
        let case = Case { size, policy, args: Vec::new() };
        let start = std::time::Instant::now();
        let result = run(gemm, &emitted, &case);
        let worst = error(&result.stored, result.product.iter().copied());
        println!("{name} {policy:?}: {worst} {:?}", start.elapsed());
        assert!(worst < bound, "{name} {policy:?}: {worst}");
    }
}

fn tile(m: u64, n: u64, k: u64) -> Gemm {
    Gemm { m, n, k, groups: m / 64, ..Gemm::default() }
}

#[test]
fn trips() {
    let small = tile(64, 64, 64);
    for trips in [0, 1, 2, 3, 4, 7] {
        computes(&format!("{trips} trips"), &small, [64, 64, 64 * trips], 4e-3);
    }
}

#[test]
fn tiles() {
    computes("64x8x16", &tile(64, 8, 16), [64, 8, 64], 4e-3);
    computes("64x256x32", &tile(64, 256, 32), [64, 256, 96], 4e-3);
    computes("128x128x128", &Gemm { depth: 2, ..tile(128, 128, 128) }, [128, 128, 256], 4e-3);
    computes("64x64x256", &tile(64, 64, 256), [64, 64, 512], 4e-3);
    computes("256x128x64", &tile(256, 128, 64), [256, 128, 128], 4e-3);
    computes("128x96x64 in one warpgroup", &Gemm { groups: 1, ..tile(128, 96, 64) }, [128, 96, 128], 4e-3);
    computes("128x256x64", &Gemm::default(), [128, 256, 320], 4e-3);
}

#[test]
fn edges() {
    computes("ragged", &tile(64, 64, 64), [136, 72, 104], 4e-3);
    let tn = Gemm { k_major: [false, false], ..tile(64, 128, 32) };
    computes("ragged, transposed", &tn, [72, 136, 40], 4e-3);
}

#[test]
fn majors() {
    for (name, k_major) in
        [("nt", [true, true]), ("nn", [true, false]), ("tn", [false, false]), ("tt", [false, true])]
    {
        let gemm = Gemm { elems: ["f16"; 2], k_major, out: "f16", ..tile(128, 128, 64) };
        computes(name, &gemm, [128, 128, 192], 6e-4);
    }
    // B of 32 columns has 64-byte rows, of 16 columns 32-byte ones.
    for n in [16, 32] {
        let gemm = Gemm { k_major: [false, false], ..tile(64, n, 32) };
        computes(&format!("tn, n {n}"), &gemm, [64, n, 96], 4e-3);
    }
    for k in [16, 32, 128] {
        computes(&format!("nt, k {k}"), &tile(64, 64, k), [64, 64, 3 * k], 4e-3);
    }
}

#[test]
fn types() {
    for (a, b) in [("f8E4M3FN", "f8E4M3FN"), ("f8E5M2", "f8E5M2"), ("f8E4M3FN", "f8E5M2")] {
        for k in [32, 128] {
            let gemm = Gemm { elems: [a, b], ..tile(64, 64, k) };
            computes(&format!("{a} {b} {k}"), &gemm, [64, 64, 3 * k], 4e-3);
        }
    }
    for k in [8, 32, 64] {
        let gemm = Gemm { elems: ["f32"; 2], out: "f32", ..tile(64, 64, k) };
        computes(&format!("tf32 {k}"), &gemm, [64, 64, 3 * k], 1e-5);
    }
    computes("f32 out", &Gemm { out: "f32", ..tile(128, 128, 64) }, [128, 128, 192], 1e-5);
    computes("f32 out, 16 columns", &Gemm { out: "f32", ..tile(64, 16, 64) }, [64, 16, 64], 1e-5);
    let narrow = |out: &str| {
        format!("%out = tt.fp_to_fp %acc, rounding = rtne : tensor<64x64xf32> -> tensor<64x64x{out}>\n")
    };
    let e4m3 = Gemm { out: "f8E4M3FN", epilogue: narrow("f8E4M3FN"), ..tile(64, 64, 64) };
    computes("e4m3 out", &e4m3, [64, 64, 64], 0.07);
    let e5m2 = Gemm { out: "f8E5M2", epilogue: narrow("f8E5M2"), ..tile(64, 64, 64) };
    computes("e5m2 out", &e5m2, [64, 64, 64], 0.13);
}

/// `%vN` is the load of a vector of `n` elements along one axis of the tile, spread over it, as f32.
fn spread(
    name: &str,
    pointer: &str,
    start: &str,
    count: &str,
    elem: &str,
    axis: u64,
    [m, n]: [u64; 2],
) -> String {
    let len = if axis == 0 { n } else { m };
    let row = if axis == 0 { format!("1x{n}") } else { format!("{m}x1") };
    let widen = match elem {
        "f32" => format!("%{name}f = arith.bitcast %{name}l : tensor<{len}xf32> to tensor<{len}xf32>\n"),
        _ => format!("%{name}f = arith.extf %{name}l : tensor<{len}x{elem}> to tensor<{len}xf32>\n"),
    };
    format!(
        "%{name}r = tt.make_range {{end = {len} : i32, start = 0 : i32}} : tensor<{len}xi32>\n\
         %{name}s = tt.splat %{start} : i32 -> tensor<{len}xi32>\n\
         %{name}o = arith.addi %{name}s, %{name}r : tensor<{len}xi32>\n\
         %{name}c = tt.splat %{count} : i32 -> tensor<{len}xi32>\n\
         %{name}m = arith.cmpi slt, %{name}o, %{name}c : tensor<{len}xi32>\n\
         %{name}p = tt.splat %{pointer} : !tt.ptr<{elem}> -> tensor<{len}x!tt.ptr<{elem}>>\n\
         %{name}q = tt.addptr %{name}p, %{name}o : tensor<{len}x!tt.ptr<{elem}>>, tensor<{len}xi32>\n\
         %{name}z = arith.constant dense<0.000000e+00> : tensor<{len}x{elem}>\n\
         %{name}l = tt.load %{name}q, %{name}m, %{name}z : tensor<{len}x!tt.ptr<{elem}>>\n{widen}\
         %{name}e = tt.expand_dims %{name}f {{axis = {axis} : i32}} : tensor<{len}xf32> -> tensor<{row}xf32>\n\
         %{name} = tt.broadcast %{name}e : tensor<{row}xf32> -> tensor<{m}x{n}xf32>\n"
    )
}

/// Runs with an epilogue and compares with a formula of product, tile beside it, row and column.
fn epilogue(
    name: &str,
    gemm: &Gemm,
    case: &Case,
    bound: f64,
    wanted: impl Fn(f64, f64, usize, usize) -> f64,
) {
    let emitted = gemm.emit().unwrap_or_else(|e| panic!("{name}: {}", messages(&e)));
    let result = run(gemm, &emitted, case);
    let cols = case.size[1] as usize;
    let all = result.product.iter().enumerate().map(|(i, &p)| {
        let beside = result.extra.get(i).copied().unwrap_or(0.0);
        wanted(p, beside, i / cols, i % cols)
    });
    let worst = error(&result.stored, all);
    println!("{name}: {worst}");
    assert!(worst < bound, "{name}: {worst}");
}

fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
    }
    if x.abs() > 5.0 { x.signum() } else { sum * (-x * x).exp() * 2.0 / std::f64::consts::PI.sqrt() }
}

/// alpha * AB + beta * C + bias, then gelu; the column count cuts the bias.
#[test]
fn bias_and_gelu() {
    let (m, n) = (64, 64);
    let t = format!("tensor<{m}x{n}xf32>");
    let epilogue_text = spread("bias", "pbias", "col", "N", "bf16", 0, [m, n])
        + &format!(
            "%sa = tt.splat %alpha : f32 -> {t}\n%x0 = arith.mulf %acc, %sa : {t}\n\
             %b0f = arith.extf %beta : tensor<{m}x{n}xbf16> to {t}\n%sb = tt.splat %gamma : f32 -> {t}\n\
             %x1 = arith.mulf %sb, %b0f : {t}\n%x2 = arith.addf %x0, %x1 : {t}\n%x = arith.addf %x2, %bias : {t}\n\
             %half = arith.constant dense<5.000000e-01> : {t}\n%root = arith.constant dense<0.707106769> : {t}\n\
             %one = arith.constant dense<1.000000e+00> : {t}\n%h = arith.mulf %x, %half : {t}\n\
             %r = arith.mulf %x, %root : {t}\n%e = math.erf %r : {t}\n%f = arith.addf %e, %one : {t}\n\
             %g = arith.mulf %h, %f : {t}\n%out = arith.truncf %g : {t} to tensor<{m}x{n}xbf16>\n"
        );
    let epilogue_text = epilogue_text
        .replace("%e =", "%erf =")
        .replace("arith.addf %e,", "arith.addf %erf,")
        .replace("%f =", "%ff =")
        .replace("%h, %f ", "%h, %ff ")
        .replace("%r =", "%rr =")
        .replace("erf %r ", "erf %rr ");
    let params = ", %pbias: !tt.ptr<bf16>, %alpha: f32, %gamma: f32, %N: i32";
    let gemm = Gemm { epilogue: epilogue_text, params, extra: Some("bf16"), ..tile(m, n, 64) };
    let bias = machine::fill("bf16", 136, 9);
    let values: Vec<f64> = bias.chunks_exact(2).map(|b| machine::value("bf16", b)).collect();
    for policy in [Policy::Eager, Policy::Random(3)] {
        let args = vec![
            Extra::Buffer(bias.clone()),
            Extra::Scalar(Arg::F32(0.25)),
            Extra::Scalar(Arg::F32(1.5)),
            Extra::Scalar(Arg::I32(131)),
        ];
        let case = Case { size: [64, 136, 128], policy, args };
        epilogue("gelu", &gemm, &case, 4e-3, |p, c, _, col| {
            let x = 0.25 * p + 1.5 * c + if col < 131 { values[col] } else { 0.0 };
            0.5 * x * (1.0 + erf(x * std::f64::consts::FRAC_1_SQRT_2))
        });
    }
}

/// Scales per row and per column, then silu by exp and division; fp8 operands.
#[test]
fn scales_and_silu() {
    let (m, n) = (128, 64);
    let t = format!("tensor<{m}x{n}xf32>");
    let epilogue_text = spread("rs", "prs", "row", "M", "f32", 1, [m, n])
        + &spread("cs", "pcs", "col", "N", "f32", 0, [m, n])
        + &format!(
            "%x0 = arith.mulf %acc, %rs : {t}\n%x = arith.mulf %x0, %cs : {t}\n%ne = arith.negf %x : {t}\n\
             %ex = math.exp %ne : {t}\n%one = arith.constant dense<1.000000e+00> : {t}\n\
             %de = arith.addf %ex, %one : {t}\n%q = arith.divf %x, %de : {t}\n\
             %out = arith.truncf %q : {t} to tensor<{m}x{n}xf16>\n"
        );
    let params = ", %prs: !tt.ptr<f32>, %pcs: !tt.ptr<f32>, %M: i32, %N: i32";
    let gemm = Gemm { elems: ["f8E4M3FN"; 2], out: "f16", epilogue: epilogue_text, params, ..tile(m, n, 64) };
    let (rows, cols) = (machine::fill("f32", 128, 4), machine::fill("f32", 64, 5));
    let read = |bytes: &[u8]| bytes.chunks_exact(4).map(|b| machine::value("f32", b)).collect::<Vec<_>>();
    let (vr, vc) = (read(&rows), read(&cols));
    let args = vec![
        Extra::Buffer(rows),
        Extra::Buffer(cols),
        Extra::Scalar(Arg::I32(128)),
        Extra::Scalar(Arg::I32(64)),
    ];
    let case = Case { size: [128, 64, 128], policy: Policy::Random(5), args };
    epilogue("silu", &gemm, &case, 6e-4, |p, _, row, col| {
        let x = p * vr[row] * vc[col];
        x / (1.0 + (-x).exp())
    });
}
