//! The laws of the reader on generated texts, on the texts of this repository, and on nonsense.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

use proptest::prelude::*;
use warploom_testing::ptx::{
    any_text_is_judged, damaged, flow_is_right, flow_texts, module_texts, prints_back,
};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn what_is_read_prints_back(text in module_texts()) {
        prop_assert_eq!(prints_back(&text), Ok(()));
    }

    #[test]
    fn damaged_texts_are_judged(text in damaged(module_texts())) {
        prop_assert_eq!(any_text_is_judged(&text), Ok(()));
    }

    #[test]
    fn any_text_at_all_is_judged(text in ".*") {
        prop_assert_eq!(any_text_is_judged(&text), Ok(()));
    }

    #[test]
    fn control_flow_is_that_of_the_definition(text in flow_texts()) {
        prop_assert_eq!(flow_is_right(&text), Ok(()));
    }
}

/// Texts that nest without end.
#[test]
fn deep_texts_are_judged() {
    let head = ".version 8.0\n.target sm_90a\n";
    for text in [
        "(".repeat(200_000),
        "{".repeat(200_000),
        format!("{head}.visible .entry k() {}", "{".repeat(200_000)),
        format!("{head}.global .b8 x[] = {}", "{".repeat(200_000)),
        format!("{head}.section .debug {}", "{".repeat(200_000)),
    ] {
        assert_eq!(any_text_is_judged(&text), Ok(()));
    }
}
