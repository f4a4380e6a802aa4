//! Broken kernels: each is a good one with one edit, and each must be reported for the right reason (E66, E95).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

#[path = "../common/mod.rs"]
mod common;
mod fixtures;
mod table;

use common::{Gemm, kernel};
use fixtures::{edit, fixture, launch};
use table::{BROKEN, HAND};
use warploom_emulator::{Policy, Report, Severity};

const POLICIES: [Policy; 4] = [Policy::Eager, Policy::Lazy, Policy::Random(1), Policy::Pct(2)];

const FIXTURES: [&str; 17] = [
    "ring.ptx",
    "exchange.ptx",
    "copies.ptx",
    "product.ptx",
    "tensor_memory.ptx",
    "scaled.ptx",
    "peers.ptx",
    "box.ptx",
    "pairs.ptx",
    "handed_over.ptx",
    "flag.ptx",
    "last_block.ptx",
    "locks.ptx",
    "later.ptx",
    "lanes.ptx",
    "registers.ptx",
    "grid.ptx",
];

/// With the fence behind the ticket that the memory model asks for, and the CUDA guide leaves out.
fn fenced_on_both_sides(text: &str) -> String {
    edit(text, "ticket", "{line}\nfence.acq_rel.gpu;")
}

#[test]
fn strict_asks_for_a_fence_behind_a_ticket() {
    let (report, _) = launch("last_block.ptx", &fixture("last_block.ptx"), Policy::Eager, true);
    assert!(report.has("R02"), "{report}");
}

#[test]
fn unbroken_kernels_are_clean_and_agree_under_every_policy() {
    for name in FIXTURES {
        let text = fixture(name);
        let mut first = None;
        for policy in POLICIES {
            let (report, out) = launch(name, &text, policy, false);
            assert!(report.findings.is_empty(), "{name} {policy:?}\n{report}");
            assert_eq!(first.get_or_insert(out.clone()), &out, "{name} {policy:?}");
        }
        let text = if name == "last_block.ptx" { fenced_on_both_sides(&text) } else { text };
        assert!(launch(name, &text, Policy::Eager, true).0.clean(), "{name} strict");
    }
}

#[test]
fn tensor_memory_that_changes_hands_needs_fences_on_both_sides() {
    let text = fixture("handed_over.ptx");
    for (marker, with) in [
        ("before", ""),
        ("after", ""),
        // A fence on the wrong side of its barrier is none.
        ("before", "bar.warp.sync -1;"),
        ("arrive", "{line}\n\ttcgen05.fence::before_thread_sync;"),
        ("sync", "tcgen05.fence::after_thread_sync;\n{line}"),
    ] {
        let mut broken = edit(&text, marker, with);
        match marker {
            "arrive" => broken = edit(&broken, "before", ""),
            "sync" => broken = edit(&broken, "after", ""),
            _ => {}
        }
        for policy in POLICIES {
            let (note, _) = launch("handed_over.ptx", &broken, policy, false);
            let severity = note.findings.iter().find(|f| f.code == "R05").map(|f| f.severity);
            assert_eq!(severity, Some(Severity::Note), "{marker} {policy:?}\n{note}");
            assert!(note.clean(), "{note}");
            let (error, _) = launch("handed_over.ptx", &broken, policy, true);
            assert!(error.errors().any(|f| f.code == "R05"), "{marker} {policy:?} strict\n{error}");
        }
    }
}

fn verdict(
    caught: &mut usize,
    missed: &mut Vec<String>,
    label: String,
    code: &str,
    reports: Vec<(Policy, Report)>,
) {
    let lacking: Vec<String> = reports
        .iter()
        .filter(|(_, r)| !code.split('|').any(|c| r.has(c)))
        .map(|(p, r)| format!("{p:?}: {:?}", r.findings.iter().map(|f| f.code.clone()).collect::<Vec<_>>()))
        .collect();
    println!(
        "{} {code} {label} {}",
        if lacking.is_empty() { "caught" } else { "MISSED" },
        lacking.join("; ")
    );
    if let Some((_, report)) = reports.iter().find(|(_, r)| !code.split('|').any(|c| r.has(c))) {
        println!("{report}");
    }
    if lacking.is_empty() {
        *caught += 1;
    } else {
        missed.push(format!("{code} {label}: {}", lacking.join("; ")));
    }
}

