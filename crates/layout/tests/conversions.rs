//! Conversions, carried out element by element by the checker (G12), and what they take on layouts that matter.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{recipe, shape};
use proptest::prelude::*;
use warploom_layout::fragment::{mma_sync, tcgen05, wgmma};
use warploom_layout::{Conversion, Dim, Layout, Plan, Prices, Scope, TransferKind, blocked, check, convert};

fn checked(from: &Layout, to: &Layout, bits: u64) -> Conversion {
    let conversion = convert(from, to, bits, &Prices::default()).unwrap();
    assert_right(from, to, bits, &conversion);
    conversion
}

fn assert_right(from: &Layout, to: &Layout, bits: u64, conversion: &Conversion) {
    if let Err(violation) = check::conversion(from, to, bits, conversion) {
        panic!("{violation}\n{from}\n{to}\n{bits} bits: {conversion:?}");
    }
}

/// As if shared memory were dear, and as if shuffles were.
fn both_ways(from: &Layout, to: &Layout, bits: u64) -> [Conversion; 2] {
    let mut prices = [Prices::default(); 2];
    prices[0].warp_barrier = 1 << 30;
    prices[0].barrier = 1 << 30;
    prices[1].shuffle = 1 << 30;
    prices.map(|prices| {
        let conversion = convert(from, to, bits, &prices).unwrap();
        assert_right(from, to, bits, &conversion);
        conversion
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::with_cases(128) })]

    #[test]
    fn every_conversion_is_right_there_and_back_g12(
        shape in shape(11), a in recipe(), b in recipe(), warps in 0usize..3, bits in 3u32..7
    ) {
        let (from, to) = (a.layout(&shape, 5, warps), b.layout(&shape, 5, warps));
        both_ways(&from, &to, 1 << bits);
        both_ways(&to, &from, 1 << bits);
    }

    #[test]
    fn conversions_within_a_warp_need_no_scratch_memory_g12(
        shape in shape(9), a in recipe(), b in recipe(), bits in 3u32..7
    ) {
        let (from, to) = (a.layout(&shape, 5, 0), b.layout(&shape, 5, 0));
        let [shuffled, _] = both_ways(&from, &to, 1 << bits);
        prop_assert_eq!(shuffled.counts.bytes, 0, "{} to {}", from, to);
        let words = (to.owners().input_size(Dim::Register) << bits).div_ceil(32);
        prop_assert!(shuffled.counts.shuffles <= words.max(1) << 2);
    }

    #[test]
    fn no_bank_is_waited_for_where_that_counts_g12(
        shape in shape(12), a in recipe(), b in recipe(), warps in 0usize..3, bits in 3u32..7
    ) {
        // Without copies every access moves as many bytes as it has lanes for, so that transactions follow.
        let (from, to) = (a.layout(&shape, 5, warps), b.layout(&shape, 5, warps));
        if !(from.is_one_to_one() && to.is_one_to_one() && a.is_plain() && b.is_plain()) {
            return Ok(());
        }
        let mut prices = Prices::default();
        (prices.shuffle, prices.wavefront) = (1 << 30, 1 << 20);
        let conversion = convert(&from, &to, 1 << bits, &prices).unwrap();
        assert_right(&from, &to, 1 << bits, &conversion);
        let counts = conversion.counts;
        if counts.stores > 0 {
            // Elements below a word may share it with another lane's, and then take no more than one access each.
            let registers = from.input_size(Dim::Register);
            let least = ((registers * 32) << (bits - 3)) / 128;
            let most = if bits < 5 { least.max(registers) } else { least };
            prop_assert!(counts.store_wavefronts <= most.max(counts.stores), "{} to {}: {:?}", from, to, counts);
            prop_assert!(counts.load_wavefronts <= most.max(counts.loads), "{} to {}: {:?}", from, to, counts);
        }
    }

    #[test]
    fn moves_stay_in_their_lane(shape in shape(9), a in recipe(), turn in 0usize..8) {
        // Registers in another order: no lane needs another.
        let from = a.layout(&shape, 5, 1);
        let registers = from.input_size(Dim::Register).ilog2() as usize;
        prop_assume!(registers > 0);
        let names: Vec<Vec<(Dim, u64)>> = (0..registers)
            .map(|bit| vec![(Dim::Register, 1 << ((bit + turn) % registers))])
            .collect();
        let images: Vec<&[(Dim, u64)]> = names.iter().map(Vec::as_slice).collect();
        let outputs = from.inputs();
        let register = Layout::new(&[(Dim::Register, &images)], &outputs[..1]).unwrap();
        let threads = Layout::identity(&outputs[1..]).unwrap();
        let to = register.times(&threads).unwrap().then(&from).unwrap();
        let conversion = checked(&from, &to, 32);
        prop_assert!(matches!(conversion.plan, Plan::Nothing | Plan::Moves(_)));
        prop_assert_eq!((conversion.counts.selects, conversion.counts.permutes), (0, 0));
    }
}

