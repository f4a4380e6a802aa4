//! The scan of PTX catches what it promises: a good text, then one fault at a time (C41, C43, C46).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;

use common::Gemm;
use warploom_codegen::scan::{Finding, scan};

/// The PTX of a small GEMM: one warpgroup, 4 accumulators a lane.
fn good() -> String {
    Gemm { m: 64, n: 8, k: 64, groups: 1, ..Gemm::default() }.emit().unwrap().ptx
}

fn rules(ptx: &str) -> Vec<&'static str> {
    let mut rules: Vec<_> = scan(ptx).iter().map(|f: &Finding| f.rule).collect();
    rules.dedup();
    rules
}

/// The n-th line that starts with this instruction, and the text around it.
fn split<'a>(ptx: &'a str, instruction: &str, n: usize) -> (&'a str, &'a str, &'a str) {
    let mut at = 0;
    let mut found = ptx.split_inclusive('\n').filter_map(|line| {
        let start = at;
        at += line.len();
        line.trim_start().starts_with(instruction).then_some((start, at))
    });
    let (start, end) = found.nth(n).unwrap_or_else(|| panic!("no {instruction} number {n}"));
    (&ptx[..start], &ptx[start..end], &ptx[end..])
}

fn without(ptx: &str, instruction: &str, n: usize) -> String {
    let (before, _, after) = split(ptx, instruction, n);
    format!("{before}{after}")
}

fn after(ptx: &str, instruction: &str, n: usize, new: &str) -> String {
    let (before, line, rest) = split(ptx, instruction, n);
    format!("{before}{line}{new}\n{rest}")
}

fn before(ptx: &str, instruction: &str, n: usize, new: &str) -> String {
    let (text, line, rest) = split(ptx, instruction, n);
    format!("{text}{new}\n{line}{rest}")
}

/// The first accumulator.
fn accumulator(ptx: &str) -> String {
    let (_, line, _) = split(ptx, "wgmma.mma_async", 0);
    line.split('{').nth(1).unwrap().split(',').next().unwrap().trim().to_owned()
}

#[test]
fn good_texts_pass() {
    assert_eq!(scan(&good()), []);
    assert_eq!(scan(&Gemm::default().emit().unwrap().ptx), []);
    assert_eq!(scan(""), []);
}

#[test]
fn waits_and_commits_c46() {
    let ptx = good();
    assert_eq!(rules(&without(&ptx, "wgmma.wait_group.sync.aligned 0", 0)), ["C46"]);
    assert_eq!(rules(&ptx.replace("wait_group.sync.aligned 0", "wait_group.sync.aligned 1")), ["C46"]);
    assert_eq!(rules(&without(&ptx, "wgmma.commit_group", 0)), ["C46"]);
    // Another wait in the loop for fewer groups is harmless.
    assert_eq!(scan(&ptx.replace("wait_group.sync.aligned 1", "wait_group.sync.aligned 0")), []);
}

#[test]
fn uses_in_flight_c46() {
    let ptx = good();
    let acc = accumulator(&ptx);
    let read = format!("\tadd.f32 %f9999, {acc}, {acc};");
    let write = format!("\tmov.b32 {acc}, 0f00000000;");
    for line in [&read, &write] {
        assert_eq!(rules(&after(&ptx, "wgmma.commit_group", 0, line)), ["C46"], "{line}");
        // In the loop the group of the last trip is still in flight behind `wait_group 1`.
        assert_eq!(rules(&after(&ptx, "wgmma.wait_group.sync.aligned 1", 0, line)), ["C46"], "{line}");
        assert_eq!(scan(&after(&ptx, "wgmma.wait_group.sync.aligned 0", 0, line)), [], "{line}");
    }
}

#[test]
fn fences_c30() {
    let ptx = good();
    let acc = accumulator(&ptx);
    assert!(rules(&without(&ptx, "wgmma.fence", 0)).contains(&"C30"));
    let write = format!("\tmov.b32 {acc}, 0f00000000;");
    assert!(rules(&after(&ptx, "wgmma.fence", 0, &write)).contains(&"C30"));
}

/// A from registers: P of attention.
#[test]
fn sources_in_registers_c46() {
    let text = common::program("attention_bf16.mlir");
    let ptx = common::emit_text(&text, &warploom_codegen::EmitOptions::default()).unwrap().ptx;
    assert_eq!(scan(&ptx), []);
    // The first product with A from registers, and one of these.
    let number = (0..64).find(|&n| split(&ptx, "wgmma.mma_async", n).1.matches('{').count() == 2).unwrap();
    let (_, line, _) = split(&ptx, "wgmma.mma_async", number);
    let source = line.split('{').nth(2).unwrap().split(',').next().unwrap().trim().to_owned();
    let write = format!("\tmov.b32 {source}, 0;");
    assert_eq!(rules(&after(&ptx, "wgmma.mma_async", number, &write)), ["C46"]);
    let read = format!("\tmov.b32 %r99999, {source};");
    assert_eq!(scan(&after(&ptx, "wgmma.mma_async", number, &read)), []);
    let store = format!("\tst.global.b32 [%rd1], {source};");
    assert_eq!(scan(&after(&ptx, "wgmma.mma_async", number, &store)), []);
    // Between the fence and the product.
    assert!(rules(&before(&ptx, "wgmma.mma_async", number, &write)).contains(&"C30"));
}

#[test]
fn leaving_in_flight_c46() {
    let ptx = good();
    assert_eq!(rules(&before(&ptx, "wgmma.wait_group.sync.aligned 0", 0, "\tret;")), ["C46"]);
}

#[test]
fn memory_and_functions_c41_c43_c80() {
    let ptx = good();
    let depot = "\t.local .align 16 .b8 \t__local_depot0[128];";
    assert_eq!(rules(&before(&ptx, "wgmma.fence", 0, depot)), ["C41"]);
    for line in ["\tst.local.b32 [%r1], %r2;", "\tld.local.v2.b32 {%r1, %r2}, [%rd1];", "\t.local .b8 x[4];"]
    {
        assert_eq!(rules(&before(&ptx, "wgmma.fence", 0, line)), ["C80"], "{line}");
    }
    let external = ".extern .func (.param .b32 r) llvm.nvvm.elect.snyc (.param .b32 a);";
    assert_eq!(rules(&before(&ptx, ".visible", 0, external)), ["C43"]);
    // Names that only look alike.
    assert_eq!(scan(&before(&ptx, "wgmma.fence", 0, "\tmov.b32 %localr1, 0; // .local")), []);
}

#[test]
fn places_are_lines() {
    let ptx = before(&good(), "wgmma.fence", 0, "\tst.local.b32 [%r1], %r2;");
    let line = ptx.lines().position(|l| l.contains("st.local")).unwrap() + 1;
    assert_eq!(scan(&ptx)[0].line, line);
}

#[test]
fn hand_written_examples_pass() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("kernels/hand/gemm_bf16.sm_90a.ptx")).unwrap();
    assert_eq!(scan(&text), []);
}