#[test]
fn broken_kernels_are_caught_for_the_right_reason() {
    let (mut caught, mut missed) = (0, Vec::new());
    for (name, marker, with, code) in BROKEN {
        let text = edit(&fixture(name), marker, with);
        let reports = POLICIES.iter().map(|p| (*p, launch(name, &text, *p, false).0)).collect();
        verdict(&mut caught, &mut missed, format!("{name}: {marker} -> {with:?}"), code, reports);
    }
    for (which, find, with, code) in HAND {
        let text = kernel(&format!("hand/gemm_bf16.sm_{which}a.ptx"));
        assert!(text.contains(find), "{find}");
        let text = text.replacen(find, with, 1);
        let gemm =
            if *which == "90" { Gemm::hand_sm90(128, 256, 512) } else { Gemm::hand_sm100(128, 256, 512) };
        let run = |p: &Policy| (*p, gemm.run(&text, &common::with(*p).policy(*p)).0);
        let reports = POLICIES.iter().take(3).map(run).collect();
        verdict(&mut caught, &mut missed, format!("sm_{which}a: {find:?} -> {with:?}"), code, reports);
    }
    println!("{caught} caught, {} missed", missed.len());
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn every_code_has_a_broken_kernel() {
    let codes = [
        "R01", "R02", "R03", "R04", "U01", "U02", "U03", "M01", "M02", "M03", "M04", "M05", "M06", "M07",
        "M08", "B01", "B02", "B03", "B04", "D01", "D02", "A01", "A02", "A03", "W01", "W02", "W03", "T01",
        "T02", "T03", "T04", "T05", "T06", "T07", "C01", "C02", "C03", "X01",
    ];
    for code in codes {
        assert!(BROKEN.iter().chain(HAND).any(|b| b.3 == code), "no broken kernel for {code}");
    }
}

#[test]
fn findings_name_both_places_and_the_bytes() {
    let text = edit(&fixture("exchange.ptx"), "first", "");
    let (report, _) = launch("exchange.ptx", &text, Policy::Eager, false);
    let race = report.findings.iter().find(|f| f.code == "R01").unwrap();
    let at =
        |marker: &str| text.lines().position(|l| l.ends_with(&format!("//!{marker}"))).unwrap() as u32 + 1;
    let mut lines = [race.first.as_ref().unwrap().line, race.second.as_ref().unwrap().line];
    lines.sort_unstable();
    assert_eq!(lines, [at("write"), at("read")]);
    assert_eq!(race.extent.as_ref().unwrap().space, "shared");
    assert_eq!(race.severity, Severity::Error);
}

#[test]
fn lanes_may_update_their_own_words_in_place() {
    let text = fixture("exchange.ptx");
    let text = edit(
        &text,
        "write",
        "st.shared.b32 [%r5], %r2;\nld.shared.b32 %r2, [%r5];\nst.shared.b32 [%r5], %r2;",
    );
    assert!(launch("exchange.ptx", &text, Policy::Eager, false).0.clean());
    // The neighbour's word is another matter.
    let text = edit(
        &fixture("exchange.ptx"),
        "write",
        "xor.b32 %r20, %r5, 4;\nst.shared.b32 [%r5], %r2;\nld.shared.b32 %r2, [%r20];",
    );
    assert!(launch("exchange.ptx", &text, Policy::Eager, false).0.has("R01"));
}

/// Half a warp shuffles with itself: right; with the other half: what it gets is undefined, and stored.
#[test]
fn a_shuffle_from_a_lane_that_does_not_come_is_undefined() {
    let text = |delta: u32| {
        format!(
            ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out) .reqntid 32 {{\n\
             .reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [out];\n\
             mov.u32 %r1, %tid.x;\nmad.wide.u32 %rd2, %r1, 4, %rd1;\nsetp.ge.u32 %p1, %r1, 16;\n@%p1 bra $end;\n\
             shfl.sync.bfly.b32 %r2, %r1, {delta}, 31, 65535;\nst.global.b32 [%rd2], %r2;\n$end:\nret;\n}}\n"
        )
    };
    for policy in POLICIES {
        let run = |delta| {
            let module = warploom_emulator::Module::parse(&text(delta)).unwrap();
            let target = warploom_chips::Target::named("sm_90a").unwrap();
            let mut device = warploom_emulator::Device::new(&target);
            let out = device.alloc(128, "out").unwrap();
            let launch = warploom_emulator::Launch {
                args: vec![warploom_emulator::Arg::Ptr(out)],
                ..warploom_emulator::Launch::of(&module.entries()[0])
            };
            device.run(&module, &launch, &common::with(policy)).unwrap()
        };
        let right = run(8);
        assert!(right.clean(), "{policy:?}\n{right}");
        let wrong = run(16);
        assert!(wrong.has("U03"), "{policy:?}\n{wrong}");
    }
}
