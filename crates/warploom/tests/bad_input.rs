//! Kernels that ask for what there is not, at the command line: status 1, the owner, what it takes, and
//! what would fit. Refusals of texts as they stand are files of `files/refusals`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]

mod common;

use std::fs;

use common::{piped, root};

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
fn a_tile_beyond_the_registers_names_partition_bytes_and_a_tile_that_fits() {
    let said = refusal(&gemm(256, 256), "sm_90a");
    says(
        &said,
        &[
            "error[registers]",
            "needs 160 registers per thread of 112",
            "partition @math, 327680 B",
            "rule: C31",
        ],
    );
    let (m, n) = tile(&said);
    compiles(&gemm(m, n), "sm_90a");
}

#[test]
fn a_tile_beyond_the_registers_of_one_partition_is_told_which_would_fit() {
    let said = refusal(&gated(256, 256), "sm_80");
    says(&said, &["error[registers]", "partition @main, 524288 B in 16 warps", "rule: C31"]);
    let (m, n) = tile(&said);
    compiles(&gated(m, n), "sm_80");
}

#[test]
fn a_tile_beyond_tensor_memory_names_partition_bytes_and_a_tile_that_fits() {
    let said = refusal(&gated(256, 256), "sm_100a");
    says(
        &said,
        &[
            "error[capacity]",
            "tensor memory 1024 columns of 512",
            "partition @mma, 524288 B of 262144 B",
            "rule: C92",
        ],
    );
    let (m, n) = tile(&said);
    compiles(&gated(m, n), "sm_100a");
}

#[test]
fn a_share_of_an_sm_that_no_partition_fits_in() {
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
