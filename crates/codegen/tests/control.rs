//! Control flow around products: conditionals in the loop that multiplies, loops of unknown length (C9).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/machine.rs"]
mod machine;

use common::{Gemm, messages, tool};
use machine::{Case, error, run};
use warploom_codegen::{EmitOptions, Emitted, assemble::assemble};
use warploom_emulator::Policy;

/// The program of a GEMM, edited; every edit must hit.
fn edited(gemm: &Gemm, edits: &[(&str, &str)]) -> Emitted {
    let text = edits.iter().fold(gemm.text(), |text, (from, to)| {
        assert!(text.contains(from), "{from} in {text}");
        text.replace(from, to)
    });
    let emitted = common::emit_text(&text, &EmitOptions::default());
    let emitted = emitted.unwrap_or_else(|e| panic!("{}\n{text}", messages(&e)));
    let assembled = assemble(&tool("ptxas"), &emitted.ptx, "sm_90a").unwrap();
    assert!(assembled.report.is_clean(), "{}", assembled.log);
    emitted
}

const WAIT: (&str, &str) = ("{pending = 1 : i32}", "{pending = 0 : i32}");
const RELEASE: (&str, &str) = ("{lag = 1 : i32}", "{lag = 0 : i32}");

/// In the last trip something is added to the accumulators, as in `if_in_loop`.
#[test]
fn a_conditional_in_the_loop() {
    let gemm = Gemm { m: 128, n: 64, k: 64, groups: 2, ..Gemm::default() };
    let t = "tensor<128x64xf32>";
    let conditional = format!(
        "%after = arith.addi %k, %i64 : i32\n%last = arith.cmpi sge, %after, %K : i32\n\
         %z = scf.if %last -> ({t}) {{\n%one = arith.constant dense<1.0> : {t}\n\
         %more = arith.addf %w, %one : {t}\nscf.yield %more : {t}\n}} else {{\nscf.yield %w : {t}\n}}\n\
         scf.yield %z, %n#0"
    );
    let emitted = edited(&gemm, &[WAIT, RELEASE, ("scf.yield %w, %n#0", &conditional)]);
    for trips in [1, 2, 5] {
        let case = Case { size: [128, 64, 64 * trips], policy: Policy::Random(trips), args: Vec::new() };
        let result = run(&gemm, &emitted, &case);
        let worst = error(&result.stored, result.product.iter().map(|x| x + 1.0));
        assert!(worst < 4e-3, "{trips}: {worst}");
    }
}

/// A side of a conditional ends with a product in flight: it is settled there.
#[test]
fn a_product_in_a_conditional() {
    let gemm = Gemm { m: 64, n: 64, k: 64, groups: 1, ..Gemm::default() };
    let t = "tensor<64x64xf32>";
    let text = gemm.text();
    let dot = text.lines().find(|line| line.contains("%r = tt.dot")).unwrap();
    // The second trip is left out.
    let inside = format!(
        "%even = arith.cmpi ne, %k, %i64 : i32\n%r = scf.if %even -> ({t}) {{\n{}\nscf.yield %rr : {t}\n}} else {{\n\
         scf.yield %d : {t}\n}}",
        dot.replace("%r =", "%rr =")
    );
    let emitted = edited(&gemm, &[WAIT, RELEASE, (dot, &inside)]);
    let whole = gemm.emit().unwrap();
    let run_of = |emitted: &Emitted, k| {
        run(&gemm, emitted, &Case { size: [64, 64, k], policy: Policy::Eager, args: Vec::new() })
    };
    let one = run_of(&emitted, 64);
    assert!(error(&one.stored, one.product.iter().copied()) < 4e-3);
    // Another K is another layout of the operands: what is left out is what the whole product has more.
    let two = run_of(&emitted, 128);
    let full = run_of(&whole, 128);
    let different = two.stored.iter().zip(&full.stored).filter(|(a, b)| a != b).count();
    assert!(different > 1000, "{different}");
}

