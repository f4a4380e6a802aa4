//! The whole way from generated text to PTX, damaged text included: what does not compile is refused with a reason.
#![cfg(feature = "llvm")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

use warploom::{Options, Target, compile, read};
use warploom_testing::ir::tape;
use warploom_testing::pipeline::{reasoned, text};

#[test]
fn generated_kernels_compile_or_are_refused() {
    let target = Target::named("sm_90a").unwrap();
    let (mut compiled, mut refused) = (0, 0);
    for seed in 0..48u64 {
        let bytes = tape(seed, 40);
        match read(&text(&bytes)).and_then(|module| compile(&module, &target, &Options::default())) {
            Ok(_) => compiled += 1,
            Err(refusals) => {
                reasoned(&refusals).unwrap_or_else(|law| panic!("seed {seed}: {law}"));
                refused += 1;
            }
        }
    }
    println!("{compiled} compiled, {refused} refused");
    assert!(compiled > 0 && refused > 0, "{compiled} compiled, {refused} refused: the generator is useless");
}
