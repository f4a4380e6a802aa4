//! The PTX reader, printer and decoder: no panic on any text, nothing unbounded, and what is read prints back.
#![no_main]
use libfuzzer_sys::fuzz_target;
use warploom_testing::{emulator::any_module_is_judged, ptx::any_text_is_judged};

fuzz_target!(|text: &str| {
    let judged = any_text_is_judged(text).and_then(|()| any_module_is_judged(text));
    assert_eq!(judged, Ok(()), "{text}");
});
