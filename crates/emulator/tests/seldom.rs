//! Forms of instructions that are seldom met, against formulas of their own (E91).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod single;

use single::word;
use warploom_chips::Target;
use warploom_emulator::{Arg, Device, Launch, Module, Policy, Report, RunOptions};

fn real(bits: u32) -> f32 {
    f32::from_bits(bits)
}

#[test]
fn directed_rounding_of_small_numbers_in_every_form() {
    // Whole numbers: the sum is exact, so that every rounding gives it.
    let small = "and.b32 %r10, %r10, 255;\nand.b32 %r11, %r11, 255;\ncvt.rn.f32.u32 %r10, %r10;\ncvt.rn.f32.u32 %r11, %r11;\n";
    let both = |a: u32, b: u32| ((a & 255) as f32, (b & 255) as f32);
    for mode in ["rz", "rm", "rp"] {
        word(
            &format!("{small}sub.{mode}.sat.f32 %r13, %r10, %r11;\nand.b32 %r13, %r13, 0x7fffffff;"),
            |a, b, _| {
                let (a, b) = both(a, b);
                (a - b).clamp(0.0, 1.0).to_bits() & 0x7fff_ffff
            },
        );
        word(
            &format!("{small}cvt.rn.f16.f32 %h13, %r10;\nadd.{mode}.f32.f16 %r13, %h13, %r11;"),
            |a, b, _| {
                let (a, b) = both(a, b);
                (a + b).to_bits()
            },
        );
        word(
            &format!("{small}cvt.rn.bf16.f32 %h13, %r10;\nfma.{mode}.f32.bf16 %r13, %h13, %h13, %r11;"),
            |a, b, _| {
                let (a, b) = both(a, b);
                (a * a + b).to_bits()
            },
        );
        let packed = "mov.b64 %rd10, {%r10, %r11};\nmov.b64 %rd11, {%r11, %r11};\n";
        let body = format!(
            "{small}{packed}mul.{mode}.f32x2 %rd13, %rd10, %rd11;\nmov.b64 {{%r12, %r13}}, %rd13;\nadd.f32 %r13, %r13, %r12;"
        );
        word(&body, |a, b, _| {
            let (a, b) = both(a, b);
            (a * b + b * b).to_bits()
        });
    }
}

#[test]
fn the_greatest_magnitude_of_three() {
    word("max.abs.f32 %r13, %r10, %r11, %r12;", |a, b, c| {
        let all = [a, b, c].map(|x| real(x & 0x7fff_ffff));
        let most = all.into_iter().filter(|x| !x.is_nan()).fold(f32::NEG_INFINITY, f32::max);
        if all.iter().all(|x| x.is_nan()) { 0x7fff_ffff } else { most.to_bits() }
    });
}

/// One of two magnitudes with the product of the signs, on the bits: NaN is above infinity, and has no sign.
fn of_magnitudes(a: u32, b: u32, (sign, infinity): (u32, u32), (most, nan): (bool, bool)) -> u32 {
    let none = |x: u32| x > infinity;
    let (x, y) = (a & (sign - 1), b & (sign - 1));
    let found = match (none(x), none(y)) {
        (true, true) => return sign - 1,
        (true, false) | (false, true) if nan => return sign - 1,
        (true, false) => y,
        (false, true) => x,
        (false, false) if most => x.max(y),
        (false, false) => x.min(y),
    };
    found | (a ^ b) & sign
}

#[test]
fn magnitudes_with_the_product_of_the_signs() {
    for (name, most) in [("min", false), ("max", true)] {
        for (qualifier, nan) in [("", false), (".NaN", true)] {
            word(&format!("{name}{qualifier}.xorsign.abs.f32 %r13, %r10, %r11;"), |a, b, _| {
                of_magnitudes(a, b, (1 << 31, 0x7f80_0000), (most, nan))
            });
            for (ty, infinity) in [("f16x2", 0x7c00), ("bf16x2", 0x7f80)] {
                word(&format!("{name}{qualifier}.xorsign.abs.{ty} %r13, %r10, %r11;"), |a, b, _| {
                    let half = |s: u32| {
                        let (a, b) = (a >> s & 0xffff, b >> s & 0xffff);
                        of_magnitudes(a, b, (1 << 15, infinity), (most, nan)) << s
                    };
                    half(0) | half(16)
                });
            }
        }
    }
}

