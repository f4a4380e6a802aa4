//! The scheduled and assigned forms, edited by hand: what is right resumes, what is broken is refused by its rule.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use warploom_ir::diag::Code;
use warploom_ir::{Module, print};
use warploom_pipeline::{CompileOptions, TextForm, compile_to_program, form, resume};
use warploom_testing::pipeline::Kernel;

fn kernel() -> Kernel {
    Kernel { extents: [128, 256, 64], ..Kernel::default() }
}

fn forms() -> (String, String, String) {
    let compiled =
        compile_to_program(&common::parse(&kernel().text()), &common::hopper(), &CompileOptions::default())
            .unwrap();
    (print(&compiled.scheduled), print(&compiled.assigned), print(&compiled.program))
}

fn attempt(text: &str) -> Result<Module, warploom_ir::Diagnostics> {
    resume(&common::parse(text), &common::hopper(), &CompileOptions::default()).map(|r| r.program().clone())
}

/// Changes one number behind `name = ` in the line that contains `place`.
fn edit(text: &str, place: &str, name: &str, change: impl Fn(i64) -> i64) -> String {
    let mut done = false;
    let lines = text.lines().map(|line| {
        let key = format!("{name} = ");
        let Some(at) = line.find(&key).filter(|_| line.contains(place) && !done) else {
            return line.to_owned();
        };
        done = true;
        let from = at + key.len();
        let digits = line[from..].find(|c: char| !c.is_ascii_digit() && c != '-').unwrap();
        let value: i64 = line[from..from + digits].parse().unwrap();
        format!("{}{}{}", &line[..from], change(value), &line[from + digits..])
    });
    let edited = lines.collect::<Vec<_>>().join("\n");
    assert!(done, "no `{name}` beside `{place}`");
    edited
}

#[test]
fn forms_are_told_apart() {
    let (scheduled, assigned, program) = forms();
    let of = |text: &str| form(&common::parse(text), &common::hopper());
    assert_eq!(of(&kernel().text()), Ok(TextForm::Kernel));
    assert_eq!(of(&scheduled), Ok(TextForm::Scheduled));
    assert_eq!(of(&assigned), Ok(TextForm::Assigned));
    assert_eq!(of(&program), Ok(TextForm::Program));
    assert_eq!(of(&program.replace("\"program\"", "\"novel\"")).unwrap_err().code, Code::Verify);
    assert_eq!(of(&scheduled.replace("\"sm_90a\"", "\"sm_100a\"")).unwrap_err().code, Code::Target);
}

#[test]
fn a_schedule_edited_rightly_is_kept() {
    let (scheduled, ..) = forms();
    // The wait may come later: the ring is deep enough for that.
    let text = edit(&scheduled, "mma_wait", "warploom.cycle", |c| c + 8);
    let module = common::parse(&text);
    let compiled = compile_to_program(&module, &common::hopper(), &CompileOptions::default()).unwrap();
    assert_eq!(print(&compiled.scheduled).trim(), text.trim());
}

#[test]
fn a_broken_schedule_is_refused_by_its_rule() {
    let (scheduled, ..) = forms();
    let cases = [
        ("a product before its copies", edit(&scheduled, "tt.dot", "warploom.cycle", |c| c - 1), "S73"),
        ("a copy over another one", edit(&scheduled, "%a.l = ", "warploom.cycle", |c| c - 8), "S74"),
        ("an II one cycle short", edit(&scheduled, "warploom.ii", "warploom.ii", |c| c - 1), "S74"),
        ("an order out of line", edit(&scheduled, "mma_wait", "warploom.order", |c| c - 1), "S76"),
        ("a stage too many", edit(&scheduled, "warploom.ii", "warploom.stages", |c| c + 1), "S77"),
        ("a negative time", edit(&scheduled, "%b.l = ", "warploom.cycle", |_| 1), "S74"),
        ("a mark missing", scheduled.replacen("warploom.stage = 0 : i32, ", "", 1), "S72"),
        ("another partition", scheduled.replacen("\"math\"", "\"load\"", 1), "S62"),
    ];
    for (name, text, rule) in cases {
        let refusals = attempt(&text).expect_err(name);
        assert!(
            refusals.iter().all(|r| r.code == Code::Verify && r.offset.is_some()),
            "{name}: {refusals:?}"
        );
        assert!(refusals.iter().any(|r| r.rule == Some(rule)), "{name}: {rule} in {refusals:?}");
    }
}

#[test]
fn an_assignment_edited_rightly_is_kept() {
    let (_, assigned, _) = forms();
    // Staging may lie elsewhere in the ring, as long as it is aligned.
    let text = edit(&assigned, "name = \"out\"", "offset", |o| o + 4096);
    let program = attempt(&text).unwrap();
    assert!(print(&program).contains("payload = [\"out\"], tile = [tensor<128x256xbf16>], swizzle = array<i32: 128>, offset = array<i64: 4096>"));
}

#[test]
fn a_broken_assignment_is_refused_by_its_rule() {
    let (_, assigned, _) = forms();
    let cases = [
        ("offset + 8", edit(&assigned, "name = \"out\"", "offset", |o| o + 8), "B37"),
        ("a ring one slot short", edit(&assigned, "name = \"a\"", "depth", |d| d - 1), "B17"),
        ("bytes of a phase", edit(&assigned, "name = \"a\"", "tx_bytes", |b| b + 16), "B39"),
        (
            "a's ring over b's",
            edit(&assigned, "name = \"a\"", " offset", |_| 0).replacen("offset = 98304", "offset = 0", 1),
            "B51",
        ),
        ("threads halved", edit(&assigned, "name = \"out\"", "threads", |t| t / 2), "B31"),
        ("barrier 0", edit(&assigned, "name = \"out\"", ", id", |_| 0), "B28"),
    ];
    for (name, text, rule) in cases {
        let refusals = attempt(&text).expect_err(name);
        assert!(refusals.iter().any(|r| r.rule == Some(rule)), "{name}: {rule} in {refusals:?}");
    }
    let refusals =
        attempt(&assigned.replacen("handshake = \"pair\"", "handshake = \"wave\"", 1)).unwrap_err();
    assert_eq!(refusals[0].rule, Some("B10"));
}

#[test]
fn a_broken_program_is_refused() {
    let (.., program) = forms();
    let refusals = attempt(&edit(&program, "producer_commit", "bytes", |b| b - 16)).unwrap_err();
    assert!(refusals.iter().any(|r| r.rule == Some("C24")), "{refusals:?}");
}

#[test]
fn forms_of_warpgroups_side_by_side_and_of_chains_resume() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../warploom/tests/runs");
    for (name, chips) in [
        (".three.mlir", &["sm_100a"][..]),
        (".latent.mlir", &["sm_90a", "sm_100a"]),
        (".gated_wide.mlir", &["sm_90a"]),
    ] {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        for chip in chips {
            let target = warploom_chips::Target::named(chip).unwrap();
            let options = CompileOptions::default();
            let compiled = compile_to_program(&common::parse(&text), &target, &options).unwrap();
            let program = print(&compiled.program);
            assert_ne!(program.contains("warploom.mma "), *chip == "sm_90a", "{name} on {chip}");
            for form in [&compiled.scheduled, &compiled.assigned, &compiled.program] {
                let again = resume(&common::parse(&print(form)), &target, &options);
                let again = again.unwrap_or_else(|e| panic!("{name} on {chip}: {}", e[0]));
                assert_eq!(print(again.program()), program, "{name} on {chip}");
            }
        }
    }
}
