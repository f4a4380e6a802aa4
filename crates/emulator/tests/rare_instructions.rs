//! Instructions that compilers seldom write, against independent formulas (E91).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod single;

use single::{check, run, word};
use warploom_chips::Target;
use warploom_emulator::{Arg, Device, Launch, Module, Policy, Report, RunOptions};

/// The next f32 above or below, by bits.
fn step(x: f32, up: bool) -> f32 {
    if up { x.next_up() } else { x.next_down() }
}

#[test]
fn directed_rounding_brackets_the_exact_value() {
    // The product of two f32 is exact in f64, and so is quotient times divisor.
    for (op, divides) in [("mul", false), ("div", true)] {
        for (mode, side) in [("rz", 0), ("rm", -1), ("rp", 1)] {
            let body = format!("{op}.{mode}.f32 %r13, %r10, %r11;\ncvt.u64.u32 %rd13, %r13;");
            let (rows, out) = run(&body);
            for (row, got) in rows.iter().zip(out) {
                let (a, b) = (f32::from_bits(row[0] as u32), f32::from_bits(row[1] as u32));
                let r = f32::from_bits(got as u32);
                let exact = if divides { f64::from(a) / f64::from(b) } else { f64::from(a) * f64::from(b) };
                if !exact.is_finite() || exact == 0.0 || !r.is_finite() || r.is_subnormal() {
                    continue;
                }
                // The sign of `r - exact`, without rounding.
                let above = |r: f32| {
                    if divides {
                        (f64::from(r) * f64::from(b) - f64::from(a)) * f64::from(b.signum())
                    } else {
                        f64::from(r) - exact
                    }
                };
                let down = side < 0 || (side == 0 && exact > 0.0);
                let (inside, outside) = (above(r), above(step(r, down)));
                let fine = if down { inside <= 0.0 && outside > 0.0 } else { inside >= 0.0 && outside < 0.0 };
                assert!(fine || r == 0.0, "{op}.{mode} {a:e} {b:e}: {r:e}, exact {exact:e}");
            }
        }
    }
    // 12582913 makes exp's integer part in libdevice: only the rounding of the sum matters.
    let (rows, out) =
        run("mov.b32 %r14, 0f4B400001;\nadd.rm.f32 %r13, %r10, %r14;\ncvt.u64.u32 %rd13, %r13;");
    for (row, got) in rows.iter().zip(out) {
        let a = f32::from_bits(row[0] as u32);
        if a.abs() < 2000.0 {
            let want = (f64::from(a).floor() + 12_582_913.0) as f32;
            assert_eq!(f32::from_bits(got as u32), want, "{a}");
        }
    }
}

#[test]
fn the_sign_of_one_double_goes_to_another() {
    let body = "mov.b64 %rd14, {%r11, %r10};\nmov.b64 %rd13, {%r10, %r11};\ncopysign.f64 %rd13, %rd13, %rd14;\n\
                mov.b64 {%r14, %r13}, %rd13;";
    word(body, |a, b, _| a & 0x7fff_ffff | b & 0x8000_0000);
}

