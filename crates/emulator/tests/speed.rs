//! A grid of 1,024 CTAs takes seconds at most, and says the same on one host thread and on two (E5, E105). How fast it is
//! in numbers says `examples/speed.rs`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::time::{Duration, Instant};
use warploom_chips::Target;
use warploom_emulator::{Arg, Device, Launch, Module, Report, RunOptions};

/// Adds two vectors, an element for each thread.
const ADD: &str = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c) .reqntid 256
{
    .reg .b32 %r<5>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [c];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 256, %r1;
    mul.wide.u32 %rd4, %r3, 4;
    add.s64 %rd5, %rd1, %rd4;
    add.s64 %rd6, %rd2, %rd4;
    add.s64 %rd7, %rd3, %rd4;
    ld.global.f32 %f1, [%rd5];
    ld.global.f32 %f2, [%rd6];
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%rd7], %f3;
    ret;
}
";
const CTAS: u32 = 1024;
/// The aim is 2 s of an optimised build, and two cores may have other work besides.
const MOST: Duration = Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 2 });

fn run(threads: usize) -> (Report, Vec<u8>) {
    let module = Module::parse(ADD).unwrap();
    let mut device = Device::new(&Target::named("sm_80").unwrap());
    let numbers: Vec<u8> = (0..CTAS * 256).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let a = device.alloc_from(&numbers, "a").unwrap();
    let b = device.alloc_from(&numbers, "b").unwrap();
    let c = device.alloc_from(&vec![0; numbers.len()], "c").unwrap();
    let launch = Launch {
        grid: [CTAS, 1, 1],
        args: vec![Arg::Ptr(a), Arg::Ptr(b), Arg::Ptr(c)],
        ..Launch::of(module.entry("add").unwrap())
    };
    let report = device.run(&module, &launch, &RunOptions::default().threads(threads)).unwrap();
    (report, device.read(c).unwrap().to_vec())
}

#[test]
fn a_thousand_ctas_take_less_than_two_seconds_and_say_the_same_on_two_threads() {
    let begin = Instant::now();
    let (report, sums) = run(1);
    let took = begin.elapsed();
    assert!(report.clean(), "{report}");
    let right = sums
        .chunks_exact(4)
        .zip(0..)
        .all(|(sum, i): (&[u8], u32)| f32::from_le_bytes([sum[0], sum[1], sum[2], sum[3]]) == 2.0 * i as f32);
    assert!(right, "wrong sums");
    assert!(took < MOST, "{took:?} for {} warp instructions", report.stats.steps);
    let (other, same) = run(2);
    assert_eq!((other.stats, other.coverage), (report.stats, report.coverage));
    assert!(same == sums, "other sums on two threads");
}
