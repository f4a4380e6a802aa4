//! Layouts for accesses to memory, how wide they may be, swizzles and padding (G3, G13).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{points, recipe, shape};
use proptest::prelude::*;
use warploom_layout::fragment::{mma_sync, wgmma};
use warploom_layout::{
    Dim, Layout, Padding, Prices, Swizzle, blocked, convert, global_pieces, in_order, neighbours, pieces,
};

fn value(at: &[(Dim, u64)], dim: Dim) -> u64 {
    at.iter().find(|(d, _)| *d == dim).map_or(0, |p| p.1)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::with_cases(96) })]

    #[test]
    fn a_blocked_tile_has_every_element_and_the_width_asked_for_g13(
        shape in shape(11), turn in 0usize..6, vector in 0u32..5, warps in 0u32..4
    ) {
        let mut order: Vec<usize> = (0..shape.len()).rev().collect();
        order.rotate_left(turn % shape.len());
        let (vector, warps) = (1 << vector, 1 << warps);
        let layout = blocked(&shape, &order, vector, warps).unwrap();
        prop_assert!(layout.is_onto());
        prop_assert_eq!((layout.input_size(Dim::Lane), layout.input_size(Dim::Warp)), (32, warps));
        let access = global_pieces(&layout, &shape, &order, vector).unwrap();
        prop_assert_eq!(access.width(), vector.min(shape[order[0]]));
        // Neighbouring lanes have neighbouring pieces: the first lane's end is the second's start.
        let number = layout.then(&in_order(&shape, &order).unwrap()).unwrap();
        if layout.copy_bits(Dim::Lane) & 1 == 0 {
            prop_assert_eq!(value(&number.apply(&[(Dim::Lane, 1)]).unwrap(), Dim::Offset), access.width());
        }
    }

    #[test]
    fn pieces_are_side_by_side_and_aligned_in_every_lane_g13(
        shape in shape(10), recipe in recipe(), warps in 0usize..2, most in 0u32..5
    ) {
        let order: Vec<usize> = (0..shape.len()).rev().collect();
        let layout = recipe.layout(&shape, 5, warps);
        let number = layout.then(&in_order(&shape, &order).unwrap()).unwrap();
        let access = pieces(&number, 1 << most);
        prop_assert!(access.width() <= 1 << most);
        let own = layout.input_size(Dim::Register) >> layout.copy_bits(Dim::Register).count_ones();
        prop_assert_eq!(access.width() * access.pieces(), own);
        for thread in points(&[(Dim::Lane, 32), (Dim::Warp, 1 << warps)]) {
            let mut seen = Vec::new();
            for piece in 0..access.pieces() {
                let first = access.first(piece);
                let place = |register| {
                    let at: Vec<_> = thread.iter().copied().chain([(Dim::Register, register)]).collect();
                    value(&number.apply(&at).unwrap(), Dim::Offset)
                };
                let start = place(first);
                prop_assert_eq!(start % access.width(), 0);
                for j in 0..access.width() {
                    prop_assert_eq!(place(access.element(first, j)), start + j);
                    seen.push(start + j);
                }
            }
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len() as u64, own);
        }
    }

    #[test]
    fn padding_leads_there_and_back_g3(every in 0u64..40, extra in 0u64..9, offset in 0u64..10_000) {
        let padding = Padding { every, extra };
        let place = padding.place(offset).unwrap();
        prop_assert_eq!(place, offset + offset.checked_div(every).unwrap_or(0) * extra);
        prop_assert_eq!(padding.offset(place), Some(offset));
    }

    #[test]
    fn a_swizzle_undoes_itself_and_keeps_chunks_g3(bits in 0u32..4, chunk in 3u32..6, gap in 0u32..3, size in 0u32..7) {
        let swizzle = Swizzle { bits, chunk, row: chunk + bits + gap };
        let map = swizzle.map(1 << 12, 1 << size).unwrap();
        prop_assert_eq!(map.then(&map).unwrap(), Layout::identity(&[(Dim::Offset, 1 << 12)]).unwrap());
        let together = (8 << chunk) >> size;
        prop_assert!(map.divide(&Layout::identity(&[(Dim::Offset, together)]).unwrap()).is_some());
    }
}