#[test]
fn integers_of_old() {
    word("mul24.lo.u32 %r13, %r10, %r11;", |a, b, _| {
        (u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) as u32
    });
    word("mad24.hi.s32 %r13, %r10, %r11, %r12;", |a, b, c| {
        let s = |x: u32| i64::from(((x << 8) as i32) >> 8);
        (((s(a) * s(b)) >> 16) as u32).wrapping_add(c)
    });
    word("add.sat.s32 %r13, %r10, %r11;", |a, b, _| (a as i32).saturating_add(b as i32) as u32);
    word("slct.b32.s32 %r13, %r10, %r11, %r12;", |a, b, c| if (c as i32) < 0 { b } else { a });
    word("bfind.shiftamt.u32 %r13, %r10;", |a, _, _| if a == 0 { u32::MAX } else { a.leading_zeros() });
    word("cvt.pack.sat.s16.s32 %r13, %r10, %r11;", |a, b, _| {
        let cut = |x: u32| (x as i32).clamp(-32768, 32767) as u32 & 0xffff;
        cut(a) << 16 | cut(b)
    });
    word("cvt.pack.sat.u8.s32.b32 %r13, %r10, %r11, %r12;", |a, b, c| {
        let cut = |x: u32| (x as i32).clamp(0, 255) as u32;
        c << 16 | cut(a) << 8 | cut(b)
    });
    let bytes = |a: u32, b: u32| (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    word("prmt.b32.f4e %r13, %r10, %r11, %r12;", |a, b, c| {
        (u64::from_le_bytes(bytes(a, b)) >> (8 * (c & 3))) as u32
    });
    word("prmt.b32.b4e %r13, %r10, %r11, 2;", |a, b, _| {
        let x = bytes(a, b);
        u32::from_le_bytes([x[2], x[1], x[0], x[7]])
    });
    word("prmt.b32.ecl %r13, %r10, %r11, 1;", |a, b, _| {
        let x = bytes(a, b);
        u32::from_le_bytes([x[1], x[1], x[2], x[3]])
    });
    word("prmt.b32.rc16 %r13, %r10, %r11, 1;", |a, _, _| a >> 16 | a & 0xffff_0000);
    word("testp.subnormal.f32 %p1, %r10;\nselp.b32 %r13, 1, 0, %p1;", |a, _, _| {
        u32::from(f32::from_bits(a).is_subnormal())
    });
    word("dp4a.s32.s32 %r13, %r10, %r11, %r12;", |a, b, c| {
        let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
        pairs.fold(c as i32, |s, (x, y)| s.wrapping_add(i32::from(x as i8) * i32::from(y as i8))) as u32
    });
    check("bfe.u64 %rd13, %rd10, 7, 40;", |a, _, _| a >> 7 & ((1 << 40) - 1));
}

#[test]
fn masks_and_bytes_of_old() {
    word("bmsk.clamp.b32 %r13, %r10, %r11;", |a, b, _| {
        (0..32).filter(|i| *i >= u64::from(a) && *i < u64::from(a) + u64::from(b)).fold(0, |m, i| m | 1 << i)
    });
    word("bmsk.wrap.b32 %r13, %r10, %r11;", |a, b, _| {
        let (a, b) = (a % 32, b % 32);
        (0..32).filter(|i| *i >= a && *i < a + b).fold(0, |m, i| m | 1 << i)
    });
    word("bmsk.clamp.b32 %r13, 3, 7;", |_, _, _| 0x3f8);
    word("szext.clamp.s32 %r13, %r10, 5;", |a, _, _| ((a << 27) as i32 >> 27) as u32);
    word("szext.wrap.u32 %r13, %r10, 37;", |a, _, _| a & 31);
    word("szext.clamp.s32 %r13, %r10, 40;", |a, _, _| a);
    word("dp2a.lo.s32.u32 %r13, %r10, %r11, %r12;", |a, b, c| {
        let term = |h: u32, byte: u32| (h as u16 as i16 as i32).wrapping_mul((byte & 0xff) as i32);
        (c as i32).wrapping_add(term(a, b)).wrapping_add(term(a >> 16, b >> 8)) as u32
    });
    word("dp2a.hi.u32.s32 %r13, %r10, %r11, %r12;", |a, b, c| {
        let term = |h: u32, byte: u32| ((h & 0xffff) as i32).wrapping_mul(byte as u8 as i8 as i32);
        (c as i32).wrapping_add(term(a, b >> 16)).wrapping_add(term(a >> 16, b >> 24)) as u32
    });
    word("vabsdiff4.u32.u32.u32.add %r13, %r10, %r11, %r12;", |a, b, c| {
        let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
        pairs.fold(c, |s, (x, y)| s.wrapping_add(u32::from(x.abs_diff(y))))
    });
    word("vmax4.s32.s32.s32 %r13, %r10, %r11, %r12;", |a, b, _| {
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        u32::from_le_bytes([0, 1, 2, 3].map(|i| (a[i] as i8).max(b[i] as i8) as u8))
    });
}

#[test]
fn packed_halves() {
    let value = |b: u32| half::f16::from_bits(b as u16).to_f32();
    word("set.lt.f16x2.f16x2 %r13, %r10, %r11;", |a, b, _| {
        let one = |x: u32, y: u32| if value(x) < value(y) { 0x3c00 } else { 0 };
        one(a, b) | one(a >> 16, b >> 16) << 16
    });
    word(
        "set.ge.and.u32.s32 %r13, %r10, %r11, 1;",
        |a, b, _| if a as i32 >= b as i32 { u32::MAX } else { 0 },
    );
    let body = "setp.neu.f16x2 %p1|%p2, %r10, %r11;\nselp.b32 %r13, 1, 0, %p1;\nselp.b32 %r14, 2, 0, %p2;\n\
                or.b32 %r13, %r13, %r14;";
    word(body, |a, b, _| u32::from(value(a) != value(b)) | u32::from(value(a >> 16) != value(b >> 16)) << 1);
    let f16 = |x: f32| if x.is_nan() { 0x7fff } else { u32::from(half::f16::from_f32(x).to_bits()) };
    let flush = |b: u32| if b & 0x7c00 == 0 { b & 0x8000 } else { b & 0xffff };
    word("mul.ftz.f16 %h13, %h10, %h11;\ncvt.u32.u16 %r13, %h13;", |a, b, _| {
        flush(f16(value(flush(a)) * value(flush(b))))
    });
    word("add.sat.f16 %h13, %h10, %h11;\ncvt.u32.u16 %r13, %h13;", |a, b, _| {
        let s = value(a) + value(b);
        f16(if s.is_nan() { 0.0 } else { s.clamp(0.0, 1.0) })
    });
}

/// Runs a kernel of one CTA with `words` in and `words` out, under two schedules.
fn kernel(text: &str, cluster: u32, input: &[u32], outputs: usize) -> (Report, Vec<u32>) {
    let module = Module::parse(text).unwrap();
    let entry = &module.entries()[0];
    if let Some(refusal) = entry.refusal() {
        panic!("{refusal}");
    }
    let mut last = None;
    for policy in [Policy::Eager, Policy::Lazy, Policy::Random(3)] {
        let mut dev = Device::new(&Target::named(&module.target).unwrap());
        let bytes: Vec<u8> = input.iter().flat_map(|v| v.to_le_bytes()).collect();
        let a = dev.alloc_from(&bytes, "in").unwrap();
        let b = dev.alloc(4 * outputs as u64, "out").unwrap();
        let size = [cluster, 1, 1];
        let launch =
            Launch { grid: size, cluster: size, args: vec![Arg::Ptr(a), Arg::Ptr(b)], ..Launch::of(entry) };
        let report = dev.run(&module, &launch, &RunOptions::default().policy(policy)).unwrap();
        assert!(report.clean(), "{policy:?}\n{report}");
        let out = dev.read(b).unwrap().chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().unwrap()));
        last = Some((report, out.collect()));
    }
    last.unwrap()
}

