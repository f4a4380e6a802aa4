//! Single instructions against independent formulas over random bits, NaN, infinities and subnormals (E91).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod single;

use single::{check, real, word};

#[test]
fn integers() {
    word("add.s32 %r13, %r10, %r11;", |a, b, _| a.wrapping_add(b));
    word("sub.u32 %r13, %r10, %r11;", |a, b, _| a.wrapping_sub(b));
    word("mul.lo.s32 %r13, %r10, %r11;", |a, b, _| a.wrapping_mul(b));
    word("mul.hi.u32 %r13, %r10, %r11;", |a, b, _| ((u64::from(a) * u64::from(b)) >> 32) as u32);
    word("mul.hi.s32 %r13, %r10, %r11;", |a, b, _| {
        ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32
    });
    word("mad.lo.s32 %r13, %r10, %r11, %r12;", |a, b, c| a.wrapping_mul(b).wrapping_add(c));
    check("mul.wide.s32 %rd13, %r10, %r11;", |a, b, _| (i64::from(a as i32) * i64::from(b as i32)) as u64);
    check("mad.wide.u32 %rd13, %r10, %r11, %rd12;", |a, b, c| {
        (u64::from(a as u32) * u64::from(b as u32)).wrapping_add(c)
    });
    check("mul.hi.u64 %rd13, %rd10, %rd11;", |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64);
    word("min.s32 %r13, %r10, %r11;", |a, b, _| (a as i32).min(b as i32) as u32);
    word("max.u32 %r13, %r10, %r11;", |a, b, _| a.max(b));
    word("shl.b32 %r13, %r10, %r11;", |a, b, _| a.checked_shl(b).unwrap_or(0));
    word("shr.u32 %r13, %r10, %r11;", |a, b, _| a.checked_shr(b).unwrap_or(0));
    word("shr.s32 %r13, %r10, %r11;", |a, b, _| ((a as i32) >> b.min(31)) as u32);
    check("shr.s64 %rd13, %rd10, %r11;", |a, b, _| ((a as i64) >> (b as u32).min(63)) as u64);
    word("bfe.u32 %r13, %r10, %r11, %r12;", |a, b, c| {
        let (pos, len) = (b & 255, c & 255);
        (0..len.min(32)).fold(0, |d, i| d | (a.checked_shr(pos + i).unwrap_or(0) & 1) << i)
    });
    word("bfe.s32 %r13, %r10, %r11, %r12;", |a, b, c| {
        let (pos, len) = (b & 255, c & 255);
        if len == 0 {
            return 0;
        }
        let sign = a >> (pos + len - 1).min(31) & 1;
        (0..32).fold(0, |d, i| d | if i < len && pos + i < 32 { a >> (pos + i) & 1 } else { sign } << i)
    });
    word("prmt.b32 %r13, %r10, %r11, 0x5140;", |a, b, _| {
        let (x, y) = (a.to_le_bytes(), b.to_le_bytes());
        u32::from_le_bytes([x[0], y[0], x[1], y[1]])
    });
    let minimum = |a: u32, b: u32| (a as i32).min(b as i32).max(0) as u32;
    word("min.s32.relu %r13, %r10, %r11;", move |a, b, _| minimum(a, b));
    word("min.relu.s32 %r13, %r10, %r11;", move |a, b, _| minimum(a, b));
    let half = |x: u32, i: u32| (x >> (16 * i)) as u16 as i16;
    word("max.s16x2.relu %r13, %r10, %r11;", move |a, b, _| {
        (0..2).fold(0, |d, i| d | (half(a, i).max(half(b, i)).max(0) as u32) << (16 * i))
    });
    word("and.b32 %r12, %r12, 7;\nsub.s32 %r12, %r12, 3;\nfns.b32 %r13, %r10, %r11, %r12;", |a, b, c| {
        let (mut left, mut at) = ((c & 7) as i32 - 3, b as i32);
        let step = left.signum();
        while (0..32).contains(&at) {
            if a >> at & 1 == 1 {
                left -= step;
                if left == 0 {
                    return at as u32;
                }
            } else if step == 0 {
                break;
            }
            at += step;
        }
        u32::MAX
    });
    word("lop3.b32 %r13, %r10, %r11, %r12, 0xe8;", |a, b, c| (a & b) | (a & c) | (b & c));
    word("bfi.b32 %r13, %r10, %r11, 8, 12;", |a, b, _| (b & !0xf_ff00) | (a & 0xfff) << 8);
    word("shf.l.wrap.b32 %r13, %r10, %r11, %r12;", |a, b, c| {
        (((u64::from(b) << 32 | u64::from(a)) << (c & 31)) >> 32) as u32
    });
    word("popc.b32 %r13, %r10;", |a, _, _| a.count_ones());
    word("clz.b32 %r13, %r10;", |a, _, _| a.leading_zeros());
    word("brev.b32 %r13, %r10;", |a, _, _| a.reverse_bits());
    word("setp.lt.s32 %p1, %r10, %r11;\nselp.b32 %r13, 1, 0, %p1;", |a, b, _| {
        u32::from((a as i32) < (b as i32))
    });
    check(
        "sub.cc.u32 %r13, %r10, %r11;\nsubc.u32 %r14, %r12, %r10;\nmov.b64 %rd13, {%r13, %r14};",
        |a, b, c| {
            let (low, borrow) = (a as u32).overflowing_sub(b as u32);
            let high = (c as u32).wrapping_sub(a as u32).wrapping_sub(u32::from(borrow));
            u64::from(low) | u64::from(high) << 32
        },
    );
    // The carry of a subtraction is that there was no borrow.
    check("sub.cc.u64 %rd13, %rd10, %rd11;\naddc.u64 %rd13, %rd12, 0;", |a, b, c| {
        c.wrapping_add(u64::from(a >= b))
    });
    check(
        "add.cc.u32 %r13, %r10, %r11;\naddc.u32 %r14, %r12, 0;\nmov.b64 %rd13, {%r13, %r14};",
        |a, b, c| {
            let low = u64::from(a as u32) + u64::from(b as u32);
            (low & 0xffff_ffff) | u64::from((c as u32).wrapping_add((low >> 32) as u32)) << 32
        },
    );
}

