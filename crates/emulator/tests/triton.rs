//! PTX that Triton made, with its inputs and expected outputs, runs clean and right (E90): `make soak`.
//!
//! `make triton-ptx` writes the modules to `target/triton-ptx` of the workspace with Triton from PyPI; a test that does
//! not find them fails. `compiled.rs` runs some that lie in the repository.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod common;

use common::manifest::{compare, run, values};
use serde_json::Value;
use std::path::{Path, PathBuf};
use warploom_emulator::Policy;

/// Runs one module; says what is wrong.
fn check(root: &Path, manifest: &Value, policy: Policy) -> Result<(), String> {
    let name = manifest["name"].as_str().unwrap();
    let ptx = std::fs::read_to_string(root.join(format!("{name}.ptx"))).unwrap();
    let read = |file: &Value| std::fs::read(root.join("data").join(file.as_str().unwrap())).unwrap();
    let data: Vec<Vec<u8>> =
        manifest["buffers"].as_array().unwrap().iter().map(|b| read(&b["file"])).collect();
    let (report, after) = run(&ptx, manifest, &data, policy)?;
    if let Some(code) = manifest["finding"].as_str() {
        // A fault of Triton's own, which this schedule may or may not show.
        return report.errors().all(|f| f.code == code).then_some(()).ok_or_else(|| report.to_string());
    }
    if !report.clean() {
        return Err(report.to_string());
    }
    manifest["outputs"].as_array().unwrap().iter().try_for_each(|o| {
        compare(o, &after[o["buffer"].as_u64().unwrap() as usize], &values(&read(&o["want"]), "fp64"))
    })
}

fn run_all(policies: &[Policy]) {
    let root = common::workspace().join("target/triton-ptx");
    assert!(root.is_dir(), "no target/triton-ptx: `make triton-ptx` makes it");
    let mut names: Vec<PathBuf> = std::fs::read_dir(&root).unwrap().map(|f| f.unwrap().path()).collect();
    names.sort();
    let (mut modules, mut runs) = (0, 0);
    let mut bad = Vec::new();
    for path in names.iter().filter(|p| p.extension().is_some_and(|e| e == "json")) {
        let manifest: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        modules += 1;
        for policy in policies {
            runs += 1;
            if let Err(why) = check(&root, &manifest, *policy) {
                bad.push(format!("{} {policy:?}: {why}", manifest["name"]));
                break;
            }
        }
    }
    println!("{modules} modules, {runs} runs, {} wrong", bad.len());
    assert!(bad.is_empty(), "{}", bad.join("\n\n"));
}

#[test]
#[ignore = "needs what `make triton-ptx` makes; `make soak` runs it"]
fn triton_modules_are_clean_and_right() {
    run_all(&[Policy::Random(1)]);
}

#[test]
#[ignore = "needs what `make triton-ptx` makes, and minutes: every policy; `make soak` runs it"]
fn triton_modules_under_every_policy() {
    run_all(&common::policies());
}
