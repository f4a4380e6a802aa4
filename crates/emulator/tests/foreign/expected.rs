//! The launches, and what they must give by formulas of their own.

use super::{Case, Given, Want};
use crate::common::numbers;
use warploom_emulator::Arg;

pub(super) fn input(n: u32) -> Vec<u32> {
    (0..n).map(|i| i.wrapping_mul(0x9e37_79b1) ^ (i << 9) ^ 0x1234).collect()
}

pub(super) fn bytes(words: &[u32]) -> Given {
    Given::Buffer(words.iter().flat_map(|w| w.to_le_bytes()).collect())
}

pub(super) fn floats(values: &[f32]) -> Given {
    Given::Buffer(values.iter().flat_map(|v| v.to_le_bytes()).collect())
}

pub(super) fn zeros(words: usize) -> Given {
    Given::Buffer(vec![0; 4 * words])
}

pub(super) fn case(
    file: &'static str,
    entry: &'static str,
    size: (u32, [u32; 3]),
    args: Vec<Given>,
    want: Want,
) -> Case {
    let (grid, block) = ([size.0, 1, 1], size.1);
    Case { file: file.to_string(), entry: entry.to_string(), grid, block, smem: 0, args, result: None, want }
}

/// All launches.
pub(super) fn cases() -> Vec<Case> {
    let mut all = arithmetic();
    all.extend(functions());
    all.extend(launches());
    all.extend(blocks());
    all.extend(grids());
    all
}

fn bits(x: u32, y: u32, i: u32) -> u32 {
    let clz = x.leading_zeros();
    let ffs = if x == 0 { 0 } else { x.trailing_zeros() + 1 };
    let mut r = x.count_ones() + 64 * clz + 4096 * ffs;
    let pick = |n: u32| (u64::from(y) << 32 | u64::from(x)) >> (8 * n) & 0xff;
    // Selectors of __byte_perm, the lowest first: 5, 1, 7, 3.
    let perm = (pick(5) | pick(1) << 8 | pick(7) << 16 | pick(3) << 24) as u32;
    r ^= y.reverse_bits().wrapping_add(perm);
    let left = (((u64::from(y) << 32 | u64::from(x)) << (i & 31)) >> 32) as u32;
    r = r.wrapping_add(left ^ y);
    let high = ((u64::from(x) * u64::from(y)) >> 32) as u32;
    let small = |v: u32| i64::from((v << 8) as i32 >> 8);
    let mul24 = (small(x) * small(y)) as u32;
    let sad = (i64::from(x as i32) - i64::from(y as i32)).unsigned_abs() as u32;
    r ^= high.wrapping_add(mul24).wrapping_add(sad.wrapping_add(7));
    (0..4).fold(r, |r, b| r.wrapping_add((x >> (8 * b) & 0xff) * (y >> (8 * b) & 0xff)))
}

fn division(a: u32, b: u32, i: u32) -> u32 {
    let dividend = (i64::from(a) << 20) | i64::from(i);
    let divisor = i64::from((b % 1000) as i32) - 500;
    let divisor = if divisor == 0 { 7 } else { divisor };
    let c = u64::from(a).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (dividend / divisor) as u32
        ^ (dividend % divisor) as u32
        ^ (c / u64::from(b | 1)) as u32
        ^ (c >> 37) as u32
}

fn choices(x: u32, i: u32) -> u32 {
    let table = [3_i32, -1, 4, -1, 5];
    let mut local = [0_i32; 16];
    for k in 0..16_u32 {
        local[((k * 7 + i) & 15) as usize] = table[(x.wrapping_add(k) % 5) as usize] + k as i32;
    }
    let r = local[(x & 15) as usize];
    (match x % 7 {
        0 => r + 11,
        1 => r * 3,
        2 => r ^ 0x55,
        3 => r - table[(i % 5) as usize],
        4 => -r,
        5 => r << 2,
        _ => r | 1,
    }) as u32
}

