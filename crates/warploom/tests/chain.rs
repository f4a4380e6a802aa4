//! Loop graph, schedule, layouts, assignment: each command reads what the one before it writes (B84).

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

use common::{read, root};
use tempfile::TempDir;

/// A copy of `examples`, so that what commands write stays out of the checkout.
fn examples() -> TempDir {
    let folder = TempDir::new().unwrap();
    for part in ["chain", "kernels"] {
        let from = root().join("examples").join(part);
        std::fs::create_dir(folder.path().join(part)).unwrap();
        for file in std::fs::read_dir(from).unwrap().flatten().filter(|f| f.path().is_file()) {
            std::fs::copy(file.path(), folder.path().join(part).join(file.file_name())).unwrap();
        }
    }
    folder
}

fn shell(folder: &Path, line: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_warploom")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.args(["-o", "pipefail", "-c", line]).current_dir(folder.join("chain")).env("PATH", path);
    shell.output().unwrap()
}

fn answer(folder: &Path, line: &str) -> Value {
    let out = shell(folder, &format!("{line} --json"));
    serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{line}: {e}\n{out:?}"))
}

fn depths(answer: &Value) -> Vec<u64> {
    answer["records"].as_array().unwrap().iter().map(|r| r["depth"].as_u64().unwrap()).collect()
}

/// Every command of the page, in order, and the numbers that it names.
#[test]
fn every_command_of_the_page_runs_b84() {
    let folder = examples();
    let page = read("docs/chain.md");
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let lines: Vec<&str> = blocks.flat_map(str::lines).collect();
    assert!(lines.len() >= 13 && lines.iter().all(|l| l.starts_with("warploom ")), "{lines:#?}");
    for line in lines {
        if line.contains(" compile ") && cfg!(not(feature = "llvm")) {
            continue;
        }
        let out = shell(folder.path(), line);
        assert_eq!(out.status.code(), Some(0), "{line}\n{}", String::from_utf8_lossy(&out.stderr));
        let written = line.split_once(" > ").map(|x| folder.path().join("chain").join(x.1));
        let said = written.map_or(out.stdout.len(), |f| std::fs::read(f).unwrap().len());
        assert!(said > 0, "{line} says nothing");
    }
    let gemm = answer(
        folder.path(),
        "warploom assign gemm.buffers.json --schedule gemm.schedule.json --layouts gemm.layouts.json",
    );
    assert_eq!((depths(&gemm), &gemm["records"][0]["length"]), (vec![5, 5], &json!(1211)));
    assert_eq!((&gemm["records"][1]["offset"], &gemm["records"][1]["pipe"]), (&json!(16384), &json!(0)));
    let least =
        "warploom assign attention.buffers.json --schedule <(warploom schedule attention.loop.json --json)";
    let (least, filled) = (answer(folder.path(), least), answer(folder.path(), &format!("{least} --fill")));
    assert!(depths(&filled)[..2].iter().zip(&depths(&least)).all(|(f, l)| f >= l), "{filled}");
    assert_eq!(filled["fill"]["ended"], json!("nothing_helps"), "{filled}");
    assert!(!filled["fill"]["steps"].as_array().unwrap().is_empty(), "{filled}");
    let backward =
        "warploom assign attention_backward.buffers.json --schedule attention_backward.schedule.json";
    assert_eq!(answer(folder.path(), backward)["ok"], json!(true));
    let persistent = "warploom assign persistent.buffers.json --schedule persistent.schedule.jsonl";
    let persistent = answer(folder.path(), persistent);
    assert_eq!((depths(&persistent)[2], &persistent["tmem"]["used"]), (2, &json!(512)));
}

/// What does not belong together is refused, with what is odd about it.
#[test]
fn other_schedules_and_layouts_are_refused_b84() {
    let folder = examples();
    let assign = "warploom assign gemm.buffers.json";
    let table: &[(&str, &str, &str)] = &[
        ("no times at all", "warploom assign attention.buffers.json", "a loop has an II"),
        (
            "another kernel",
            "--schedule <(warploom schedule attention.loop.json --json)",
            "0 schedules named gemm",
        ),
        (
            "one op fewer",
            r#"--schedule <(echo '{"name":"gemm","ii":9,"stages":1,"nodes":[{"id":0,"stage":0,"cycle":0,"order":0}]}')"#,
            "it has 3 ops, its schedule 'gemm' has 1",
        ),
        ("no schedule", "--schedule <(echo hello)", "line 1 is no schedule"),
        ("a refused loop", r#"--schedule <(echo '{"name":"gemm","error":{}}')"#, "the loop was refused"),
        ("no layouts", "--layouts <(echo '{}')", "missing field `storages`"),
        ("two from standard input", "--schedule - --layouts -", "standard input"),
        ("an option that there is not", "--scheduled x", "--scheduled"),
    ];
    for (what, rest, why) in table {
        let line = if rest.starts_with("--") { format!("{assign} {rest}") } else { (*rest).to_owned() };
        let out = shell(folder.path(), &line);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.code().is_some_and(|c| c > 0), "{what}: {said}");
        assert!(out.stdout.is_empty() && said.contains(why), "{what}: {said}");
    }
}
