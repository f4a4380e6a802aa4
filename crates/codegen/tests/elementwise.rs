//! Element-wise operations: their values on the emulator (C68), and every combination of operation and type
//! either compiled or refused, never an abort of LLVM (C43).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/machine.rs"]
mod machine;

use common::{Gemm, messages};
use half::{bf16, f16};
use machine::{Case, error, run};
use warploom_emulator::Policy;

/// A small tile whose f32 product runs through an epilogue into f32.
fn small(epilogue: String) -> Gemm {
    Gemm { m: 64, n: 8, k: 64, groups: 1, out: "f32", epilogue, ..Gemm::default() }
}

/// `T` and constants `%cN` stand for the tile type; `X` is the product.
fn text(body: &str) -> String {
    let mut text = String::new();
    for (name, value) in [("q0", "0.0"), ("q1", "1.0"), ("q2", "2.0"), ("qh", "0.5")] {
        text += &format!("%{name} = arith.constant dense<{value}> : tensor<64x8xf32>\n");
    }
    for (name, value) in [("i1", 1), ("i3", 3), ("i5", 5)] {
        text += &format!("%k{name} = arith.constant dense<{value}> : tensor<64x8xi32>\n");
    }
    text += body;
    text.replace("X", "%acc")
        .replace("TI", "tensor<64x8xi32>")
        .replace("TB", "tensor<64x8xi1>")
        .replace("T", "tensor<64x8xf32>")
        .replace(" tensor<64x8xf32>RUE", " TRUE")
}

fn check(name: &str, body: &str, bound: f64, wanted: impl Fn(f64) -> f64) {
    let gemm = small(text(body) + "\n");
    let emitted = gemm.emit().unwrap_or_else(|e| panic!("{name}: {}", messages(&e)));
    let case = Case { size: [64, 8, 64], policy: Policy::Eager, args: Vec::new() };
    let result = run(&gemm, &emitted, &case);
    let worst = error(&result.stored, result.product.iter().map(|&x| wanted(x)));
    assert!(worst <= bound, "{name}: {worst}");
}

fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..300 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
    }
    if x.abs() > 5.0 { x.signum() } else { sum * (-x * x).exp() * 2.0 / std::f64::consts::PI.sqrt() }
}

#[test]
fn functions_c68() {
    let f = 1e-6;
    check("exp", "%out = math.exp X : T", f, f64::exp);
    check("exp2", "%out = math.exp2 X : T", f, f64::exp2);
    check("erf", "%out = math.erf X : T", f, erf);
    check("tanh", "%out = math.tanh X : T", f, f64::tanh);
    check("abs", "%out = math.absf X : T", 0.0, f64::abs);
    check("neg", "%out = arith.negf X : T", 0.0, |x| -x);
    check("floor", "%out = math.floor X : T", 0.0, f64::floor);
    check("ceil", "%out = math.ceil X : T", 0.0, f64::ceil);
    let positive = "%m = math.absf X : T\n%v = arith.addf %m, %qh : T\n";
    let shifted = |x: f64| x.abs() + 0.5;
    check("log", &format!("{positive}%out = math.log %v : T"), f, |x| shifted(x).ln());
    check("log2", &format!("{positive}%out = math.log2 %v : T"), f, |x| shifted(x).log2());
    check("sqrt", &format!("{positive}%out = math.sqrt %v : T"), f, |x| shifted(x).sqrt());
    check("sqrt.rn", &format!("{positive}%out = tt.precise_sqrt %v : T"), f, |x| shifted(x).sqrt());
    check("rsqrt", &format!("{positive}%out = math.rsqrt %v : T"), f, |x| shifted(x).sqrt().recip());
    check("div", &format!("{positive}%out = arith.divf X, %v : T"), f, |x| x / shifted(x));
    check("div.rn", &format!("{positive}%out = tt.precise_divf X, %v : T"), f, |x| x / shifted(x));
}

