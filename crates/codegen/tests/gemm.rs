//! GEMM programs of all shapes and types: ptxas takes them, nothing spills, nothing is repaired (C80).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;

use common::{Gemm, messages, tool};
use warploom_codegen::assemble::assemble;

fn ptxas_is_content(cases: &[(&str, Gemm)]) {
    let ptxas = tool("ptxas");
    for (name, gemm) in cases {
        let emitted = gemm.emit().unwrap_or_else(|e| panic!("{name}: {}", messages(&e)));
        let assembled = assemble(&ptxas, &emitted.ptx, "sm_90a").unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(assembled.report.is_clean(), "{name}: {}", assembled.log);
    }
}

fn tile(m: u64, n: u64, k: u64) -> Gemm {
    Gemm { m, n, k, groups: m / 64, ..Gemm::default() }
}

#[test]
fn tiles() {
    ptxas_is_content(&[
        ("64x64x16", tile(64, 64, 16)),
        ("64x256x32", tile(64, 256, 32)),
        ("128x64x64", tile(128, 64, 64)),
        ("128x8x64", tile(128, 8, 64)),
        ("128x128x128", Gemm { depth: 2, ..tile(128, 128, 128) }),
        ("64x64x256", tile(64, 64, 256)),
        ("256x128x64", tile(256, 128, 64)),
        ("128x128x64 in one warpgroup", Gemm { groups: 1, ..tile(128, 128, 64) }),
    ]);
}

#[test]
fn majors_and_types() {
    let f16 = |a, b| Gemm { elems: ["f16"; 2], k_major: [a, b], out: "f16", ..Gemm::default() };
    let fp8 = |a, b| Gemm { elems: [a, b], n: 128, k: 128, ..Gemm::default() };
    ptxas_is_content(&[
        ("nn", f16(true, false)),
        ("tn", f16(false, false)),
        ("tt", f16(false, true)),
        ("tn, n 32", Gemm { n: 32, ..f16(false, false) }),
        ("e4m3", fp8("f8E4M3FN", "f8E4M3FN")),
        ("e4m3 with e5m2", fp8("f8E4M3FN", "f8E5M2")),
        ("tf32", Gemm { elems: ["f32"; 2], n: 128, k: 32, out: "f32", ..Gemm::default() }),
        ("f32 out", Gemm { n: 128, out: "f32", ..Gemm::default() }),
        ("fp8 out", Gemm { n: 128, out: "f8E4M3FN", epilogue: "%out = tt.fp_to_fp %acc, rounding = rtne : tensor<128x128xf32> -> tensor<128x128xf8E4M3FN>\n".into(), ..Gemm::default() }),
    ]);
}

/// The gelu epilogue of `gemm_epilogue_gelu`: alpha, beta * C, bias, erf.
fn gelu() -> Gemm {
    let t = "tensor<128x256xf32>";
    let epilogue = format!(
        "%sa = tt.splat %alpha : f32 -> {t}\n%e6 = arith.mulf %acc, %sa : {t}\n\
         %e8 = arith.extf %beta : tensor<128x256xbf16> to {t}\n%e9 = tt.splat %fbeta : f32 -> {t}\n\
         %e10 = arith.mulf %e9, %e8 : {t}\n%e11 = arith.addf %e6, %e10 : {t}\n\
         %e12 = tt.make_range {{end = 256 : i32, start = 0 : i32}} : tensor<256xi32>\n\
         %e13 = tt.splat %col : i32 -> tensor<256xi32>\n%e14 = arith.addi %e13, %e12 : tensor<256xi32>\n\
         %e15 = tt.splat %N : i32 -> tensor<256xi32>\n%e16 = arith.cmpi slt, %e14, %e15 : tensor<256xi32>\n\
         %e17 = tt.splat %bias : !tt.ptr<bf16> -> tensor<256x!tt.ptr<bf16>>\n\
         %e18 = tt.addptr %e17, %e14 : tensor<256x!tt.ptr<bf16>>, tensor<256xi32>\n\
         %none = arith.constant dense<0.000000e+00> : tensor<256xbf16>\n\
         %e19 = tt.load %e18, %e16, %none : tensor<256x!tt.ptr<bf16>>\n\
         %e20 = arith.extf %e19 : tensor<256xbf16> to tensor<256xf32>\n\
         %e21 = tt.expand_dims %e20 {{axis = 0 : i32}} : tensor<256xf32> -> tensor<1x256xf32>\n\
         %e22 = tt.broadcast %e21 : tensor<1x256xf32> -> {t}\n%e23 = arith.addf %e11, %e22 : {t}\n\
         %half = arith.constant dense<5.000000e-01> : {t}\n%root = arith.constant dense<0.707106769> : {t}\n\
         %one = arith.constant dense<1.000000e+00> : {t}\n\
         %e24 = arith.mulf %e23, %half : {t}\n%e25 = arith.mulf %e23, %root : {t}\n%e26 = math.erf %e25 : {t}\n\
         %e27 = arith.addf %e26, %one : {t}\n%e28 = arith.mulf %e24, %e27 : {t}\n\
         %out = arith.truncf %e28 : {t} to tensor<128x256xbf16>\n"
    );
    let params = ", %bias: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %alpha: f32, %fbeta: f32, %N: i32";
    Gemm { epilogue, params, extra: Some("bf16"), ..Gemm::default() }
}

#[test]
fn epilogues() {
    ptxas_is_content(&[("gelu", gelu())]);
}