fn arithmetic() -> Vec<Case> {
    let (x, f) = (input(256), numbers(256, 4));
    let at = |i: u32| (x[i as usize], x[(i ^ 1) as usize]);
    let words = |g: &dyn Fn(u32) -> u32| Want::Words((0..256).map(g).collect());
    let size = (2, [128, 1, 1]);
    let functions = f.iter().map(|v| {
        let v = f64::from(*v);
        v.sin() + v.exp() / (1.0 + v * v).sqrt() + (2.0 + v).ln() + (1.5 + v).powf(2.5) + erf(v) + v.cbrt()
    });
    let halves = (0..256).map(|i| {
        let h = |v: f32| half::f16::from_f32(v).to_f64();
        let one = |v: f32| {
            let square = half::f16::from_f64(h(v) * h(v)).to_f64();
            half::f16::from_f64(h(v).mul_add(0.5, square)).to_f64()
        };
        one(f[i]) + 2.0 * one(f[i ^ 1])
    });
    let with = |entry, want| case("arithmetic", entry, size, vec![bytes(&x), zeros(256)], want);
    let of = |entry, want| case("arithmetic", entry, size, vec![floats(&f), zeros(256)], want);
    vec![
        with("bits", words(&|i| bits(at(i).0, at(i).1, i))),
        with("division", words(&|i| division(at(i).0, at(i).1, i))),
        with("choices", words(&|i| choices(at(i).0, i))),
        of("functions", Want::Floats(functions.collect(), 1e-5)),
        of("halves", Want::Floats(halves.collect(), 0.0)),
    ]
}

