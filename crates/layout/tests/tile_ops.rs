//! Operations on whole tiles against index arithmetic (G5, G6).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Recipe, points, recipe, shape};
use proptest::prelude::*;
use warploom_layout::{Dim, Layout, TileOp};

/// Number of an element in row-major order, dimension by dimension.
fn number(shape: &[u64], at: &[u64]) -> u64 {
    shape.iter().zip(at).fold(0, |sum, (size, x)| sum * size + x)
}

fn coordinates(shape: &[u64], mut number: u64) -> Vec<u64> {
    let mut at = vec![0; shape.len()];
    for (x, size) in at.iter_mut().zip(shape).rev() {
        *x = number % size;
        number /= size;
    }
    at
}

/// Where an element of the result comes from: the operand, and its coordinates there.
fn meaning(op: &TileOp, part: u64, at: &[u64]) -> (u64, Vec<u64>) {
    match op {
        TileOp::Reshape { from, to } => (0, coordinates(from, number(to, at))),
        TileOp::Trans { order, shape } => {
            let mut operand = vec![0; shape.len()];
            for (i, &j) in order.iter().enumerate() {
                operand[j] = at[i];
            }
            (0, operand)
        }
        TileOp::ExpandDims { axis, .. } => {
            (0, at.iter().enumerate().filter(|(i, _)| i != axis).map(|(_, x)| *x).collect())
        }
        TileOp::Broadcast { from, .. } => {
            (0, at.iter().zip(from).map(|(x, size)| if *size == 1 { 0 } else { *x }).collect())
        }
        TileOp::Splat { .. } => (0, Vec::new()),
        TileOp::Join { shape } => (at[shape.len()], at[..shape.len()].to_vec()),
        TileOp::Split { .. } => (0, at.iter().copied().chain([part]).collect()),
        TileOp::Cat { shape, axis } => {
            let mut operand = at.to_vec();
            operand[*axis] %= shape[*axis];
            (at[*axis] / shape[*axis], operand)
        }
        other => panic!("{other:?} is no such operation"),
    }
}

fn named(at: &[u64]) -> Vec<(Dim, u64)> {
    at.iter().enumerate().map(|(i, &x)| (Dim::Axis(i as u8), x)).collect()
}

fn listed(rank: usize, at: &[(Dim, u64)]) -> Vec<u64> {
    (0..rank).map(|i| at.iter().find(|(dim, _)| *dim == Dim::Axis(i as u8)).map_or(0, |p| p.1)).collect()
}

fn register(at: &[(Dim, u64)]) -> u64 {
    at.iter().find(|(dim, _)| *dim == Dim::Register).map_or(0, |p| p.1)
}

fn with_register(at: &[(Dim, u64)], register: u64) -> Vec<(Dim, u64)> {
    at.iter().filter(|(dim, _)| *dim != Dim::Register).copied().chain([(Dim::Register, register)]).collect()
}

/// Every register of the result has what the operation says, from a register of the same lane.
fn follows(op: &TileOp, operand: &Layout, result: &Layout) {
    let (from, to) = (op.operand_shape().len(), op.result_shape().unwrap().len());
    let held = operand.input_size(Dim::Register);
    let parts = if matches!(op, TileOp::Split { .. }) { 2 } else { 1 };
    for part in 0..parts {
        for place in points(&result.inputs()) {
            let element = listed(to, &result.apply(&place).unwrap());
            let (which, wanted) = meaning(op, part, &element);
            let r = register(&place);
            let source = match op {
                TileOp::Split { .. } => {
                    let bit = op.part_bit(operand).unwrap().expect("a bit that tells the halves apart");
                    (r >> bit << (bit + 1)) + (part << bit) + r % (1 << bit)
                }
                TileOp::Join { .. } | TileOp::Cat { .. } => {
                    let bit = op.part_bit(result).unwrap().expect("a bit that tells the parts apart");
                    assert_eq!(r >> bit & 1, which, "{op:?}");
                    (r >> (bit + 1) << bit) + r % (1 << bit)
                }
                _ => r % held,
            };
            let found = operand.apply(&with_register(&place, source)).unwrap();
            assert_eq!(listed(from, &found), wanted, "{op:?} at {place:?}");
        }
    }
}

