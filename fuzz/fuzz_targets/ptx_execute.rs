//! Short random programs on the emulator: no panic, an end, and the same seed gives the same report.
#![no_main]
use libfuzzer_sys::fuzz_target;
use warploom_testing::emulator::{program_of, runs_alike};

fuzz_target!(|bytes: &[u8]| {
    let program = program_of(bytes);
    if let Err(why) = runs_alike(&program) {
        panic!("{why}\n{}", program.text);
    }
});
