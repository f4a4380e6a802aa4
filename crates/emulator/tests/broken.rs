//! Broken kernels: each is a good one with one edit, and each must be reported for the right reason (E66, E95).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod common;

use common::{Gemm, map, reference};
use warploom_emulator::{Arg, Device, Launch, Module, Options, Policy, Report, Severity};
use warploom_target::Target;

const POLICIES: [Policy; 4] = [Policy::Eager, Policy::Lazy, Policy::Random(1), Policy::Pct(2)];

fn fixture(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Replaces the line that carries a marker; `{line}` in the replacement stands for the old line.
fn edit(text: &str, marker: &str, with: &str) -> String {
    let tag = format!("//!{marker}");
    assert_eq!(text.lines().filter(|l| l.trim_end().ends_with(&tag)).count(), 1, "marker {marker}");
    let line = |l: &str| if l.trim_end().ends_with(&tag) { with.replace("{line}", l) } else { l.to_string() };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn words(n: u32) -> Vec<u8> {
    (0..n).flat_map(|i| (i * 7 + 3).to_le_bytes()).collect()
}

/// Launches a fixture; returns the report and the output.
fn launch(name: &str, text: &str, policy: Policy, strict: bool) -> (Report, Vec<u8>) {
    let module = Module::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let entry = &module.entries()[0];
    if let Some(r) = entry.refusal() {
        panic!("{name}: {r}");
    }
    let mut dev = Device::new(&Target::named(&module.target).unwrap());
    let mut l = Launch { smem: 1024, ..Launch::of(entry) };
    let out;
    if name == "box.ptx" {
        l.smem = 1152;
        let values: Vec<u8> = common::bf16_bytes(&common::numbers(512, 3));
        let a = dev.alloc_from(&values, "in").unwrap();
        out = dev.alloc(1024, "out").unwrap();
        l.args = vec![(&map(a, 8, 64, 8, 64)).into(), (&map(out, 8, 64, 8, 64)).into()];
    } else if name == "product.ptx" {
        l.smem = 4096;
        let half = |n, s| -> Vec<u8> {
            common::numbers(n, s)
                .iter()
                .flat_map(|v| half::f16::from_f32(*v).to_bits().to_le_bytes())
                .collect()
        };
        let (a, b) = (half(1024, 5), half(128, 6));
        let (a, b) = (dev.alloc_from(&a, "A").unwrap(), dev.alloc_from(&b, "B").unwrap());
        out = dev.alloc(2048, "D").unwrap();
        l.args = vec![Arg::Ptr(a), Arg::Ptr(b), Arg::Ptr(out)];
    } else {
        if name == "copies.ptx" {
            l.smem = 2048;
        }
        if name == "peers.ptx" {
            (l.grid, l.cluster) = ([2, 1, 1], [2, 1, 1]);
        }
        let a = dev.alloc_from(&words(512), "in").unwrap();
        out = dev.alloc(1024, "out").unwrap();
        l.args = vec![Arg::Ptr(a), Arg::Ptr(out)];
        if name == "ring.ptx" {
            l.args.push(Arg::I32(7));
        }
    }
    let opts = Options { policy, strict, max_steps: 100_000, ..Options::default() };
    let report = dev.run(&module, &l, &opts).unwrap_or_else(|e| panic!("{name}: {e}"));
    let bytes = dev.read(out).unwrap().to_vec();
    (report, bytes)
}

const FIXTURES: [&str; 9] = [
    "ring.ptx",
    "exchange.ptx",
    "copies.ptx",
    "product.ptx",
    "tensor_memory.ptx",
    "peers.ptx",
    "box.ptx",
    "pairs.ptx",
    "handed_over.ptx",
];

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

/// Fixture, marker, replacement, code that must be reported under every policy; where the schedule decides what
/// is seen first, the codes it may be.
const BROKEN: &[(&str, &str, &str, &str)] = &[
    ("handed_over.ptx", "arrive", "bar.arrive 2, 256;", "D01"),
    ("handed_over.ptx", "arrive", "bar.arrive 1, 224;", "B02"),
    ("handed_over.ptx", "sync", "", "R03|U02|C01|B04|D01"),
    ("handed_over.ptx", "waitst", "", "R03"),
    ("handed_over.ptx", "last", "", "R03|T01"),
    ("ring.ptx", "wait", "mov.pred %p4, 1;", "R01|U01"),
    ("ring.ptx", "acquire", "mov.pred %p4, 1;", "R01"),
    ("ring.ptx", "flip", "mov.b32 %r11, 0;", "M08"),
    ("ring.ptx", "wrap", "mov.b32 %r11, 0;", "R01|D01"),
    ("ring.ptx", "first", "", "D01"),
    ("ring.ptx", "parity", "mov.b32 %r6, 1;", "R01|U01"),
    ("ring.ptx", "expect", "mbarrier.arrive.expect_tx.shared.b64 _, [%r8+256], 112;", "D01"),
    ("ring.ptx", "expect", "mbarrier.arrive.expect_tx.shared.b64 _, [%r8+256], 144;", "D01"),
    ("ring.ptx", "expect", "mbarrier.arrive.expect_tx.shared.b64 _, [%r8+256], 1048576;", "M05"),
    ("ring.ptx", "empty0", "mbarrier.init.shared.b64 [%r3+272], 2;", "D01"),
    ("ring.ptx", "empty0", "", "M01"),
    ("ring.ptx", "empty0", "{line}\nmbarrier.init.shared.b64 [%r3+272], 1;", "M02"),
    ("ring.ptx", "empty1", "mbarrier.init.shared.b64 [%r3+284], 1;", "A02"),
    ("ring.ptx", "full1", "mbarrier.init.shared.b64 [%r3+264], 0;", "M05"),
    ("ring.ptx", "elect", "", "D01"),
    ("ring.ptx", "release", "mbarrier.arrive.shared.b64 _, [%r8+272], 2;", "M04"),
    ("ring.ptx", "release", "", "D01"),
    ("ring.ptx", "release", "{line}\nmbarrier.arrive.shared.b64 _, [%r8+272];", "M07"),
    ("ring.ptx", "warp", "", "R01"),
    ("ring.ptx", "slot", "mov.b32 %r10, %r3;", "R01"),
    ("ring.ptx", "start", "", "R01"),
    ("ring.ptx", "read", "ld.shared.b32 %r15, [%r10];\nst.shared.b32 [%r8+256], %r15;", "M03"),
    ("ring.ptx", "read", "ld.shared.b32 %r15, [%r10+512];", "U01"),
    ("ring.ptx", "read", "ld.shared.b32 %r15, [%r10+2];", "A02"),
    ("ring.ptx", "result", "st.global.b32 [%rd6+1000], %r12;", "A01"),
    (
        "ring.ptx",
        "copy",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10+1000], [%rd4], 128, [%r8+256];",
        "A02",
    ),
    ("ring.ptx", "spin", "bra $acquire;", "D02"),
    ("ring.ptx", "last", "mbarrier.inval.shared.b64 [%r3+256];\nbra $exit;", "R01"),
    (
        "ring.ptx",
        "inval",
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r3+256], 16;\nmbarrier.inval.shared.b64 [%r3+256];",
        "M06",
    ),
    ("exchange.ptx", "first", "", "R01"),
    ("exchange.ptx", "second", "", "R01"),
    ("exchange.ptx", "first", "bar.sync 1, 96;", "B01"),
    ("exchange.ptx", "first", "bar.sync 1, 48;", "B01"),
    (
        "exchange.ptx",
        "first",
        "setp.ge.u32 %p2, %r1, 32;\n@%p2 bar.sync 1, 64;\n@!%p2 bar.sync 1, 32;",
        "B02|D01",
    ),
    ("exchange.ptx", "first", "bar.arrive 1, 64;\nbar.arrive 1, 64;", "B03"),
    ("exchange.ptx", "third", "bar.sync 1, 32;", "R01"),
    ("exchange.ptx", "third", "setp.ge.u32 %p2, %r1, 32;\n@%p2 bra $second;\nbar.sync 1, 64;", "D01"),
    (
        "exchange.ptx",
        "shuffle",
        "and.b32 %r20, %r1, 1;\nsetp.eq.u32 %p2, %r20, 0;\n@%p2 shfl.sync.bfly.b32 %r11, %r10, 1, 31, -1;",
        "C02",
    ),
    (
        "exchange.ptx",
        "arm",
        "and.b32 %r20, %r1, 1;\nsetp.eq.u32 %p3, %r20, 0;\n@%p3 bra $join;\nmov.b32 %r13, 2;",
        "U03",
    ),
    ("exchange.ptx", "out", "add.s64 %rd5, %rd7, %rd3;", "U03"),
    ("exchange.ptx", "out", "setp.eq.u32 %p5, %r25, 0;\n@%p5 bra $join;\nadd.s64 %rd5, %rd2, %rd3;", "U03"),
    ("exchange.ptx", "load", "ld.global.b32 %r2, [%rd4+4096];", "A01"),
    ("exchange.ptx", "store", "mov.b64 %rd6, 64;\nld.param.b32 %r20, [%rd6];", "A01"),
    ("exchange.ptx", "store", "st.global.b32 [%rd2], %r14;", "R02"),
    ("pairs.ptx", "id", "bar.sync 1, 64;", "B04"),
    ("copies.ptx", "wait1", "", "R01"),
    ("copies.ptx", "wait1", "cp.async.wait_group 2;", "R01"),
    ("copies.ptx", "wait0", "", "R01"),
    ("copies.ptx", "bar1", "", "R01"),
    ("copies.ptx", "commit", "", "R01"),
    (
        "copies.ptx",
        "read",
        "mov.b32 %r10, 0;\nmov.b32 %r11, 0;\nmov.b32 %r12, 0;\nmov.b32 %r13, 0;\nst.global.b32 [%rd2], %r1;\nret;",
        "C01",
    ),
    ("copies.ptx", "one", "cp.async.cg.shared.global [%r4+8], [%rd4], 16;", "A02"),
    ("product.ptx", "proxy", "", "R04"),
    ("product.ptx", "bar", "", "R01"),
    ("product.ptx", "fence", "", "W02"),
    ("product.ptx", "wait", "", "W01"),
    ("product.ptx", "wait", "wgmma.wait_group.sync.aligned 1;", "W01"),
    ("product.ptx", "commit", "", "C01"),
    ("product.ptx", "desc", "add.s64 %rd10, %rd9, 128;\nor.b64 %rd10, %rd10, 0x0002000000000000;", "W03"),
    (
        "product.ptx",
        "desc",
        "cvt.u64.u32 %rd12, %r1;\nshr.u64 %rd12, %rd12, 5;\nadd.s64 %rd10, %rd9, 128;\nadd.s64 %rd10, %rd10, %rd12;",
        "W03",
    ),
    ("product.ptx", "desc", "add.s64 %rd10, %rd9, 192;", "U01"),
    ("product.ptx", "store", "{line}\nsetmaxnreg.inc.sync.aligned.u32 64;", "C03"),
    (
        "product.ptx",
        "store",
        "{line}\nsetp.ge.u32 %p2, %r1, 32;\n@%p2 bra $out;\nsetmaxnreg.dec.sync.aligned.u32 64;\n$out:",
        "C03",
    ),
    ("product.ptx", "store", "{line}\nsetmaxnreg.inc.sync.aligned.u32 256;", "D01"),
    (
        "product.ptx",
        "mma",
        "setp.ge.u32 %p2, %r1, 5;\n@%p2 wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r20, %r21, %r22, %r23}, %rd9, %rd10, 1, 1, 1, 0, 0;",
        "C02",
    ),
    ("tensor_memory.ptx", "dealloc", "", "T03"),
    (
        "tensor_memory.ptx",
        "alloc",
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem], 48;",
        "T01",
    ),
    (
        "tensor_memory.ptx",
        "relinquish",
        "{line}\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem], 32;",
        "T04",
    ),
    ("tensor_memory.ptx", "relinquish", "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;", "T06"),
    ("tensor_memory.ptx", "quarter", "mov.b32 %r5, 0;", "T02"),
    ("tensor_memory.ptx", "st", "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r6+64], {%r3};", "T01"),
    ("tensor_memory.ptx", "st", "", "U02"),
    ("tensor_memory.ptx", "waitst", "", "R03"),
    ("tensor_memory.ptx", "waitld", "", "R03"),
    ("tensor_memory.ptx", "before", "", "R03"),
    ("tensor_memory.ptx", "allocated", "", "R01"),
    (
        "tensor_memory.ptx",
        "store",
        "{line}\nsetp.ne.u32 %p2, %r1, 0;\n@%p2 bra $skip;\nmov.b64 %rd6, 0x0000400000000000;\ntcgen05.mma.cta_group::1.kind::f16 [%r2], %rd6, %rd6, 0x40, 0;\n$skip:",
        "T05",
    ),
    ("peers.ptx", "wait", "", "R01"),
    ("peers.ptx", "arrive", "", "B03"),
    ("peers.ptx", "rank", "mov.b32 %r3, 3;", "A03"),
    ("peers.ptx", "arrive", "barrier.cluster.arrive.relaxed.aligned;", "R01"),
    ("box.ptx", "proxy", "", "R04"),
    ("box.ptx", "wait", "mov.pred %p2, 1;", "R01"),
    ("box.ptx", "done", "", "R01"),
    ("box.ptx", "drain", "", "C01"),
    ("box.ptx", "commit", "", "C01"),
    ("box.ptx", "expect", "mbarrier.arrive.expect_tx.shared.b64 _, [%r1+1024], 1008;", "D01"),
    ("box.ptx", "ready", "", "R01"),
    (
        "box.ptx",
        "load",
        "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1+64], [%rd2, {%r3, %r3}], [%r1+1024];",
        "A02",
    ),
    (
        "box.ptx",
        "store",
        "mov.b32 %r3, -1;\ncp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd4, {%r3, %r3}], [%r1];",
        "A01",
    ),
    (
        "box.ptx",
        "load",
        "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd2, {%r3, %r3, %r3}], [%r1+1024];",
        "X01",
    ),
];

