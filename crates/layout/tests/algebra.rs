//! Laws of the operations, on random layouts (G1, G2, G5, G6).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{points, recipe, shape};
use proptest::prelude::*;
use warploom_layout::{Dim, Layout};

/// A map of a tile's places onto places of a tile of the same shape.
fn within(shape: &[u64], recipe: &common::Recipe) -> Layout {
    let layout = recipe.layout(shape, 0, 0);
    // Registers, read as the row-major number of a place.
    let count: u64 = shape.iter().product();
    let number = warploom_layout::row_major(shape).expect("powers of two");
    let as_registers = number.rename_outputs(|_| Dim::Register).expect("one output");
    assert_eq!(number.output_size(Dim::Offset), count);
    as_registers.then(&layout).expect("as many numbers")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::with_cases(64) })]

    #[test]
    fn composition_is_associative_g6(shape in shape(10), a in recipe(), b in recipe(), c in recipe()) {
        let (a, b, c) = (a.layout(&shape, 5, 1), within(&shape, &b), within(&shape, &c));
        let left = a.then(&b).unwrap().then(&c).unwrap();
        prop_assert_eq!(&left, &a.then(&b.then(&c).unwrap()).unwrap());
        for at in points(&a.inputs()).into_iter().step_by(7) {
            let step = c.apply(&b.apply(&a.apply(&at).unwrap()).unwrap()).unwrap();
            prop_assert_eq!(left.apply(&at).unwrap(), step);
        }
    }

    #[test]
    fn a_layout_times_its_inverse_is_the_identity_g6(shape in shape(12), recipe in recipe()) {
        let layout = recipe.layout(&shape, 5, 2);
        prop_assert!(layout.is_onto());
        let back = layout.inverse();
        prop_assert_eq!(back.then(&layout).unwrap(), Layout::identity(&layout.outputs()).unwrap());
        prop_assert_eq!(&layout.then(&back).unwrap().then(&layout).unwrap(), &layout);
        // The inverse leads to owners, whose copies' bits are zero (G11).
        for at in points(&layout.outputs()).into_iter().step_by(5) {
            for (dim, number) in back.apply(&at).unwrap() {
                prop_assert_eq!(number & layout.copy_bits(dim), 0);
            }
        }
        let owners = layout.owners();
        prop_assert!(layout.equals_but_copies(&owners) && owners.rank() == layout.rank());
        prop_assert_eq!(owners.inverse().then(&owners).unwrap(), back.then(&layout).unwrap());
        prop_assert_eq!(layout.image_basis().len() as u32, layout.rank());
    }

    #[test]
    fn copies_are_where_the_basis_leads(shape in shape(8), recipe in recipe()) {
        let layout = recipe.layout(&shape, 5, 1);
        let basis = layout.copies_basis();
        prop_assert_eq!(basis.len() as u32 + layout.rank(), layout.inputs().iter().map(|(_, n)| n.ilog2()).sum::<u32>());
        for copy in basis {
            prop_assert!(layout.apply(&copy).unwrap().iter().all(|(_, value)| *value == 0));
        }
    }

    #[test]
    fn a_product_divides_by_its_left_factor_g5(a in shape(6), b in shape(6), ra in recipe(), rb in recipe()) {
        let (a, b) = (ra.layout(&a, 2, 1), rb.layout(&b, 3, 0));
        let product = a.times(&b).unwrap();
        prop_assert_eq!(product.divide(&a), Some(b.clone()));
        for (x, y) in points(&a.inputs()).into_iter().zip(points(&b.inputs())) {
            let raise = |(dim, n): &(Dim, u64)| {
                (*dim, n * a.input_size(*dim) + x.iter().find(|(d, _)| d == dim).map_or(0, |p| p.1))
            };
            let mut at: Vec<_> = y.iter().map(raise).collect();
            at.extend(x.iter().filter(|(dim, _)| y.iter().all(|(d, _)| d != dim)));
            let (low, high) = (a.apply(&x).unwrap(), b.apply(&y).unwrap());
            for (dim, value) in product.apply(&at).unwrap() {
                let part = |list: &[(Dim, u64)]| list.iter().find(|(d, _)| *d == dim).map_or(0, |p| p.1);
                prop_assert_eq!(value, part(&low) + part(&high) * a.output_size(dim));
            }
        }
    }

    #[test]
    fn text_reads_back_g1(shape in shape(12), recipe in recipe()) {
        let layout = recipe.layout(&shape, 5, 2);
        let text = layout.to_string();
        prop_assert_eq!(&text.parse::<Layout>().unwrap(), &layout);
        let json = serde_json::to_string(&layout).unwrap();
        prop_assert_eq!(serde_json::from_str::<Layout>(&json).unwrap(), layout);
    }

    #[test]
    fn no_text_panics(text in "[(): ,;@^0-9a-z>-]{0,60}") {
        if let Ok(layout) = text.parse::<Layout>() {
            prop_assert_eq!(layout.to_string().parse::<Layout>().unwrap(), layout);
        }
    }
}

