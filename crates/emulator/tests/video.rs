//! The video instructions, against formulas of their own (E91).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod single;

use single::word;

fn byte(x: u32, i: u32) -> i64 {
    i64::from((x >> (8 * i)) as u8)
}

fn signed_byte(x: u32, i: u32) -> i64 {
    i64::from((x >> (8 * i)) as i8)
}

fn half(x: u32, i: u32) -> i64 {
    i64::from((x >> (16 * i)) as i16)
}

#[test]
fn one_part_of_each_operand() {
    word("vadd.s32.u32.s32 %r13, %r10, %r11;", |a, b, _| a.wrapping_add(b));
    word("vadd.u32.u32.u32.sat %r13, %r10.b1, %r11.h0;", |a, b, _| {
        (byte(a, 1) + i64::from(b & 0xffff)) as u32
    });
    word("vsub.u32.u32.u32.sat %r13, %r10, %r11;", |a, b, _| a.saturating_sub(b));
    word("vsub.s32.s32.s32.sat.add %r13, %r10.h1, %r11.b3, %r12;", |a, b, c| {
        ((half(a, 1) - signed_byte(b, 3)) as u32).wrapping_add(c)
    });
    word("vabsdiff.u32.s32.s32 %r13, %r10, %r11;", |a, b, _| (a as i32).abs_diff(b as i32));
    word("vmin.s32.u32.s32.max %r13, %r10, %r11, %r12;", |a, b, c| {
        let less = i64::from(a).min(i64::from(b as i32)) as i32;
        less.max(c as i32) as u32
    });
    word("vmax.u32.u32.u32.min %r13, %r10, %r11, %r12;", |a, b, c| a.max(b).min(c));
    word("vadd.u32.u32.u32.sat %r13.b2, %r10, %r11, %r12;", |a, b, c| {
        let sum = (u64::from(a) + u64::from(b)).min(255) as u32;
        c & 0xff00_ffff | sum << 16
    });
    word("vadd.s32.s32.u32 %r13.h1, %r10, %r11, %r12;", |a, b, c| a.wrapping_add(b) << 16 | c & 0xffff);
}

#[test]
fn shifts_and_comparisons() {
    word("vshl.u32.u32.u32.clamp %r13, %r10, %r11;", |a, b, _| a.checked_shl(b).unwrap_or(0));
    word("vshl.u32.u32.u32.sat.wrap.add %r13, %r10.b1, %r11, %r12;", |a, b, c| {
        let v = (byte(a, 1) << (b & 31)).min(i64::from(u32::MAX));
        (v as u32).wrapping_add(c)
    });
    word("vshr.s32.s32.u32.wrap %r13, %r10, %r11;", |a, b, _| ((a as i32) >> (b & 31)) as u32);
    word("vshr.u32.u32.u32.clamp %r13, %r10, %r11;", |a, b, _| a.checked_shr(b).unwrap_or(0));
    word("vset.s32.u32.lt %r13, %r10, %r11;", |a, b, _| u32::from(i64::from(a as i32) < i64::from(b)));
    word("vset.u32.u32.ge.add %r13, %r10.b2, %r11.b1, %r12;", |a, b, c| {
        c.wrapping_add(u32::from(byte(a, 2) >= byte(b, 1)))
    });
    word("vset.u32.s32.ne %r13.h1, %r10, %r11, %r12;", |a, b, c| {
        c & 0xffff | u32::from(i64::from(a) != i64::from(b as i32)) << 16
    });
}

#[test]
fn products_and_sums() {
    let s = |x: u32| i128::from(x as i32);
    word("vmad.s32.s32.s32 %r13, %r10, %r11, %r12;", |a, b, c| a.wrapping_mul(b).wrapping_add(c));
    word("vmad.u32.u32.u32.sat.shr15 %r13, %r10.h0, %r11.h1, %r12;", |a, b, c| {
        ((u64::from(a & 0xffff) * u64::from(b >> 16) + u64::from(c)) >> 15) as u32
    });
    word("vmad.s32.s32.s32.po.shr7 %r13, %r10, %r11, %r12;", move |a, b, c| {
        ((s(a) * s(b) + s(c) + 1) >> 7) as u32
    });
    word("vmad.s32.s32.s32.sat %r13, -%r10, %r11, %r12;", move |a, b, c| {
        (s(c) - s(a) * s(b)).clamp(i128::from(i32::MIN), i128::from(i32::MAX)) as u32
    });
    word("vmad.s32.u32.u32.sat %r13, %r10, %r11, -%r12;", |a, b, c| {
        let v = i128::from(a) * i128::from(b) - i128::from(c);
        v.clamp(i128::from(i32::MIN), i128::from(i32::MAX)) as u32
    });
}

#[test]
fn all_parts_side_by_side() {
    word("vadd2.s32.u32.s32.sat %r13, %r10, %r11, %r12;", |a, b, _| {
        let sum =
            |i: u32| (i64::from(a >> (16 * i) & 0xffff) + half(b, i)).clamp(-32768, 32767) as u32 & 0xffff;
        sum(1) << 16 | sum(0)
    });
    // The halves 2 and 1 of b and a together, lowest last.
    word("vsub2.u32.u32.u32 %r13.h1, %r10.h21, %r11.h03, %r12;", |a, b, c| {
        (b & 0xffff).wrapping_sub(a & 0xffff) << 16 | c & 0xffff
    });
    word("vavrg2.s32.s32.s32 %r13, %r10, %r11, %r12;", |a, b, _| {
        let mean = |i: u32| {
            let sum = half(a, i) + half(b, i);
            (if sum >= 0 { (sum + 1) >> 1 } else { sum >> 1 }) as u32 & 0xffff
        };
        mean(1) << 16 | mean(0)
    });
    word("vabsdiff4.u32.s32.s32.sat %r13, %r10, %r11, %r12;", |a, b, _| {
        (0..4).fold(0, |d, i| d | ((signed_byte(a, i) - signed_byte(b, i)).unsigned_abs() as u32) << (8 * i))
    });
    word("vmax4.s32.s32.s32.add %r13.b20, %r10, %r11, %r12;", |a, b, c| {
        let most = |i| signed_byte(a, i).max(signed_byte(b, i)) as u32;
        c.wrapping_add(most(0)).wrapping_add(most(2))
    });
    word("vmin4.u32.u32.u32 %r13, %r10.b7654, %r11.b0123, %r12;", |a, b, _| {
        (0..4).fold(0, |d, i| d | (byte(b, i).min(byte(a, 3 - i)) as u32) << (8 * i))
    });
    word("vset4.u32.u32.ge.add %r13, %r10, %r11, %r12;", |a, b, c| {
        (0..4).fold(c, |d, i| d.wrapping_add(u32::from(byte(a, i) >= byte(b, i))))
    });
    word("vset2.s32.s32.eq %r13, %r10, %r11, %r12;", |a, b, _| {
        u32::from(half(a, 1) == half(b, 1)) << 16 | u32::from(half(a, 0) == half(b, 0))
    });
}
