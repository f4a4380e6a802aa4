//! Properties of random functions.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use warploom_testing::stablehlo::{functions, storage_is_right};

/// The same cases on every run.
fn fixed() -> ProptestConfig {
    let rng_seed = prop::test_runner::RngSeed::Fixed(5);
    ProptestConfig { cases: 150, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(fixed())]

    /// Random pairs and loops are refused or obey L16, and what is lowered lowers to itself.
    #[test]
    fn texts_are_refused_or_right(text in functions()) {
        prop_assert_eq!(storage_is_right(&text), Ok(()));
    }
}