#[test]
fn floats() {
    let flush = |x: f32| if x.is_subnormal() { 0.0_f32.copysign(x) } else { x };
    real("add.f32 %r13, %r10, %r11;", |a, b, _| a + b);
    real("sub.rn.f32 %r13, %r10, %r11;", |a, b, _| a - b);
    real("mul.f32 %r13, %r10, %r11;", |a, b, _| a * b);
    real("mul.ftz.f32 %r13, %r10, %r11;", |a, b, _| flush(flush(a) * flush(b)));
    real("fma.rn.f32 %r13, %r10, %r11, %r12;", |a, b, c| a.mul_add(b, c));
    real("div.full.f32 %r13, %r10, %r11;", |a, b, _| (f64::from(a) / f64::from(b)) as f32);
    real("ex2.approx.f32 %r13, %r10;", |a, _, _| f64::from(a).exp2() as f32);
    real("sqrt.approx.f32 %r13, %r10;", |a, _, _| f64::from(a).sqrt() as f32);
    real("max.f32 %r13, %r10, %r11;", |a, b, _| match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == b => {
            if a.is_sign_positive() {
                a
            } else {
                b
            }
        }
        _ => {
            if a > b {
                a
            } else {
                b
            }
        }
    });
    real("min.NaN.f32 %r13, %r10, %r11;", |a, b, _| {
        if a.is_nan() || b.is_nan() {
            f32::NAN
        } else if a == b {
            if a.is_sign_negative() { a } else { b }
        } else if a < b {
            a
        } else {
            b
        }
    });
    real("abs.f32 %r13, %r10;", |a, _, _| a.abs());
    word("setp.geu.f32 %p1, %r10, %r11;\nselp.b32 %r13, 1, 0, %p1;", |a, b, _| {
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        u32::from(x >= y || x.is_nan() || y.is_nan())
    });
    check("add.f32x2 %rd13, %rd10, %rd11;", |a, b, _| {
        let half = |s: u32| {
            let v = f32::from_bits((a >> s) as u32) + f32::from_bits((b >> s) as u32);
            u64::from(if v.is_nan() { 0x7fff_ffff } else { v.to_bits() }) << s
        };
        half(0) | half(32)
    });
}

#[test]
fn conversions() {
    word("cvt.rzi.s32.f32 %r13, %r10;", |a, _, _| f32::from_bits(a) as i32 as u32);
    word("cvt.rni.s32.f32 %r13, %r10;", |a, _, _| f32::from_bits(a).round_ties_even() as i32 as u32);
    word("cvt.rn.f32.s32 %r13, %r10;", |a, _, _| (a as i32 as f32).to_bits());
    check("cvt.s64.s32 %rd13, %r10;", |a, _, _| a as i32 as i64 as u64);
    check("cvt.u64.u16 %rd13, %h10;", |a, _, _| u64::from(a as u16));
    let bf16 = |x: u32| {
        if f32::from_bits(x).is_nan() {
            0x7fff
        } else {
            (x.wrapping_add(0x7fff + (x >> 16 & 1)) >> 16) as u16
        }
    };
    word("cvt.rn.bf16x2.f32 %r13, %r10, %r11;", move |a, b, _| u32::from(bf16(a)) << 16 | u32::from(bf16(b)));
    word("cvt.rn.f16.f32 %h13, %r10;\ncvt.u32.u16 %r13, %h13;", |a, _, _| {
        let x = f32::from_bits(a);
        if x.is_nan() { 0x7fff } else { u32::from(half::f16::from_f32(x).to_bits()) }
    });
    real("cvt.f32.f16 %r13, %h10;", |a, _, _| half::f16::from_bits(a.to_bits() as u16).to_f32());
    word("cvt.rna.tf32.f32 %r13, %r10;", |a, _, _| {
        let x = f32::from_bits(a);
        if x.is_nan() {
            0x7fff_e000
        } else if x.is_infinite() {
            a
        } else {
            a.wrapping_add(0x1000) & !0x1fff
        }
    });
    // e4m3 by trying every code: the nearest, ties to the even code.
    word("cvt.rn.satfinite.e4m3x2.f32 %h13, %r10, %r11;\ncvt.u32.u16 %r13, %h13;", |a, b, _| {
        let one = |x: u32| {
            let v = f64::from(f32::from_bits(x));
            if v.is_nan() {
                return 0x7f;
            }
            let v = v.clamp(-448.0, 448.0);
            let value = |c: u32| {
                let (e, m) = (c >> 3 & 15, f64::from(c & 7));
                if e == 0 { m / 8.0 * 2f64.powi(-6) } else { (1.0 + m / 8.0) * 2f64.powi(e as i32 - 7) }
            };
            let best = (0..0x7f_u32).min_by(|p, q| {
                let d = |c: u32| (value(c) - v.abs()).abs();
                d(*p).partial_cmp(&d(*q)).unwrap().then((p & 1).cmp(&(q & 1)))
            });
            best.unwrap() | if v.is_sign_negative() { 0x80 } else { 0 }
        };
        one(a) << 8 | one(b)
    });
}