#[test]
fn text_is_canonical_in_order_and_sizes() {
    let read = |text: &str| text.parse::<Layout>().unwrap();
    let a = read("(lane: 1@dim0; register: 1@dim1, 0) -> (dim1: 2, dim0: 2, dim2: 1)");
    assert_eq!(a.to_string(), "(register: 1@dim1, 0; lane: 1@dim0) -> (dim0: 2, dim1: 2)");
    assert_eq!(a, read(" ( register : 1@dim1,0;lane:1@dim0)->(dim0:2,dim1:2) "));
    assert_eq!(read("() -> ()"), Layout::default());
    assert_eq!(read("(lane: 3@dim0^1@dim1) -> (dim0: 4, dim1: 2)").image(Dim::Lane, 0, Dim::Axis(0)), 3);
}

#[test]
fn what_is_refused_names_the_place_and_the_rule_g1() {
    for (text, code, message) in [
        ("(lane: 1@dim0) -> (dim0: 3)", "size", "dim0 has size 3, which is no power of two"),
        ("(lane: 2@dim0) -> (dim0: 2)", "outside", "2 lies outside of dim0, which has size 2"),
        ("(lane: 1@x) -> (dim0: 2)", "name", "\"x\" names no dimension"),
        ("(lane 1@dim0) -> (dim0: 2)", "text", "at byte 6: expected :"),
        ("(lane: 1@dim0; lane: 0) -> (dim0: 2)", "shape", "lane is an input twice"),
        ("(lane: 0) -> (dim0: 2, dim0: 2)", "shape", "dim0 is an output twice"),
        ("() -> (dim0: 9223372036854775808, dim1: 2)", "too-large", "64 bits of outputs; at most 63 fit"),
        ("() -> () x", "text", "at byte 9: expected the end"),
    ] {
        let error = text.parse::<Layout>().expect_err(text);
        assert_eq!((error.code(), error.to_string().as_str()), (code, message));
        assert!(error.rule().starts_with('G') && !error.remedy().is_empty());
    }
    let small = Layout::identity(&[(Dim::Axis(0), 2)]).unwrap();
    let large = Layout::identity(&[(Dim::Axis(0), 4)]).unwrap();
    assert_eq!(large.then(&small).expect_err("larger").code(), "mismatch");
    assert!(small.then(&large).is_ok());
    assert!(small.rename_outputs(|_| Dim::Row).is_ok());
}

#[test]
fn large_layouts_cost_no_enumeration_g1() {
    // Rank 10 and 2^40 elements.
    let dims: Vec<(Dim, u64)> = (0..10).map(|i| (Dim::Axis(i), 16)).collect();
    let pieces: Vec<_> = dims.iter().map(|&(dim, size)| (Dim::Offset, dim, size)).collect();
    let layout = Layout::of(&pieces).unwrap();
    assert!(layout.is_onto() && layout.is_one_to_one());
    assert_eq!(layout.then(&layout.inverse()).unwrap(), Layout::identity(&[(Dim::Offset, 1 << 40)]).unwrap());
    let half = layout.restrict(Dim::Offset, 1 << 20).unwrap();
    assert_eq!((half.rank(), half.is_onto()), (20, false));
    let undone = half.then(&half.inverse()).unwrap();
    assert_eq!(undone, Layout::identity(&[(Dim::Offset, 1 << 20)]).unwrap());
    assert_eq!(layout.only(&[Dim::Lane]).unwrap().rank(), 0);
    assert_eq!(layout.project(&[Dim::Axis(3)]).unwrap().outputs(), [(Dim::Axis(3), 16)]);
    let low = Layout::of(&pieces[..2]).unwrap();
    assert!(layout.divide(&low).is_some() && low.divide(&layout).is_none());
}