/// The error function by its series.
fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..60 {
        let n = f64::from(n);
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

fn functions() -> Vec<Case> {
    let x = input(64);
    // struct Pair { int a; float b; short c[3]; }
    let mut pair = Vec::new();
    pair.extend(10_i32.to_le_bytes());
    pair.extend(2.5_f32.to_le_bytes());
    [7_i16, 8, 9].iter().for_each(|c| pair.extend(c.to_le_bytes()));
    pair.extend([0; 2]);
    let fibonacci = [0, 1, 1, 2, 3, 5, 8, 13];
    let calls = (0..64_u32).map(|i| {
        let f = if x[i as usize] & 1 == 1 { 2 * i } else { i * i };
        fibonacci[i as usize % 8] + f + 10 + i + 5 + 900
    });
    let lines = (0..3).map(|i| format!("thread {i} of two: {:.2} 123456789ab\n", f64::from(i) / 4.0));
    let one = (1, [64, 1, 1]);
    vec![
        case(
            "functions",
            "calls",
            one,
            vec![bytes(&x), zeros(64), Given::Value(Arg::Bytes(pair))],
            Want::Words(calls.collect()),
        ),
        case("functions", "prints", one, vec![Given::Value(Arg::I32(3))], Want::Text(lines.collect())),
        case("functions", "asserts", one, vec![Given::Value(Arg::I32(64))], Want::Text(String::new())),
        case("functions", "asserts", one, vec![Given::Value(Arg::I32(63))], Want::Finding("D03")),
        case("functions", "heap", one, vec![zeros(64)], Want::Words((0..64).map(|t| 120 * t).collect())),
    ]
}

fn launches() -> Vec<Case> {
    let mut want = vec![32, 16, 8, 4, 0, 0, 0, 0];
    want.extend([7; 64]);
    let taken = |t: u32| (0..10).rev().fold(0_u32, |sum, i| sum.wrapping_mul(3).wrapping_add(i * t));
    let one = (1, [32, 1, 1]);
    vec![
        case("launches", "launches", one, vec![zeros(72)], Want::Words(want)),
        case(
            "launches",
            "taken",
            one,
            vec![zeros(32), Given::Value(Arg::I32(10))],
            Want::Words((0..32).map(taken).collect()),
        ),
    ]
}

fn product(f: &[f32]) -> Vec<f64> {
    let at = |r: usize, c: usize| f64::from(f[r * 32 + c]);
    let sum = |i: usize| (0..32).map(|k| at(i / 32, k) * at(k, i % 32)).sum();
    (0..1024).map(sum).collect()
}

fn groups(x: &[u32], t: usize) -> u32 {
    let first = t / 8 * 8;
    let top = x[first..first + 8].iter().fold(0_u32, |s, v| s.wrapping_add(*v));
    let odd = u32::from(x[first..first + 8].iter().any(|v| v % 5 == 0));
    let warp = t / 32 * 32;
    let active =
        if t.is_multiple_of(3) { (warp..warp + 32).filter(|l| l % 3 == 0).count() as u32 } else { 0 };
    top.wrapping_mul(2).wrapping_add(odd).wrapping_add(active * 100_000)
}

fn blocks() -> Vec<Case> {
    let (x, f) = (input(1024), numbers(1024, 9));
    let mut bins = vec![0_u32; 64];
    x.iter().for_each(|v| bins[(v % 64) as usize] += 1);
    let scan = x.iter().take(256).scan(0_u32, |s, v| {
        *s = s.wrapping_add(*v);
        Some(*s)
    });
    let copied = (0..128).map(|t| (0..8).map(|k| f64::from(f[k * 128 + (t ^ 37)])).sum());
    let square = |entry, want| Case {
        grid: [2, 2, 1],
        ..case("blocks", entry, (1, [16, 16, 1]), vec![floats(&f), zeros(1024)], want)
    };
    let words =
        |entry, size, n, want| case("blocks", entry, size, vec![bytes(&x), zeros(n)], Want::Words(want));
    vec![
        words("transpose", (1, [32, 8, 1]), 1024, (0..1024).map(|i| x[i % 32 * 32 + i / 32]).collect()),
        words("histogram", (8, [128, 1, 1]), 64, bins),
        words("scan", (1, [256, 1, 1]), 256, scan.collect()),
        words("groups", (1, [128, 1, 1]), 128, (0..128).map(|t| groups(&x, t)).collect()),
        square("product", Want::Floats(product(&f), 1e-5)),
        square("product_races", Want::Finding("R01")),
        case(
            "blocks",
            "copied",
            (1, [128, 1, 1]),
            vec![floats(&f), zeros(128)],
            Want::Floats(copied.collect(), 1e-5),
        ),
    ]
}

fn grids() -> Vec<Case> {
    let x = input(256);
    let total = x.iter().fold(0_u32, |s, v| s.wrapping_add(*v));
    let mut arrivals: Vec<u32> = x[..128].to_vec();
    for _ in 0..3 {
        arrivals = (0..128).map(|t| arrivals[t].wrapping_add(arrivals[(t + 33) % 128])).collect();
    }
    let sum: u32 = x.iter().map(|v| v % 100).sum();
    let message =
        |entry, want| case("grids", entry, (2, [32, 1, 1]), vec![bytes(&x), zeros(2), zeros(1)], want);
    vec![
        case(
            "grids",
            "last_block",
            (8, [32, 1, 1]),
            vec![bytes(&x), zeros(8), zeros(1)],
            Want::Words(vec![total]),
        ),
        case("grids", "locked", (4, [32, 1, 1]), vec![zeros(1)], Want::Words(vec![40])),
        case("grids", "unlocked", (4, [32, 1, 1]), vec![zeros(1)], Want::Finding("R02")),
        message("message", Want::Words(vec![x[5] + 1])),
        message("message_relaxed", Want::Finding("R02")),
        case("grids", "arrivals", (1, [128, 1, 1]), vec![bytes(&x), zeros(128)], Want::Words(arrivals)),
        case("grids", "doubles", (8, [32, 1, 1]), vec![bytes(&x), zeros(2)], Want::Double(f64::from(sum))),
    ]
}
