//! Sums of products through several loops, and products of different tiles one after the other: on Blackwell they stay in,
//! or take turns in, tensor memory (C66). Every chip gives what the kernel gives, with loops of no trip among them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]
#![cfg(feature = "llvm")]

use warploom::run::ArgSpec::{Buffer, Int};
use warploom::run::{Case, policies, prepare};
use warploom::{Options, Target};
use warploom_emulator as emulator;

mod common;

const HEAD: &str = "    %28:3 = scf.for";

/// `gemm_pointers` with its loop done otherwise.
fn looped(change: impl Fn(&str) -> String) -> String {
    let text = common::kernel("gemm_pointers");
    let (before, rest) = text.split_once(HEAD).unwrap();
    let (scf_for, after) = rest.split_once("\n    }").unwrap();
    format!("{before}{}{after}", change(&format!("{HEAD}{scf_for}\n    }}")))
}

/// The loop in two, the first to where 64 of K are done.
fn behind(scf_for: &str) -> String {
    let first = scf_for.replace("%28:3", "%first:3").replace("to %arg5 step", "to %middle step");
    let second = scf_for.replace("= %c0_i32 to", "= %middle to");
    let second = second.replace(
        "%arg10 = %18, %arg11 = %27, %arg12 = %cst",
        "%arg10 = %first#0, %arg11 = %first#1, %arg12 = %first#2",
    );
    format!(
        "    %c64 = arith.constant 64 : i32\n    %middle = arith.minsi %arg5, %c64 : i32\n{first}\n{second}"
    )
}

/// The loop in a loop, 64 of K at a time.
fn inside(scf_for: &str) -> String {
    let inner = scf_for.replace("%28:3", "%inner:3").replace("= %c0_i32 to %arg5", "= %from to %to");
    let inner =
        inner.replace("%arg10 = %18, %arg11 = %27, %arg12 = %cst", "%arg10 = %p, %arg11 = %q, %arg12 = %sum");
    let types = "tensor<128x32x!tt.ptr<f16>>, tensor<32x128x!tt.ptr<f16>>, tensor<128x128xf32>";
    format!(
        "    %c64 = arith.constant 64 : i32\n    %28:3 = scf.for %from = %c0_i32 to %arg5 step %c64 iter_args(%p = %18, %q \
         = %27, %sum = %cst) -> ({types}) : i32 {{\n    %end = arith.addi %from, %c64 : i32\n    %to = arith.minsi %end, \
         %arg5 : i32\n{inner}\n    scf.yield %inner#0, %inner#1, %inner#2 : {types}\n    }}"
    )
}