fn check(op: &TileOp, operand: &Recipe, result: &Recipe) {
    let (from, to) = (op.operand_shape(), op.result_shape().unwrap());
    let operand = operand.layout(&from, 5, 1);
    if let Some(forward) = op.forward(&operand).unwrap() {
        assert!(forward.is_onto());
        follows(op, &operand, &forward);
    }
    let result = result.layout(&to, 5, 1);
    if let Some(backward) = op.backward(&result).unwrap() {
        assert!(backward.is_onto());
        follows(op, &backward, &result);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::with_cases(48) })]

    #[test]
    fn reshapes_keep_the_order_g6(shape in shape(9), cut in any::<u32>(), a in recipe(), b in recipe()) {
        let count: u64 = shape.iter().product();
        let first = 1 << (cut % (count.ilog2() + 1));
        let op = TileOp::Reshape { from: shape.clone(), to: vec![first, 1, count / first] };
        check(&op, &a, &b);
        let back = TileOp::Reshape { from: vec![first, 1, count / first], to: shape.clone() };
        let layout = a.layout(&shape, 5, 1);
        let there = op.forward(&layout).unwrap().unwrap();
        prop_assert_eq!(back.forward(&there).unwrap().unwrap(), layout.clone());
        prop_assert_eq!(op.backward(&there).unwrap().unwrap(), layout);
    }

    #[test]
    fn transpositions_move_coordinates(shape in shape(9), turn in 0usize..6, a in recipe(), b in recipe()) {
        let mut order: Vec<usize> = (0..shape.len()).collect();
        order.rotate_left(turn % shape.len());
        if order.len() > 2 {
            order.swap(0, 1);
        }
        check(&TileOp::Trans { shape, order }, &a, &b);
    }

    #[test]
    fn new_dimensions_and_copies(shape in shape(8), axis in 0usize..6, a in recipe(), b in recipe()) {
        let axis = axis % (shape.len() + 1);
        let expand = TileOp::ExpandDims { shape: shape.clone(), axis };
        check(&expand, &a, &b);
        let from = expand.result_shape().unwrap();
        let mut to = from.clone();
        to[axis] = 4;
        check(&TileOp::Broadcast { from, to }, &a, &b);
        check(&TileOp::Splat { to: shape }, &a, &b);
    }

    #[test]
    fn joins_and_splits_and_cats(shape in shape(7), axis in 0usize..6, a in recipe(), b in recipe()) {
        let join = TileOp::Join { shape: shape.clone() };
        check(&join, &a, &b);
        let split = TileOp::Split { shape: join.result_shape().unwrap() };
        check(&split, &a, &b);
        // There and back.
        let layout = a.layout(&shape, 5, 1);
        let joined = join.forward(&layout).unwrap().unwrap();
        prop_assert_eq!(split.forward(&joined).unwrap(), Some(layout.clone()));
        prop_assert_eq!(join.backward(&joined).unwrap(), Some(layout));
        check(&TileOp::Cat { axis: axis % shape.len(), shape }, &a, &b);
    }

    #[test]
    fn a_reduced_axis_is_left_out_g15(shape in shape(8), axis in 0usize..6, a in recipe()) {
        let axis = axis % shape.len();
        let op = TileOp::Reduce { shape: shape.clone(), axis };
        let layout = a.layout(&shape, 5, 1);
        let slice = op.forward(&layout).unwrap().unwrap();
        prop_assert!(slice.is_onto());
        for place in points(&layout.inputs()) {
            let mut at = listed(shape.len(), &layout.apply(&place).unwrap());
            at.remove(axis);
            let found = slice.apply(&place).unwrap();
            prop_assert_eq!(listed(shape.len() - 1, &found), at);
        }
        let wide = op.backward(&slice.owners()).unwrap().unwrap();
        prop_assert!(wide.is_onto() && op.forward(&wide).unwrap().unwrap().equals_but_copies(&slice.owners()));
    }
}

#[test]
fn what_does_not_fit_together_is_refused_g5() {
    for op in [
        TileOp::Reshape { from: vec![4, 4], to: vec![8] },
        TileOp::Reshape { from: vec![1 << 40, 1 << 40], to: vec![1 << 40, 1 << 40] },
        TileOp::Trans { shape: vec![4, 4], order: vec![0, 0] },
        TileOp::ExpandDims { shape: vec![4], axis: 2 },
        TileOp::Broadcast { from: vec![2, 4], to: vec![4, 4] },
        TileOp::Split { shape: vec![4, 4] },
        TileOp::Cat { shape: vec![4], axis: 1 },
        TileOp::Reduce { shape: vec![4], axis: 1 },
        TileOp::Splat { to: vec![3] },
        TileOp::Splat { to: vec![1; 300] },
    ] {
        let error = op.map().expect_err("refused");
        assert!(matches!(error.code(), "shape" | "size"), "{op:?}: {error}");
    }
    assert_eq!(named(&[3]), [(Dim::Axis(0), 3)]);
}
