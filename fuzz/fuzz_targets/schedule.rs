//! Random loops: every answer passes the checker and keeps the laws of S87.
#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(law) = warploom_sched::fuzzing::schedule_bytes(data) {
        panic!("{law}");
    }
});