/// `c = a b` of whole tiles, K in steps of 32: operations whose names begin with `x`.
fn product(x: char, (m, n): (u64, u64), [a, b, c]: [&str; 3]) -> String {
    let tile = |name: &str, base: &str, (rows, cols): (u64, u64), pitch: &str| {
        let (rows_of, cols_of) = (format!("%{x}{name}r"), format!("%{x}{name}c"));
        let (all, one) = (format!("{rows}x{cols}"), format!("{rows}x1"));
        format!(
            "    {rows_of} = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32>
    {cols_of} = tt.make_range {{end = {cols} : i32, start = 0 : i32}} : tensor<{cols}xi32>
    {rows_of}e = tt.expand_dims {rows_of} {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{one}xi32>
    {rows_of}p = tt.splat {pitch} : i32 -> tensor<{one}xi32>
    {rows_of}o = arith.muli {rows_of}e, {rows_of}p : tensor<{one}xi32>
    {rows_of}b = tt.broadcast {rows_of}o : tensor<{one}xi32> -> tensor<{all}xi32>
    {cols_of}e = tt.expand_dims {cols_of} {{axis = 0 : i32}} : tensor<{cols}xi32> -> tensor<1x{cols}xi32>
    {cols_of}b = tt.broadcast {cols_of}e : tensor<1x{cols}xi32> -> tensor<{all}xi32>
    %{x}{name}o = arith.addi {rows_of}b, {cols_of}b : tensor<{all}xi32>
    %{x}{name}s = tt.splat {base} : !tt.ptr<f16> -> tensor<{all}x!tt.ptr<f16>>
    %{x}{name} = tt.addptr %{x}{name}s, %{x}{name}o : tensor<{all}x!tt.ptr<f16>>, tensor<{all}xi32>\n"
        )
    };
    let [pa, pb, pc] = [tile("a", a, (m, 32), "%k"), tile("b", b, (32, n), "%n"), tile("d", c, (m, n), "%n")];
    let n_of = format!("    %n{x} = arith.constant {n} : i32\n");
    let (pb, pc) = (pb.replace("%n ", &format!("%n{x} ")), pc.replace("%n ", &format!("%n{x} ")));
    format!(
        "{n_of}{pa}{pb}{pc}    %{x}zero = arith.constant dense<0.0> : tensor<{m}x{n}xf32>
    %{x} = scf.for %i = %c0 to %k step %c32 iter_args(%sum = %{x}zero) -> (tensor<{m}x{n}xf32>) : i32 {{
      %ai = tt.splat %i : i32 -> tensor<{m}x32xi32>
      %ap = tt.addptr %{x}a, %ai : tensor<{m}x32x!tt.ptr<f16>>, tensor<{m}x32xi32>
      %at = tt.load %ap : tensor<{m}x32x!tt.ptr<f16>>
      %in = arith.muli %i, %n{x} : i32
      %bi = tt.splat %in : i32 -> tensor<32x{n}xi32>
      %bp = tt.addptr %{x}b, %bi : tensor<32x{n}x!tt.ptr<f16>>, tensor<32x{n}xi32>
      %bt = tt.load %bp : tensor<32x{n}x!tt.ptr<f16>>
      %next = tt.dot %at, %bt, %sum : tensor<{m}x32xf16> * tensor<32x{n}xf16> -> tensor<{m}x{n}xf32>
      scf.yield %next : tensor<{m}x{n}xf32>
    }}
    %{x}h = arith.truncf %{x} : tensor<{m}x{n}xf32> to tensor<{m}x{n}xf16>
    tt.store %{x}d, %{x}h : tensor<{m}x{n}x!tt.ptr<f16>>\n"
    )
}

/// Runs a kernel of 128 x 128 elements of C at several K on a chip; returns its PTX.
fn right(text: &str, chip: &str, what: &str) -> String {
    let module = warploom::read(text).unwrap_or_else(|d| panic!("{what}: {}", d[0]));
    let target = Target::named(chip).unwrap();
    let output = warploom::compile(&module, &target, &Options::default());
    let output = output.unwrap_or_else(|d| panic!("{what}, {chip}: {}", d[0]));
    let metadata = &output.emitted.metadata;
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    for k in [0, 32, 64, 100, 224] {
        let mut args = vec![Buffer(128 * 224), Buffer(224 * 128), Buffer(128 * 128)];
        args.extend([100, 128, k, 224, 128, 128].map(Int));
        let case = Case { args, grid: [1, 1, 1], seed: 1 };
        let prepared = prepare(&module, &metadata.name, &case).unwrap();
        for policy in policies(2) {
            let options = emulator::RunOptions::default().policy(policy);
            let outcome = prepared.run(&ptx, metadata, &target, &options).unwrap();
            assert!(outcome.passed(), "{what}, {chip}, K = {k}, {policy:?}\n{}", outcome.report);
        }
    }
    output.emitted.ptx
}

#[test]
fn sums_go_through_loops_behind_and_inside_one_another_c66() {
    for (what, text) in [("behind", looped(behind)), ("inside", looped(inside))] {
        for chip in ["sm_90a", "sm_100a"] {
            let ptx = right(&text, chip, what);
            // The sum leaves tensor memory once.
            if chip == "sm_100a" {
                let loads = ptx.matches("tcgen05.ld.").count();
                let once = right(&common::kernel("gemm_pointers"), chip, what).matches("tcgen05.ld.").count();
                assert_eq!(loads, once, "{what}");
            }
        }
    }
}

/// The PTX of a kernel of the suite of runs, which says what it gives.
fn compiled(name: &str, chip: &str) -> String {
    let text = common::read(common::root().join(format!("crates/warploom/tests/runs/{name}.mlir")));
    let module = warploom::read(&text).unwrap_or_else(|d| panic!("{name}: {}", d[0]));
    let target = Target::named(chip).unwrap();
    let output = warploom::compile(&module, &target, &Options::default());
    output.unwrap_or_else(|d| panic!("{name}, {chip}: {}", d[0])).emitted.ptx
}

#[test]
fn what_lanes_make_adds_up_in_tensor_memory_and_columns_go_to_memory_by_all_lanes_c66_c33() {
    let ptx = compiled("made", "sm_100a");
    // 128 columns leave tensor memory once, 32 at a time.
    assert_eq!(ptx.matches("tcgen05.ld.").count(), 4);
    for chip in ["sm_90a", "sm_100a"] {
        assert_eq!(compiled("made", chip).matches(" red.release.").count(), 1, "{chip}");
    }
}

#[test]
fn factors_of_few_bits_are_made_without_conversions_of_integers_c68() {
    for chip in ["sm_80", "sm_90a", "sm_100a"] {
        let ptx = compiled("narrow", chip);
        let conversions =
            ptx.lines().filter(|line| line.contains("cvt.rn.f16.s") || line.contains("cvt.rn.f16.u"));
        assert_eq!(conversions.count(), 0, "{chip}");
    }
}

/// 512 and 256 columns of tensor memory are more than there are; they never live together.
#[test]
fn products_of_different_tiles_take_turns_in_tensor_memory_c66() {
    let arguments =
        ["a", "b", "c", "d", "e"].map(|name| format!("%{name}: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}"));
    let text = format!(
        "module {{\n  tt.func public @turns({}, %k: i32 {{tt.divisibility = 16 : i32}}) {{
    %c0 = arith.constant 0 : i32\n    %c32 = arith.constant 32 : i32\n{}{}    tt.return\n  }}\n}}\n",
        arguments.join(", "),
        product('x', (256, 256), ["%a", "%b", "%c"]),
        product('y', (256, 128), ["%a", "%d", "%e"]),
    );
    let module = warploom::read(&text).unwrap_or_else(|d| panic!("{}", d[0]));
    let target = Target::named("sm_100a").unwrap();
    let output =
        warploom::compile(&module, &target, &Options::default()).unwrap_or_else(|d| panic!("{}", d[0]));
    let metadata = &output.emitted.metadata;
    assert!(output.emitted.ptx.contains("tcgen05.mma"), "{}", output.emitted.ptx);
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    let sizes = [256 * 96, 96 * 256, 256 * 256, 96 * 128, 256 * 128];
    for k in [0, 32, 96] {
        let args = sizes.map(Buffer).into_iter().chain([Int(k)]).collect();
        let case = Case { args, grid: [1, 1, 1], seed: 1 };
        let prepared = prepare(&module, &metadata.name, &case).unwrap();
        for policy in policies(2) {
            let options = emulator::RunOptions::default().policy(policy);
            let outcome = prepared.run(&ptx, metadata, &target, &options).unwrap();
            assert!(outcome.passed(), "K = {k}, {policy:?}\n{}", outcome.report);
        }
    }
}
