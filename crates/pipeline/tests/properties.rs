//! Laws over generated kernels.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use proptest::prelude::*;
use warploom_pipeline::CompileOptions;
use warploom_testing::pipeline::{Kernel, Outcome, any_kernels, exercise, kernels, options};
use warploom_testing::repeatable;

proptest! {
    #![proptest_config(repeatable())]

    /// What compiles is right under every checker and resumes from every form; the rest is refused.
    #[test]
    fn generated_kernels_compile_or_are_refused(kernel in any_kernels(), options in options()) {
        let outcome = exercise(&kernel.text(), &common::hopper(), &options, 2);
        prop_assert!(outcome.is_ok(), "{kernel:?}: {outcome:?}\n{}", kernel.text());
    }

    /// The same of kernels most of which compile.
    #[test]
    fn legal_kernels_compile_or_are_refused(kernel in kernels(), options in options()) {
        let outcome = exercise(&kernel.text(), &common::hopper(), &options, 2);
        prop_assert!(outcome.is_ok(), "{kernel:?}: {outcome:?}\n{}", kernel.text());
    }

    /// Truncated and spliced text is refused, never a panic.
    #[test]
    fn damaged_text_never_panics(kernel in any_kernels(), cut in 0.0..1.0f64, swap in any::<u8>()) {
        let mut text = kernel.text();
        let at = (text.len() as f64 * cut) as usize;
        text.replace_range(at..(at + 1).min(text.len()), &String::from(char::from(swap % 128)));
        let outcome = exercise(&text, &common::hopper(), &CompileOptions::default(), 1);
        prop_assert!(outcome.is_ok(), "{outcome:?}\n{text}");
    }
}

#[test]
fn the_generator_is_not_useless() {
    let mut compiled = 0;
    for seed in 0..200u64 {
        let bytes: Vec<u8> = (0..20u64)
            .map(|i| (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (i * 3)) as u8 ^ i as u8)
            .collect();
        let text = Kernel::from_bytes(&bytes).text();
        warploom_ir::parse(&text).unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]));
        compiled +=
            usize::from(exercise(&text, &common::hopper(), &common::several(), 0) == Ok(Outcome::Compiled));
    }
    println!("{compiled} of 200 generated kernels compile");
    assert!((60..200).contains(&compiled), "{compiled}");
}
