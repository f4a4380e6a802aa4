//! Results through pointers, and control flow on scalars (C7, C33).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/machine.rs"]
mod machine;

use common::{Gemm, messages};
use machine::{Case, Extra, error, run, value};
use warploom_emulator::{Arg, Policy};

/// Stores `%acc` as f32 through pointers, row by row of `N` columns, inside M x N.
fn pointer_store(m: u64, n: u64) -> String {
    let t = |e: &str| format!("tensor<{m}x{n}x{e}>");
    format!(
        "%mr = tt.make_range {{end = {m} : i32, start = 0 : i32}} : tensor<{m}xi32>\n\
         %ms = tt.splat %row : i32 -> tensor<{m}xi32>\n%mo = arith.addi %ms, %mr : tensor<{m}xi32>\n\
         %me = tt.expand_dims %mo {{axis = 1 : i32}} : tensor<{m}xi32> -> tensor<{m}x1xi32>\n\
         %mw = tt.splat %N : i32 -> tensor<{m}x1xi32>\n%mi = arith.muli %me, %mw : tensor<{m}x1xi32>\n\
         %mp = tt.splat %ptr : !tt.ptr<f32> -> tensor<{m}x1x!tt.ptr<f32>>\n\
         %mq = tt.addptr %mp, %mi : tensor<{m}x1x!tt.ptr<f32>>, tensor<{m}x1xi32>\n\
         %mb = tt.broadcast %mq : tensor<{m}x1x!tt.ptr<f32>> -> {tp}\n\
         %nr = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>\n\
         %ns = tt.splat %col : i32 -> tensor<{n}xi32>\n%no = arith.addi %ns, %nr : tensor<{n}xi32>\n\
         %ne = tt.expand_dims %no {{axis = 0 : i32}} : tensor<{n}xi32> -> tensor<1x{n}xi32>\n\
         %nb = tt.broadcast %ne : tensor<1x{n}xi32> -> {ti}\n\
         %q = tt.addptr %mb, %nb : {tp}, {ti}\n\
         %cm = tt.splat %M : i32 -> tensor<{m}x1xi32>\n%lm = arith.cmpi slt, %me, %cm : tensor<{m}x1xi32>\n\
         %bm = tt.broadcast %lm : tensor<{m}x1xi1> -> {tb}\n\
         %cn = tt.splat %N : i32 -> tensor<1x{n}xi32>\n%ln = arith.cmpi slt, %ne, %cn : tensor<1x{n}xi32>\n\
         %bn = tt.broadcast %ln : tensor<1x{n}xi1> -> {tb}\n%mask = arith.andi %bm, %bn : {tb}\n\
         tt.store %q, %acc, %mask : {tp}\n\
         %out = arith.truncf %acc : {tf} to tensor<{m}x{n}xbf16>\n",
        tp = t("!tt.ptr<f32>"),
        ti = t("i32"),
        tb = t("i1"),
        tf = t("f32"),
    )
}

#[test]
fn tiles_through_pointers() {
    let params = ", %ptr: !tt.ptr<f32>, %M: i32, %N: i32";
    let gemm =
        Gemm { m: 64, n: 16, k: 32, groups: 1, params, epilogue: pointer_store(64, 16), ..Gemm::default() };
    let emitted = gemm.emit().unwrap_or_else(|e| panic!("{}", messages(&e)));
    let [m, n, k] = [72u64, 24, 64];
    let buffer = vec![0u8; (m * n * 4) as usize];
    let args =
        vec![Extra::Buffer(buffer), Extra::Scalar(Arg::I32(m as i32)), Extra::Scalar(Arg::I32(n as i32))];
    let result = run(&gemm, &emitted, &Case { size: [m, n, k], policy: Policy::Random(2), args });
    let stored: Vec<f64> = result.buffers[0].chunks_exact(4).map(|b| value("f32", b)).collect();
    assert!(error(&stored, result.product.iter().copied()) < 1e-6);
    assert!(error(&result.stored, result.product.iter().copied()) < 4e-3);
}

/// `scf.if` and `scf.for` on scalars, integer arithmetic, and a scalar load and store.
#[test]
fn scalars() {
    let epilogue = "%five = arith.constant 5 : i32\n%big = arith.cmpi sgt, %N, %five : i32\n\
        %v = scf.if %big -> (i32) {\n%x = arith.muli %N, %five : i32\nscf.yield %x : i32\n} else {\n\
        %y = arith.subi %N, %five : i32\nscf.yield %y : i32\n}\n\
        %sum = scf.for %j = %i0 to %N step %i1 iter_args(%s = %v) -> (i32) : i32 {\n\
        %t = arith.addi %s, %j : i32\nscf.yield %t : i32\n}\n\
        %g = arith.sitofp %sum : i32 to f32\n%old = tt.load %ptr : !tt.ptr<f32>\n%new = arith.addf %g, %old : f32\n\
        %next = tt.addptr %ptr, %i1 : !tt.ptr<f32>, i32\ntt.store %next, %new : !tt.ptr<f32>\n\
        %fs = tt.splat %g : f32 -> tensor<64x8xf32>\n%h = arith.addf %acc, %fs : tensor<64x8xf32>\n\
        %out = arith.truncf %h : tensor<64x8xf32> to tensor<64x8xbf16>\n";
    let params = ", %ptr: !tt.ptr<f32>, %N: i32";
    let gemm =
        Gemm { m: 64, n: 8, k: 32, groups: 1, params, epilogue: epilogue.to_owned(), ..Gemm::default() };
    let emitted = gemm.emit().unwrap_or_else(|e| panic!("{}", messages(&e)));
    for n in [0, 3, 7] {
        let start = if n > 5 { n * 5 } else { n - 5 };
        let sum = f64::from(start + (0..n).sum::<i32>());
        let buffer: Vec<u8> = [1.5f32, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let args = vec![Extra::Buffer(buffer), Extra::Scalar(Arg::I32(n))];
        let result = run(&gemm, &emitted, &Case { size: [64, 8, 32], policy: Policy::Eager, args });
        assert!(error(&result.stored, result.product.iter().map(|p| p + sum)) < 4e-3, "{n}");
        assert_eq!(value("f32", &result.buffers[0][4..]), sum + 1.5, "{n}");
    }
}
