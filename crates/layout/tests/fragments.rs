//! Fragments against the index formulas of the PTX ISA, element by element (G13, G31). The formulas are those of the
//! rules E36 to E48 and of the ISA's figures, written with division and remainder.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::points;
use warploom_layout::fragment::{ldmatrix, mma_sync, tcgen05, tma, wgmma};
use warploom_layout::{Dim, Layout, LayoutError, Swizzle};

const ROW: Dim = Dim::Axis(0);
const COL: Dim = Dim::Axis(1);

fn get(at: &[(Dim, u64)], dim: Dim) -> u64 {
    at.iter().find(|(d, _)| *d == dim).map_or(0, |p| p.1)
}

/// Compares every register, lane and warp with a formula of (lane, register, warp) for two outputs.
fn equal(
    layout: Result<Layout, LayoutError>,
    sizes: [u64; 3],
    outputs: [Dim; 2],
    formula: impl Fn(u64, u64, u64) -> (u64, u64),
) {
    let layout = layout.unwrap();
    let [registers, lanes, warps] = sizes;
    assert_eq!(layout.input_size(Dim::Register), registers);
    assert_eq!((layout.input_size(Dim::Lane), layout.input_size(Dim::Warp)), (lanes, warps));
    for i in 0..registers {
        for lane in 0..lanes {
            for w in 0..warps {
                let at = layout.apply(&[(Dim::Register, i), (Dim::Lane, lane), (Dim::Warp, w)]).unwrap();
                let found = (get(&at, outputs[0]), get(&at, outputs[1]));
                assert_eq!(found, formula(lane, i, w), "register {i} of lane {lane} of warp {w}");
            }
        }
    }
}

const MATRIX: [Dim; 2] = [ROW, COL];

#[test]
fn mma_sync_of_16_bits_g31() {
    equal(mma_sync::a(16, 16, 16), [8, 32, 1], MATRIX, |l, i, _| {
        (l / 4 + 8 * (i / 2 % 2), 2 * (l % 4) + i % 2 + 8 * (i / 4))
    });
    equal(mma_sync::a(16, 8, 16), [4, 32, 1], MATRIX, |l, i, _| (l / 4 + 8 * (i / 2), 2 * (l % 4) + i % 2));
    equal(mma_sync::b(16, 16), [4, 32, 1], MATRIX, |l, i, _| (2 * (l % 4) + i % 2 + 8 * (i / 2), l / 4));
    equal(mma_sync::b(8, 16), [2, 32, 1], MATRIX, |l, i, _| (2 * (l % 4) + i, l / 4));
    equal(mma_sync::accumulator(16), [4, 32, 1], MATRIX, |l, i, _| {
        (l / 4 + 8 * (i / 2), 2 * (l % 4) + i % 2)
    });
}

#[test]
fn mma_sync_of_tf32_g31() {
    equal(mma_sync::a(16, 8, 32), [4, 32, 1], MATRIX, |l, i, _| (l / 4 + 8 * (i % 2), l % 4 + 4 * (i / 2)));
    equal(mma_sync::a(16, 4, 32), [2, 32, 1], MATRIX, |l, i, _| (l / 4 + 8 * i, l % 4));
    equal(mma_sync::b(8, 32), [2, 32, 1], MATRIX, |l, i, _| (l % 4 + 4 * i, l / 4));
    equal(mma_sync::b(4, 32), [1, 32, 1], MATRIX, |l, _, _| (l % 4, l / 4));
}

#[test]
fn mma_sync_of_8_bits_g31() {
    equal(mma_sync::a(16, 32, 8), [16, 32, 1], MATRIX, |l, i, _| {
        (
            l / 4 + if i < 4 || (8..12).contains(&i) { 0 } else { 8 },
            4 * (l % 4) + i % 4 + if i < 8 { 0 } else { 16 },
        )
    });
    equal(mma_sync::a(16, 16, 8), [8, 32, 1], MATRIX, |l, i, _| (l / 4 + 8 * (i / 4), 4 * (l % 4) + i % 4));
    equal(mma_sync::b(32, 8), [8, 32, 1], MATRIX, |l, i, _| (4 * (l % 4) + i % 4 + 16 * (i / 4), l / 4));
    equal(mma_sync::b(16, 8), [4, 32, 1], MATRIX, |l, i, _| (4 * (l % 4) + i, l / 4));
    equal(mma_sync::a(8, 16, 8), [4, 32, 1], MATRIX, |l, i, _| (l / 4, 4 * (l % 4) + i));
    equal(mma_sync::accumulator(8), [2, 32, 1], MATRIX, |l, i, _| (l / 4, 2 * (l % 4) + i));
}