fn module(chip: &str, body: &str) -> String {
    format!(
        ".version 8.8\n.target {chip}\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) .reqntid 32 {{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n.shared .align 128 .b8 s[2048];\n\
         .shared .align 8 .b8 bar[8];\nld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\n{body}\n\
         ret;\n}}\n"
    )
}

#[test]
fn eight_words_at_once() {
    let text = module(
        "sm_100a",
        "mul.wide.u32 %rd3, %r1, 32;\nadd.u64 %rd4, %rd1, %rd3;\nadd.u64 %rd5, %rd2, %rd3;\n\
         ld.global.v8.b32 {%r2,%r3,%r4,%r5,%r6,%r7,%r8,%r9}, [%rd4];\n\
         st.global.v8.b32 [%rd5], {%r9,%r8,%r7,%r6,%r5,%r4,%r3,%r2};\n\
         ld.global.v4.b64 {%rd6,%rd7,%rd8,_}, [%rd4];\nst.global.v4.b64 [%rd5+1024], {%rd6,%rd7,%rd8,%rd8};",
    );
    let input: Vec<u32> = (0..256).map(|i| i * 3 + 1).collect();
    let (_, out) = kernel(&text, 1, &input, 512);
    for i in 0..256 {
        assert_eq!(out[i], input[i / 8 * 8 + 7 - i % 8]);
        assert_eq!(out[256 + i], input[if i % 8 >= 6 { i - 2 } else { i }]);
    }
}

