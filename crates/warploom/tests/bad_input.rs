//! Kernels that ask for what there is not, at the command line: status 1, the owner, what it takes, and what would fit.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::piped;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What is said of a kernel that is refused.
fn refusal(text: &str, chip: &str) -> String {
    let output = piped(&["compile", "-", "--target", chip, "--emit", "program"], text.as_bytes());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{chip}: {said}");
    assert!(output.stdout.is_empty() && !said.contains("panicked"), "{said}");
    assert!(said.contains("<stdin>:") && said.contains('^'), "no place:\n{said}");
    said
}

fn compiles(text: &str, chip: &str) {
    let output = piped(&["compile", "-", "--target", chip, "--emit", "program"], text.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{chip}: {}", String::from_utf8_lossy(&output.stderr));
}

#[track_caller]
fn says(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
}

/// The example of 128x256x64, with tiles of M rows and N columns.
fn gemm(m: u64, n: u64) -> String {
    let text = fs::read_to_string(root().join("examples/kernels/gemm.ttir")).unwrap();
    let text = text.replace("<128x64x", "<Mx64x").replace("<256x64x", "<Nx64x").replace("<64x256x", "<64xNx");
    let text = text
        .replace("<128x256x", "<MxNx")
        .replace("%c256_i32 = arith.constant 256", "%c256_i32 = arith.constant N");
    let text = text.replace("%c128_i32 = arith.constant 128", "%c128_i32 = arith.constant M");
    let sized = |text: String, name: char, extent: u64| {
        text.replace(&format!("<{name}x"), &format!("<{extent}x"))
            .replace(&format!("x{name}x"), &format!("x{extent}x"))
            .replace(&format!("constant {name} "), &format!("constant {extent} "))
    };
    sized(sized(text, 'M', m), 'N', n)
}

/// The same with a second product of the same A: two accumulators, as a gated layer has them.
fn gated(m: u64, n: u64) -> String {
    let text = gemm(m, n);
    let tile = format!("tensor<{m}x{n}xf32>");
    let b = text.lines().find(|l| l.contains("%7 = tt.descriptor_load")).unwrap();
    let trans = text.lines().find(|l| l.contains("%8 = tt.trans")).unwrap();
    let dot = text.lines().find(|l| l.contains("%9 = tt.dot")).unwrap();
    let second = [b, trans, dot].join("\n").replace("%7", "%u7").replace("%8", "%u8").replace("%9", "%u9");
    let second = second.replace("[%3,", "[%1,").replace("%arg17", "%up");
    text.replace(dot, &format!("{dot}\n{second}"))
        .replace("%4 = scf.for", "%4:2 = scf.for")
        .replace("iter_args(%arg17 = %cst)", "iter_args(%arg17 = %cst, %up = %cst)")
        .replace(&format!("-> ({tile})  : i32"), &format!("-> ({tile}, {tile})  : i32"))
        .replace(&format!("scf.yield %9 : {tile}"), &format!("scf.yield %9, %u9 : {tile}, {tile}"))
        .replace(
            "%5 = arith.truncf %4 ",
            &format!("%sum = arith.addf %4#0, %4#1 : {tile}\n    %5 = arith.truncf %sum "),
        )
}

/// The tile that a refusal says would fit.
fn tile(said: &str) -> (u64, u64) {
    let rest = said.split("fits: a tile of ").nth(1).unwrap_or_else(|| panic!("no tile in\n{said}"));
    let line = rest.lines().next().unwrap();
    let (m, n) = line.split_once('x').unwrap();
    (m.parse().unwrap(), n.parse().unwrap())
}

#[test]
fn a_tile_beyond_the_registers_names_agent_bytes_and_a_tile_that_fits() {
    let said = refusal(&gemm(256, 256), "sm_90a");
    says(
        &said,
        &["error[registers]", "needs 160 registers per thread of 112", "agent @math, 327680 B", "rule: C31"],
    );
    let (m, n) = tile(&said);
    compiles(&gemm(m, n), "sm_90a");
}

#[test]
fn a_tile_beyond_the_registers_of_one_agent_is_told_which_would_fit() {
    let said = refusal(&gated(256, 256), "sm_80");
    says(&said, &["error[registers]", "agent @main, 524288 B in 16 warps", "rule: C31"]);
    let (m, n) = tile(&said);
    compiles(&gated(m, n), "sm_80");
}

#[test]
fn a_tile_beyond_tensor_memory_names_agent_bytes_and_a_tile_that_fits() {
    let said = refusal(&gated(256, 256), "sm_100a");
    says(
        &said,
        &[
            "error[capacity]",
            "tensor memory 1024 columns of 512",
            "agent @mma, 524288 B of 262144 B",
            "rule: C92",
        ],
    );
    let (m, n) = tile(&said);
    compiles(&gated(m, n), "sm_100a");
}

/// Attention of head size 64 in other head sizes, where the reference kernels are at hand.
fn attention(head: u64) -> Option<String> {
    let text = fs::read_to_string(root().join("../shared/data/kernels/attention_64.ttir")).ok()?;
    Some(text.replace("128x64x", &format!("128x{head}x")).replace("64x128x", &format!("{head}x128x")))
}

#[test]
fn head_sizes_that_no_instruction_covers() {
    let cases = [
        (8, "sm_90a", "tt.dot with K = 8", "multiples of 16"),
        (512, "sm_90a", "tt.dot with N = 512", "up to 256"),
        (512, "sm_100a", "tt.dot with N = 512", "up to 256"),
        (8, "sm_80", "fit no split", "multiples of 16"),
        (256, "sm_90a", "registers per thread", "agent @math"),
        (512, "sm_80", "registers per thread", "agent @main, 327680 B in 16 warps"),
        (256, "sm_80", "shared memory 237568 B of 166912 B", "a loop that loads 1/4 of it in a trip"),
    ];
    for (head, chip, what, supported) in cases {
        let Some(text) = attention(head) else { return };
        says(&refusal(&text, chip), &["error[", what, supported, "rule: "]);
    }
}

/// bf16 numbers added up in memory.
const ATOMIC: &str = "module {
  tt.func public @add(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %one = arith.constant dense<1.000000e+00> : tensor<128xbf16>
    %all = arith.constant dense<true> : tensor<128xi1>
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %1 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<128x!tt.ptr<bf16>>
    %2 = tt.addptr %1, %0 : tensor<128x!tt.ptr<bf16>>, tensor<128xi32>
    %3 = tt.atomic_rmw fadd, acq_rel, gpu, %2, %one, %all : (tensor<128x!tt.ptr<bf16>>, tensor<128xbf16>, tensor<128xi1>) -> tensor<128xbf16>
    tt.return
  }
}
";