#[test]
fn mma_sync_of_4_bits_and_1_g31() {
    equal(mma_sync::a(16, 64, 4), [32, 32, 1], MATRIX, |l, i, _| {
        (l / 4 + 8 * (i / 8 % 2), 8 * (l % 4) + i % 8 + if i < 16 { 0 } else { 32 })
    });
    equal(mma_sync::a(16, 32, 4), [16, 32, 1], MATRIX, |l, i, _| (l / 4 + 8 * (i / 8), 8 * (l % 4) + i % 8));
    equal(mma_sync::b(64, 4), [16, 32, 1], MATRIX, |l, i, _| (8 * (l % 4) + i % 8 + 32 * (i / 8), l / 4));
    equal(mma_sync::b(32, 4), [8, 32, 1], MATRIX, |l, i, _| (8 * (l % 4) + i, l / 4));
    equal(mma_sync::a(16, 256, 1), [128, 32, 1], MATRIX, |l, i, _| {
        (l / 4 + 8 * (i / 32 % 2), 32 * (l % 4) + i % 32 + 128 * (i / 64))
    });
    equal(mma_sync::b(256, 1), [64, 32, 1], MATRIX, |l, i, _| {
        (32 * (l % 4) + i % 32 + 128 * (i / 32), l / 4)
    });
}

#[test]
fn mma_sync_of_f64_g31() {
    equal(mma_sync::a(8, 4, 64), [1, 32, 1], MATRIX, |l, _, _| (l / 4, l % 4));
    for k in [4, 8, 16] {
        equal(mma_sync::a(16, k, 64), [k / 2, 32, 1], MATRIX, |l, i, _| {
            (l / 4 + 8 * (i % 2), l % 4 + 4 * (i / 2))
        });
        equal(mma_sync::b(k, 64), [k / 4, 32, 1], MATRIX, |l, i, _| (l % 4 + 4 * i, l / 4));
    }
}

#[test]
fn wgmma_g31() {
    for n in [8, 16, 64, 256] {
        equal(wgmma::accumulator(n), [n / 2, 32, 4], MATRIX, |l, i, w| {
            (16 * w + l / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (l % 4) + i % 2)
        });
    }
    equal(wgmma::a(16), [8, 32, 4], MATRIX, |l, i, w| {
        (16 * w + l / 4 + 8 * (i / 2 % 2), 2 * (l % 4) + i % 2 + 8 * (i / 4))
    });
    equal(wgmma::a(8), [16, 32, 4], MATRIX, |l, i, w| {
        (16 * w + l / 4 + 8 * (i / 4 % 2), 4 * (l % 4) + i % 4 + 16 * (i / 8))
    });
    equal(wgmma::a(32), [4, 32, 4], MATRIX, |l, i, w| (16 * w + l / 4 + 8 * (i % 2), l % 4 + 4 * (i / 2)));
    // Accumulators of 16 columns, as 16 bits, are operand A of K = 16 (C61).
    assert_eq!(wgmma::accumulator(16), wgmma::a(16));
}

#[test]
fn tensor_memory_loads_and_stores_g31() {
    let cells = [Dim::Row, Dim::Column];
    for times in [1u64, 2, 8, 32] {
        let access = |shape| tcgen05::access(shape, times);
        equal(access(tcgen05::Shape::S32x32b), [times, 32, 1], cells, |l, j, _| (l, j));
        equal(access(tcgen05::Shape::S16x64b), [times, 32, 1], cells, |l, j, _| {
            (l / 4 + 8 * (l % 2), l / 2 % 2 + 2 * j)
        });
        equal(access(tcgen05::Shape::S16x128b), [2 * times, 32, 1], cells, |l, j, _| {
            (l / 4 + 8 * (j % 2), l % 4 + 4 * (j / 2))
        });
        equal(access(tcgen05::Shape::S16x256b), [4 * times, 32, 1], cells, |l, j, _| {
            (l / 4 + 8 * (j / 2 % 2), 2 * (l % 4) + j % 2 + 8 * (j / 4))
        });
        let split = 64;
        equal(access(tcgen05::Shape::S16x32bx2 { split }), [times, 32, 1], cells, |l, j, _| {
            (l % 16, j + split * (l / 16))
        });
        for shape in tcgen05::Shape::all(64) {
            let one = access(shape).unwrap();
            let four = tcgen05::warps(&one).unwrap();
            for at in points(&four.inputs()) {
                let lane: Vec<_> = at.iter().copied().filter(|(dim, _)| *dim != Dim::Warp).collect();
                let (own, place) = (one.apply(&lane).unwrap(), four.apply(&at).unwrap());
                assert_eq!(get(&place, Dim::Row), get(&own, Dim::Row) + 32 * get(&at, Dim::Warp));
                assert_eq!(get(&place, Dim::Column), get(&own, Dim::Column));
            }
        }
    }
    // An accumulator of 128 rows read a row to each lane; of 64 rows, as wgmma's lanes have it (E44).
    let rows = tcgen05::warps(&tcgen05::access(tcgen05::Shape::S32x32b, 64).unwrap()).unwrap();
    let place = tcgen05::accumulator(128, 64).unwrap();
    equal(rows.then(&place), [64, 32, 4], MATRIX, |l, j, w| (32 * w + l, j));
    let half = tcgen05::warps(&tcgen05::access(tcgen05::Shape::S16x256b, 8).unwrap()).unwrap();
    assert_eq!(half.then(&tcgen05::accumulator(64, 64).unwrap()), wgmma::accumulator(64));
}

