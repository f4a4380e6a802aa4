//! Qualifiers of arithmetic and conversions: each changes what it says, and one that an operation has not is refused (E91).
//! What `ptxas` folds of the same instructions agrees.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod single;

use single::word;
use warploom_emulator::Module;

fn real(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// A word whose subnormals are zeros.
fn flushed(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

/// As that, of f16.
fn flushed_half(bits: u32) -> u32 {
    if bits & 0x7c00 == 0 { bits & 0x8000 } else { bits & 0xffff }
}

#[test]
fn subnormals_are_flushed_where_it_is_said() {
    word("abs.ftz.f16 %h13, %h10;\ncvt.u32.u16 %r13, %h13;", |a, _, _| flushed_half(a) & 0x7fff);
    word("neg.ftz.f16x2 %r13, %r10;", |a, _, _| {
        (flushed_half(a) | flushed_half(a >> 16) << 16) ^ 0x8000_8000
    });
    // The smallest subnormal and half of the smallest number are alike.
    let small = "and.b16 %h10, %h10, 0x83ff;\nand.b16 %h11, %h11, 0x83ff;\n";
    let whole = "selp.b32 %r13, 1, 0, %p1;";
    word(&format!("{small}setp.eq.ftz.f16 %p1, %h10, %h11;\n{whole}"), |_, _, _| 1);
    word(&format!("{small}setp.lt.f16 %p1, %h10, %h11;\n{whole}"), |a, b, _| {
        let magnitude = |x: u32| if x & 0x8000 == 0 { (x & 0x3ff) as i32 } else { -((x & 0x3ff) as i32) };
        u32::from(magnitude(a) < magnitude(b))
    });
    word("slct.ftz.u32.f32 %r13, %r10, %r11, %r12;", |a, b, c| if real(flushed(c)) >= 0.0 { a } else { b });
    word("slct.u32.f32 %r13, %r10, %r11, %r12;", |a, b, c| if real(c) >= 0.0 { a } else { b });
    // Of three, none of which is NaN.
    let small =
        "and.b32 %r10, %r10, 0x80ffffff;\nand.b32 %r11, %r11, 0x80ffffff;\nand.b32 %r12, %r12, 0x80ffffff;\n";
    word(
        &format!("{small}max.ftz.f32 %r13, %r10, %r11, %r12;\nand.b32 %r13, %r13, 0x7fffffff;"),
        |a, b, c| {
            let most = [a, b, c].map(|x| real(flushed(x & 0x80ff_ffff))).into_iter().fold(f32::MIN, f32::max);
            most.abs().to_bits()
        },
    );
    // 2^x of bf16 has no subnormals.
    word(
        "ex2.approx.ftz.bf16 %h13, %h10;\ncvt.u32.u16 %r13, %h13;\nand.b32 %r13, %r13, 0x7f80;",
        |a, _, _| {
            let y = f64::from(real(a << 16)).exp2();
            if y.is_nan() || y >= f64::from(f32::MAX) {
                0x7f80
            } else if y < f64::from(f32::MIN_POSITIVE) * (1.0 - 1.0 / 512.0) {
                0
            } else {
                (((y as f32).to_bits() + 0x7fff + ((y as f32).to_bits() >> 16 & 1)) >> 16) & 0x7f80
            }
        },
    );
}

#[test]
fn results_are_clamped_where_it_is_said() {
    word("cvt.rn.sat.f32.s32 %r13, %r10;", |a, _, _| if a as i32 > 0 { 0x3f80_0000 } else { 0 });
    word("cvt.sat.f32.f32 %r13, %r10;", |a, _, _| if real(a) > 0.0 { real(a).min(1.0).to_bits() } else { 0 });
    word("add.rn.sat.f32.bf16 %r13, %h10, %r11;", |a, b, _| {
        let sum = real(a << 16) + real(b);
        if sum > 0.0 { sum.min(1.0).to_bits() } else { 0 }
    });
    // -0 becomes 0.
    word("and.b32 %r10, %r10, 0x80000000;\nadd.sat.f32 %r13, %r10, %r10;", |_, _, _| 0);
    word(
        "and.b16 %h10, %h10, 0x8000;\nfma.rn.sat.f16 %h13, %h10, %h10, %h10;\ncvt.u32.u16 %r13, %h13;",
        |_, _, _| 0,
    );
}

#[test]
fn no_number_as_an_integer() {
    let nan = "or.b32 %r10, %r10, 0x7fc00000;\n";
    for (to, bits) in [("s32", 32), ("u32", 32)] {
        word(&format!("{nan}cvt.rzi.{to}.f32 %r13, %r10;"), |_, _, _| 0);
        let double = "mov.b64 %rd13, {%r11, %r10};\nor.b64 %rd13, %rd13, 0x7ff8000000000000;\n";
        word(&format!("{double}cvt.rzi.{to}.f64 %r13, %rd13;"), move |_, _, _| 1 << (bits - 1));
    }
    for to in ["s64", "u64"] {
        word(&format!("{nan}cvt.rzi.{to}.f32 %rd13, %r10;\nmov.b64 {{%r12, %r13}}, %rd13;"), |_, _, _| {
            1 << 31
        });
    }
}

#[test]
fn rough_reciprocals_have_one_word() {
    let double = "mov.b32 %r11, 0x12345678;\nand.b32 %r10, %r10, 0x800fffff;\nor.b32 %r10, %r10, 0x3ff00000;\n\
                  mov.b64 %rd13, {%r11, %r10};\nrcp.approx.ftz.f64 %rd13, %rd13;\nmov.b64 {%r12, %r13}, %rd13;\n";
    word(&format!("{double}mov.b32 %r13, %r12;"), |_, _, _| 0);
    word(double, |a, _, _| {
        let x = f64::from_bits(u64::from(a & 0x800f_ffff | 0x3ff0_0000) << 32);
        (((1.0 / x).to_bits() + (1 << 31)) >> 32) as u32
    });
}

#[test]
fn what_an_operation_has_not_is_refused() {
    for (line, word) in [
        ("add.sat.f64 %rd1, %rd1, %rd1;", "sat"),
        ("add.sat.f32x2 %rd1, %rd1, %rd1;", "sat"),
        ("add.ftz.bf16 %h1, %h1, %h1;", "ftz"),
        ("rcp.rn.ftz.f64 %rd1, %rd1;", "ftz"),
        ("min.NaN.f64 %rd1, %rd1, %rd1;", "NaN"),
        ("rem.sat.s32 %r1, %r1, %r1;", "sat"),
        ("cvt.rn.relu.f32.s32 %r1, %r1;", "relu"),
        ("cvt.rn.satfinite.f32.f64 %r1, %rd1;", "satfinite"),
        ("cvt.rn.ftz.f16x2.f32 %r1, %r1, %r1;", "ftz"),
        ("cvt.rn.sat.bf16.f32 %h1, %r1;", "sat"),
        ("setp.eq.ftz.f64 %p1, %rd1, %rd1;", "type"),
        ("redux.sync.add.f32 %r1, %r1, -1;", "type"),
        ("shfl.sync.idx.b64 %rd1, %rd1, 0, 31, -1;", "type"),
        ("wgmma.fence.sync.aligned;", "sm_100a has no wgmma"),
    ] {
        let text = format!(
            ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k() {{\n.reg .pred %p<2>;\n.reg .b16 %h<2>;\n\
             .reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n{line}\nret;\n}}\n"
        );
        let module = Module::parse(&text).unwrap();
        let refusal = module.entries()[0].refusal().unwrap_or_else(|| panic!("{line} is taken")).to_string();
        assert!(refusal.contains("X01") && refusal.contains(word), "{line}: {refusal}");
    }
}