#[test]
fn remote_stores_signal_the_peer() {
    // Each CTA of a pair sends its words to the other one, which waits for the bytes.
    let text = module(
        "sm_90a",
        "setp.eq.u32 %p1, %r1, 0;\n@!%p1 bra $ready;\nmbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n\
         mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n$ready:\nbarrier.cluster.arrive.aligned;\n\
         barrier.cluster.wait.aligned;\nmov.u32 %r2, %cluster_ctarank;\nxor.b32 %r3, %r2, 1;\n\
         mov.u32 %r4, s;\nmapa.shared::cluster.u32 %r5, %r4, %r3;\nmov.u32 %r6, bar;\n\
         mapa.shared::cluster.u32 %r7, %r6, %r3;\nmad.lo.u32 %r8, %r2, 32, %r1;\nmul.wide.u32 %rd3, %r8, 4;\n\
         add.u64 %rd4, %rd1, %rd3;\nld.global.b32 %r9, [%rd4];\nmad.lo.u32 %r5, %r1, 4, %r5;\n\
         st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r5], %r9, [%r7];\n\
         $wait:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;\n@!%p2 bra $wait;\n\
         mad.lo.u32 %r4, %r1, 4, %r4;\nld.shared.b32 %r10, [%r4];\nadd.u64 %rd5, %rd2, %rd3;\nst.global.b32 [%rd5], %r10;\n\
         barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;",
    );
    let input: Vec<u32> = (0..64).map(|i| i * 5 + 2).collect();
    let (_, out) = kernel(&text, 2, &input, 64);
    for i in 0..64 {
        assert_eq!(out[i], input[i ^ 32]);
    }
}

#[test]
fn short_copies_fill_with_zeros() {
    // src-size 0, 4, 8, .. bytes of 16; the rest is zero (E30).
    let text = module(
        "sm_80",
        "mul.lo.u32 %r2, %r1, 16;\nmov.u32 %r3, s;\nadd.u32 %r3, %r3, %r2;\ncvt.u64.u32 %rd3, %r2;\n\
         add.u64 %rd4, %rd1, %rd3;\nand.b32 %r4, %r1, 3;\nmul.lo.u32 %r4, %r4, 4;\n\
         cp.async.cg.shared.global.L2::128B [%r3], [%rd4], 16, %r4;\ncp.async.commit_group;\ncp.async.commit_group;\n\
         cp.async.wait_group 1;\nld.shared.v4.b32 {%r5,%r6,%r7,%r8}, [%r3];\nadd.u64 %rd5, %rd2, %rd3;\n\
         st.global.v4.b32 [%rd5], {%r5,%r6,%r7,%r8};",
    );
    let input: Vec<u32> = (1..129).collect();
    let (_, out) = kernel(&text, 1, &input, 128);
    for (i, v) in out.iter().enumerate() {
        let (row, word) = (i / 4, i % 4);
        assert_eq!(*v, if word < row % 4 { input[i] } else { 0 }, "word {i}");
    }
}

#[test]
fn matrices_transpose_in_registers() {
    let text = module(
        "sm_90a",
        "mul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd4, %rd1, %rd3;\nadd.u64 %rd5, %rd2, %rd3;\nld.global.b32 %r2, [%rd4];\n\
         movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r2;\nst.global.b32 [%rd5], %r3;\n\
         redux.sync.add.s32 %r4, %r1, -1;\nredux.sync.max.u32 %r5, %r1, -1;\nadd.u32 %r4, %r4, %r5;\n\
         st.global.b32 [%rd5+128], %r4;",
    );
    // Row g of the matrix is words 4g to 4g+3.
    let element = |row: u32, column: u32| row * 100 + column;
    let input: Vec<u32> =
        (0..32).map(|l| element(l / 4, 2 * (l % 4)) | element(l / 4, 2 * (l % 4) + 1) << 16).collect();
    let (_, out) = kernel(&text, 1, &input, 64);
    for l in 0..32_u32 {
        let (g, t) = (l / 4, l % 4);
        assert_eq!(out[l as usize], element(2 * t, g) | element(2 * t + 1, g) << 16, "lane {l}");
        assert_eq!(out[32 + l as usize], 31 * 16 + 31);
    }
}

#[test]
fn atomics_of_packed_halves_and_bytes_in_memory() {
    // 32 lanes add to the same word of two bf16, and one exchanges.
    let text = module(
        "sm_90a",
        "mov.b32 %r2, 0x3f803f80;\nred.global.add.noftz.bf16x2 [%rd2], %r2;\nred.global.add.noftz.f16x2 [%rd2+4], 0x3c003c00;\n\
         red.global.add.f32 [%rd2+8], 0f40000000;\natom.global.inc.u32 %r3, [%rd2+12], 20;\n\
         red.relaxed.gpu.global.max.s32 [%rd2+16], %r1;\nred.global.add.u64 [%rd2+24], 3;",
    );
    let (_, out) = kernel(&text, 1, &[0], 8);
    assert_eq!(out[0], 0x4200_4200);
    assert_eq!(out[1], 0x5000_5000);
    assert_eq!(f32::from_bits(out[2]), 64.0);
    // 0 to 20 and round again: 32 steps of a cycle of 21.
    assert_eq!(out[3], 11);
    assert_eq!((out[4], out[6], out[7]), (31, 96, 0));
}

