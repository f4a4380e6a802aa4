//! Grids that kernels launch by the device runtime, and memory that they take from the stack (E98).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use warploom_chips::Target;
use warploom_emulator::{Arg, Device, Launch, Module, Policy, Report, RunOptions};

/// `down` adds `depth` to 32 words and launches itself with `depth - 1` until that is 0; thread 0 of `top` launches `last` on
/// the tail stream, then `down`: `last`, which is declared first as nvcc does it, doubles what the others left.
const KERNELS: &str = "\
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(
    .param .b64 a, .param .align 4 .b8 b[12], .param .align 4 .b8 c[12], .param .b32 d);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 a, .param .b64 b);
.global .align 4 .u32 launched;
.visible .entry last(.param .u64 words, .param .u32 factor);
.func begin(.param .b64 kernel, .param .b64 words, .param .b32 depth, .param .b64 stream)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [kernel];
    ld.param.u64 %rd2, [words];
    ld.param.u32 %r1, [depth];
    ld.param.u64 %rd3, [stream];
    {
    .param .b64 p0; .param .align 4 .b8 p1[12]; .param .align 4 .b8 p2[12]; .param .b32 p3; .param .b64 back;
    st.param.b64 [p0], %rd1;
    st.param.b32 [p1], 1; st.param.b32 [p1+4], 1; st.param.b32 [p1+8], 1;
    st.param.b32 [p2], 32; st.param.b32 [p2+4], 1; st.param.b32 [p2+8], 1;
    st.param.b32 [p3], 0;
    call.uni (back), __cudaCDP2GetParameterBufferV2, (p0, p1, p2, p3);
    ld.param.b64 %rd4, [back];
    }
    st.u64 [%rd4], %rd2;
    st.u32 [%rd4+8], %r1;
    {
    .param .b64 p0; .param .b64 p1; .param .b32 back;
    st.param.b64 [p0], %rd4;
    st.param.b64 [p1], %rd3;
    call.uni (back), __cudaCDP2LaunchDeviceV2, (p0, p1);
    ld.param.b32 %r2, [back];
    }
    mov.u64 %rd5, launched;
    atom.global.add.u32 %r3, [%rd5], 1;
    ret;
}
.visible .entry down(.param .u64 words, .param .u32 depth) .maxntid 32
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [words];
    ld.param.u32 %r1, [depth];
    mov.u32 %r2, %tid.x;
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    ld.global.u32 %r3, [%rd2];
    add.u32 %r3, %r3, %r1;
    st.global.u32 [%rd2], %r3;
    setp.eq.u32 %p1, %r1, 0;
    setp.ne.or.u32 %p2, %r2, 0, %p1;
    @%p2 ret;
    sub.u32 %r4, %r1, 1;
    mov.u64 %rd3, down;
    mov.u64 %rd4, 0;
    { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d;
    st.param.b64 [a], %rd3; st.param.b64 [b], %rd1; st.param.b32 [c], %r4; st.param.b64 [d], %rd4;
    call.uni begin, (a, b, c, d); }
    ret;
}
.visible .entry last(.param .u64 words, .param .u32 factor) .maxntid 32
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [words];
    ld.param.u32 %r1, [factor];
    mov.u32 %r2, %tid.x;
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    ld.global.u32 %r3, [%rd2];
    mul.lo.u32 %r3, %r3, %r1;
    st.global.u32 [%rd2], %r3;
    ret;
}
.visible .entry top(.param .u64 words, .param .u32 depth) .maxntid 32
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [words];
    ld.param.u32 %r1, [depth];
    mov.u32 %r2, %tid.x;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 ret;
    mov.u64 %rd3, last;
    mov.u64 %rd4, 3;
    mov.u32 %r3, 2;
    { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d;
    st.param.b64 [a], %rd3; st.param.b64 [b], %rd1; st.param.b32 [c], %r3; st.param.b64 [d], %rd4;
    call.uni begin, (a, b, c, d); }
    mov.u64 %rd3, down;
    mov.u64 %rd4, 0;
    { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d;
    st.param.b64 [a], %rd3; st.param.b64 [b], %rd1; st.param.b32 [c], %r1; st.param.b64 [d], %rd4;
    call.uni begin, (a, b, c, d); }
    ret;
}
.visible .entry stack(.param .u64 words, .param .u32 n) .maxntid 32
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [words];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    cvt.u64.u32 %rd3, %r1;
    stacksave.u64 %rd4;
    alloca.u64 %rd5, %rd3, 16;
    st.local.u32 [%rd5], %r2;
    alloca.u64 %rd6, %rd3, 16;
    st.local.u32 [%rd6], 7;
    ld.local.u32 %r3, [%rd5];
    stackrestore.u64 %rd4;
    alloca.u64 %rd7, %rd3, 16;
    sub.u64 %rd7, %rd7, %rd5;
    cvt.u32.u64 %r4, %rd7;
    add.u32 %r3, %r3, %r4;
    st.global.u32 [%rd2], %r3;
    ret;
}
";

