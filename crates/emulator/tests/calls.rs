//! Calls of device functions, and of those that the driver provides (E98).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use warploom_chips::Target;
use warploom_emulator::{Arg, Device, Launch, Module, Policy, Report, RunOptions};

fn text() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/calls.ptx");
    std::fs::read_to_string(path).unwrap()
}

fn run(text: &str, policy: Policy) -> (Report, Vec<u32>) {
    let module = Module::parse(text).unwrap();
    let entry = &module.entries()[0];
    if let Some(refusal) = entry.refusal() {
        panic!("{refusal}");
    }
    let mut device = Device::new(&Target::named("sm_90a").unwrap());
    let out = device.alloc(256, "out").unwrap();
    let launch = Launch { args: vec![Arg::Ptr(out), Arg::Ptr(out)], ..Launch::of(entry) };
    let options = RunOptions::default().policy(policy).max_steps(1_000_000);
    let report = device.run(&module, &launch, &options).unwrap();
    let words = device.read(out).unwrap().chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap()));
    (report, words.collect())
}

#[test]
fn calls_by_name_through_addresses_and_of_themselves_give_what_they_should() {
    for policy in [Policy::Eager, Policy::Lazy, Policy::Random(3), Policy::Pct(4)] {
        let (report, out) = run(&text(), policy);
        assert!(report.clean(), "{policy:?}\n{report}");
        for (t, got) in (0_u32..).zip(out) {
            let factorial: u32 = (1..=t % 6).product();
            let want = factorial + 3 * t + 4 + t * (2 + t % 2);
            assert_eq!(got, want, "thread {t} {policy:?}");
        }
        assert_eq!(report.printed, "lane 154 2.5\n", "{policy:?}");
    }
}

#[test]
fn what_goes_wrong_in_a_call_is_a_finding() {
    let cases = [
        // Recursion without an end, a call to where no function is, an assertion, a heap that is too small.
        ("st.param.b32 [param0+0], %r2;", "st.param.b32 [param0+0], %r1;", "A01"),
        ("ld.global.u64 %rd6, [%rd5];", "mov.u64 %rd6, 16;", "A01"),
        ("setp.eq.s32 %p2, %r9, %r7;", "setp.ne.s32 %p2, %r9, %r7;", "D03"),
        ("st.param.b64 [param0], 16;", "st.param.b64 [param0], 1000000;", "A01"),
    ];
    for (good, bad, code) in cases {
        let broken = text().replacen(good, bad, 1);
        assert_ne!(broken, text());
        let (report, _) = run(&broken, Policy::Eager);
        assert!(report.has(code), "{bad}: {report}");
    }
}

#[test]
fn a_call_that_cannot_be_done_names_the_function() {
    let missing = text().replace("malloc", "cudaLaunchDevice");
    let module = Module::parse(&missing).unwrap();
    let refusal = module.entries()[0].refusal().unwrap().to_string();
    assert!(refusal.contains("X01") && refusal.contains("cudaLaunchDevice"), "{refusal}");
}

/// Declarations that nvcc makes: memory that host and device share, addresses with an offset behind them, a function with
/// two names, and one of another module that nobody calls.
#[test]
fn variables_and_functions_as_nvcc_declares_them() {
    let text = ".version 8.0\n.target sm_90a\n.address_size 64\n\
        .extern .func (.param .b32 r) elsewhere(.param .b32 a);\n\
        .visible .global .attribute(.managed) .align 4 .u32 shared_with_host = 30;\n\
        .global .align 4 .u32 list[3] = {1, 2, 3};\n\
        .global .align 8 .u64 ends[2] = {generic(list)+8, generic(list)};\n\
        .global .align 8 .u64 table[2] = {elsewhere, first};\n\
        .visible .func (.param .b32 r) first(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [a];\n\
        add.u32 %r1, %r1, 100;\nst.param.b32 [r], %r1;\nret;\n}\n\
        .visible .func (.param .b32 r) second(.param .b32 a);\n.alias second, first;\n\
        .visible .entry k(.param .u64 out, .param .u64 same) .reqntid 1\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n\
        ld.param.u64 %rd1, [out];\nld.global.u32 %r1, [shared_with_host];\nld.global.u64 %rd2, [ends];\nld.u32 %r2, [%rd2];\n\
        add.u32 %r1, %r1, %r2;\n{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r1;\ncall.uni (b), second, (a);\n\
        ld.param.b32 %r3, [b];\n}\nst.global.u32 [%rd1], %r3;\nret;\n}\n";
    let (report, out) = run(text, Policy::Eager);
    assert!(report.clean(), "{report}");
    assert_eq!(out[0], 133);
    assert_eq!(warploom_testing::ptx::prints_back(text), Ok(()));
}
