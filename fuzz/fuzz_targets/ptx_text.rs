//! The PTX reader and decoder: no panic on any text, nothing unbounded.
#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| warploom_emulator::fuzzing::read(text));