#[test]
fn equal_layouts_need_nothing_g12() {
    let layout = wgmma::accumulator(64).unwrap();
    assert_eq!(checked(&layout, &layout, 32).plan, Plan::Nothing);
    // What lies in fewer registers is there as well.
    let part = layout.restrict(Dim::Register, 8).unwrap();
    assert_eq!(checked(&layout, &part, 32).plan, Plan::Nothing);
}

#[test]
fn accumulators_become_operands_without_leaving_their_lane_g12() {
    // P of attention: accumulators of 64 columns are operand A of four blocks of K (C61).
    let operand = wgmma::a(16).unwrap();
    let from = wgmma::accumulator(64).unwrap();
    let to = operand.times(&Layout::of(&[(Dim::Register, Dim::Axis(1), 4)]).unwrap()).unwrap();
    assert_eq!(checked(&from, &to, 16).plan, Plan::Nothing);
    // As 8 bits, pairs of columns of neighbouring lanes are swapped: shuffles, four elements a word.
    let to = wgmma::a(8).unwrap().times(&Layout::of(&[(Dim::Register, Dim::Axis(1), 2)]).unwrap()).unwrap();
    let conversion = checked(&from, &to, 8);
    assert_eq!(conversion.plan.name(), "shuffles");
    assert!(conversion.counts.shuffles <= 16, "{:?}", conversion.counts);
}

#[test]
fn transposing_two_registers_and_two_lanes_takes_one_shuffle_g12() {
    let from: Layout = "(register: 1@dim0; lane: 1@dim1) -> (dim0: 2, dim1: 2)".parse().unwrap();
    let to: Layout = "(register: 1@dim1; lane: 1@dim0) -> (dim0: 2, dim1: 2)".parse().unwrap();
    let conversion = checked(&from, &to, 32);
    assert_eq!(conversion.plan.name(), "shuffles");
    assert_eq!((conversion.counts.shuffles, conversion.counts.selects), (1, 4));
    // 64 bits are two words.
    assert_eq!(checked(&from, &to, 64).counts.shuffles, 2);
}

#[test]
fn a_row_is_spread_to_lanes_that_have_copies_of_it_g12() {
    // Reduced rows of an accumulator, one to each quad, wanted one to each lane.
    let rows: Layout =
        "(register: 8@dim0; lane: 0, 0, 1@dim0, 2@dim0, 4@dim0; warp: 16@dim0, 32@dim0) -> (dim0: 64)"
            .parse()
            .unwrap();
    let spread: Layout =
        "(lane: 1@dim0, 2@dim0, 4@dim0, 8@dim0, 0; warp: 16@dim0, 32@dim0) -> (dim0: 64)".parse().unwrap();
    let [there, _] = both_ways(&rows, &spread, 32);
    assert_eq!((there.plan.name(), there.counts.shuffles), ("shuffles", 1));
    let [back, _] = both_ways(&spread, &rows, 32);
    assert_eq!((back.plan.name(), back.counts.shuffles), ("shuffles", 2));
}

#[test]
fn bytes_of_a_word_are_turned_by_permutes_g12() {
    let from = blocked(&[4, 32], &[0, 1], 4, 1).unwrap();
    let to: Layout = from.to_string().replace("1@dim0, 2@dim0", "2@dim0, 1@dim0").parse().unwrap();
    assert_ne!(from, to);
    assert_eq!(checked(&from, &to, 8).counts.permutes, 1);
    assert_eq!(checked(&from, &to, 16).counts.permutes, 2);
    assert_eq!(checked(&from, &to, 32).counts.permutes, 0);
}

#[test]
fn an_epilogue_goes_by_stmatrix_g12() {
    for (rows, cols, warps) in [(64, 64, 4), (64, 256, 4)] {
        let from = wgmma::accumulator(cols).unwrap();
        let to = blocked(&[rows, cols], &[1, 0], 8, warps).unwrap();
        let conversion = checked(&from, &to, 16);
        let Plan::Exchange(plan) = &conversion.plan else { panic!("{:?}", conversion.plan) };
        let matrices = TransferKind::Matrices { count: 4, trans: false };
        assert_eq!((plan.store.kind, plan.load.kind), (matrices, TransferKind::Pieces));
        // 16 bytes of each lane at once, both ways, 128 bytes a transaction.
        let bytes = rows * cols * 2 / warps;
        let counts = conversion.counts;
        assert_eq!((counts.stores, counts.loads), (bytes / 512, bytes / 512));
        assert_eq!((counts.store_wavefronts, counts.load_wavefronts), (bytes / 128, bytes / 128));
        assert_eq!((counts.permutes, counts.bytes), (0, rows * cols * 2));
    }
}

