//! What every command says of what it cannot use: one form, `error[CODE]: MESSAGE`, a place, what to do, each rule once.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]

mod common;

use common::{piped, root};

const CHIP: &str = "sm_90a";

/// Command lines that read standard input, with a text that each takes.
fn readers() -> Vec<(Vec<&'static str>, String)> {
    let file = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let kernel = file("examples/kernels/gemm.ttir");
    let mut all = vec![
        (vec!["compile", "-", "--target", CHIP, "--emit", "program"], kernel.clone()),
        (vec!["compile", "-", "--target", CHIP, "--emit", "graph"], kernel.clone()),
        (vec!["schedule", "-"], file("examples/problems/loop.json")),
        (vec!["assign", "-"], file("examples/problems/buffers.json")),
        (vec!["pack", "-"], file("examples/problems/lifetimes.csv")),
        (vec!["alias", "-"], file("crates/alias/tests/texts/default.mlir")),
        (vec!["ptx", "-"], file("examples/ptx/race.ptx")),
        (vec!["targets", CHIP, "--cost", "-"], "[op.mul]\nlatency = { fixed = 4 }\n".to_owned()),
    ];
    if cfg!(feature = "llvm") {
        all.push((vec!["explain", "-", "--target", CHIP], kernel.clone()));
        all.push((vec!["run", "-", "--target", CHIP], kernel.clone()));
        all.push((vec!["sass", "-", "--target", CHIP], String::new()));
    }
    all
}

/// Runs a command and looks at the form of what it says; gives the status.
fn said(args: &[&str], input: &[u8]) -> (i32, String) {
    let output = piped(args, input);
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let status = output.status.code().unwrap();
    for line in text.lines().filter(|line| !line.contains(" | ")) {
        assert!(!line.contains("error:"), "{args:?} says an error without its code:\n{text}");
        assert!(!line.contains("panicked"), "{args:?}:\n{text}");
    }
    let reports: Vec<&str> = text.split("\n\n").collect();
    if status == 1 {
        for report in reports {
            assert!(report.starts_with("error[") || report.starts_with("warning["), "{args:?}:\n{text}");
            assert!(report.lines().next().unwrap().contains("]: "), "{args:?}:\n{text}");
            let rules = report.lines().filter(|line| line.trim_start().starts_with("rule: ")).count();
            assert!(rules <= 1, "{args:?} cites a rule twice:\n{text}");
        }
    }
    (status, text)
}

#[test]
fn bad_inputs_have_one_form_of_message() {
    for (args, good) in readers() {
        let cut = good.len() / 2;
        let inputs: [(&str, &[u8]); 6] = [
            ("nothing", b""),
            ("not text", b"\xff\xfe\x00"),
            ("another language", b"int main() { return 0; }"),
            ("brackets", b"[[[[{{{{(((("),
            ("cut off", &good.as_bytes()[..cut]),
            ("huge numbers", b"{\"id\": 99999999999999999999999}\n99999999999999999999999,1"),
        ];
        for (what, input) in inputs {
            let (status, text) = said(&args, input);
            // Half a table is a table, and costs may be left as they are.
            let may_pass =
                matches!((args[0], what), ("pack", "cut off") | ("targets", "nothing" | "cut off"));
            assert!(status == 1 || may_pass && status == 0, "{args:?} on {what}: {status}\n{text}");
            assert_eq!(text.contains("<stdin>"), status == 1, "{args:?} on {what}: no place\n{text}");
        }
    }
}

#[test]
fn files_that_are_not_there_have_the_same_form() {
    for (args, _) in readers() {
        let args: Vec<&str> = args.iter().map(|arg| if *arg == "-" { "none.such" } else { arg }).collect();
        let (status, text) = said(&args, b"");
        assert_eq!(status, 1, "{args:?}: {text}");
        assert!(
            text.starts_with("error[input]: ") && text.contains("\n --> none.such\n"),
            "{args:?}: {text}"
        );
        assert!(text.contains("\ninstead: "), "{args:?}: {text}");
    }
}

#[test]
fn wrong_command_lines_have_the_same_form() {
    let mut lines: Vec<Vec<&str>> =
        readers().into_iter().map(|(args, _)| vec![args[0], "--no-such-flag"]).collect();
    lines.extend([
        vec!["nonsense"],
        vec!["schedule"],
        vec!["schedule", "-", "--min-ii", "0"],
        vec!["ptx", "examples/ptx/race.ptx", "--arg", "tmap:A:box=1"],
        vec!["pack", "-", "--capacity", "many"],
    ]);
    for args in lines {
        let (status, text) = said(&args, b"");
        assert_eq!(status, 2, "{args:?}: {text}");
        assert!(text.starts_with("error[usage]: "), "{args:?}: {text}");
    }
    for args in [
        &["targets", "sm_1"][..],
        &["targets", "sm_90"],
        &["rule", "Q99999"],
        &["pack", "-", "--capacity", "0"],
    ] {
        let (status, text) = said(args, b"");
        assert!(status == 1 && text.contains("\ninstead: "), "{args:?}: {text}");
    }
}
