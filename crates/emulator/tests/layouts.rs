//! Tensor copies, matrix moves and products against layouts written out independently (E32, E36-E41, E92).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod common;

use common::{box_kernel, numbers, run};
use warploom_chips::Target;
use warploom_emulator::{Arg, Device, ElemType, Launch, Module, RunOptions, TensorMap, TiledMap};

const HEAD: &str = ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 s[];\n";

/// The rows of shared memory that PTX ISA 5.5.7 prints: which 16-byte chunk stands at each place of 8 rows.
fn chunk_at(width: u32, row: u32, place: u32) -> u32 {
    match width {
        128 => place ^ (row % 8),
        64 => place ^ (row / 2 % 4),
        32 => place ^ (row / 4 % 2),
        _ => place,
    }
}

#[test]
fn tensor_copies_swizzle_fill_and_clip() {
    for width in [32_u32, 64, 128] {
        let (rows, cols) = (20_u64, u64::from(width));
        let data: Vec<u8> = (0..rows * cols).map(|i| (i * 7 % 251) as u8 + 1).collect();
        let mut dev = Device::new(&Target::named("sm_90a").unwrap());
        let src = dev.alloc_from(&data, "src").unwrap();
        let dst = dev.alloc(u64::from(16 * width), "dst").unwrap();
        let map = TiledMap {
            elem: ElemType::U8,
            addr: src,
            dims: vec![cols, rows],
            strides: vec![cols],
            box_dims: vec![width, 16],
            elem_strides: vec![],
            swizzle: width,
            nan_fill: false,
        };
        // Rows 12..28 from column 16: the last 8 rows and the last 16 columns lie outside.
        let text = box_kernel(HEAD, [16, 12], 16 * width, 16 * width);
        let args = vec![Arg::from(&TensorMap::tiled(&map).unwrap()), Arg::Ptr(dst)];
        let report = run(&mut dev, &text, 8200, args);
        assert!(report.clean(), "{report}");
        let got = dev.read(dst).unwrap();
        for row in 0..16_u32 {
            for at in 0..width {
                // The pattern repeats on absolute addresses; rows narrower than 128 bytes share a line of 128.
                let chunk = chunk_at(width, row, at / 16);
                let (r, c) = (12 + u64::from(row), 16 + u64::from(chunk * 16 + at % 16));
                let want = if r < rows && c < cols { data[(r * cols + c) as usize] } else { 0 };
                assert_eq!(got[(row * width + at) as usize], want, "width {width} row {row} byte {at}");
            }
        }
    }
}

/// Fills shared memory with a packed operand, multiplies, returns D by (row, column).
fn product(layout: &Operands) -> Vec<f32> {
    let mut dev = Device::new(&Target::named("sm_90a").unwrap());
    let image = dev.alloc_from(&layout.image, "image").unwrap();
    let out = dev.alloc(64 * 8 * 4, "D").unwrap();
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 image, .param .u64 out) .reqntid 128 .maxnreg 128 {{
        .reg .pred %p<3>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
        ld.param.u64 %rd1, [image]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mov.b32 %r2, s; mov.b32 %r3, %r1;
        $fill: mul.wide.u32 %rd3, %r3, 4; add.u64 %rd4, %rd1, %rd3; ld.global.b32 %r4, [%rd4];
        shl.b32 %r5, %r3, 2; add.u32 %r5, %r5, %r2; st.shared.b32 [%r5], %r4;
        add.u32 %r3, %r3, 128; setp.lt.u32 %p1, %r3, {words}; @%p1 bra $fill;
        fence.proxy.async.shared::cta; bar.sync 0;
        mov.b64 %rd5, {a}; mov.b64 %rd6, {b};
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k{k}.f32.{ty}.{ty} {{%r20, %r21, %r22, %r23}}, %rd5, %rd6, 0, 1, 1{trans};
        wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
        mul.wide.u32 %rd7, %r1, 16; add.u64 %rd8, %rd2, %rd7;
        st.global.v4.b32 [%rd8], {{%r20, %r21, %r22, %r23}}; ret; }}",
        words = layout.image.len() / 4,
        a = layout.a_desc,
        b = layout.b_desc,
        k = layout.k,
        ty = layout.ty,
        trans = layout.trans,
    );
    let report = run(&mut dev, &text, layout.image.len() as u32, vec![Arg::Ptr(image), Arg::Ptr(out)]);
    assert!(report.clean(), "{report}");
    let raw: Vec<f32> =
        dev.read(out).unwrap().chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect();
    let mut d = vec![0.0; 64 * 8];
    for (t, lane) in raw.chunks(4).enumerate() {
        let (warp, l) = (t / 32, t % 32);
        for (i, v) in lane.iter().enumerate() {
            d[(16 * warp + l / 4 + 8 * (i / 2)) * 8 + 2 * (l % 4) + i % 2] = *v;
        }
    }
    d
}