/// Scales and floats of 4 and 6 bits, from tables of their codes.
#[test]
fn narrow_conversions() {
    let e2m1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    // Thresholds between codes; the one that lies on the threshold goes to the even code.
    let fp4 = |x: u32| {
        let v = f32::from_bits(x);
        let ends = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0];
        let code =
            ends.iter().zip(0..).filter(|(end, i)| v.abs() > **end || i & 1 == 1 && v.abs() == **end).count();
        if v.is_nan() { 7 } else { code as u32 | x >> 31 << 3 }
    };
    let byte = |line: &str| format!("{{ .reg .b8 %b; {line} cvt.u32.u8 %r13, %b; }}");
    // Both from small numbers, which random bits seldom are.
    let small = "and.b32 %r10, %r10, 0x81ffffff; or.b32 %r10, %r10, 0x3e000000;";
    let cut = |a: u32| a & 0x81ff_ffff | 0x3e00_0000;
    let line = byte("cvt.rn.satfinite.e2m1x2.f32 %b, %r10, %r11;");
    word(&line, move |a, b, _| fp4(a) << 4 | fp4(b));
    word(&format!("{small} {line}"), move |a, b, _| fp4(cut(a)) << 4 | fp4(b));
    let f16 = |x: f32| u32::from(half::f16::from_f32(x).to_bits());
    word("{ .reg .b8 %b; cvt.u8.u32 %b, %r10; cvt.rn.f16x2.e2m1x2 %r13, %b; }", move |a, _, _| {
        let one = |c: u32| f16(e2m1[(c & 7) as usize]) | (c >> 3 & 1) << 15;
        one(a >> 4) << 16 | one(a)
    });
    word("cvt.rn.f16x2.e3m2x2 %r13, %h10;", move |a, _, _| {
        let one = |c: u32| {
            let (e, m) = (c >> 2 & 7, (c & 3) as f32);
            let v = if e == 0 { m / 16.0 } else { (1.0 + m / 4.0) * 2f32.powi(e as i32 - 3) };
            f16(v) | (c >> 5 & 1) << 15
        };
        one(a >> 8) << 16 | one(a)
    });
    word("cvt.rn.bf16x2.ue8m0x2 %r13, %h10;", |a, _, _| {
        let one = |c: u32| match c & 255 {
            0 => 0x40,
            255 => 0x7fff,
            c => c << 7,
        };
        one(a >> 8) << 16 | one(a)
    });
    word("cvt.rp.satfinite.ue8m0x2.f32 %h13, %r10, %r11; cvt.u32.u16 %r13, %h13;", |a, b, _| {
        let one = |x: u32| match (x >> 23 & 255, x & 0x7f_ffff) {
            (255, m) if m != 0 => 255,
            (0, m) => u32::from(m > 0x40_0000),
            (e, m) => (e + u32::from(m != 0)).min(254),
        };
        one(a) << 8 | one(b)
    });
}

#[test]
fn halves() {
    let f16 = |x: f32| if x.is_nan() { 0x7fff } else { half::f16::from_f32(x).to_bits() };
    let value = |b: u32| half::f16::from_bits(b as u16).to_f32();
    word("add.f16x2 %r13, %r10, %r11;", move |a, b, _| {
        u32::from(f16(value(a) + value(b))) | u32::from(f16(value(a >> 16) + value(b >> 16))) << 16
    });
    word("mul.bf16 %h13, %h10, %h11;\ncvt.u32.u16 %r13, %h13;", |a, b, _| {
        let v = half::bf16::from_bits(a as u16).to_f64() * half::bf16::from_bits(b as u16).to_f64();
        if v.is_nan() { 0x7fff } else { u32::from(half::bf16::from_f32(v as f32).to_bits()) }
    });
}
