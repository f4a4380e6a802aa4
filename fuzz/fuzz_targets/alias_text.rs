//! Arbitrary text as storage-alias specs: no panic, and lowered text lowers to itself.
#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(text) = warploom_alias::fuzzing::text_is_stable(&String::from_utf8_lossy(data)) {
        panic!("lowers to another text:\n{text}");
    }
});