struct Operands {
    image: Vec<u8>,
    a_desc: u64,
    b_desc: u64,
    k: usize,
    ty: &'static str,
    trans: &'static str,
}

/// K-major, one row after the other in `width` bytes, chunks permuted as the tables say.
fn k_major(
    width: u32,
    ty: &'static str,
    k: usize,
    bytes: &dyn Fn(f32) -> Vec<u8>,
    a: &[f32],
    b: &[f32],
) -> Operands {
    let e = 32 / k;
    let (code, b_at) =
        ([(128, 1_u64), (64, 2), (32, 3)].iter().find(|x| x.0 == width).unwrap().1, 64 * width as usize);
    let mut image = vec![0; b_at + 8 * width as usize];
    for (start, rows, x) in [(0, 64, a), (b_at, 8, b)] {
        for r in 0..rows {
            for c in 0..k {
                let chunk = (c * e / 16) as u32;
                let place =
                    (0..width / 16).find(|p| chunk_at(width, r as u32, *p) == chunk).unwrap() as usize;
                let at = start + r * width as usize + place * 16 + c * e % 16;
                image[at..at + e].copy_from_slice(&bytes(x[r * k + c]));
            }
        }
    }
    let desc = |at: usize| (at as u64 >> 4) | (u64::from(8 * width) >> 4) << 32 | code << 62;
    let trans = if e == 2 { ", 0, 0" } else { "" };
    Operands { image, a_desc: desc(0), b_desc: desc(b_at), k, ty, trans }
}

fn compare(d: &[f32], a: &[f32], b: &[f32], k: usize, label: &str) {
    for m in 0..64 {
        for n in 0..8 {
            let want: f64 = (0..k).map(|i| f64::from(a[m * k + i]) * f64::from(b[n * k + i])).sum();
            assert_eq!(d[m * 8 + n], want as f32, "{label}: ({m}, {n})");
        }
    }
}

#[test]
fn wgmma_reads_every_k_major_swizzle_and_type() {
    let half = |v: &f32| half::f16::from_f32(*v).to_f32();
    for width in [32, 64, 128] {
        let (a, b) = (numbers(64 * 16, 1), numbers(8 * 16, 2));
        let (a, b): (Vec<f32>, Vec<f32>) = (a.iter().map(half).collect(), b.iter().map(half).collect());
        let bytes = |v: f32| half::f16::from_f32(v).to_bits().to_le_bytes().to_vec();
        compare(&product(&k_major(width, "f16", 16, &bytes, &a, &b)), &a, &b, 16, &format!("f16 {width}"));
        // tf32 drops 13 bits, so only numbers that survive it are used.
        let cut = |v: &f32| f32::from_bits(v.to_bits() & !0x1fff);
        let (a, b): (Vec<f32>, Vec<f32>) =
            (numbers(64 * 8, 3).iter().map(cut).collect(), numbers(64, 4).iter().map(cut).collect());
        let bytes = |v: f32| v.to_le_bytes().to_vec();
        compare(&product(&k_major(width, "tf32", 8, &bytes, &a, &b)), &a, &b, 8, &format!("tf32 {width}"));
        // e5m2 is the high byte of f16.
        let short = |v: &f32| half::f16::from_bits(half::f16::from_f32(*v).to_bits() & 0xff00).to_f32();
        let (a, b): (Vec<f32>, Vec<f32>) =
            (numbers(64 * 32, 5).iter().map(short).collect(), numbers(8 * 32, 6).iter().map(short).collect());
        let bytes = |v: f32| vec![(half::f16::from_f32(v).to_bits() >> 8) as u8];
        compare(&product(&k_major(width, "e5m2", 32, &bytes, &a, &b)), &a, &b, 32, &format!("e5m2 {width}"));
    }
}

