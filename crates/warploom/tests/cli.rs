//! The command as a user meets it: exit status, messages, and that nothing half-written stays behind.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::process::Output;

use common::{piped as warploom, root};
use tempfile::TempDir;

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const GEMM: &str = "examples/kernels/gemm.ttir";

#[test]
fn help_shows_the_common_case_first() {
    let output = warploom(&["--help"], b"");
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    let first: String = text.lines().take(8).collect();
    assert!(first.contains("warploom compile gemm.ttir --target sm_90a"), "{text}");
    for command in ["compile", "explain", "schedule", "assign", "targets"] {
        assert!(text.contains(command), "{command} is missing:\n{text}");
    }
}

#[test]
fn a_wrong_command_line_is_status_2() {
    for args in [
        &["compile"][..],
        &["compile", GEMM],
        &["compile", GEMM, "--target", "sm_90a", "--emit", "sass"],
        &["compile", GEMM, "--target", "sm_90a", "--no-such-flag"],
        &["compile", GEMM, "--target", "sm_90a", "--slack-slots", "99999999999999999999"],
        &["nonsense"],
        &[],
    ] {
        let output = warploom(args, b"");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(!stderr(&output).is_empty(), "{args:?} says nothing");
        assert!(output.stdout.is_empty(), "{args:?} prints to standard output");
    }
}

#[test]
fn an_unknown_chip_is_refused_with_the_list() {
    let output = warploom(&["compile", GEMM, "--target", "sm_42"], b"");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("sm_90a"), "{}", stderr(&output));
    let output = warploom(&["targets", "sm_90"], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("sm_90a"), "{}", stderr(&output));
}

#[test]
fn bad_files_are_refused_with_a_place_and_leave_the_output_alone() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out.ptx");
    fs::write(&out, "before").unwrap();
    let kernel = fs::read_to_string(root().join(GEMM)).unwrap();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("no module", b"hello".to_vec()),
        ("not text", vec![0xff, 0xfe, 0x00]),
        ("truncated", kernel.as_bytes()[..kernel.len() / 2].to_vec()),
        ("unknown type", kernel.replace("bf16", "bf17").into_bytes()),
        ("huge number", kernel.replace("128x256x", "99999999999999999999x256x").into_bytes()),
        ("huge tile", kernel.replace("256", "1048576").into_bytes()),
        ("nothing to compile", b"module {\n}\n".to_vec()),
    ];
    for (what, bytes) in cases {
        let output = warploom(&["compile", "-", "--target", "sm_90a", "-o", out.to_str().unwrap()], &bytes);
        assert_eq!(output.status.code(), Some(1), "{what}: {}", stderr(&output));
        let text = stderr(&output);
        assert!(text.contains("error"), "{what}: {text}");
        assert!(!text.contains("panicked"), "{what}: {text}");
        assert_eq!(fs::read_to_string(&out).unwrap(), "before", "{what} wrote something");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "temporary files stay behind");
}

#[test]
fn a_refusal_shows_the_place_with_a_caret() {
    let kernel = fs::read_to_string(root().join(GEMM)).unwrap().replace("tt.dot %6", "tt.dot_ %6");
    let output = warploom(&["compile", "-", "--target", "sm_90a"], kernel.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.contains("<stdin>:16:"), "{text}");
    assert!(text.contains('^'), "{text}");
}

#[test]
fn a_hundred_megabytes_of_parentheses_are_refused_quickly() {
    let output = warploom(&["compile", "-", "--target", "sm_90a"], &vec![b'('; 100 << 20]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(output.stderr.len() < 10_000, "the message repeats the input");
}

#[test]
fn every_text_form_reads_back_and_ends_in_the_same_ptx() {
    let direct = stdout(&warploom(&["compile", GEMM, "--target", "sm_90a", "--emit", "ptx"], b""));
    assert!(direct.contains("wgmma.mma_async"), "no PTX");
    for form in ["scheduled", "assigned", "program"] {
        let text = warploom(&["compile", GEMM, "--target", "sm_90a", "--emit", form], b"");
        assert_eq!(text.status.code(), Some(0), "{form}: {}", stderr(&text));
        let again = warploom(&["compile", "-", "--target", "sm_90a", "--emit", form], &text.stdout);
        assert_eq!(stdout(&again), stdout(&text), "{form} does not print what it read: {}", stderr(&again));
        let resumed = warploom(&["compile", "-", "--target", "sm_90a", "--emit", "ptx"], &text.stdout);
        assert_eq!(stdout(&resumed), direct, "resumed from {form}: {}", stderr(&resumed));
    }
}

#[test]
fn a_broken_schedule_is_refused_by_its_rule() {
    let text = stdout(&warploom(&["compile", GEMM, "--target", "sm_90a", "--emit", "scheduled"], b""));
    let at = text.find("warploom.ii = ").unwrap() + "warploom.ii = ".len();
    let broken = format!("{}1{}", &text[..at], text[at..].trim_start_matches(|c: char| c.is_ascii_digit()));
    let output = warploom(&["compile", "-", "--target", "sm_90a"], broken.as_bytes());
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).contains("S74") || stderr(&output).contains("S73"), "{}", stderr(&output));
}

