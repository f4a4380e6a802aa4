//! What a report says beside its findings: which findings have one cause (E103), and what never ran (E102).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use warploom_chips::Target;
use warploom_emulator::{Arg, Device, Launch, Module, Policy, Report, RunOptions};

fn head() -> &'static str {
    ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 s[];\n\
     .visible .entry k(.param .u64 out) .reqntid 64 {\n.reg .pred %p<6>;\n.reg .b32 %r<16>;\n\
     .reg .b64 %rd<6>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.b32 %r2, s;\n\
     mad.lo.u32 %r3, %r1, 4, %r2;\nxor.b32 %r4, %r3, 128;\nmad.wide.u32 %rd2, %r1, 4, %rd1;\n"
}

/// A launch of a body for two warps with 1 KiB of shared memory.
fn launch(body: &str) -> (Module, Launch, Device) {
    let module = Module::parse(&format!("{}{body}\nret;\n}}\n", head())).unwrap();
    let mut device = Device::new(&Target::named("sm_90a").unwrap());
    let out = device.alloc(256, "out").unwrap();
    let launch = Launch { smem: 1024, args: vec![Arg::Ptr(out)], ..Launch::of(&module.entries()[0]) };
    (module, launch, device)
}

/// Runs a body, and says at which line it begins.
fn run(body: &str, policy: Policy) -> (Report, u32) {
    let (module, launch, mut device) = launch(body);
    let report = device.run(&module, &launch, &RunOptions::default().policy(policy)).unwrap();
    (report, head().lines().count() as u32 + 1)
}

/// The lines that a launch of a body for two warps does not need.
fn dispensable(body: &str) -> Vec<u32> {
    let (module, launch, device) = launch(body);
    let options = POLICIES.map(|p| RunOptions::default().policy(p));
    let first = head().lines().count() as u32 + 1;
    let lines = device.dispensable(&module, &launch, &options).unwrap();
    lines.into_iter().map(|l| l - first).collect()
}

#[test]
fn what_a_launch_does_not_need_is_named() {
    let exchange =
        "st.shared.b32 [%r3], %r1;\nbar.sync 0;\nld.shared.b32 %r5, [%r4];\nst.global.b32 [%rd2], %r5;";
    assert_eq!(dispensable(exchange), [] as [u32; 0]);
    // A second barrier, and a fence that orders nothing.
    assert_eq!(
        dispensable(&exchange.replace("bar.sync 0;", "bar.sync 0;\nmembar.gl;\nbar.sync 0;")),
        [1, 2, 3]
    );
    // Words of its own need no barrier.
    assert_eq!(dispensable(&exchange.replace("[%r4]", "[%r3]")), [1]);
    let handshake = "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $ready;\nmbarrier.init.shared.b64 [%r2+512], 32;\n$ready:\n\
                     bar.sync 0;\nsetp.ge.u32 %p3, %r1, 32;\n@%p3 bra $other;\nst.shared.b32 [%r3], %r1;\n\
                     mbarrier.arrive.release.cta.shared.b64 _, [%r2+512];\nbra $end;\n$other:\n\
                     mbarrier.try_wait.parity.shared.b64 %p2, [%r2+512], 0;\n@!%p2 bra $other;\n\
                     ld.shared.b32 %r5, [%r4];\nst.global.b32 [%rd2], %r5;\n$end:";
    assert_eq!(dispensable(handshake), [] as [u32; 0]);
    // An atomic of which nobody learns needs no order.
    let counted = "atom.add.acq_rel.gpu.global.u32 %r5, [%rd1], 1;";
    assert_eq!(dispensable(counted), [0]);
}

const POLICIES: [Policy; 4] = [Policy::Eager, Policy::Lazy, Policy::Random(1), Policy::Pct(2)];

#[test]
fn one_missing_barrier_is_one_finding() {
    let body = |first: &str, second: &str| {
        format!(
            "st.shared.b32 [%r3], %r1;\nst.shared.b32 [%r3+256], %r1;\n{first}\nld.shared.b32 %r5, [%r4];\n\
             ld.shared.b32 %r6, [%r4+256];\n{second}\nst.shared.b32 [%r3], %r5;\nst.global.b32 [%rd2], %r6;"
        )
    };
    for policy in POLICIES {
        assert!(run(&body("bar.sync 0;", "bar.sync 0;"), policy).0.clean(), "{policy:?}");
        let (report, at) = run(&body("", "bar.sync 0;"), policy);
        let races: Vec<_> = report.findings.iter().filter(|f| f.code == "R01").collect();
        assert_eq!(races.len(), 1, "{policy:?}\n{report}");
        assert_eq!(races[0].pairs.len(), 1, "{policy:?}\n{report}");
        // Writes at the first two lines, reads at the fourth and fifth, whoever came first.
        let (a, b) = races[0].pairs[0];
        assert_eq!((a.min(b), a.max(b)), (at + 1, at + 4), "{policy:?}\n{report}");
        // The other barrier is another cause.
        let (report, _) = run(&body("bar.sync 0;", ""), policy);
        assert_eq!(report.findings.iter().filter(|f| f.code == "R01").count(), 1, "{policy:?}\n{report}");
    }
}

#[test]
fn notes_of_one_cta_leave_room_for_the_errors_of_another() {
    let body = "ld.shared.b32 %r5, [%r4+512];\nmov.u32 %r6, %ctaid.x;\nsetp.eq.u32 %p1, %r6, 0;\n@%p1 bra $end;\n\
                st.shared.b32 [%r3], %r1;\nst.shared.b32 [%r4], %r1;\n$end:";
    let (module, launch, device) = launch(body);
    let launch = Launch { grid: [2, 1, 1], ..launch };
    for policy in POLICIES {
        let options = RunOptions::default().policy(policy).max_findings(1);
        let report = device.clone().run(&module, &launch, &options).unwrap();
        assert!(report.has("U01") && report.has("R01") && !report.clean(), "{policy:?}\n{report}");
    }
}

#[test]
fn what_never_ran_and_what_waited_for_nothing_is_named() {
    let body = "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $ready;\nmbarrier.init.shared.b64 [%r2], 1;\n$ready:\nbar.sync 0;\n\
                $fresh:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r2], 1;\n@!%p2 bra $fresh;\nbar.sync 0;\n\
                @%p1 bra $wait;\nmbarrier.arrive.shared.b64 _, [%r2];\n$wait:\n\
                mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;\n@!%p3 bra $wait;\n\
                setp.lt.u32 %p4, %r1, 64;\n@%p4 bra $end;\nbar.sync 3, 32;\n$end:";
    for policy in POLICIES {
        let (report, at) = run(body, policy);
        assert!(report.clean(), "{policy:?}\n{report}");
        let c = &report.coverage;
        assert_eq!((c.instructions, c.reached()), (6, 4), "{policy:?} {c:?}");
        assert_eq!((c.trivial.as_slice(), c.never.as_slice()), (&[at + 6][..], &[at + 16][..]), "{policy:?}");
    }
}
