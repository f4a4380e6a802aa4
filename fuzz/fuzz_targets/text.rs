//! The text reader: no panic, errors have a place, what is printed reads back.
#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(law) = warploom_ir::fuzzing::check_bytes(data) {
        panic!("{law}");
    }
});