#[test]
fn integers_of_two_and_four_bits_are_packed() {
    word("cvt.pack.sat.s4.s32.b32 %r13, %r10, %r11, %r12;", |a, b, c| {
        let cut = |x: u32| (x as i32).clamp(-8, 7) as u32 & 15;
        c << 8 | cut(a) << 4 | cut(b)
    });
    word("cvt.pack.sat.u2.s32.b32 %r13, %r10, %r11, %r12;", |a, b, c| {
        let cut = |x: u32| (x as i32).clamp(0, 3) as u32;
        c << 4 | cut(a) << 2 | cut(b)
    });
}

#[test]
fn a_logical_operation_that_tells_whether_it_is_zero() {
    let body = "setp.lt.u32 %p1, %r12, 1000;\nlop3.or.b32 %r13|%p2, %r10, %r11, %r12, 0x80, %p1;\n\
                @%p2 add.u32 %r13, %r13, 1;";
    word(body, |a, b, c| {
        let d = a & b & c;
        d.wrapping_add(u32::from(d != 0 || c < 1000))
    });
    let body = "setp.lt.u32 %p1, %r12, 1000;\nlop3.and.b32 _|%p2, %r10, %r11, %r12, 0x96, !%p1;\n\
                selp.u32 %r13, 1, 0, %p2;";
    word(body, |a, b, c| u32::from(a ^ b ^ c != 0 && c >= 1000));
}

#[test]
fn packed_comparisons_with_a_third_predicate() {
    let body = "and.b32 %r10, %r10, 0x03ff03ff;\nand.b32 %r11, %r11, 0x03ff03ff;\nsetp.lt.u32 %p3, %r12, 1000;\n\
                setp.lt.xor.f16x2 %p1|%p2, %r10, %r11, %p3;\nselp.u32 %r13, 1, 0, %p1;\n@%p2 add.u32 %r13, %r13, 2;";
    // Of halves that are positive and small, the bits are in order.
    word(body, |a, b, c| {
        let less = |s: u32| (a >> s & 0x3ff) < (b >> s & 0x3ff);
        u32::from(less(0) != (c < 1000)) + 2 * u32::from(less(16) != (c < 1000))
    });
}

#[test]
fn a_product_with_what_lies_outside_is_zero() {
    word(
        "mov.b32 %r14, 0x3c003c00;\nmov.b32 %r13, 0x7fff4000;\nfma.rn.oob.f16x2 %r13, %r13, %r14, 0;",
        |_, _, _| 0x4000,
    );
}

fn launch(body: &str, words: usize) -> (Report, Vec<u32>) {
    let text = format!(
        ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) .reqntid 32 {{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<9>;\n.reg .b128 %q<5>;\n\
         ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 16;\nadd.s64 %rd2, %rd1, %rd2;\n\
         {body}\nret;\n}}\n"
    );
    let module = Module::parse(&text).unwrap();
    let mut device = Device::new(&Target::named("sm_90a").unwrap());
    let start: Vec<u8> = (0..words as u32).flat_map(u32::to_le_bytes).collect();
    let p = device.alloc_from(&start, "p").unwrap();
    let launch = Launch { args: vec![Arg::Ptr(p)], ..Launch::of(module.entry("k").unwrap()) };
    let report = device.run(&module, &launch, &RunOptions::default().policy(Policy::Random(1))).unwrap();
    let out = device.read(p).unwrap().chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().unwrap()));
    (report, out.collect())
}

