//! Reductions and scans, carried out by the checker (G15).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{recipe, shape};
use proptest::prelude::*;
use warploom_layout::check::Violation;
use warploom_layout::fragment::wgmma;
use warploom_layout::{AxisStep, Dim, Layout, Level, blocked, check, reduction, scan};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::with_cases(64) })]

    #[test]
    fn every_axis_is_combined_once_and_in_order_g15(
        shape in shape(8), axis in 0usize..6, recipe in recipe(), warps in 0usize..2
    ) {
        let layout = recipe.layout(&shape, 4, warps);
        let axis = Dim::Axis((axis % shape.len()) as u8);
        let steps = reduction(&layout, axis).unwrap();
        prop_assert_eq!(1 << steps.len(), layout.output_size(axis));
        prop_assert!(steps.is_sorted_by_key(|step| step.level));
        check::reduction(&layout, axis, &steps).unwrap();
        let steps = scan(&layout, axis).unwrap();
        for backward in [false, true] {
            check::scan(&layout, axis, &steps, backward).unwrap();
        }
    }

    #[test]
    fn a_broken_plan_is_caught(shape in shape(8), axis in 0usize..6, recipe in recipe(), pick in any::<usize>()) {
        let layout = recipe.layout(&shape, 4, 1);
        let axis = Dim::Axis((axis % shape.len()) as u8);
        let steps = scan(&layout, axis).unwrap();
        prop_assume!(!steps.is_empty());
        let at = pick % steps.len();
        for broken in mutants(&steps, at) {
            prop_assert!(check::scan(&layout, axis, &broken, false).is_err(), "{:?}", broken);
        }
        let steps = reduction(&layout, axis).unwrap();
        for broken in mutants(&steps, at).into_iter().take(2) {
            let caught = check::reduction(&layout, axis, &broken).expect_err("broken");
            prop_assert_eq!(caught.rule(), "G15");
        }
    }
}

/// A step left out, one done twice, and, for scans, the bit of another one.
fn mutants(steps: &[AxisStep], at: usize) -> Vec<Vec<AxisStep>> {
    let mut dropped = steps.to_vec();
    let step = dropped.remove(at);
    let mut twice = steps.to_vec();
    twice.insert(at, step);
    let mut all = vec![dropped, twice];
    if steps.len() > 1 {
        let mut turned = steps.to_vec();
        turned.swap(0, steps.len() - 1);
        all.push(turned);
    }
    all
}

#[test]
fn rows_and_columns_of_accumulators_g15() {
    let layout = wgmma::accumulator(32).unwrap();
    let level = |steps: &[AxisStep]| steps.iter().map(|step| step.level).collect::<Vec<_>>();
    let row = reduction(&layout, Dim::Axis(1)).unwrap();
    assert_eq!(
        level(&row),
        [Level::Registers, Level::Registers, Level::Registers, Level::Lanes, Level::Lanes]
    );
    // C65: shuffles by 1 and 2 along a row; by 4, 8, 16 and across warps along a column.
    assert_eq!(row.iter().map(|step| step.lane).collect::<Vec<_>>(), [0, 0, 0, 1, 2]);
    let column = reduction(&layout, Dim::Axis(0)).unwrap();
    assert_eq!(
        column.iter().map(|step| (step.register, step.lane, step.warp)).collect::<Vec<_>>(),
        [(2, 0, 0), (0, 4, 0), (0, 8, 0), (0, 16, 0), (0, 0, 1), (0, 0, 2)]
    );
}

#[test]
fn copies_count_once_g15() {
    // Four elements on 32 lanes of four warps.
    let layout = blocked(&[4], &[0], 1, 4).unwrap();
    let steps = reduction(&layout, Dim::Axis(0)).unwrap();
    assert_eq!(steps.iter().map(|step| step.lane).collect::<Vec<_>>(), [1, 2]);
    check::reduction(&layout, Dim::Axis(0), &steps).unwrap();
    let across = AxisStep { lane: 4, axis: 0, ..steps[0] };
    let caught = check::reduction(&layout, Dim::Axis(0), &[steps[0], across]).expect_err("twice");
    assert!(matches!(caught, Violation::Combined { .. }));
    let beyond = AxisStep { lane: 32, ..steps[0] };
    assert!(matches!(check::reduction(&layout, Dim::Axis(0), &[beyond]), Err(Violation::Beyond { .. })));
}

#[test]
fn what_is_not_held_is_refused_g15() {
    let half: Layout = "(lane: 1@dim0) -> (dim0: 4)".parse().unwrap();
    assert_eq!(reduction(&half, Dim::Axis(0)).expect_err("half").code(), "not-held");
    assert_eq!(scan(&half, Dim::Axis(0)).expect_err("half").code(), "not-held");
    let memory: Layout = "(offset: 1@dim0) -> (dim0: 2)".parse().unwrap();
    assert_eq!(scan(&memory, Dim::Axis(0)).expect_err("memory").code(), "shape");
    let large: Layout = "(register: 1@dim0) -> (dim0: 2)".parse().unwrap();
    let large = large.times(&Layout::copies(Dim::Register, 1 << 40).unwrap()).unwrap();
    let steps = reduction(&large, Dim::Axis(0)).unwrap();
    assert!(matches!(check::reduction(&large, Dim::Axis(0), &steps), Err(Violation::TooLarge { .. })));
}