#[test]
fn json_is_one_value_on_standard_output() {
    let output = warploom(&["compile", GEMM, "--target", "sm_90a", "--json"], b"");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["ok"], true);
    assert_eq!(value["name"], "gemm");
    assert_eq!(value["num_warps"], 12);
    assert_eq!(value["tensordesc_meta"][0]["block_size"], serde_json::json!([128, 64]));
    assert!(value["text"].as_str().unwrap().contains(".visible .entry gemm("));
    let refused = warploom(&["compile", "-", "--target", "sm_90a", "--json"], b"(");
    assert_eq!(refused.status.code(), Some(1));
    let value: serde_json::Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!(value["ok"], false);
    assert_eq!(value["diagnostics"][0]["code"], "parse");
}

#[test]
fn equal_input_gives_equal_bytes() {
    for emit in ["scheduled", "assigned", "program", "llvm", "ptx"] {
        let once = warploom(&["compile", GEMM, "--target", "sm_90a", "--emit", emit], b"");
        let twice = warploom(&["compile", GEMM, "--target", "sm_90a", "--emit", emit], b"");
        assert_eq!(once.stdout, twice.stdout, "{emit}");
        assert!(!once.stdout.is_empty(), "{emit}");
    }
}

#[test]
fn targets_lists_and_describes() {
    let all = stdout(&warploom(&["targets"], b""));
    for chip in ["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a"] {
        assert!(all.contains(chip), "{all}");
    }
    assert!(stdout(&warploom(&["targets", "sm_90a"], b"")).contains("232448"));
}

#[cfg(feature = "llvm")]
#[test]
fn loops_of_machine_code_are_counted() {
    let folder = TempDir::new().unwrap();
    let ptx = folder.path().join("gemm.ptx");
    let path = ptx.to_str().unwrap();
    assert_eq!(warploom(&["compile", GEMM, "--target", "sm_90a", "-o", path], b"").status.code(), Some(0));
    assert_eq!(warploom(&["sass", path], b"").status.code(), Some(2), "PTX needs a chip");
    for wrong in [&b"\xff\xfe no text"[..], b"", b"not PTX"] {
        let output = warploom(&["sass", "-", "--target", "sm_90a"], wrong);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains("error["), "{}", stderr(&output));
    }
    let output = warploom(&["sass", path, "--target", "sm_90a", "--json"], b"");
    assert_eq!(
        output.status.code(),
        Some(0),
        "`make setup` installs ptxas and nvdisasm: {}",
        stderr(&output)
    );
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let loops = answer["loops"].as_array().unwrap();
    assert!(loops.iter().any(|l| l["hgmma"] == 4), "{answer}");
    assert_eq!(answer["spill_bytes"], 0);
}

#[cfg(feature = "llvm")]
#[test]
fn tuning_shows_what_it_tried() {
    let output = warploom(&["compile", GEMM, "--target", "sm_90a", "--tune", "--json"], b"");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let tuned = answer["tuned"].as_array().unwrap();
    assert!(tuned.len() > 1 && tuned[0]["cycles"].as_u64() <= tuned[1]["cycles"].as_u64(), "{answer}");
    let output = warploom(&["compile", GEMM, "--target", "sm_90a", "--tune"], b"");
    assert!(stderr(&output).contains("best first"), "{}", stderr(&output));
    for wrong in [&["--tune", "--residents", "2"][..], &["--trips", "3"], &["--tune", "--trips", "0"]] {
        let args = [&["compile", GEMM, "--target", "sm_90a"][..], wrong].concat();
        assert_eq!(warploom(&args, b"").status.code(), Some(2), "{wrong:?}");
    }
    let shared = ["compile", "examples/kernels/gemm_f16.ttir", "--target", "sm_90a", "--residents", "2"];
    let output = warploom(&shared, b"");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let too_many = ["compile", GEMM, "--target", "sm_90a", "--residents", "32"];
    let output = warploom(&too_many, b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("error["), "{}", stderr(&output));
}
