//! Code that a GPU runs: instructions per trip, registers, and nothing in a steady loop that need not be
//! there (C80, C82). The numbers are kept in `bars.toml`: a worse one fails, a better one asks to be written.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{Gemm, messages, program, tool};
use serde::Deserialize;
use warploom_codegen::assemble::assemble;
use warploom_codegen::{EmitOptions, sass};
use warploom_ptx::{Code, Flow, Instruction};

/// What a kernel may take at most.
#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Bar {
    /// Instructions a trip of the loop that multiplies.
    multiply: u32,
    /// Instructions a trip of the loop that loads.
    load: u32,
}

fn kernels() -> Vec<(&'static str, String)> {
    let f16 = |a, b| Gemm { elems: ["f16"; 2], k_major: [a, b], out: "f16", ..Gemm::default() };
    let fp8 = Gemm { elems: ["f8E4M3FN"; 2], n: 128, k: 128, ..Gemm::default() };
    let tf32 = Gemm { elems: ["f32"; 2], n: 128, k: 32, out: "f32", ..Gemm::default() };
    vec![
        ("gemm_bf16", program("gemm_bf16.mlir")),
        ("128x128x64", Gemm { n: 128, depth: 4, ..Gemm::default() }.text()),
        ("64x64x64", Gemm { m: 64, n: 64, groups: 1, ..Gemm::default() }.text()),
        ("256x128x64", Gemm { m: 256, n: 128, groups: 4, ..Gemm::default() }.text()),
        ("f16_nn", f16(true, false).text()),
        ("f16_tn", f16(false, false).text()),
        ("fp8", fp8.text()),
        ("tf32", tf32.text()),
    ]
}

/// Loops in loops: their bars stand beside the others; what belongs into them is said elsewhere.
fn persistent() -> (&'static str, String) {
    ("gemm_persistent", program("gemm_persistent_bf16.mlir"))
}

fn attention() -> Vec<(&'static str, String)> {
    let names =
        [("attention_bf16", "attention_bf16.mlir"), ("attention_causal", "attention_causal_bf16.mlir")];
    names.into_iter().map(|(name, file)| (name, program(file))).collect()
}

#[test]
fn bars_c82() {
    let ptxas = tool("ptxas");
    let nvdisasm = tool("nvdisasm");
    let version = std::process::Command::new(&ptxas).arg("--version").output().unwrap();
    let version = String::from_utf8_lossy(&version.stdout);
    assert!(
        version.contains("release 13.5"),
        "the bars are those of ptxas 13.5, which make setup installs: {version}"
    );
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bars.toml");
    let bars: BTreeMap<String, Bar> = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut found = BTreeMap::new();
    for (name, text) in kernels().into_iter().chain(attention()).chain([persistent()]) {
        let emitted =
            common::emit_text(&text, &EmitOptions::default()).unwrap_or_else(|e| panic!("{}", messages(&e)));
        let assembled = assemble(&ptxas, &emitted.ptx, "sm_90a").unwrap();
        assert!(assembled.report.is_clean(), "{name}: {}", assembled.log);
        let text = sass::disassemble(&nvdisasm, &assembled.cubin).unwrap();
        let all = sass::loops(&text);
        // The innermost of each kind, the first of several.
        let multiply = all.iter().filter(|l| l.hgmma > 0).min_by_key(|l| (l.inner, l.head)).unwrap();
        let load = all.iter().filter(|l| l.utmaldg > 0).min_by_key(|l| (l.inner, l.head)).unwrap();
        assert_eq!((multiply.utmaldg, load.hgmma), (0, 0), "{name}");
        found.insert(name.to_owned(), Bar { multiply: multiply.instructions, load: load.instructions });
    }
    assert_eq!(found, bars, "left: measured, right: tests/bars.toml");
    // The example of the rule itself.
    let example = &bars["gemm_bf16"];
    assert!(example.multiply <= 44 && example.load <= 35);
    assert!(bars["attention_bf16"].multiply <= 589);
    assert!(bars["gemm_persistent"].multiply <= 44);
}

