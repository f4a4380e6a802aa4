//! Random packing problems and random CSV: every outcome passes the packing checker (B64).
#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(law) = warploom_testing::bufassign::pack_bytes(data) {
        panic!("{law}");
    }
});