#[test]
fn matrices_of_ldmatrix_g31() {
    for count in [1u64, 2, 4] {
        equal(ldmatrix::matrices(count, 16, false), [2 * count, 32, 1], MATRIX, |l, i, _| {
            (l / 4, 2 * (l % 4) + i % 2)
        });
        equal(ldmatrix::matrices(count, 16, true), [2 * count, 32, 1], MATRIX, |l, i, _| {
            (2 * (l % 4) + i % 2, l / 4)
        });
        equal(ldmatrix::matrices(count, 8, false), [4 * count, 32, 1], MATRIX, |l, i, _| {
            (l / 4, 4 * (l % 4) + i % 4)
        });
        equal(ldmatrix::matrices(count, 16, false), [2 * count, 32, 1], [Dim::Part, Dim::Row], |_, i, _| {
            (i / 2, 0)
        });
        equal(ldmatrix::addresses(count), [1, 8 * count, 1], [Dim::Part, ROW], |l, _, _| (l / 8, l % 8));
    }
}

#[test]
fn boxes_of_tma_g31() {
    // The address pattern of each mode (E40): m = 0, 1, 3, 7 on 16-byte chunks; with 32-byte atoms, 3 on those.
    for (swizzle, mask, atom) in [
        (Swizzle::NONE, 0, 16),
        (Swizzle::B32, 1, 16),
        (Swizzle::B64, 3, 16),
        (Swizzle::B128, 7, 16),
        (Swizzle::B128_ATOM_32, 3, 32),
    ] {
        for bits in [8u64, 16, 32, 64] {
            let inner = swizzle.width() * 8 / bits;
            let layout = tma::shared(&[2, 32, inner], bits, swizzle).unwrap();
            for z in 0..2 {
                for y in 0..32 {
                    for x in 0..inner {
                        let byte = ((z * 32 + y) * inner + x) * bits / 8;
                        let place = byte ^ (((byte / 128) & mask) * atom);
                        let at = layout.apply(&[(Dim::Offset, place * 8 / bits)]).unwrap();
                        let found = [0, 1, 2].map(|i| get(&at, Dim::Axis(i)));
                        assert_eq!(found, [z, y, x], "{swizzle:?} {bits}");
                    }
                }
            }
        }
    }
}

#[test]
fn forms_that_no_instruction_has_are_refused_g13() {
    for refused in [
        mma_sync::a(16, 16, 6),
        mma_sync::a(32, 16, 16),
        mma_sync::b(24, 16),
        mma_sync::b(4, 16),
        mma_sync::accumulator(64),
        wgmma::accumulator(24),
        wgmma::accumulator(512),
        wgmma::a(64),
        tcgen05::access(tcgen05::Shape::S16x256b, 64),
        tcgen05::access(tcgen05::Shape::S16x32bx2 { split: 4 }, 8),
        tcgen05::accumulator(96, 64),
        ldmatrix::matrices(3, 16, false),
        ldmatrix::matrices(4, 8, true),
        tma::shared(&[8, 128], 16, Swizzle::B128),
        tma::shared(&[], 16, Swizzle::NONE),
        tma::shared(&[512], 16, Swizzle::NONE),
    ] {
        assert_eq!(refused.expect_err("refused").code(), "instruction");
    }
    assert_eq!(Swizzle { bits: 3, chunk: 4, row: 5 }.map(64, 16).expect_err("overlaps").code(), "shape");
    assert_eq!(tma::shared(&[3, 8], 16, Swizzle::NONE).expect_err("no power").code(), "size");
}