fn run(text: &str, entry: &str, n: u32, policy: Policy) -> (Report, Vec<u32>) {
    let module = Module::parse(text).unwrap();
    let entry = module.entry(entry).unwrap();
    if let Some(refusal) = entry.refusal() {
        panic!("{refusal}");
    }
    let mut device = Device::new(&Target::named("sm_80").unwrap());
    let words = device.alloc(128, "words").unwrap();
    let launch = Launch { args: vec![Arg::Ptr(words), Arg::U32(n)], ..Launch::of(entry) };
    let report = device.run(&module, &launch, &RunOptions::default().policy(policy)).unwrap();
    let out = device.read(words).unwrap().chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap()));
    (report, out.collect())
}

#[test]
fn grids_run_behind_those_that_launch_them_and_the_tail_last() {
    for policy in [Policy::Eager, Policy::Lazy, Policy::Random(1), Policy::Pct(2)] {
        let (report, out) = run(KERNELS, "top", 4, policy);
        assert!(report.clean(), "{report}");
        // (4 + 3 + 2 + 1 + 0) * 2
        assert_eq!(out, [20; 32]);
        assert_eq!(report.stats.opcodes["mul.lo.u32"], 1);
        assert_eq!(report.stats.opcodes["setp.ne.or.u32"], 5);
    }
}

#[test]
fn what_goes_wrong_in_a_child_is_told_with_its_name() {
    let outside = KERNELS.replace("mul.lo.u32 %r3, %r3, %r1;", "add.u64 %rd2, %rd2, 128;");
    let (report, _) = run(&outside, "top", 1, Policy::Eager);
    assert!(report.errors().any(|f| f.code == "A01" && f.kernel == "last"), "{report}");
    let many = KERNELS.replace("st.param.b32 [p2], 32;", "st.param.b32 [p2], 64;");
    let (report, _) = run(&many, "top", 1, Policy::Eager);
    assert!(report.errors().any(|f| f.code == "L01" && f.message.contains(".maxntid")), "{report}");
    let endless = KERNELS.replace("setp.eq.u32 %p1, %r1, 0;", "setp.eq.u32 %p1, %r1, -1000000;");
    let (report, _) = run(&endless, "top", 1, Policy::Eager);
    assert!(report.errors().any(|f| f.code == "D02"), "{report}");
}

#[test]
fn memory_of_the_stack_is_taken_and_given_back() {
    let (report, out) = run(KERNELS, "stack", 40, Policy::Eager);
    assert!(report.clean(), "{report}");
    assert_eq!(out, (0..32).collect::<Vec<u32>>());
    let (report, _) = run(KERNELS, "stack", 1 << 20, Policy::Eager);
    assert!(report.errors().any(|f| f.code == "A01" && f.message.contains("stack")), "{report}");
}
