//! The whole way from text to PTX: compiled with every checker passed, or refused with a reason.
#![no_main]
use libfuzzer_sys::fuzz_target;
use warploom_testing::pipeline::{reasoned, text};

fuzz_target!(|data: &[u8]| {
    let hopper = warploom::Target::named("sm_90a").expect("a built-in chip");
    let compiled = warploom::read(&text(data)).and_then(|m| warploom::compile(&m, &hopper, &warploom::Options::default()).map(drop));
    if let Err(law) = compiled.or_else(|refusals| reasoned(&refusals)) {
        panic!("{law}");
    }
});
