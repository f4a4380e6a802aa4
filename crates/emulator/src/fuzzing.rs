//! Generators and checks for fuzz targets; an ordinary test runs the same ones (E96).

use crate::{Arg, Device, Launch, Module, Options, Policy, Race};
use arbitrary::{Arbitrary, Unstructured};
use std::fmt::Write;
use warploom_target::Target;

/// Reads any text as PTX and decodes it. Must not panic.
pub fn read(text: &str) {
    if let Ok(m) = Module::parse(text) {
        for e in m.entries() {
            let _ = (e.refusal(), e.instructions());
        }
    }
}

/// A short program for one or two warps.
#[derive(Clone, Debug)]
pub struct Program {
    /// The PTX text.
    pub text: String,
    /// Threads of the CTA.
    pub threads: u32,
    /// Seed of a random schedule.
    pub seed: u64,
}

const ALU: &[&str] = &[
    "add.s32 %r{d}, %r{a}, %r{b};",
    "sub.u32 %r{d}, %r{a}, %r{b};",
    "mul.lo.s32 %r{d}, %r{a}, %r{b};",
    "mad.lo.u32 %r{d}, %r{a}, %r{b}, %r{c};",
    "div.s32 %r{d}, %r{a}, %r{b};",
    "rem.u32 %r{d}, %r{a}, %r{b};",
    "shl.b32 %r{d}, %r{a}, %r{b};",
    "shr.s32 %r{d}, %r{a}, %r{b};",
    "bfe.u32 %r{d}, %r{a}, %r{b}, %r{c};",
    "prmt.b32 %r{d}, %r{a}, %r{b}, %r{c};",
    "fma.rn.f32 %r{d}, %r{a}, %r{b}, %r{c};",
    "ex2.approx.ftz.f32 %r{d}, %r{a};",
    "cvt.rn.bf16x2.f32 %r{d}, %r{a}, %r{b};",
    "cvt.rzi.s32.f32 %r{d}, %r{a};",
    "setp.lt.s32 %p1, %r{a}, %r{b};",
    "selp.b32 %r{d}, %r{a}, %r{b}, %p1;",
    "shfl.sync.bfly.b32 %r{d}, %r{a}, %r{b}, 31, -1;",
    "@%p1 add.u32 %r{d}, %r{a}, 1;",
    "st.shared.b32 [%r30], %r{a};",
    "ld.shared.b32 %r{d}, [%r31];",
    "st.shared.b32 [%r{a}], %r{b};",
    "ld.shared.v2.b32 {%r{d}, %r{c}}, [%r{a}];",
    "ld.global.b32 %r{d}, [%rd2];",
    "st.global.b32 [%rd2], %r{a};",
    "red.global.add.u32 [%rd1], %r{a};",
    "bar.sync 0;",
    "bar.sync 1, 32;",
    "bar.arrive 2, 64;",
    "bar.warp.sync -1;",
    "cp.async.ca.shared.global [%r30], [%rd2], 4;",
    "cp.async.commit_group;",
    "cp.async.wait_group 0;",
    "mbarrier.init.shared.b64 [%r29], 1;",
    "mbarrier.arrive.shared.b64 _, [%r29];",
    "mbarrier.test_wait.parity.shared.b64 %p1, [%r29], %r{a};",
    "mbarrier.inval.shared.b64 [%r29];",
    "@%p1 bra $out;",
    "elect.sync %r{d}|%p1, -1;",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r{d}}, [%r30];",
    "fence.proxy.async.shared::cta;",
];

impl<'a> Arbitrary<'a> for Program {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let threads = if u.arbitrary()? { 64 } else { 32 };
        let mut body = String::new();
        for _ in 0..u.int_in_range(1..=40)? {
            let mut line = (*u.choose(ALU)?).to_string();
            for slot in ["{a}", "{b}", "{c}", "{d}"] {
                line = line.replace(slot, &u.int_in_range(0..=7)?.to_string());
            }
            let _ = writeln!(body, "\t{line}");
        }
        if u.ratio(1, 8)? {
            body.push_str("\tbra $top;\n");
        }
        let text = format!(
            ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 s[];\n\
             .visible .entry k(.param .u64 data) .reqntid {threads} {{\n\
             \t.reg .pred %p<2>;\n\t.reg .b32 %r<32>;\n\t.reg .b64 %rd<4>;\n\
             \tld.param.u64 %rd1, [data];\n\tmov.u32 %r0, %tid.x;\n\tmov.u32 %r1, %laneid;\n\tmov.b32 %r2, 12;\n\
             \tmov.b32 %r28, s;\n\tadd.s32 %r29, %r28, 512;\n\tmad.lo.u32 %r30, %r0, 4, %r28;\n\txor.b32 %r31, %r30, 4;\n\
             \tmad.wide.u32 %rd2, %r0, 4, %rd1;\n$top:\n{body}$out:\n\tret;\n}}\n"
        );
        Ok(Program { text, threads, seed: u.arbitrary()? })
    }
}

/// Runs a program: it must end without a panic, twice the same, and eager and lazy must agree when no error is found.
/// Returns whether it ran clean.
pub fn execute(p: &Program) -> bool {
    let Ok(module) = Module::parse(&p.text) else { return false };
    let Ok(target) = Target::named("sm_90a") else { return false };
    let run = |policy: Policy| {
        let mut dev = Device::new(&target);
        let data = dev.alloc(256, "data").ok()?;
        let launch = Launch {
            entry: "k".into(),
            grid: [1; 3],
            block: [p.threads, 1, 1],
            cluster: [1; 3],
            smem: 1024,
            args: vec![Arg::Ptr(data)],
        };
        let opts = Options { policy, race: Race::Full, max_steps: 5_000, ..Options::default() };
        let report = dev.run(&module, &launch, &opts).ok()?;
        let bytes = dev.read(data).ok()?.to_vec();
        Some((report, bytes))
    };
    let first = run(Policy::Random(p.seed));
    assert!(first == run(Policy::Random(p.seed)), "same seed, different run:\n{}", p.text);
    let (Some(eager), Some(lazy)) = (run(Policy::Eager), run(Policy::Lazy)) else { return false };
    let clean = eager.0.clean() && lazy.0.clean() && !eager.0.stats.data_dependent;
    assert!(!clean || eager.1 == lazy.1, "clean, but eager and lazy differ:\n{}", p.text);
    clean
}
