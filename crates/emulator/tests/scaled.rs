//! Block-scaled products of tcgen05 against numbers from their definition: every kind, type of operand and place of the
//! scales in a word (E44).
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

use warploom_chips::Target;
use warploom_emulator::{Arg, Device, Launch, Module, RunOptions};

/// A type of operands: its code in the descriptor, bits, elements of 16 bytes, and the value of its bits.
#[derive(Clone, Copy)]
struct Kind {
    code: u32,
    bits: u32,
    chunk: usize,
    exponent: u32,
    mantissa: u32,
}

impl Kind {
    fn value(self, bits: u32) -> f64 {
        let sign = if bits >> (self.exponent + self.mantissa) & 1 == 1 { -1.0 } else { 1.0 };
        let e = (bits >> self.mantissa & ((1 << self.exponent) - 1)) as i32;
        let m = f64::from(bits & ((1 << self.mantissa) - 1)) / f64::from(1 << self.mantissa);
        let bias = (1 << (self.exponent - 1)) - 1;
        sign * if e == 0 { m * 2_f64.powi(1 - bias) } else { (1.0 + m) * 2_f64.powi(e - bias) }
    }
}

const E4M3: Kind = Kind { code: 0, bits: 8, chunk: 16, exponent: 4, mantissa: 3 };
const E5M2: Kind = Kind { code: 1, bits: 8, chunk: 16, exponent: 5, mantissa: 2 };
const E2M3: Kind = Kind { code: 3, bits: 6, chunk: 16, exponent: 2, mantissa: 3 };
const E3M2: Kind = Kind { code: 4, bits: 6, chunk: 16, exponent: 3, mantissa: 2 };
const E2M1: Kind = Kind { code: 5, bits: 4, chunk: 16, exponent: 2, mantissa: 1 };
const PACKED: Kind = Kind { code: 1, bits: 4, chunk: 32, exponent: 2, mantissa: 1 };

/// Numbers of so many bits, of which none is infinite or no number.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, kind: Kind) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = (self.0 >> 40) as u32 & ((1 << kind.bits) - 1);
        // The highest exponent of eight bits has values that are no numbers.
        if kind.bits == 8 { bits & !(1 << kind.mantissa) } else { bits }
    }
}

/// An operand of 32 bytes of K: its bytes as the descriptors of the fixture find them, and its values.
fn operand(kind: Kind, rows: usize, numbers: &mut Numbers) -> (Vec<u8>, Vec<Vec<f64>>) {
    let mut image = vec![0; rows * 32];
    let mut values = vec![Vec::new(); rows];
    for chunk in 0..2 {
        for (r, row) in values.iter_mut().enumerate() {
            let mut all = 0_u128;
            for i in 0..kind.chunk {
                let bits = numbers.next(kind);
                all |= u128::from(bits) << (i as u32 * kind.bits);
                row.push(kind.value(bits));
            }
            let at = chunk * rows * 16 + r / 8 * 128 + r % 8 * 16;
            image[at..at + 16].copy_from_slice(&all.to_le_bytes());
        }
    }
    (image, values)
}

/// The scales of so many rows, four a row: their bytes for `tcgen05.cp`, and their values.
fn scales(rows: usize, powers: bool, numbers: &mut Numbers) -> (Vec<u8>, Vec<[f64; 4]>) {
    let mut image = vec![0; 512];
    let mut values = vec![[0.0; 4]; rows];
    for (r, row) in values.iter_mut().enumerate() {
        for (i, value) in row.iter_mut().enumerate() {
            let random = numbers.next(E4M3) & 0x7f;
            let bits = if powers { 120 + random % 16 } else { random };
            *value = if powers { 2_f64.powi(bits as i32 - 127) } else { E4M3.value(bits) };
            image[r % 32 * 16 + r / 32 * 4 + i] = bits as u8;
        }
    }
    (image, values)
}

/// Runs both products of the fixture; compares what is left in D.
fn compare(name: &str, (a, b): (Kind, Kind), along: usize, (id_a, id_b): (u32, u32), powers: bool) {
    let mut numbers = Numbers(u64::from(a.code * 64 + b.code * 8 + id_a * 4 + id_b) + 1);
    let (mut image, of_a) = operand(a, 128, &mut numbers);
    let (image_b, of_b) = operand(b, 32, &mut numbers);
    let (first, second, other) = (
        scales(128, powers, &mut numbers),
        scales(128, powers, &mut numbers),
        scales(32, powers, &mut numbers),
    );
    image.extend(image_b);
    for (bytes, _) in [&first, &other, &second] {
        image.extend(bytes);
    }
    let k = of_a[0].len();
    let mut want = vec![0.0; 128 * 32];
    for (at, want) in want.iter_mut().enumerate() {
        let (m, n) = (at / 32, at % 32);
        for round in [&first.1, &second.1] {
            for i in 0..k {
                let block = i / (k / along);
                let (sa, sb) = (round[m][id_a as usize + block], other.1[n][id_b as usize + block]);
                *want += of_a[m][i] * sa * of_b[n][i] * sb;
            }
        }
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scaled.ptx");
    let idesc = 0x0800_0000 | 4 << 17 | u32::from(powers) << 23;
    let idesc = idesc | a.code << 7 | b.code << 10 | id_a << 29 | id_b << 4;
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.replace("0x08880000", &format!("{idesc:#x}"));
    let text = text.replace("kind::mxf8f6f4.block_scale.scale_vec::1X", name);
    // A base offset means nothing without a swizzle (E45).
    let text = if id_a == 1 { text.replace("0x400800000000", "0x8400800000000") } else { text };
    let module = Module::parse(&text).unwrap();
    let mut dev = Device::new(&Target::named("sm_100a").unwrap());
    let (src, dst) = (dev.alloc_from(&image, "in").unwrap(), dev.alloc(16_384, "out").unwrap());
    let launch =
        Launch { smem: 8192, args: vec![Arg::Ptr(src), Arg::Ptr(dst)], ..Launch::of(&module.entries()[0]) };
    let report = dev.run(&module, &launch, &RunOptions::default()).unwrap();
    assert!(report.clean(), "{name}\n{report}");
    let got: Vec<f64> =
        dev.read(dst).unwrap().as_chunks::<4>().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect();
    let largest = want.iter().fold(0.0, |x: f64, y: &f64| x.max(y.abs()));
    for (at, (got, want)) in got.iter().zip(&want).enumerate() {
        assert!((got - want).abs() <= 1e-6 * largest, "{name} {at}: {got} for {want}");
    }
}

#[test]
fn operands_of_eight_six_and_four_bits_beside_each_other() {
    let kinds = [E4M3, E5M2, E2M3, E3M2, E2M1];
    for (i, a) in kinds.into_iter().enumerate() {
        for (j, b) in kinds.into_iter().enumerate() {
            let ids = ((i + j) as u32 % 4, (i + 2 * j) as u32 % 4);
            compare("kind::mxf8f6f4.block_scale.scale_vec::1X", (a, b), 1, ids, true);
        }
    }
}

#[test]
fn packed_operands_of_four_bits() {
    for ids in [(0, 0), (2, 0), (0, 2)] {
        compare("kind::mxf4.block_scale.scale_vec::2X", (PACKED, PACKED), 2, ids, true);
        compare("kind::mxf4nvf4.block_scale.block32", (PACKED, PACKED), 2, ids, true);
    }
    compare("kind::mxf4nvf4.block_scale.scale_vec::4X", (PACKED, PACKED), 4, (0, 0), false);
    compare("kind::mxf4nvf4.block_scale.block16", (PACKED, PACKED), 4, (0, 0), true);
}
