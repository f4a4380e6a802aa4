//! The whole way from text to PTX: compiled with every checker passed, or refused with a reason.
#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let target = warploom::Target::named("sm_90a").expect("a built-in chip");
    if let Err(law) = warploom::fuzzing::compile_bytes(data, &target) {
        panic!("{law}");
    }
});