/// The loop that multiplies as `scf.while`.
#[test]
fn a_loop_of_unknown_length() {
    let gemm = Gemm { m: 64, n: 64, k: 64, groups: 1, ..Gemm::default() };
    let t = "tensor<64x64xf32>";
    let head = format!(
        "%l:3 = scf.for %k = %i0 to %K step %i64 iter_args(%d = %zero, %i = %i0, %f = %i0) -> ({t}, i32, i32) : i32 {{"
    );
    let before = format!(
        "%l:4 = scf.while (%d0 = %zero, %j0 = %i0, %f0 = %i0, %k0 = %i0) : ({t}, i32, i32, i32) -> ({t}, i32, i32, i32) {{\n\
         %more = arith.cmpi slt, %k0, %K : i32\n\
         scf.condition(%more) %d0, %j0, %f0, %k0 : {t}, i32, i32, i32\n}} do {{\n\
         ^bb0(%d: {t}, %i: i32, %f: i32, %k: i32):"
    );
    let end = format!("scf.yield %w, %n#0, %n#1 : {t}, i32, i32");
    let next = format!("%kn = arith.addi %k, %i64 : i32\nscf.yield %w, %n#0, %n#1, %kn : {t}, i32, i32, i32");
    let emitted = edited(&gemm, &[WAIT, RELEASE, (&head, &before), (&end, &next)]);
    for trips in [0, 1, 3, 4] {
        let case = Case { size: [64, 64, 64 * trips], policy: Policy::Random(trips), args: Vec::new() };
        let result = run(&gemm, &emitted, &case);
        let worst = error(&result.stored, result.product.iter().copied());
        assert!(worst < 4e-3, "{trips}: {worst}");
    }
}

/// A product that is issued in one trip and waited for in the next: it goes around the loop in flight, and the sum
/// of the products before it runs beside it. Two are alive at a time, so the body is unrolled by two (C29, C30).
#[test]
fn a_product_that_spans_two_trips() {
    let gemm = Gemm { m: 128, n: 64, k: 64, groups: 2, ..Gemm::default() };
    let t = "tensor<128x64xf32>";
    let text = gemm.text();
    let math = text.find("warploom.partition @math").unwrap();
    let from = text[math..].find("%l:3 = scf.for").unwrap() + math;
    let to = text[from..].find("%acc = ").unwrap() + from;
    let end = text[to..].find('\n').unwrap() + to;
    let issue = |s: &str, i: &str, f: &str| {
        format!(
            "warploom.consumer_wait @p0[{i}, {f}]\n\
             %x{s} = warploom.slot @p0[{i}] {{payload = 0 : i32}} : tensor<128x64xbf16>\n\
             %y{s} = warploom.slot @p0[{i}] {{payload = 1 : i32}} : tensor<64x64xbf16>\n\
             %t{s} = tt.trans %y{s} {{order = array<i32: 1, 0>}} : tensor<64x64xbf16> -> tensor<64x64xbf16>\n\
             %{s} = tt.dot %x{s}, %t{s}, %zero, inputPrecision = tf32 : tensor<128x64xbf16> * tensor<64x64xbf16> -> {t}\n"
        )
    };
    let loop_text = format!(
        "{}%na:2 = warploom.advance @p0[%i0, %i0]\n%two = arith.constant 128 : i32\n\
         %l:5 = scf.for %k = %i64 to %K step %two iter_args(%s = %sa, %sum = %zero, %i = %na#0, %f = %na#1, %was = %i0) \
         -> ({t}, {t}, i32, i32, i32) : i32 {{\n{}\
         %w = warploom.mma_wait %s {{pending = 1 : i32}} : {t}\n\
         warploom.consumer_release @p0[%was, %f] {{lag = 0 : i32}}\n\
         %more = arith.addf %sum, %w : {t}\n%n:2 = warploom.advance @p0[%i, %f]\n{}\
         %wb = warploom.mma_wait %sb {{pending = 1 : i32}} : {t}\n\
         warploom.consumer_release @p0[%i, %f] {{lag = 0 : i32}}\n\
         %both = arith.addf %more, %wb : {t}\n%m:2 = warploom.advance @p0[%n#0, %n#1]\n\
         scf.yield %sc, %both, %m#0, %m#1, %n#0 : {t}, {t}, i32, i32, i32\n}}\n\
         %w2 = warploom.mma_wait %l#0 {{pending = 0 : i32}} : {t}\n%acc = arith.addf %l#1, %w2 : {t}",
        issue("sa", "%i0", "%i0"),
        issue("sb", "%i", "%f"),
        issue("sc", "%n#0", "%n#1"),
    );
    let text = format!("{}{loop_text}{}", &text[..from], &text[end..]);
    let emitted = common::emit_text(&text, &EmitOptions::default());
    let emitted = emitted.unwrap_or_else(|e| panic!("{}\n{text}", messages(&e)));
    for trips in [1, 3, 5] {
        let case = Case { size: [128, 64, 64 * trips], policy: Policy::Random(trips), args: Vec::new() };
        let result = run(&gemm, &emitted, &case);
        let worst = error(&result.stored, result.product.iter().copied());
        assert!(worst < 4e-3, "{trips}: {worst}");
    }
}
