//! Broken programs are compiled or refused: no panic, no abort of LLVM, no endless run (C43, C90).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use common::Gemm;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use warploom_chips::Target;
use warploom_codegen::{EmitOptions, emit};

fn seeds() -> Vec<String> {
    let small = Gemm { m: 64, n: 8, k: 32, groups: 1, depth: 2, ..Gemm::default() };
    let epilogue = "%s = tt.splat %K : i32 -> tensor<64x8xi32>\n%f = arith.sitofp %s : tensor<64x8xi32> to \
                    tensor<64x8xf32>\n%g = arith.addf %acc, %f : tensor<64x8xf32>\n%h = math.exp %g : tensor<64x8xf32>\n\
                    %r0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n\
                    %r1 = tt.expand_dims %r0 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>\n\
                    %r2 = tt.broadcast %r1 : tensor<1x8xi32> -> tensor<64x8xi32>\n\
                    %r3 = arith.cmpi slt, %r2, %s : tensor<64x8xi32>\n\
                    %o = arith.select %r3, %h, %g : tensor<64x8xi1>, tensor<64x8xf32>\n\
                    %out = arith.truncf %o : tensor<64x8xf32> to tensor<64x8xbf16>\n";
    let rich = Gemm { epilogue: epilogue.to_owned(), extra: Some("bf16"), ..small.clone() };
    vec![small.text(), rich.text(), attention()]
}

/// Causal attention with tiles of 64 x 64: loops, conditionals, reductions, vectors, A from registers; at its end
/// the output is added to memory through pointers.
fn attention() -> String {
    let mut text = common::program("attention_causal_bf16.mlir");
    let smaller = [
        ("<128x128x", "<64x64x"),
        ("<128x", "<64x"),
        ("<1x128x", "<1x64x"),
        ("end = 128 :", "end = 64 :"),
        ("warps = 12 :", "warps = 8 :"),
        ("warps = 8 : i32, registers = 240", "warps = 4 : i32, registers = 232"),
        ("threads = 256", "threads = 128"),
        ("block_size = array<i32: 128, 64>", "block_size = array<i32: 64, 64>"),
    ];
    for (from, to) in smaller {
        text = text.replace(from, to);
    }
    let t = "tensor<64x64xf32>";
    let sums = format!(
        "%tp = tt.splat %lse : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>\n\
         %to = tt.expand_dims %lane {{axis = 0 : i32}} : tensor<64xi32> -> tensor<1x64xi32>\n\
         %ti = tt.broadcast %to : tensor<1x64xi32> -> tensor<64x64xi32>\n\
         %tq = tt.addptr %tp, %ti : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>\n\
         %tl = tt.load %tq : tensor<64x64x!tt.ptr<f32>>\n%tv = arith.addf %quot, %tl : {t}\n\
         %all_true = arith.constant dense<true> : tensor<64x64xi1>\n\
         %told = tt.atomic_rmw fadd, relaxed, gpu, %tq, %tv, %all_true : \
         (tensor<64x64x!tt.ptr<f32>>, {t}, tensor<64x64xi1>) -> {t}\n"
    );
    let (before, after) = text.split_once("      %ll = math.log2").unwrap();
    format!("{before}{sums}      %ll = math.log2{after}")
}

/// One edit of a text, chosen by numbers.
#[derive(Clone, Debug)]
enum Edit {
    /// The n-th number becomes another.
    Number(usize, i64),
    /// The n-th line disappears.
    Drop(usize),
    /// The n-th line stands twice.
    Double(usize),
    /// Two lines change places.
    Swap(usize, usize),
    /// The n-th word of a list of types, operations or handshakes becomes another.
    Word(usize, usize),
}

const WORDS: &[&str] = &[
    "bf16",
    "f16",
    "f32",
    "f64",
    "f8E4M3FN",
    "i1",
    "i8",
    "i32",
    "i64",
    "tma_to_wgmma",
    "tma_to_generic",
    "none",
    "arith.addf",
    "arith.addi",
    "arith.mulf",
    "math.exp",
    "math.sin",
    "tt.splat",
    "tt.trans",
    "tt.broadcast",
    "warploom.slot",
    "warploom.advance",
    "warploom.elect",
    "warploom.consumer_wait",
    "warploom.producer_acquire",
    "warploom.mma_wait",
    "tt.expand_dims",
    "arith.maxnumf",
    "relaxed",
    "acq_rel",
    "fadd",
    "exch",
];