#[test]
fn wgmma_reads_mn_major_operands() {
    // A is [16, 64] with M contiguous: one panel of 64 columns, 128-byte rows, 128-byte swizzle; B is K-major.
    let half = |v: &f32| half::f16::from_f32(*v).to_f32();
    let (a, b): (Vec<f32>, Vec<f32>) =
        (numbers(64 * 16, 7).iter().map(half).collect(), numbers(8 * 16, 8).iter().map(half).collect());
    let bytes = |v: f32| half::f16::from_f32(v).to_bits().to_le_bytes().to_vec();
    let mut o = k_major(128, "f16", 16, &bytes, &vec![0.0; 1024], &b);
    for m in 0..64 {
        for k in 0..16_usize {
            let chunk = (m * 2 / 16) as u32;
            let place = (0..8).find(|p| chunk_at(128, k as u32, *p) == chunk).unwrap() as usize;
            let at = k * 128 + place * 16 + m * 2 % 16;
            o.image[at..at + 2].copy_from_slice(&bytes(a[m * 16 + k]));
        }
    }
    // 8 rows of K are 1024 bytes apart; LBO would lead to the next 64 of M.
    o.a_desc = (1024 >> 4) << 32 | (2048 >> 4) << 16 | 1 << 62;
    o.trans = ", 1, 0";
    compare(&product(&o), &a, &b, 16, "A with M contiguous");
}

#[test]
fn matrix_moves_are_inverse_and_transpose() {
    for trans in ["", ".trans"] {
        let mut dev = Device::new(&Target::named("sm_90a").unwrap());
        let out = dev.alloc(32 * 16, "out").unwrap();
        let text = format!(
            "{HEAD}.visible .entry k(.param .u64 out) .reqntid 32 {{
            .reg .b32 %r<20>; .reg .b64 %rd<5>;
            ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.b32 %r2, s; mad.lo.u32 %r3, %r1, 16, %r2;
            mul.lo.u32 %r4, %r1, 4; add.u32 %r5, %r4, 1; add.u32 %r6, %r4, 2; add.u32 %r7, %r4, 3;
            stmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 [%r3], {{%r4, %r5, %r6, %r7}};
            bar.warp.sync -1;
            ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r8, %r9, %r10, %r11}}, [%r3];
            mul.wide.u32 %rd2, %r1, 16; add.u64 %rd3, %rd1, %rd2;
            st.global.v4.b32 [%rd3], {{%r8, %r9, %r10, %r11}}; ret; }}"
        );
        let report = run(&mut dev, &text, 512, vec![Arg::Ptr(out)]);
        assert!(report.clean(), "{report}");
        let got: Vec<u32> = dev
            .read(out)
            .unwrap()
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
            .collect();
        for l in 0..32_usize {
            for j in 0..4 {
                // Element (row, col) of matrix j as it was given: lane 4*row + col/2, half col%2.
                let given = |row: usize, col: usize| {
                    let v = ((4 * row + col / 2) * 4 + j) as u32;
                    if col.is_multiple_of(2) { v & 0xffff } else { v >> 16 }
                };
                let (g, t) = (l / 4, l % 4);
                let want = if trans.is_empty() {
                    given(g, 2 * t) | given(g, 2 * t + 1) << 16
                } else {
                    given(2 * t, g) | given(2 * t + 1, g) << 16
                };
                assert_eq!(got[l * 4 + j], want, "lane {l} matrix {j} {trans}");
            }
        }
    }
}

#[test]
fn parallel_clusters_give_the_same_bytes_and_report() {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 out) .reqntid 32 {{
        .reg .b32 %r<9>; .reg .b64 %rd<5>; ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
        mad.lo.u32 %r3, %r2, 24, %r1; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd2, %rd2, %rd1;
        st.global.b32 [%rd2], %r2; ret; }}"
    );
    let module = Module::parse(&text).unwrap();
    let mut first = None;
    for threads in [1, 2, 5] {
        let mut dev = Device::new(&Target::named("sm_90a").unwrap());
        let out = dev.alloc(4096, "out").unwrap();
        let launch =
            Launch { grid: [16, 1, 1], args: vec![Arg::Ptr(out)], ..Launch::of(&module.entries()[0]) };
        let report = dev.run(&module, &launch, &RunOptions::default().threads(threads)).unwrap();
        assert!(report.has("R02"), "CTAs overlap by 8 words\n{report}");
        let now = (report, dev.read(out).unwrap().to_vec());
        assert_eq!(first.get_or_insert(now.clone()), &now, "{threads} threads");
    }
}