#[test]
fn registers_of_128_bits() {
    // Every lane swaps the halves of its sixteen bytes.
    let body = "ld.global.b128 %q1, [%rd2];\nmov.b128 {%rd3, %rd4}, %q1;\nmov.b128 %q2, {%rd4, %rd3};\n\
                mov.b128 %q3, %q2;\nst.global.b128 [%rd2], %q3;";
    let (report, out) = launch(body, 128);
    assert!(report.clean(), "{report}");
    assert!(out.iter().enumerate().all(|(i, v)| *v == i as u32 ^ 2), "{out:?}");
    // All lanes count up both halves of the first sixteen bytes by swaps.
    let body = "$again:\nld.global.b128 %q1, [%rd1];\nmov.b128 {%rd3, %rd4}, %q1;\nadd.s64 %rd5, %rd3, 1;\n\
                add.s64 %rd6, %rd4, 2;\nmov.b128 %q2, {%rd5, %rd6};\natom.global.cas.b128 %q3, [%rd1], %q1, %q2;\n\
                mov.b128 {%rd5, %rd6}, %q3;\nsetp.ne.b64 %p1, %rd5, %rd3;\nsetp.ne.b64 %p2, %rd6, %rd4;\n\
                or.pred %p1, %p1, %p2;\n@%p1 bra $again;";
    let (report, out) = launch(body, 4);
    assert!(report.clean(), "{report}");
    assert_eq!(out, [32, 1, 2 + 64, 3]);
}

#[test]
fn memory_of_one_device_is_its_own_sum() {
    let body = "multimem.ld_reduce.relaxed.sys.global.add.u32 %r2, [%rd2];\nadd.u32 %r2, %r2, 5;\n\
                multimem.st.relaxed.sys.global.u32 [%rd2], %r2;\nmultimem.red.relaxed.sys.global.add.u32 [%rd2+4], %r2;";
    let (report, out) = launch(body, 128);
    assert!(report.clean(), "{report}");
    let want = |i: u32| match i % 4 {
        0 => i + 5,
        1 => i + i - 1 + 5,
        _ => i,
    };
    assert!(out.iter().enumerate().all(|(i, v)| *v == want(i as u32)), "{out:?}");
}

/// A product of one warp with the same words in all lanes of A, and of B: every sum is the same.
fn uniform(shape_and_types: &str, regs: [usize; 3], a: u32, b: u32) -> Vec<u32> {
    let [d, na, nb] = regs;
    let list = |first: usize, n: usize| {
        let each: Vec<String> = (first..first + n).map(|i| format!("%r{i}")).collect();
        format!("{{{}}}", each.join(", "))
    };
    let set = |first: usize, n: usize, v: u32| {
        (first..first + n).map(|i| format!("mov.b32 %r{i}, {v};\n")).collect::<String>()
    };
    let body = format!(
        "{}{}{}mma.sync.aligned.{shape_and_types} {}, {}, {}, {};\nst.global.b32 [%rd2], %r2;\nst.global.b32 [%rd2+4], %r{};",
        set(10, na, a),
        set(20, nb, b),
        set(30, d, 7),
        list(2, d),
        list(10, na),
        list(20, nb),
        list(30, d),
        1 + d
    );
    let (report, out) = launch(&body, 128);
    assert!(report.clean(), "{report}");
    out.chunks(4).flat_map(|c| c[..2].to_vec()).collect()
}

#[test]
fn products_of_narrow_integers_and_bits() {
    let all =
        |out: Vec<u32>, want: i32| assert!(out.iter().all(|v| *v == want as u32), "{out:?}, not {want}");
    // -3 times 5, 32 and 64 deep, upon 7.
    all(uniform("m8n8k32.row.col.s32.s4.u4.s32", [2, 1, 1], 0xdddd_dddd, 0x5555_5555), 7 - 15 * 32);
    all(uniform("m16n8k32.row.col.s32.s4.s4.s32", [4, 2, 1], 0xdddd_dddd, 0x5555_5555), 7 - 15 * 32);
    all(uniform("m16n8k64.row.col.s32.u4.s4.s32", [4, 4, 2], 0x3333_3333, 0xffff_ffff), 7 - 3 * 64);
    all(uniform("m8n8k16.row.col.s32.s8.u8.s32", [2, 1, 1], 0xfefe_fefe, 0xc8c8_c8c8), 7 - 400 * 16);
    all(uniform("m8n8k128.row.col.s32.b1.b1.s32.xor.popc", [2, 1, 1], 0xff, 0xffff), 7 + 32);
    all(uniform("m16n8k256.row.col.s32.b1.b1.s32.and.popc", [4, 4, 2], 0xff, 0xf0f0), 7 + 32);
}