#[test]
fn gaps_hold_nothing_g3() {
    let padding = Padding { every: 8, extra: 2 };
    assert_eq!(
        (padding.offset(7), padding.offset(8), padding.offset(9), padding.offset(10)),
        (Some(7), None, None, Some(8))
    );
    assert_eq!(padding.place(u64::MAX), None);
    assert_eq!(Padding { every: u64::MAX, extra: 2 }.offset(3), None);
}

#[test]
fn fragments_are_as_wide_as_their_neighbours_g13() {
    let wide = |layout: &Layout, shape: &[u64], order: &[usize]| {
        global_pieces(layout, shape, order, 8).unwrap().width()
    };
    let accumulator = wgmma::accumulator(64).unwrap();
    assert_eq!((wide(&accumulator, &[64, 64], &[1, 0]), wide(&accumulator, &[64, 64], &[0, 1])), (2, 1));
    assert_eq!(wide(&mma_sync::a(16, 32, 8).unwrap(), &[16, 32], &[1, 0]), 4);
    // Copies in registers are left out.
    let copies = Layout::copies(Dim::Register, 4).unwrap().times(&accumulator).unwrap();
    assert_eq!(global_pieces(&copies, &[64, 64], &[1, 0], 8).unwrap().pieces(), 16);
}

#[test]
fn widths_follow_from_contiguity_g13() {
    for (contiguity, bits, widest, wanted) in [
        (16, 16, 128, 8),
        (4, 16, 128, 4),
        (12, 16, 128, 4),
        (1, 32, 128, 1),
        (0, 32, 128, 1),
        (64, 8, 64, 8),
        (2, 256, 128, 1),
    ] {
        assert_eq!(neighbours(contiguity, bits, widest).unwrap(), wanted, "{contiguity} {bits}");
    }
    assert_eq!(neighbours(4, 0, 128).expect_err("nothing").code(), "size");
}

#[test]
fn sizes_that_no_machine_has_end_in_an_answer() {
    // 2^40 registers: nothing is listed or looked at one by one.
    let (x, y) = (Dim::Axis(0), Dim::Axis(1));
    let from = Layout::of(&[(Dim::Register, x, 1 << 40), (Dim::Lane, y, 32)]).unwrap();
    let to = Layout::of(&[(Dim::Lane, x, 32), (Dim::Register, y, 32), (Dim::Register, x, 1 << 35)]).unwrap();
    for bits in [8, 16, 32, 64] {
        let conversion = convert(&from, &to, bits, &Prices::default()).unwrap();
        assert_eq!((conversion.plan.name(), conversion.counts.bytes), ("exchange", (1 << 45) * bits / 8));
    }
    let huge = Layout::of(&[(Dim::Register, x, 1 << 58), (Dim::Lane, y, 32)]).unwrap();
    let turned =
        Layout::of(&[(Dim::Lane, x, 32), (Dim::Register, y, 32), (Dim::Register, x, 1 << 53)]).unwrap();
    let refused = convert(&huge, &turned, 64, &Prices::default()).expect_err("2^66 bytes");
    assert_eq!(refused.code(), "too-large");
    assert_eq!(
        Swizzle { bits: u32::MAX, chunk: 4, row: u32::MAX }.map(64, 8).expect_err("beyond").code(),
        "shape"
    );
    assert_eq!(blocked(&[3], &[0], 1, 1).expect_err("no power").code(), "size");
    assert_eq!(blocked(&[4], &[1], 1, 1).expect_err("no dimension").code(), "shape");
    assert_eq!(blocked(&[4], &[0], 3, 1).expect_err("no power").code(), "size");
}
