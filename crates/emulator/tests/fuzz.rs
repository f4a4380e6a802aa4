//! A second of what the fuzz targets do (E96).
#![cfg(feature = "fuzzing")]

use arbitrary::{Arbitrary, Unstructured};
use warploom_emulator::fuzzing::{Program, execute, read};

fn bytes(seed: u64, n: usize) -> Vec<u8> {
    let mut s = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..n)
        .map(|_| {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            (s >> 32) as u8
        })
        .collect()
}

#[test]
fn short_programs_run_alike_twice() {
    let mut clean = 0;
    for seed in 0..120 {
        let data = bytes(seed, 400);
        if let Ok(p) = Program::arbitrary(&mut Unstructured::new(&data)) {
            clean += usize::from(execute(&p));
        }
    }
    println!("{clean} of 120 programs ran clean");
    assert!(clean > 2, "the generator makes too few clean programs: {clean}");
}

#[test]
fn damaged_modules_do_not_panic() {
    let good = include_str!("fixtures/ring.ptx");
    for seed in 0..600_u64 {
        let mut text = good.as_bytes().to_vec();
        for b in bytes(seed, 12).chunks(3) {
            let at = (usize::from(b[0]) << 8 | usize::from(b[1])) % text.len();
            match b[2] % 3 {
                0 => text[at] = b[2] >> 1,
                1 => {
                    text.remove(at);
                }
                _ => text.insert(at, b"[]{}();,.:%@!|+-0"[usize::from(b[2]) % 17]),
            }
        }
        read(&String::from_utf8_lossy(&text));
    }
    read(&"(".repeat(200_000));
    read(&"{".repeat(200_000));
    read(&format!(".version 8.0\n.target sm_90a\n.visible .entry k() {}", "{".repeat(200_000)));
}
