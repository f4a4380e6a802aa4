//! Arbitrary text as loop and as schedule: no panic, no verdict without a reason.
#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(law) = warploom_sched::fuzzing::check_bytes(data) {
        panic!("{law}");
    }
});