#[test]
fn double_products() {
    // A of 8x4, B of 4x8, C = 1; lane = 4 row + column of A.
    let text = module(
        "sm_80",
        "mul.wide.u32 %rd3, %r1, 8;\nadd.u64 %rd4, %rd1, %rd3;\nld.global.b64 %rd6, [%rd4];\nld.global.b64 %rd7, [%rd4+256];\n\
         mov.b64 %rd8, 0d3FF0000000000000;\n\
         mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd9, %rd10}, {%rd6}, {%rd7}, {%rd8, %rd8};\n\
         mul.wide.u32 %rd3, %r1, 16;\nadd.u64 %rd5, %rd2, %rd3;\nst.global.v2.b64 [%rd5], {%rd9, %rd10};",
    );
    let a = |row: usize, k: usize| (row * 4 + k) as f64;
    // Lane l holds B[k = l % 4][column l / 4], stored in that order.
    let b = |k: usize, column: usize| (k as f64) - (column as f64) / 2.0;
    let values: Vec<f64> = (0..32).map(|l| a(l / 4, l % 4)).chain((0..32).map(|l| b(l % 4, l / 4))).collect();
    let input: Vec<u32> =
        values.iter().flat_map(|v| [v.to_bits() as u32, (v.to_bits() >> 32) as u32]).collect();
    let (_, out) = kernel(&text, 1, &input, 128);
    for l in 0..32 {
        for i in 0..2 {
            let (row, column) = (l / 4, 2 * (l % 4) + i);
            let want = 1.0 + (0..4).map(|k| a(row, k) * b(k, column)).sum::<f64>();
            let at = 2 * (2 * l + i);
            let got = f64::from_bits(u64::from(out[at]) | u64::from(out[at + 1]) << 32);
            assert_eq!(got, want, "D[{row}][{column}]");
        }
    }
}

#[test]
fn old_products_and_differences() {
    word("mad.hi.sat.s32 %r13, %r10, %r11, %r12;", |a, b, c| {
        let high = (i64::from(a as i32) * i64::from(b as i32)) >> 32;
        (high + i64::from(c as i32)).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32
    });
    for (ty, signed) in [("u16", false), ("s16", true)] {
        word(&format!("mad.hi.{ty} %h13, %h10, %h11, %h12;\ncvt.u32.u16 %r13, %h13;"), move |a, b, c| {
            let wide = |x: u32| if signed { i64::from(x as u16 as i16) } else { i64::from(x as u16) };
            ((wide(a) * wide(b)).div_euclid(1 << 16) + i64::from(c)) as u32 & 0xffff
        });
    }
    word("mad24.hi.sat.s32 %r13, %r10, %r11, %r12;", |a, b, c| {
        let low = |x: u32| i64::from(x & 0x7f_ffff) - i64::from(x & 0x80_0000);
        let sum = low(a) * low(b) / (1 << 16) + i64::from(c as i32);
        // The quotient is rounded down.
        let sum = sum - i64::from(low(a) * low(b) % (1 << 16) < 0);
        sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32
    });
    let wide = "cvt.s64.s32 %rd13, %r10;\ncvt.s64.s32 %rd14, %r11;\nmov.b64 %rd15, 7;\nsad.s64 %rd13, %rd13, %rd14, %rd15;\n\
                cvt.u32.u64 %r13, %rd13;";
    word(wide, |a, b, _| ((i64::from(a as i32) - i64::from(b as i32)).abs() + 7) as u32);
    let fused =
        "mad.rn.f32 %r13, %r10, %r11, %r12;\nfma.rn.f32 %r14, %r10, %r11, %r12;\nsub.u32 %r13, %r13, %r14;";
    word(fused, |_, _, _| 0);
    word("{\n.reg .pred p;\nmov.pred p, %is_explicit_cluster;\nselp.u32 %r13, 1, 0, p;\n}", |_, _, _| 0);
}
