//! Short random programs on the emulator: no panic, an end, and the same seed gives the same report.
#![no_main]
use libfuzzer_sys::fuzz_target;
use warploom_emulator::fuzzing::{Program, execute};

fuzz_target!(|program: Program| {
    execute(&program);
});
