//! What the flags of host descriptors do where one partition moves the tiles (C17): NaN outside where no loop loads, and
//! an end with an error, instead of zeros, elsewhere.
#![cfg(feature = "llvm")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use warploom::{Options, Target};
use warploom_emulator as emulator;

/// A tensor of 256 columns as a launch without tensor maps passes it.
fn tensor(address: u64, rows: i64, nan: bool, tf32: bool) -> Vec<emulator::Arg> {
    use emulator::Arg::{I32, I64, Ptr, U8};
    let mut args = vec![Ptr(address)];
    args.extend([rows, 256, 256, 1].map(I64));
    args.extend([nan, tf32].map(|flag| U8(flag.into())));
    args.extend([I32(rows as i32), I32(256), I64(256), I64(1)]);
    args
}

/// Codes of what was found, and the last tensor.
fn launch(text: &str, rows: &[i64], set: Option<usize>, k: Option<i32>) -> (Vec<String>, Vec<u8>) {
    let target = Target::named("sm_80").unwrap();
    let output = warploom::compile(&warploom::read(text).unwrap(), &target, &Options::default()).unwrap();
    let metadata = &output.emitted.metadata;
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    let mut device = emulator::Device::new(&target);
    let (mut args, mut last) = (Vec::new(), 0);
    for (number, &rows) in rows.iter().enumerate() {
        last = device.alloc_from(&[0; 4 * 256 * 256], "tile").unwrap();
        args.extend(tensor(last, rows, set == Some(2 * number), set == Some(2 * number + 1)));
    }
    args.extend(k.map(emulator::Arg::I32));
    args.extend([emulator::Arg::U64(0), emulator::Arg::U64(0)]);
    let entry = ptx.entry(&metadata.name).unwrap();
    let launch = emulator::Launch { smem: metadata.shared as u32, args, ..emulator::Launch::of(entry) };
    let report = device.run(&ptx, &launch, &emulator::RunOptions::default()).unwrap();
    let codes = report.findings.into_iter().map(|finding| finding.code).collect();
    (codes, device.read(last).unwrap().to_vec())
}

#[test]
fn flags_without_code_end_the_kernel() {
    let text = common::read("examples/kernels/gemm.ttir");
    let findings = |set| launch(&text, &[256; 3], set, Some(64)).0;
    assert_eq!(findings(None), [""; 0]);
    for set in [0, 1, 2, 3, 5] {
        assert!(findings(Some(set)).iter().any(|code| code == "D02"), "flag {set} is ignored");
    }
    // Nobody reads through the third.
    assert_eq!(findings(Some(4)), [""; 0]);
}

#[test]
fn what_no_loop_loads_is_nan_outside() {
    let text = "module {
  tt.func public @copy(%from: !tt.tensordesc<32x32xf32>, %a: i32, %b: i32, %c: i64, %d: i64,
                           %to: !tt.tensordesc<32x32xf32>, %e: i32, %f: i32, %g: i64, %h: i64) {
    %zero = arith.constant 0 : i32
    %tile = tt.descriptor_load %from[%zero, %zero] : !tt.tensordesc<32x32xf32> -> tensor<32x32xf32>
    tt.descriptor_store %to[%zero, %zero], %tile : !tt.tensordesc<32x32xf32>, tensor<32x32xf32>
    tt.return
  }
}
";
    let at = |bytes: &[u8], row: usize| {
        let from = 4 * 256 * row;
        f32::from_le_bytes(bytes[from..from + 4].try_into().unwrap())
    };
    for set in [None, Some(0), Some(2)] {
        let (codes, bytes) = launch(text, &[20, 256], set, None);
        assert_eq!(codes, [""; 0]);
        assert_eq!([at(&bytes, 0), at(&bytes, 19)], [0.0; 2]);
        assert_eq!(at(&bytes, 20).is_nan(), set == Some(0), "{set:?}");
        assert_eq!(at(&bytes, 31).is_nan(), set == Some(0), "{set:?}");
    }
}
