//! What every command has in common: one budget, an example in its help, outputs that spare inputs.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::io::Write;
use std::process::Output;
use std::time::{Duration, Instant};

use common::piped as warploom;
use serde_json::Value;
use tempfile::TempDir;

const GEMM: &str = "examples/kernels/gemm.ttir";

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The subcommands, as the command's own completions list them.
fn commands() -> Vec<String> {
    let help = stdout(&warploom(&["--help"], b""));
    let list = help.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list
        .lines()
        .filter_map(|l| l.strip_prefix("  ").filter(|l| !l.starts_with(' '))?.split_whitespace().next());
    names.filter(|n| *n != "help").map(str::to_owned).collect()
}

#[test]
fn each_command_shows_an_example_and_the_limits() {
    let commands = commands();
    assert!(commands.len() >= 12, "{commands:?}");
    for name in &commands {
        let help = stdout(&warploom(&[name, "--help"], b""));
        assert!(help.contains(&format!("\n  warploom {name}")), "{name} has no example:\n{help}");
        for flag in ["--max-input", "--max-unpacked", "--time-limit"] {
            assert!(help.contains(flag), "{name} has no {flag}:\n{help}");
        }
    }
}

#[test]
fn completions_and_manual_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&warploom(&["completions", shell], b""));
        commands().iter().for_each(|name| assert!(script.contains(name.as_str()), "{shell}: {name}"));
    }
    let page = stdout(&warploom(&["man"], b""));
    assert!(page.contains(".TH warploom 1"), "{page}");
    let folder = TempDir::new().unwrap();
    let output = warploom(&["man", "--pages", folder.path().to_str().unwrap()], b"");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for name in commands() {
        let page = fs::read_to_string(folder.path().join(format!("warploom-{name}.1"))).unwrap();
        assert!(page.contains(&format!("warploom {name}")), "{name}:\n{page}");
    }
}

#[test]
fn an_output_never_replaces_an_input() {
    let folder = TempDir::new().unwrap();
    let (path, link) = (folder.path().join("gemm.ttir"), folder.path().join("link.ttir"));
    let text = fs::read(format!("{}/../../{GEMM}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    fs::write(&path, &text).unwrap();
    fs::hard_link(&path, &link).unwrap();
    for out in [&path, &link] {
        let args = ["compile", path.to_str().unwrap(), "--target", "sm_90a", "--emit", "program", "-o"];
        let output = warploom(&[&args[..], &[out.to_str().unwrap()]].concat(), b"");
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("is an input"), "{}", stderr(&output));
        assert_eq!(fs::read(&path).unwrap(), text, "the input is as it was");
    }
}

#[test]
fn an_input_beyond_the_limit_is_refused_by_every_command_that_reads() {
    for (args, input) in [
        (&["compile", "-", "--target", "sm_90a"][..], &b"module {}"[..]),
        (&["explain", "-", "--target", "sm_90a"], b"module {}"),
        (&["schedule", "-"], b"{\"name\":\"g\"}"),
        (&["assign", "-"], b"{\"name\":\"g\"}"),
        (&["alias", "-"], b"module {}"),
        (&["pack", "-"], b"id,lower,upper,size\n"),
        (&["ptx", "-"], b".version 8.0\n"),
    ] {
        let output = warploom(&[args, &["--max-input", "4"]].concat(), input);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("larger than 4 bytes"), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("--max-input"), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_small_archive_of_a_large_text_is_refused_before_it_is_unpacked() {
    // 64 MiB of spaces in some 64 KiB.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    (0..1024).for_each(|_| packed.write_all(&[b' '; 1 << 16]).unwrap());
    let packed = packed.finish().unwrap();
    assert!(packed.len() < 1 << 17, "{}", packed.len());
    let output = warploom(&["schedule", "-", "--max-unpacked", "1000000"], &packed);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("1000000"), "{}", stderr(&output));
}

#[test]
fn a_command_whose_time_is_over_writes_nothing_and_says_so() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("gemm.ptx");
    let args = ["compile", GEMM, "--target", "sm_90a", "--time-limit", "0", "-o", out.to_str().unwrap()];
    let output = warploom(&args, b"");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("error[limit]: not done within 0 s"), "{}", stderr(&output));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
    let output = warploom(&[&args[..], &["--json"]].concat(), b"");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &answer["diagnostics"][0]["code"]), (Some(1), &"limit".into()));
    // A limit that is not reached changes nothing.
    let output = warploom(&["compile", GEMM, "--target", "sm_90a", "--time-limit", "500"], b"");
    assert_eq!(output.stdout, warploom(&["compile", GEMM, "--target", "sm_90a"], b"").stdout);
    for limit in ["-1", "NaN", "soon", "inf", "1e300"] {
        let output = warploom(&["targets", &format!("--time-limit={limit}")], b"");
        assert_eq!(output.status.code(), Some(2), "{limit}");
    }
}

#[test]
fn interleavings_that_ran_in_time_are_an_answer() {
    let args =
        ["run", GEMM, "--target", "sm_90a", "--interleavings", "100000", "--json", "--time-limit", "10"];
    let launch = ["--arg", "104x176", "--arg", "216x176", "--arg", "104x216", "--arg", "176"];
    let begun = Instant::now();
    let output = warploom(&[&args[..], &launch[..]].concat(), b"");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let runs = answer["runs"].as_array().map_or(0, Vec::len);
    assert_eq!((output.status.code(), &answer["ok"]), (Some(0), &true.into()), "{answer}");
    assert!(0 < runs && runs < 100_002 && answer["asked"] == 100_002, "{runs} runs");
}