/// The soft-max of one block stands between the wait for its product with K and the wait for the product with V
/// of the block before: in the program's text, and in machine code.
#[test]
fn attention_overlaps_c82() {
    let ptxas = tool("ptxas");
    let nvdisasm = tool("nvdisasm");
    for (name, text) in attention() {
        let emitted = common::emit_text(&text, &EmitOptions::default()).unwrap();
        let assembled = assemble(&ptxas, &emitted.ptx, "sm_90a").unwrap();
        let text = sass::disassemble(&nvdisasm, &assembled.cubin).unwrap();
        // From a wait that leaves one product running to the wait for that one.
        let (_, behind) = text.split_once("WARPGROUP.DEPBAR.LE gsb0, 0x1").unwrap();
        let (between, _) = behind.split_once("WARPGROUP.DEPBAR.LE gsb0, 0x0").unwrap();
        let count = |what: &str| between.matches(what).count();
        assert!(count("MUFU.EX2") >= 64 && count("FMNMX") >= 64, "{name}: {}", count("MUFU.EX2"));
        assert_eq!((count("HGMMA"), count("WARPGROUP")), (0, 0), "{name}");
    }
}

/// Instructions a steady loop may have: the work itself, iterators, addresses, predicates and branches.
const STEADY: &[&str] = &[
    "wgmma.",
    "mbarrier.",
    "cp.async.bulk.",
    "bra",
    "setp.",
    "selp.b32",
    "add.s32",
    "add.s64",
    "xor.b32",
    "shl.b32",
    "mul.wide.",
    "cvt.u64.u32",
    "cvt.s64.s32",
    // The slot that follows in a ring of 2^n.
    "and.b32",
    "and.pred",
    "or.pred",
    "not.pred",
    "mov.b32",
    "mov.b64",
];

/// What does not belong into the steady loops of a text: other instructions, and moves of accumulators.
fn strangers(ptx: &str) -> Vec<String> {
    let module = warploom_ptx::parse(ptx).unwrap();
    module.functions().flat_map(strangers_of).collect()
}

fn strangers_of(function: &warploom_ptx::Function) -> Vec<String> {
    let code = Code::of(function).unwrap();
    let flow = Flow::of(&code);
    let multiplies = |i: &Instruction| i.opcode.starts_with("wgmma.mma_async");
    let works = |i: usize| {
        let instruction = code.steps()[i].instruction;
        multiplies(instruction) || instruction.opcode.starts_with("cp.async.bulk.tensor")
    };
    let products = code.steps().iter().map(|step| step.instruction).filter(|i| multiplies(i));
    let accumulators: BTreeSet<&str> = products.flat_map(|i| i.operands[0].names()).collect();
    let mut found = Vec::new();
    for body in flow.loops() {
        if !body.instructions(&flow).any(works) {
            continue;
        }
        for i in body.instructions(&flow) {
            let instruction = code.steps()[i].instruction;
            let known = STEADY.iter().any(|name| instruction.opcode.starts_with(name));
            let moves = !instruction.opcode.starts_with("wgmma.")
                && instruction.names().any(|name| accumulators.contains(name));
            if !known || moves {
                found.push(instruction.to_string());
            }
        }
    }
    found
}

#[test]
fn steady_loops_hold_nothing_else_c82() {
    for (name, text) in kernels() {
        let ptx = common::emit_text(&text, &EmitOptions::default())
            .unwrap_or_else(|e| panic!("{}", messages(&e)))
            .ptx;
        assert_eq!(strangers(&ptx), Vec::<String>::new(), "{name}");
        // The test sees what is put there.
        for line in
            ["\tdiv.u32 %r9999, %r1, %r2;", "\tshr.u32 %r9999, %r1, 3;", "\tld.param.b32 %r9999, [p];"]
        {
            let spoilt = ptx.replacen(
                "\twgmma.fence.sync.aligned;",
                &format!("{line}\n\twgmma.fence.sync.aligned;"),
                1,
            );
            assert_eq!(strangers(&spoilt), [line.trim()], "{name}");
        }
    }
}

#[test]
fn same_input_same_text() {
    for (name, text) in kernels().into_iter().take(2) {
        let emit = || common::emit_text(&text, &EmitOptions::default().llvm(true)).unwrap();
        let (first, second) = (emit(), emit());
        assert_eq!(first.ptx, second.ptx, "{name}");
        assert_eq!(first.llvm, second.llvm, "{name}");
        assert_eq!(first.metadata, second.metadata, "{name}");
    }
}