/// Edits of the reference kernels: file, text to replace, replacement, code.
const HAND: &[(&str, &str, &str, &str)] = &[
    ("90", "fence.proxy.async.shared::cta;", "", "R04"),
    ("90", "wgmma.fence.sync.aligned;", "", "W02"),
    ("90", "wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 2;", "R01"),
    ("90", "wgmma.wait_group.sync.aligned 0;", "", "W01"),
    ("90", "mov.b32 \t%r109, 49152;", "mov.b32 \t%r109, 49136;", "D01"),
    ("90", "mov.b32 \t%r14, 8;", "mov.b32 \t%r14, 7;", "R01"),
    ("90", "mov.b32 \t%r14, 8;", "mov.b32 \t%r14, 9;", "D01"),
    ("90", "mov.b32 \t%r115, 1;", "mov.b32 \t%r115, 0;", "D01"),
    ("90", "bar.sync \t1, 256;", "bar.sync \t1, 224;", "B02"),
    ("90", "bar.sync \t0;", "", "R01"),
    ("90", "cp.async.bulk.wait_group.read \t0;", "", "C01"),
    ("90", "setmaxnreg.inc.sync.aligned.u32 \t232;", "setmaxnreg.inc.sync.aligned.u32 \t240;", "D01"),
    ("90", "setp.eq.b32 \t%p23, %r111, 4;", "setp.eq.b32 \t%p23, %r111, 3;", "D01"),
    ("100", "tcgen05.dealloc.cta_group::1.sync.aligned.b32", "// ", "T03"),
    (
        "100",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 \t[%rd8+196640];",
        "",
        "D01",
    ),
    (
        "100",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 \t[global_smem+196672];",
        "",
        "D01",
    ),
    ("100", "mov.b32 \t%r25, 0;", "mov.b32 \t%r25, 1;", "R03"),
    ("100", "mov.b32 \t%r17, 138413200;", "mov.b32 \t%r17, 138413264;", "T05"),
    ("100", "mov.b32 \t%r10, 256;", "mov.b32 \t%r10, 128;", "T01"),
    ("100", "mov.b32 \t%r439, 1;", "mov.b32 \t%r439, 0;", "D01"),
    ("100", "mov.b32 \t%r21, 49152;", "mov.b32 \t%r21, 49168;", "D01"),
    ("100", "fence.proxy.async.shared::cta;", "", "R04"),
    ("100", "setp.ne.b32 \t%p12, %r440, 0;", "setp.eq.b32 \t%p12, %r440, %r440;", "U02"),
];

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
    println!("{} {code} {label}", if lacking.is_empty() { "caught" } else { "MISSED" });
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
    let hand = |which: &str| reference(&format!("data/kernels/hand/gemm_bf16.sm_{which}a.ptx"));
    for (which, find, with, code) in HAND {
        let Some(text) = hand(which) else { continue };
        assert!(text.contains(find), "{find}");
        let text = text.replacen(find, with, 1);
        let gemm =
            if *which == "90" { Gemm::hand_sm90(128, 256, 512) } else { Gemm::hand_sm100(128, 256, 512) };
        let run = |p: &Policy| (*p, gemm.run(&text, &Options { policy: *p, ..common::with(*p) }).0);
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
        "T02", "T03", "T04", "T05", "T06", "C01", "C02", "C03", "X01",
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