fn apply(text: &str, edit: &Edit) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let rest = |skip: &dyn Fn(usize) -> Vec<usize>| {
        (0..lines.len()).flat_map(skip).map(|i| lines[i]).collect::<Vec<_>>().join("\n")
    };
    match *edit {
        Edit::Number(n, value) => {
            let mut spots = Vec::new();
            let bytes = text.as_bytes();
            for (i, b) in bytes.iter().enumerate() {
                let starts = b.is_ascii_digit()
                    && i > 0
                    && !bytes[i - 1].is_ascii_alphanumeric()
                    && bytes[i - 1] != b'.';
                if starts {
                    let end = bytes[i..].iter().position(|b| !b.is_ascii_digit()).unwrap_or(1);
                    spots.push((i, i + end));
                }
            }
            let (from, to) = spots[n % spots.len()];
            format!("{}{value}{}", &text[..from], &text[to..])
        }
        Edit::Drop(n) => rest(&|i| if i == n % lines.len() { vec![] } else { vec![i] }),
        Edit::Double(n) => rest(&|i| if i == n % lines.len() { vec![i, i] } else { vec![i] }),
        Edit::Swap(a, b) => {
            let (a, b) = (a % lines.len(), b % lines.len());
            rest(&|i| {
                vec![if i == a {
                    b
                } else if i == b {
                    a
                } else {
                    i
                }]
            })
        }
        Edit::Word(n, to) => {
            let mut spots: Vec<(usize, &str)> = Vec::new();
            for word in WORDS {
                spots.extend(text.match_indices(word));
            }
            let (at, found) = spots[n % spots.len()];
            format!("{}{}{}", &text[..at], WORDS[to % WORDS.len()], &text[at + found.len()..])
        }
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    let value = prop_oneof![
        -1i64..20,
        Just(-1),
        (0u32..40).prop_map(|n| 1 << n),
        Just(232_448),
        Just(1_048_576),
        Just(i64::from(i32::MAX)),
        Just(i64::from(u32::MAX)),
    ];
    prop_oneof![
        4 => (any::<usize>(), value).prop_map(|(n, v)| Edit::Number(n, v)),
        2 => any::<usize>().prop_map(Edit::Drop),
        1 => any::<usize>().prop_map(Edit::Double),
        2 => any::<(usize, usize)>().prop_map(|(a, b)| Edit::Swap(a, b)),
        3 => any::<(usize, usize)>().prop_map(|(n, to)| Edit::Word(n, to)),
    ]
}

/// Programs that were edited: how many, how many could be read, how many compiled.
static COUNTS: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

#[test]
fn seeds_compile() {
    for text in seeds() {
        let module = warploom_ir::parse(&text).unwrap_or_else(|e| panic!("{}", common::messages(&e)));
        let result = emit(&module, &Target::named("sm_90a").unwrap(), &EmitOptions::default());
        result.unwrap_or_else(|e| panic!("{}", common::messages(&e)));
    }
}

#[test]
fn edited_programs_never_panic() {
    let config = ProptestConfig {
        cases: 1000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x5eed),
        ..ProptestConfig::default()
    };
    let seeds = seeds();
    let target = Target::named("sm_90a").unwrap();
    TestRunner::new(config)
        .run(&(0..seeds.len(), prop::collection::vec(edit(), 1..3)), |(which, edits)| {
            let text = edits.iter().fold(seeds[which].clone(), |text, edit| apply(&text, edit));
            COUNTS[0].fetch_add(1, Relaxed);
            let Ok(module) = warploom_ir::parse(&text) else { return Ok(()) };
            COUNTS[1].fetch_add(1, Relaxed);
            match emit(&module, &target, &EmitOptions::default()) {
                Ok(_) => COUNTS[2].fetch_add(1, Relaxed),
                Err(list) => {
                    prop_assert!(!list.is_empty());
                    0
                }
            };
            Ok(())
        })
        .unwrap_or_else(|e| panic!("{e}"));
    let [all, read, compiled] = COUNTS.each_ref().map(|n| n.load(Relaxed));
    println!("{all} programs, {read} read, {compiled} compiled");
    // A generator whose programs all fail early would test nothing.
    assert!(read > all / 5 && compiled > all / 20 && compiled < read);
}

#[test]
fn deep_and_long_programs() {
    // 20000 additions one behind the other: no recursion over operands.
    let mut epilogue = String::from("%s0 = tt.splat %K : i32 -> tensor<64x8xi32>\n");
    for i in 0..20_000 {
        epilogue += &format!("%s{} = arith.addi %s{i}, %s{i} : tensor<64x8xi32>\n", i + 1);
    }
    epilogue += "%f = arith.sitofp %s20000 : tensor<64x8xi32> to tensor<64x8xf32>\n\
                 %g = arith.addf %acc, %f : tensor<64x8xf32>\n\
                 %out = arith.truncf %g : tensor<64x8xf32> to tensor<64x8xbf16>\n";
    let gemm = Gemm { m: 64, n: 8, k: 32, groups: 1, depth: 2, epilogue, ..Gemm::default() };
    assert!(gemm.emit().is_ok());
    // Regions nested deeper than anybody would.
    let deep = |n: usize| {
        let mut text = String::from("%t = arith.constant true\n");
        text += &"scf.if %t {\n".repeat(n);
        text += &"}\n".repeat(n);
        let out = "%out = arith.truncf %acc : tensor<64x8xf32> to tensor<64x8xbf16>\n";
        Gemm { m: 64, n: 8, k: 32, groups: 1, depth: 2, epilogue: text + out, ..Gemm::default() }.emit()
    };
    assert!(deep(20).is_ok());
    assert!(deep(100).is_err());
}