#[test]
fn arithmetic() {
    check("add", "%out = arith.addf X, %qh : T", 1e-6, |x| x + 0.5);
    check("sub", "%out = arith.subf %qh, X : T", 1e-6, |x| 0.5 - x);
    check("mul", "%out = arith.mulf X, X : T", 1e-6, |x| x * x);
    check("fma", "%out = math.fma X, X, %q2 : T", 1e-6, |x| x.mul_add(x, 2.0));
    check("maxnum", "%out = arith.maxnumf X, %q1 : T", 0.0, |x| x.max(1.0));
    check("minnum", "%out = arith.minnumf X, %q1 : T", 0.0, |x| x.min(1.0));
    check("maximum", "%out = arith.maximumf X, %q1 : T", 0.0, |x| x.max(1.0));
    check("minimum", "%out = arith.minimumf X, %q1 : T", 0.0, |x| x.min(1.0));
    check("clamp", "%out = tt.clampf X, %q0, %q2, propagateNan = none : T", 0.0, |x| x.clamp(0.0, 2.0));
    check("select", "%p = arith.cmpf olt, X, %q1 : T\n%out = arith.select %p, %q2, X : TB, T", 0.0, |x| {
        if x < 1.0 { 2.0 } else { x }
    });
    check("unordered", "%p = arith.cmpf une, X, X : T\n%out = arith.select %p, %q2, X : TB, T", 0.0, |x| x);
}

#[test]
fn integers() {
    let whole = "%i = arith.fptosi X : T to TI\n";
    let back = "\n%out = arith.sitofp %j : TI to T";
    let int = |name: &str, op: &str, wanted: fn(i32) -> i32| {
        check(name, &format!("{whole}{op}{back}"), 0.0, |x| f64::from(wanted(x as i32)));
    };
    int("add", "%j = arith.addi %i, %ki3 : TI", |i| i + 3);
    int("sub", "%j = arith.subi %ki3, %i : TI", |i| 3 - i);
    int("mul", "%j = arith.muli %i, %ki5 : TI", |i| i * 5);
    int("div", "%j = arith.divsi %i, %ki3 : TI", |i| i / 3);
    int("rem", "%j = arith.remsi %i, %ki3 : TI", |i| i % 3);
    int("shl", "%j = arith.shli %i, %ki3 : TI", |i| i << 3);
    int("shr", "%j = arith.shrsi %i, %ki1 : TI", |i| i >> 1);
    int("and", "%j = arith.andi %i, %ki5 : TI", |i| i & 5);
    int("or", "%j = arith.ori %i, %ki5 : TI", |i| i | 5);
    int("xor", "%j = arith.xori %i, %ki5 : TI", |i| i ^ 5);
    int("min", "%j = arith.minsi %i, %ki3 : TI", |i| i.min(3));
    int("max", "%j = arith.maxsi %i, %ki3 : TI", |i| i.max(3));
    int("umax", "%j = arith.maxui %i, %ki3 : TI", |i| (i as u32).max(3) as i32);
    int("abs", "%j = math.absi %i : TI", i32::abs);
    int("high", "%h = arith.shli %i, %ki3 : TI\n%j = tt.mulhiui %i, %h : TI", |i| {
        ((u64::from(i as u32) * u64::from((i << 3) as u32)) >> 32) as i32
    });
    int("select", "%p = arith.cmpi slt, %i, %ki1 : TI\n%j = arith.select %p, %ki5, %i : TB, TI", |i| {
        if i < 1 { 5 } else { i }
    });
    int(
        "narrow",
        "%n = arith.trunci %i : TI to tensor<64x8xi8>\n%j = arith.extui %n : tensor<64x8xi8> to TI",
        |i| i32::from(i as u8),
    );
}

#[test]
fn conversions() {
    let via = |t: &str, down: &str, up: &str| {
        format!(
            "%n = {down} : T {} tensor<64x8x{t}>\n%out = {up} : tensor<64x8x{t}> {} T",
            arrow(down),
            arrow(up)
        )
    };
    fn arrow(op: &str) -> &'static str {
        if op.starts_with("tt.") { "->" } else { "to" }
    }
    let bf = via("bf16", "arith.truncf X", "arith.extf %n");
    check("bf16", &bf, 0.0, |x| bf16::from_f64(x).to_f64());
    let half = via("f16", "arith.truncf X", "arith.extf %n");
    check("f16", &half, 0.0, |x| f16::from_f64(x).to_f64());
    for (t, bound) in [("f8E4M3FN", 0.07), ("f8E5M2", 0.13)] {
        check(t, &via(t, "tt.fp_to_fp X, rounding = rtne", "tt.fp_to_fp %n"), bound, |x| x);
    }
}

