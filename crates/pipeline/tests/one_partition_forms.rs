//! The later forms of kernels that one partition runs, resumed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{checked, one_partition};
use warploom_chips::Target;
use warploom_pipeline::{Partitions, Resumed, resume};

/// What a text of a later form becomes, or its refusals.
fn again(text: &str, chip: &str) -> Result<Resumed, warploom_ir::Diagnostics> {
    resume(&warploom_ir::parse(text).unwrap(), &Target::named(chip).unwrap(), &checked())
}

/// A text without the names of block arguments: what had none gets one when it is read.
fn with_plain_names(text: &str) -> String {
    let digits = |c: char| c.is_ascii_digit() || c == '_';
    text.split("%arg").map(|part| part.trim_start_matches(digits)).collect::<Vec<_>>().join("%arg")
}

/// Every form reads back, prints as it was read and ends in the same program.
#[test]
fn the_scheduled_and_assigned_forms_are_resumed() {
    let kernels = [
        ("gemm_pointers", "sm_80"),
        ("gemm_pointers", "sm_90a"),
        ("gemm_device_descriptors", "sm_100a"),
        ("gemm_bf16", "sm_80"),
        ("attention", "sm_80"),
        ("attention", "sm_86"),
        ("attention_causal", "sm_80"),
        ("softmax_online", "sm_80"),
        ("layernorm", "sm_90a"),
        ("while_loop", "sm_80"),
        ("softmax", "sm_90a"),
        ("scaled", "sm_100a"),
        ("gemm_fp8", "sm_80"),
    ];
    for (name, chip) in kernels {
        let made = one_partition(name, chip, &checked());
        let program = with_plain_names(&warploom_ir::print(&made.program));
        let (scheduled, assigned) = (warploom_ir::print(&made.scheduled), warploom_ir::print(&made.assigned));
        for text in [&scheduled, &assigned] {
            let resumed = again(text, chip).unwrap_or_else(|e| panic!("{name} on {chip}: {}", e[0]));
            let again = with_plain_names(&warploom_ir::print(resumed.program()));
            assert!(again == program, "{name} on {chip}");
            let form = if text == &scheduled { resumed.scheduled() } else { resumed.assigned() };
            assert!(&warploom_ir::print(form.unwrap()) == text, "{name} on {chip}");
        }
    }
}

/// Edited forms: what is right is kept, what is broken is refused by its rule.
#[test]
fn edited_forms_are_kept_or_refused_by_their_rule() {
    let gemm = one_partition("gemm_pointers", "sm_80", &checked());
    let (scheduled, assigned) = (warploom_ir::print(&gemm.scheduled), warploom_ir::print(&gemm.assigned));
    let edited = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "no `{from}` in\n{text}");
        text.replacen(from, to, 1)
    };
    let rules = |text: &str| {
        let refused = again(text, "sm_80").map(|_| ()).unwrap_err();
        refused.iter().filter_map(|r| r.rule).collect::<Vec<_>>()
    };
    let ii = gemm.loops[0].answer.ii;
    let short = edited(&scheduled, &format!("warploom.ii = {ii} "), &format!("warploom.ii = {} ", ii / 2));
    assert!(rules(&short).iter().any(|r| ["S73", "S74"].contains(r)), "{:?}", rules(&short));
    assert_eq!(rules(&edited(&scheduled, "\"main\"", "\"load\"")), ["S62"]);
    let bare: String =
        scheduled.lines().map(|l| l.split(" {warploom.cycle").next().unwrap().to_owned() + "\n").collect();
    if warploom_ir::parse(&bare).is_ok() {
        assert!(rules(&bare).contains(&"S72"));
    }
    // The strategy is part of the form.
    let mark = "warploom.strategy = {";
    assert_eq!(rules(&edited(&scheduled, "partitions = \"one\"", "partitions = \"two\"")), ["Q4"]);
    assert_eq!(rules(&edited(&scheduled, "moves = \"lanes\"", "moves = \"bus\"")), ["Q4"]);
    assert_eq!(rules(&edited(&scheduled, mark, "warploom.strategy = {pending = 7 : i64, ")), ["Q4"]);
    assert_eq!(rules(&edited(&scheduled, mark, "warploom.strategy = {speed = 1 : i64, ")), ["Q4"]);
    assert_eq!(rules(&edited(&scheduled, "warploom.strategy = ", "warploom.other = ")), ["Q4"]);
    let several = checked().partitions(Some(Partitions::Several));
    let module = warploom_ir::parse(&scheduled).unwrap();
    let refused = resume(&module, &Target::named("sm_80").unwrap(), &several).unwrap_err();
    assert_eq!(refused[0].rule, Some("Q4"), "made for one partition");
    // One slot more of a ring is kept, where the bytes behind it are free.
    let record = &gemm.buffers.as_ref().unwrap().1.records;
    let (last, depth) = (record.iter().max_by_key(|r| r.offset).unwrap(), gemm.depths[0].slots);
    let line = assigned.lines().find(|l| l.contains(&format!("name = \"{}\"", last.name))).unwrap();
    let moved = line.replace(
        &format!("offset = {} ", last.offset.unwrap()),
        &format!("offset = {} ", last.offset.unwrap() + 1024),
    );
    assert_ne!(line, moved);
    let kept = again(&assigned.replace(line, &moved), "sm_80").unwrap();
    assert!(warploom_ir::print(kept.program()).contains(&format!("{}", last.offset.unwrap() + 1024)));
    let shallow = line.replace(&format!("depth = {depth} "), &format!("depth = {} ", depth - 1));
    assert!(rules(&assigned.replace(line, &shallow)).contains(&"B17"));
    let askew = line.replace(
        &format!("offset = {} ", last.offset.unwrap()),
        &format!("offset = {} ", last.offset.unwrap() + 8),
    );
    assert!(rules(&assigned.replace(line, &askew)).contains(&"B37"));
}
