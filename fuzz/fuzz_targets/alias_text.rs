//! Arbitrary text as storage-alias specs: no panic, and lowered text lowers to itself. The same bytes as a
//! StableHLO function: refused, or its storage is right.
#![no_main]
use libfuzzer_sys::fuzz_target;
use warploom_testing::{alias::text_is_stable, stablehlo};

fuzz_target!(|data: &[u8]| {
    if let Err(text) = text_is_stable(&String::from_utf8_lossy(data)) {
        panic!("lowers to another text:\n{text}");
    }
    if let Err(text) = stablehlo::storage_is_right(&stablehlo::function(data)) {
        panic!("storage is wrong, or the text is not stable:\n{text}");
    }
});
