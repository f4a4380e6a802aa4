//! The text reader: no panic, errors have a place, what is printed reads back.
#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(law) = warploom_testing::ir::bytes_keep_the_laws(data) {
        panic!("{law}");
    }
});
