//! A kernel of one instruction over interesting and random bits.
#![allow(dead_code, reason = "each test file uses some of them")]

use warploom_chips::Target;
use warploom_emulator::{Arg, Device, Launch, Module, RunOptions};

const COUNT: usize = 32 * 32;

/// Interesting and random 64-bit patterns.
pub fn inputs(seed: u64) -> Vec<u64> {
    let special = [
        0,
        1,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x0000_0001,
        0x807f_ffff,
        0x7f7f_ffff,
        0x3c00,
        0x7c00,
        0xfc00,
        0x7e00,
        0x0001,
        0x7bff,
        0x4200_3e00,
        31,
        32,
        33,
        0x4b00_0000,
        0xcf00_0000,
        0x4f00_0000,
        0x3fff_ffff,
        0x4000_0001,
        5,
        0x7fff,
        0x8000,
        0x7f7f,
    ];
    let mut s = seed;
    (0..COUNT)
        .map(|i| {
            s = s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let random = s ^ (s >> 29);
            match (i as u64 + seed) % 3 {
                0 => special[(random % special.len() as u64) as usize],
                1 => random,
                _ => u64::from(((random % 4000) as f32 - 2000.0).mul_add(0.37, 0.1).to_bits()),
            }
        })
        .collect()
}

/// Runs `body` with %rd10, %rd11, %rd12 (and their low halves %r10.. and %h10..) as inputs and %rd13 as result.
pub fn run(body: &str) -> (Vec<[u64; 3]>, Vec<u64>) {
    let text = format!(
        ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n\
         .reqntid 32 {{\n.reg .pred %p<4>;\n.reg .b16 %h<20>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n\
         ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n\
         mad.lo.u32 %r1, %r2, 32, %r1;\nmad.wide.u32 %rd3, %r1, 24, %rd1;\nmad.wide.u32 %rd4, %r1, 8, %rd2;\n\
         ld.global.b64 %rd10, [%rd3];\nld.global.b64 %rd11, [%rd3+8];\nld.global.b64 %rd12, [%rd3+16];\n\
         cvt.u32.u64 %r10, %rd10;\ncvt.u32.u64 %r11, %rd11;\ncvt.u32.u64 %r12, %rd12;\n\
         cvt.u16.u64 %h10, %rd10;\ncvt.u16.u64 %h11, %rd11;\ncvt.u16.u64 %h12, %rd12;\n\
         mov.b64 %rd13, 0;\n{body}\nst.global.b64 [%rd4], %rd13;\nret;\n}}\n"
    );
    let module = Module::parse(&text).unwrap();
    if let Some(r) = module.entries()[0].refusal() {
        panic!("{body}: {r}");
    }
    let (a, b, c) = (inputs(1), inputs(2), inputs(3));
    let rows: Vec<[u64; 3]> = (0..COUNT).map(|i| [a[i], b[i], c[i]]).collect();
    let bytes: Vec<u8> = rows.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
    let mut dev = Device::new(&Target::named("sm_100a").unwrap());
    let (pi, po) = (dev.alloc_from(&bytes, "in").unwrap(), dev.alloc(8 * COUNT as u64, "out").unwrap());
    let launch = Launch {
        grid: [COUNT as u32 / 32, 1, 1],
        args: vec![Arg::Ptr(pi), Arg::Ptr(po)],
        ..Launch::of(&module.entries()[0])
    };
    let report = dev.run(&module, &launch, &RunOptions::default()).unwrap();
    assert!(report.clean(), "{body}\n{report}");
    let out =
        dev.read(po).unwrap().chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect();
    (rows, out)
}

pub fn check(body: &str, want: impl Fn(u64, u64, u64) -> u64) {
    let (rows, out) = run(body);
    for (row, got) in rows.iter().zip(out) {
        let want = want(row[0], row[1], row[2]);
        assert_eq!(got, want, "{body} on {row:x?}: got {got:x}, want {want:x}");
    }
}

/// A 32-bit result.
pub fn word(op: &str, want: impl Fn(u32, u32, u32) -> u32) {
    check(&format!("{op}\ncvt.u64.u32 %rd13, %r13;"), |a, b, c| {
        u64::from(want(a as u32, b as u32, c as u32))
    });
}

/// An f32 result; all NaN are equal.
pub fn real(op: &str, want: impl Fn(f32, f32, f32) -> f32) {
    let fix = |x: u32| if f32::from_bits(x).is_nan() { 0x7fff_ffff } else { x };
    let (rows, out) = run(&format!("{op}\ncvt.u64.u32 %rd13, %r13;"));
    for (row, got) in rows.iter().zip(out) {
        let [a, b, c] = row.map(|v| f32::from_bits(v as u32));
        let (want, got) = (fix(want(a, b, c).to_bits()), fix(got as u32));
        assert_eq!(
            got,
            want,
            "{op} on {a} {b} {c}: got {}, want {}",
            f32::from_bits(got),
            f32::from_bits(want)
        );
    }
}
