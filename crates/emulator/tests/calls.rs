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
