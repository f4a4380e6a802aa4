//! Values that stay in registers: reductions, vectors, tiles that loops and conditionals carry (C61, C65).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/machine.rs"]
mod machine;

use common::{Gemm, messages};
use machine::{Case, error, run};
use warploom_emulator::Policy;

/// What an epilogue makes of the product: `%out` of `%acc`, both f32 tiles of `m x n`.
fn check(
    name: &str,
    (m, n, groups): (u64, u64, u64),
    body: &str,
    wanted: impl Fn(&[f64], usize) -> Vec<f64>,
) {
    let t = format!("tensor<{m}x{n}xf32>");
    let body = body
        .replace("TI", &format!("tensor<{m}x{n}xi32>"))
        .replace("TB", &format!("tensor<{m}x{n}xi1>"))
        .replace("T1", &format!("tensor<{m}x1xf32>"))
        .replace("VI", &format!("tensor<{m}xi32>"))
        .replace("WF", &format!("tensor<{n}xf32>"))
        .replace("VF", &format!("tensor<{m}xf32>"))
        .replace("TT", &t)
        .replace("#M", &m.to_string())
        .replace("#N", &n.to_string());
    let gemm = Gemm { m, n, k: 64, groups, out: "f32", epilogue: body + "\n", ..Gemm::default() };
    let emitted = gemm.emit().unwrap_or_else(|e| panic!("{name}: {}", messages(&e)));
    for policy in [Policy::Eager, Policy::Random(3)] {
        let case = Case { size: [m, n, 64], policy, args: Vec::new() };
        let result = run(&gemm, &emitted, &case);
        let worst = error(&result.stored, wanted(&result.product, n as usize).into_iter());
        assert!(worst <= 1e-5, "{name} {m}x{n}: {worst}");
    }
}

/// A reduction along the rows of `%acc` into `%r`.
fn reduced(combine: &str) -> String {
    format!(
        "%r = \"tt.reduce\"(%acc) <{{axis = 1 : i32}}> ({{\n^bb0(%p: f32, %q: f32):\n\
         {combine}\ntt.reduce.return %s : f32\n}}) : (TT) -> VF\n"
    )
}

/// `%r`, spread over the columns, as `%out`.
const SPREAD: &str = "%e = tt.expand_dims %r {axis = 1 : i32} : VF -> T1\n%out = tt.broadcast %e : T1 -> TT";

/// Each row's fold in all its places.
fn by_row(fold: impl Fn(&[f64]) -> f64) -> impl Fn(&[f64], usize) -> Vec<f64> {
    move |x, n| x.chunks(n).flat_map(|row| vec![fold(row); n]).collect()
}

#[test]
fn rows_are_reduced_c65() {
    for shape in [(64, 8, 1), (64, 64, 1), (128, 32, 1), (128, 16, 2), (256, 8, 2)] {
        let text = reduced("%s = arith.addf %p, %q : f32") + SPREAD;
        check("sum", shape, &text, by_row(|row| row.iter().sum()));
        let text = reduced("%s = arith.maxnumf %p, %q : f32") + SPREAD;
        check("max", shape, &text, by_row(|row| row.iter().copied().fold(f64::MIN, f64::max)));
    }
    // Any region: the smallest square, with a constant and a select in it.
    let text = reduced(
        "%two = arith.constant 2.0 : f32\n%pa = math.absf %p : f32\n%qa = math.absf %q : f32\n\
         %less = arith.cmpf olt, %pa, %qa : f32\n%s = arith.select %less, %p, %q : f32",
    ) + SPREAD;
    let least = |row: &[f64]| row.iter().copied().map(f64::abs).fold(f64::MAX, f64::min);
    let squared = text.replace(
        "%out = tt.broadcast %e : T1 -> TT",
        "%o = tt.broadcast %e : T1 -> TT\n%out = math.absf %o : TT",
    );
    check("least magnitude", (64, 32, 1), &squared, by_row(least));
}

/// Several operands: the greatest and its column, lower columns first.
#[test]
fn several_values_are_reduced_together() {
    let text = "%n0 = tt.make_range {end = #N : i32, start = 0 : i32} : tensor<#Nxi32>\n\
        %n1 = tt.expand_dims %n0 {axis = 0 : i32} : tensor<#Nxi32> -> tensor<1x#Nxi32>\n\
        %n2 = tt.broadcast %n1 : tensor<1x#Nxi32> -> TI\n\
        %r:2 = \"tt.reduce\"(%acc, %n2) <{axis = 1 : i32}> ({\n\
        ^bb0(%p: f32, %i: i32, %q: f32, %j: i32):\n\
        %gt = arith.cmpf ogt, %p, %q : f32\n%eq = arith.cmpf oeq, %p, %q : f32\n\
        %lo = arith.cmpi slt, %i, %j : i32\n%tie = arith.andi %eq, %lo : i1\n%take = arith.ori %gt, %tie : i1\n\
        %v = arith.select %take, %p, %q : f32\n%w = arith.select %take, %i, %j : i32\n\
        tt.reduce.return %v, %w : f32, i32\n}) : (TT, TI) -> (VF, VI)\n\
        %f = arith.sitofp %r#1 : VI to VF\n%e = tt.expand_dims %f {axis = 1 : i32} : VF -> T1\n\
        %out = tt.broadcast %e : T1 -> TT";
    let argmax = |row: &[f64]| {
        let most = row.iter().copied().fold(f64::MIN, f64::max);
        row.iter().position(|&x| x == most).unwrap() as f64
    };
    check("argmax", (64, 32, 1), text, by_row(argmax));
    check("argmax", (128, 16, 2), text, by_row(argmax));
}

