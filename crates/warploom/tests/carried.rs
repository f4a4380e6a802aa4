//! Loops that carry what their copies go by: tiles of offsets, vectors that mask, pointers that move by a number looked up
//! (C8). Every form of a kernel gives what the kernel gives.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]
#![cfg(feature = "llvm")]

use warploom::run::ArgSpec::{Buffer, Int, Values};
use warploom::run::{Case, policies, prepare};
use warploom::{Options, Target};
use warploom_emulator as emulator;

mod common;

/// `gemm_pointers` with one text in place of another, each once at least.
fn changed(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(common::kernel("gemm_pointers"), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

/// A carried tile of 32-bit offsets of A in place of its pointers.
const OFFSETS: [(&str, &str); 4] = [
    ("%arg10 = %18", "%arg10 = %17"),
    ("-> (tensor<128x32x!tt.ptr<f16>>, ", "-> (tensor<128x32xi32>, "),
    (
        "%53 = tt.load %arg10,",
        "%at = tt.addptr %16, %arg10 : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>\n      %53 = tt.load %at,",
    ),
    (
        "scf.yield %62, %65, %61 : tensor<128x32x!tt.ptr<f16>>,",
        "scf.yield %62, %65, %61 : tensor<128x32xi32>,",
    ),
];

/// How they move.
const ADDED: (&str, &str) = (
    "%62 = tt.addptr %arg10, %cst_2 : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>",
    "%62 = arith.addi %arg10, %cst_2 : tensor<128x32xi32>",
);

fn kernels() -> Vec<(&'static str, String)> {
    let [start, carried, load, end] = OFFSETS;
    let taken_away = (ADDED.0, "%62 = arith.subi %arg10, %cst_2 : tensor<128x32xi32>");
    let minus = ("dense<32> : tensor<128x32xi32>", "dense<-32> : tensor<128x32xi32>");
    let masked = [
        (
            "(tensor<128x32x!tt.ptr<f16>>, tensor<32x128x",
            "(tensor<32xi32>, tensor<128x32x!tt.ptr<f16>>, tensor<32x128x",
        ),
        ("%28:3 = scf.for", "%28:4 = scf.for"),
        ("iter_args(%arg10", "iter_args(%ks = %9, %arg10"),
        ("%28#2", "%28#3"),
        ("      %44 = arith.subi %arg5, %arg9 : i32\n      %45 = tt.splat %44", "      %45 = tt.splat %arg5"),
        ("arith.cmpi slt, %9, %45", "arith.cmpi slt, %ks, %45"),
        (
            "%51 = tt.broadcast %49 :",
            "%never = arith.constant dense<true> : tensor<128x32xi1>\n      %51 = tt.broadcast %49 :",
        ),
        ("%52 = arith.andi %50, %51", "%52 = arith.andi %50, %never"),
        (
            "scf.yield %62,",
            "%step = arith.constant dense<32> : tensor<32xi32>\n      %next = arith.addi %ks, %step : tensor<32xi32>\n      scf.yield %next, %62,",
        ),
        (
            " : tensor<128x32x!tt.ptr<f16>>, tensor<32x128x!tt.ptr<f16>>, tensor<128x128xf32>\n    }",
            " : tensor<32xi32>, tensor<128x32x!tt.ptr<f16>>, tensor<32x128x!tt.ptr<f16>>, tensor<128x128xf32>\n    }",
        ),
    ];
    let looked_up = [
        (
            "%arg8: i32 {tt.divisibility = 16 : i32})",
            "%arg8: i32 {tt.divisibility = 16 : i32}, %steps: !tt.ptr<i32>)",
        ),
        (
            "%63 = arith.muli %arg7, %c32_i32",
            "%trip = arith.divsi %arg9, %c32_i32 : i32\n      %from = tt.addptr %steps, %trip : !tt.ptr<i32>, i32\n      \
             %step = tt.load %from : !tt.ptr<i32>\n      %63 = arith.muli %arg7, %step",
        ),
    ];
    vec![
        ("as it is", changed(&[])),
        ("offsets", changed(&[start, carried, load, end, ADDED])),
        ("offsets that are taken from", changed(&[start, carried, load, end, taken_away, minus])),
        ("rows of B masked by a carried vector", changed(&masked)),
        ("steps looked up", changed(&looked_up)),
    ]
}

#[test]
fn what_copies_go_by_may_be_carried_in_any_form_c8() {
    for (what, text) in kernels() {
        let module = warploom::read(&text).unwrap_or_else(|d| panic!("{what}: {}", d[0]));
        for chip in ["sm_80", "sm_90a", "sm_100a", "sm_120a"] {
            let target = Target::named(chip).unwrap();
            let output = warploom::compile(&module, &target, &Options::default());
            let output = output.unwrap_or_else(|d| panic!("{what}, {chip}: {}", d[0]));
            let metadata = &output.emitted.metadata;
            let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
            // Rows of B and C are 128 long; K is whole trips where A is not masked.
            let mut args = vec![Buffer(128 * 96), Buffer(96 * 128), Buffer(128 * 128)];
            args.extend([100, 128, 96, 96, 128, 128].map(Int));
            if what == "steps looked up" {
                args.push(Values(vec![64, -32, 32]));
            }
            let case = Case { args, grid: [1, 1, 1], seed: 1 };
            let prepared = prepare(&module, &metadata.name, &case).unwrap();
            for policy in policies(2) {
                let options = emulator::RunOptions::default().policy(policy);
                let outcome = prepared.run(&ptx, metadata, &target, &options).unwrap();
                assert!(outcome.passed(), "{what}, {chip}, {policy:?}\n{}", outcome.report);
            }
        }
    }
}
