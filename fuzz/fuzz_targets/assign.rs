//! Random problems and random text: whatever is accepted passes the checker and the replay of B76.
#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(law) = warploom_testing::bufassign::assign_bytes(data) {
        panic!("{law}");
    }
});
