//! Random reuse-group trees: every layout keeps the checker's laws, and so does their text when lowered.
#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(findings) = warploom_alias::fuzzing::layout_is_right(data) {
        panic!("{findings:?}");
    }
    if let Err(findings) = warploom_alias::fuzzing::lowering_is_right(data) {
        panic!("{findings:?}");
    }
});