/// Every operation on every type: it compiles or is refused, and LLVM survives.
#[test]
fn nothing_aborts_c43() {
    let unary = [
        "math.exp",
        "math.exp2",
        "math.log",
        "math.log2",
        "math.sqrt",
        "math.rsqrt",
        "math.sin",
        "math.cos",
        "math.tanh",
        "math.erf",
        "math.absf",
        "math.absi",
        "math.floor",
        "math.ceil",
        "arith.negf",
        "tt.precise_sqrt",
    ];
    let binary = [
        "arith.addi",
        "arith.subi",
        "arith.muli",
        "arith.divsi",
        "arith.divui",
        "arith.remsi",
        "arith.remui",
        "arith.andi",
        "arith.ori",
        "arith.xori",
        "arith.shli",
        "arith.shrsi",
        "arith.shrui",
        "arith.minsi",
        "arith.maxsi",
        "arith.minui",
        "arith.maxui",
        "arith.addf",
        "arith.subf",
        "arith.mulf",
        "arith.divf",
        "arith.remf",
        "arith.maxnumf",
        "arith.minnumf",
        "arith.maximumf",
        "arith.minimumf",
        "tt.precise_divf",
        "tt.mulhiui",
    ];
    let types = ["i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"];
    let (mut compiled, mut refused) = (0, 0);
    let mut count = |body: String| match small(body).emit() {
        Ok(_) => compiled += 1,
        Err(list) => {
            assert!(!list.is_empty());
            let bad = list.iter().find(|d| d.code == warploom_ir::diag::Code::Internal);
            assert!(bad.is_none(), "{}", messages(&list));
            refused += 1;
        }
    };
    for t in types {
        let tile = format!("tensor<64x8x{t}>");
        // any value of the type, and a way back
        let from = if t == "f32" {
            "%x = arith.addf %acc, %acc : tensor<64x8xf32>\n".to_owned()
        } else {
            match t {
                "i1" => "%x = arith.cmpf ogt, %acc, %zero : tensor<64x8xf32>\n".to_owned(),
                "f64" => format!("%x = arith.extf %acc : tensor<64x8xf32> to {tile}\n"),
                "f16" | "bf16" => format!("%x = arith.truncf %acc : tensor<64x8xf32> to {tile}\n"),
                "f8E4M3FN" | "f8E5M2" => {
                    format!("%x = tt.fp_to_fp %acc, rounding = rtne : tensor<64x8xf32> -> {tile}\n")
                }
                _ => format!("%x = arith.fptosi %acc : tensor<64x8xf32> to {tile}\n"),
            }
        };
        let to = |value: &str| match t {
            "f32" => format!("%out = arith.mulf {value}, {value} : tensor<64x8xf32>\n"),
            "f64" => format!("%out = arith.truncf {value} : {tile} to tensor<64x8xf32>\n"),
            "f16" | "bf16" => format!("%out = arith.extf {value} : {tile} to tensor<64x8xf32>\n"),
            "f8E4M3FN" | "f8E5M2" => format!("%out = tt.fp_to_fp {value} : {tile} -> tensor<64x8xf32>\n"),
            _ => format!("%out = arith.sitofp {value} : {tile} to tensor<64x8xf32>\n"),
        };
        for op in unary {
            count(format!("{from}%y = {op} %x : {tile}\n{}", to("%y")));
        }
        for op in binary {
            count(format!("{from}%y = {op} %x, %x : {tile}\n{}", to("%y")));
        }
        count(format!("{from}%y = math.fma %x, %x, %x : {tile}\n{}", to("%y")));
        count(format!("{from}%y = tt.clampf %x, %x, %x, propagateNan = all : {tile}\n{}", to("%y")));
        for cast in [
            "arith.extsi",
            "arith.extui",
            "arith.trunci",
            "arith.sitofp",
            "arith.uitofp",
            "arith.fptosi",
            "arith.fptoui",
            "arith.extf",
            "arith.truncf",
            "arith.bitcast",
        ] {
            for other in types {
                count(format!(
                    "{from}%y = {cast} %x : {tile} to tensor<64x8x{other}>\n%p = arith.cmpi eq, %y, %y : \
                    tensor<64x8x{other}>\n%out = arith.select %p, %acc, %acc : tensor<64x8xi1>, tensor<64x8xf32>\n"
                ));
                if other == "f32" {
                    count(format!("{from}%out = {cast} %x : {tile} to tensor<64x8xf32>\n"));
                }
            }
        }
    }
    println!("{compiled} compiled, {refused} refused");
    assert!(compiled > 100 && refused > 100, "{compiled} {refused}");
}