/// 16-bit elements are packed in registers and reduced in their own format.
#[test]
fn narrow_elements_are_reduced() {
    let text = "%h = arith.truncf %acc : TT to tensor<#Mx#Nxf16>\n\
        %r0 = \"tt.reduce\"(%h) <{axis = 1 : i32}> ({\n^bb0(%p: f16, %q: f16):\n\
        %s = arith.maxnumf %p, %q : f16\ntt.reduce.return %s : f16\n}) : (tensor<#Mx#Nxf16>) -> tensor<#Mxf16>\n\
        %r = arith.extf %r0 : tensor<#Mxf16> to VF\n";
    let narrow = |row: &[f64]| row.iter().map(|&x| half::f16::from_f64(x).to_f64()).fold(f64::MIN, f64::max);
    check("f16 max", (64, 32, 1), &(text.to_owned() + SPREAD), by_row(narrow));
}

/// Vectors along the rows and along the columns, and tiles, go around a loop together.
#[test]
fn loops_carry_vectors_and_tiles() {
    let text = reduced("%s = arith.addf %p, %q : f32")
        + "%one = arith.constant dense<1.0> : WF\n%i3 = arith.constant 3 : i32\n\
           %half = arith.constant dense<0.5> : VF\n\
           %z:3 = scf.for %n3 = %i0 to %i3 step %i1 iter_args(%x = %acc, %v = %r, %w = %one) -> (TT, VF, WF) : i32 {\n\
           %ve = tt.expand_dims %v {axis = 1 : i32} : VF -> T1\n%vb = tt.broadcast %ve : T1 -> TT\n\
           %we = tt.expand_dims %w {axis = 0 : i32} : WF -> tensor<1x#Nxf32>\n\
           %wb = tt.broadcast %we : tensor<1x#Nxf32> -> TT\n\
           %y = arith.addf %x, %vb : TT\n%y2 = arith.addf %y, %wb : TT\n\
           %v2 = arith.mulf %v, %half : VF\n%w2 = arith.addf %w, %one : WF\n\
           scf.yield %y2, %v2, %w2 : TT, VF, WF\n}\n%out = arith.addf %z#0, %acc : TT";
    let wanted = |x: &[f64], n: usize| {
        let rows = x.chunks(n).flat_map(|row| {
            let sum: f64 = row.iter().sum();
            row.iter().map(move |x| 2.0 * x + sum * 1.75 + 6.0).collect::<Vec<_>>()
        });
        rows.collect()
    };
    check("carried", (64, 16, 1), &text, wanted);
    check("carried", (128, 16, 2), &text, wanted);
}

/// Both sides of a conditional hold a tile and a vector in the same registers; inside a loop too.
#[test]
fn conditionals_yield_tiles() {
    let text = reduced("%s = arith.addf %p, %q : f32")
        + "%i3 = arith.constant 3 : i32\n\
           %z = scf.for %n3 = %i0 to %i3 step %i1 iter_args(%x = %acc) -> (TT) : i32 {\n\
           %first = arith.cmpi eq, %n3, %i1 : i32\n\
           %ch:2 = scf.if %first -> (TT, VF) {\n%d = arith.addf %x, %x : TT\nscf.yield %d, %r : TT, VF\n} else {\n\
           %none = arith.constant dense<0.0> : VF\nscf.yield %x, %none : TT, VF\n}\n\
           %ve = tt.expand_dims %ch#1 {axis = 1 : i32} : VF -> T1\n%vb = tt.broadcast %ve : T1 -> TT\n\
           %y = arith.addf %ch#0, %vb : TT\nscf.yield %y : TT\n}\n%out = arith.addf %z, %acc : TT";
    let wanted = |x: &[f64], n: usize| {
        let rows = x.chunks(n).flat_map(|row| {
            let sum: f64 = row.iter().sum();
            row.iter().map(move |x| 3.0 * x + sum).collect::<Vec<_>>()
        });
        rows.collect()
    };
    check("conditional", (64, 16, 1), &text, wanted);
}

/// What needs other warps is refused with the rule's name where there is no memory for it.
#[test]
fn reductions_across_warps_need_scratch_c65() {
    let body = "%r = \"tt.reduce\"(%acc) <{axis = 0 : i32}> ({\n^bb0(%p: f32, %q: f32):\n\
        %s = arith.addf %p, %q : f32\ntt.reduce.return %s : f32\n}) : (tensor<64x16xf32>) -> tensor<16xf32>\n\
        %e = tt.expand_dims %r {axis = 0 : i32} : tensor<16xf32> -> tensor<1x16xf32>\n\
        %out = tt.broadcast %e : tensor<1x16xf32> -> tensor<64x16xf32>\n";
    let gemm = Gemm { m: 64, n: 16, groups: 1, out: "f32", epilogue: body.to_owned(), ..Gemm::default() };
    let list = gemm.emit().unwrap_err();
    assert_eq!(list.len(), 1, "{}", messages(&list));
    assert_eq!(list[0].rule, Some("C65"));
    assert!(list[0].message.contains("scratch"), "{}", list[0]);
}