#[test]
fn a_chip_without_the_feature() {
    let said = refusal(ATOMIC, "sm_80");
    says(
        &said,
        &["error[target]", "sm_80 has no atomic operation on bf16", "needs: sm_90", "instead: ", "rule: "],
    );
    compiles(ATOMIC, "sm_90a");
}

#[test]
fn a_share_of_an_sm_that_no_agent_fits_in() {
    for (residents, what) in [("32", "no warpgroup that computes"), ("4", "registers per thread")] {
        let output = piped(
            &["compile", "-", "--target", "sm_90a", "--residents", residents],
            gemm(128, 256).as_bytes(),
        );
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        says(&said, &["error[", what, "rule: "]);
    }
}

#[test]
fn storage_that_contradicts_the_schedule() {
    let text = fs::read_to_string(root().join("examples/storage/gemm.ttir")).unwrap();
    compiles(&text, "sm_90a");
    // A and B of one product in the same bytes.
    let wrong = text
        .replace("group_kind = #tlx.reuse_group_kind<distinct>", "group_kind = #tlx.reuse_group_kind<shared>")
        .replace("!tlx.reuse_group<distinct>", "!tlx.reuse_group<shared>");
    says(&refusal(&wrong, "sm_90a"), &["error[", "%ring_a and %ring_b share bytes", "A48"]);
    // Leaves that are smaller than what lies in them.
    let small = text.replace("1x128x256xbf16", "1x64x256xbf16");
    says(&refusal(&small, "sm_90a"), &["error[layout]", "32768 of the 65536", "B20"]);
}

/// Loops that run no trip, by a bound of zero or less: what they start from is stored, no barrier hangs (C7).
#[cfg(feature = "llvm")]
#[test]
fn trip_counts_of_zero_and_less_at_run_time() {
    let text = gemm(128, 256);
    for chip in ["sm_80", "sm_90a", "sm_100a"] {
        for bound in ["0", "-1", "-64", "-2147483648"] {
            let mut args = vec!["run", "-", "--target", chip];
            for tensor in ["104x16", "216x16", "104x216"] {
                args.extend(["--arg", tensor]);
            }
            let bound = format!("--arg={bound}");
            args.push(&bound);
            let output = piped(&args, text.as_bytes());
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(
                output.status.code(),
                Some(0),
                "{chip}, {bound}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            assert!(said.contains("passed") && !said.contains("failed"), "{chip}, {bound}: {said}");
        }
    }
}

#[test]
fn launches_that_no_machine_holds_are_refused() {
    let text = gemm(128, 256);
    let run = |args: [&str; 4], grid: &str| {
        let mut line = vec!["run", "-", "--target", "sm_90a", "--interleavings", "1", "--grid", grid];
        for arg in args {
            line.extend(["--arg", arg]);
        }
        let output = piped(&line, text.as_bytes());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        said
    };
    for huge in ["999999999999x64", "18446744073709551615x18446744073709551615"] {
        says(&run([huge, "16x64", "16x16", "0"], "1"), &["argument 0", "at most 268435456 elements"]);
    }
    says(&run(["16x64", "16x64", "16x16", "64"], "4000000000,4000000000,2"), &["at most 65536 can be run"]);
}