#[test]
fn a_bulk_copy_adds_to_shared_memory() {
    let body = ".shared .align 16 .b8 sm[272];\nmov.u32 %r2, sm;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r4, %r2, %r3;\n\
        st.shared.u32 [%r4], %r1;\nst.shared.u32 [%r4+128], 1000;\nsetp.eq.u32 %p1, %r1, 0;\n\
        @%p1 mbarrier.init.shared.b64 [%r2+256], 1;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n@!%p1 bra $wait;\n\
        add.u32 %r5, %r2, 128;\nadd.u32 %r6, %r2, 256;\nmbarrier.arrive.expect_tx.shared.b64 %rd3, [%r6], 128;\n\
        cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r5], [%r2], 128, [%r6];\n\
        $wait:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r2+256], 0;\n@!%p2 bra $wait;\nld.shared.u32 %r7, [%r4+128];\n\
        st.global.u32 [%rd2], %r7;";
    let (report, out) = launch(body, 128);
    assert!(report.clean(), "{report}");
    assert!(out.chunks(4).enumerate().all(|(i, v)| v[0] == 1000 + i as u32), "{out:?}");
    // Whoever does not wait reads what may not be there yet.
    let hasty = body.replace(
        "$wait:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r2+256], 0;\n@!%p2 bra $wait;\n",
        "$wait:\n",
    );
    let (report, _) = launch(&hasty, 128);
    assert!(report.has("R01"), "{report}");
}

#[test]
fn no_cta_is_cancelled() {
    // A loop that takes the place of another CTA while there is one: here each does its own work alone.
    let body = ".shared .align 16 .b8 sm[32];\nmov.u32 %r2, sm;\nadd.u32 %r6, %r2, 16;\nsetp.eq.u32 %p1, %r1, 0;\n\
        @%p1 mbarrier.init.shared.b64 [%r6], 1;\nbar.sync 0;\n@!%p1 bra $wait;\n\
        mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r6], 16;\n\
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2], [%r6];\n\
        $wait:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r6], 0;\n@!%p2 bra $wait;\nld.shared.b128 %q1, [%r2];\n\
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q1;\nmov.u32 %r7, 5;\n\
        @%p3 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r7, %q1;\nst.global.u32 [%rd2], %r7;";
    let (report, out) = launch(body, 128);
    assert!(report.clean(), "{report}");
    assert!(out.chunks(4).all(|v| v[0] == 5), "{out:?}");
}

#[test]
fn bulk_copies_leave_bytes_out() {
    // 96 bytes come, without the first four and the last eight; of every sixteen the third word goes back, to words of others.
    let body = ".shared .align 16 .b8 sm[144];\nmov.u32 %r2, sm;\nadd.u32 %r6, %r2, 128;\nsetp.ne.u32 %p1, %r1, 0;\n\
        @%p1 bra $end;\nmbarrier.init.shared.b64 [%r6], 1;\nfence.proxy.async.shared::cta;\n\
        mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r6], 96;\n\
        cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%r2], [%rd1], 96, 4, 8, [%r6];\n\
        $wait:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r6], 0;\n@!%p2 bra $wait;\n\
        add.s64 %rd4, %rd1, 256;\ncvt.u16.u32 %h1, 0x0f00;\n\
        cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd4], [%r2], 64, %h1;\ncp.async.bulk.commit_group;\n\
        cp.async.bulk.wait_group 0;\n$end:";
    let (report, out) = launch(&format!(".reg .b16 %h<3>;\n{body}"), 128);
    assert!(report.clean(), "{report}");
    let want = |i: u32| if (64..80).contains(&i) && i % 4 == 2 { i - 64 } else { i };
    assert!(out.iter().enumerate().all(|(i, v)| *v == want(i as u32)), "{out:?}");
}
