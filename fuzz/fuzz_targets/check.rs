//! Arbitrary text as loop and as schedule: no panic, no verdict without a reason.
#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    warploom_testing::sched::laws::any_text_is_judged(&String::from_utf8_lossy(data)).expect("the laws");
});
