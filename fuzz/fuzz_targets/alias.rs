//! Random reuse-group trees: every layout keeps the checker's laws, and so does their text when lowered.
#![no_main]
use libfuzzer_sys::fuzz_target;
use warploom_testing::alias::bytes_keep_the_laws;

fuzz_target!(|data: &[u8]| {
    if let Err(broken) = bytes_keep_the_laws(data) {
        panic!("{broken}");
    }
});