#[test]
fn a_transposed_tile_goes_by_transposed_matrices_g12() {
    // Rows of 16-bit elements to columns: the operand of a product that lies the wrong way.
    let from = blocked(&[64, 64], &[0, 1], 8, 4).unwrap();
    let to = wgmma::accumulator(64).unwrap();
    let conversion = checked(&from, &to, 16);
    let Plan::Exchange(plan) = &conversion.plan else { panic!("{:?}", conversion.plan) };
    assert_eq!(plan.load.kind, TransferKind::Matrices { count: 4, trans: true });
    assert_eq!(conversion.counts.load_wavefronts, 16);
    assert_eq!(conversion.counts.store_wavefronts, 16);
}

#[test]
fn warps_that_keep_to_themselves_wait_for_no_other_g12() {
    let from = blocked(&[128, 32], &[1, 0], 1, 4).unwrap();
    let to = blocked(&[128, 32], &[1, 0], 4, 4).unwrap();
    let [_, exchanged] = both_ways(&from, &to, 32);
    let Plan::Exchange(plan) = &exchanged.plan else { panic!("{:?}", exchanged.plan) };
    assert_eq!((plan.scope, plan.bytes), (Scope::Warp, 128 * 32 * 4));
    let across = blocked(&[128, 32], &[0, 1], 4, 4).unwrap();
    let Plan::Exchange(plan) = checked(&from, &across, 32).plan else { panic!("no exchange") };
    assert_eq!(plan.scope, Scope::Warps);
}

#[test]
fn tiles_of_every_engine_convert_into_each_other_g12() {
    let rows = tcgen05::warps(&tcgen05::access(tcgen05::Shape::S32x32b, 64).unwrap()).unwrap();
    let rows = rows.then(&tcgen05::accumulator(128, 64).unwrap()).unwrap();
    let two = Layout::of(&[(Dim::Register, Dim::Axis(0), 2)]).unwrap();
    let wide = |low: Layout, pieces| low.times(&Layout::of(pieces).unwrap()).unwrap();
    let sync = wide(
        mma_sync::accumulator(16).unwrap(),
        &[
            (Dim::Warp, Dim::Axis(0), 2),
            (Dim::Warp, Dim::Axis(1), 2),
            (Dim::Register, Dim::Axis(1), 4),
            (Dim::Register, Dim::Axis(0), 4),
        ],
    );
    let all = [
        rows,
        wgmma::accumulator(64).unwrap().times(&two).unwrap(),
        sync,
        blocked(&[128, 64], &[1, 0], 4, 4).unwrap(),
        blocked(&[128, 64], &[0, 1], 8, 4).unwrap(),
    ];
    for from in &all {
        for to in &all {
            for bits in [8, 16, 32, 64] {
                both_ways(from, to, bits);
            }
        }
    }
}

#[test]
fn what_cannot_be_converted_is_refused_g12() {
    let refused = |from: &str, to: &str, bits| {
        let (from, to): (Layout, Layout) = (from.parse().unwrap(), to.parse().unwrap());
        convert(&from, &to, bits, &Prices::default()).expect_err("refused").code()
    };
    let two = "(lane: 1@dim0) -> (dim0: 2)";
    assert_eq!(refused("(lane: 0) -> (dim0: 2)", two, 32), "not-held");
    assert_eq!(refused("(lane: 1@dim0) -> (dim0: 4)", two, 32), "mismatch");
    assert_eq!(refused("(register: 1@dim0) -> (dim0: 2)", two, 32), "mismatch");
    assert_eq!(refused("(offset: 1@dim0) -> (dim0: 2)", "(offset: 1@dim0) -> (dim0: 2)", 32), "mismatch");
    assert_eq!(refused(two, two, 24), "instruction");
    assert_eq!(
        refused("(lane: 1@dim0; cta: 2@dim0) -> (dim0: 4)", "(lane: 2@dim0; cta: 1@dim0) -> (dim0: 4)", 32),
        "across-ctas"
    );
    // The same split among CTAs is fine.
    let (from, to): (Layout, Layout) = (
        "(register: 1@dim0; lane: 2@dim0; cta: 4@dim0) -> (dim0: 8)".parse().unwrap(),
        "(register: 2@dim0; lane: 1@dim0; cta: 4@dim0) -> (dim0: 8)".parse().unwrap(),
    );
    both_ways(&from, &to, 32);
}
