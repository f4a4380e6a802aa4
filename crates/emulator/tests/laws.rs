//! The laws of the emulator on generated programs and on damaged texts (E96).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use warploom_testing::emulator::{any_module_is_judged, program_of, programs, runs_alike};
use warploom_testing::ptx::{damaged, module_texts};

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::with_cases(120) })]

    #[test]
    fn short_programs_run_alike_twice(program in programs()) {
        if let Err(why) = runs_alike(&program) {
            return Err(TestCaseError::fail(format!("{why}\n{}", program.text)));
        }
    }
}

/// A generator whose programs are all wrong would test little.
#[test]
fn some_programs_run_clean() {
    let mut runner = TestRunner::deterministic();
    let made = (0..120).map(|_| programs().new_tree(&mut runner).unwrap().current());
    let clean = made.filter(|program| runs_alike(program).unwrap()).count();
    println!("{clean} of 120 programs ran clean");
    assert!(clean > 2, "the generator makes too few clean programs: {clean}");
}

/// The bytes of a fuzzer make programs that differ, however few they are.
#[test]
fn bytes_stand_for_programs() {
    let bytes: Vec<u8> = (0..400_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    assert_ne!(program_of(&bytes).text, program_of(&bytes[1..]).text);
    for n in 0..60 {
        runs_alike(&program_of(&bytes[..n])).unwrap();
    }
}

proptest! {
    #[test]
    fn modules_of_any_grammar_are_judged(text in module_texts()) {
        prop_assert_eq!(any_module_is_judged(&text), Ok(()));
    }

    #[test]
    fn damaged_modules_are_judged(text in damaged(Just(include_str!("fixtures/ring.ptx").to_owned()))) {
        prop_assert_eq!(any_module_is_judged(&text), Ok(()));
    }
}

#[test]
fn deep_texts_are_judged() {
    for text in [
        "(".repeat(200_000),
        "{".repeat(200_000),
        format!(".version 8.0\n.target sm_90a\n.visible .entry k() {}", "{".repeat(200_000)),
    ] {
        assert_eq!(any_module_is_judged(&text), Ok(()));
    }
}
