//! The launches of `warps.cu`, `copies.cu`, `matrices.cu` and `libraries.cu`, and what they must give by formulas of their own.

use super::expected::{bytes, case, floats, input, zeros};
use super::{Case, Given, Want};
use crate::common::numbers;

/// All launches.
pub(super) fn cases() -> Vec<Case> {
    let mut all = warps();
    all.extend(copies());
    all.extend(matrices());
    all.extend(libraries());
    all
}

fn longs(values: &[u64]) -> Given {
    Given::Buffer(values.iter().flat_map(|v| v.to_le_bytes()).collect())
}

fn long_words(values: &[u64]) -> Want {
    Want::Words(values.iter().flat_map(|v| [*v as u32, (v >> 32) as u32]).collect())
}

/// The words of each warp.
fn by_warp(x: &[u32], f: impl Fn(&[u32]) -> Vec<u32>) -> Want {
    Want::Words(x.chunks(32).flat_map(f).collect())
}

fn sum(list: impl IntoIterator<Item = u32>) -> u32 {
    list.into_iter().fold(0, u32::wrapping_add)
}

fn reductions(x: &[u32]) -> Vec<u32> {
    let signed = || x.iter().map(|v| *v as i32);
    let fold = |f: fn(u32, u32) -> u32| x.iter().copied().reduce(f).unwrap();
    let r = sum(x.iter().copied()) ^ fold(u32::max) ^ fold(u32::min) ^ fold(|a, b| a ^ b);
    // Each has its last bit set before it is joined.
    let r = r ^ (fold(|a, b| a & b) | 1) ^ (fold(|a, b| a | b) & 0xff00);
    vec![r.wrapping_add(signed().max().unwrap() as u32).wrapping_add(signed().min().unwrap() as u32); x.len()]
}

fn matches(x: &[u32]) -> Vec<u32> {
    let mask = |f: &dyn Fn(u32) -> bool| (0..32).filter(|l| f(x[*l as usize])).fold(0_u32, |m, l| m | 1 << l);
    let one = |v: &u32| {
        let any = mask(&|o| o % 5 == v % 5);
        // All of them are zero: less than 5, divided by 7.
        let second = (0..32).filter(|l| any >> l & 1 == 1).nth(1).unwrap_or(u32::MAX);
        let ballot = mask(&|o| o % 5 % 2 == 1);
        (any ^ u32::MAX).wrapping_add(1).wrapping_add(any.wrapping_mul(3)).wrapping_add(ballot ^ second)
    };
    x.iter().map(one).collect()
}

fn partitions(x: &[u32]) -> Vec<u32> {
    let x: Vec<u32> = x.iter().map(|v| v & 0xffff).collect();
    let (all, top) = (sum(x.clone()), *x.iter().max().unwrap());
    let mut up = 0;
    let one = |v: &u32| {
        up += v;
        let third = sum(x.iter().copied().filter(|o| o % 3 == v % 3));
        let half: Vec<u32> = x.iter().copied().filter(|o| o % 2 == v % 2).collect();
        all + 3 * top + 5 * up + 7 * (up - v) + 11 * third + 13 * sum(half.clone()) + half.len() as u32
    };
    x.iter().map(one).collect()
}

fn atomics(x: &[u32]) -> (Given, Want) {
    let mut old = [0_u64; 20];
    (old[2], old[3], old[9]) = (u64::MAX, u64::MAX, 100);
    let mut new = old;
    let all = || x.iter().map(|v| u64::from(*v));
    new[0] = all().map(|v| v << 8).sum();
    new[1] = (i64::from(x.iter().map(|v| *v as i32).max().unwrap()) << 20).max(0) as u64;
    new[2] = all().min().unwrap();
    new[3] = all().fold(u64::MAX, |m, v| m & !(1 << (v & 63)));
    new[4] = all().fold(0, |m, v| m | 1 << (v & 63));
    new[5] = all().fold(0, |m, v| m ^ 0x1_0000_0001 << (v & 31));
    new[6] = (all().map(|v| v & 1023).sum::<u64>() as f64).to_bits();
    new[7] = u64::from((all().map(|v| v & 255).sum::<u64>() as f32).to_bits());
    new[8] = x.iter().fold(0, |c, _| if c >= 37 { 0 } else { c + 1 });
    new[9] = x.iter().fold(100, |c, _| if c == 0 || c > 41 { 41 } else { c - 1 });
    let count = x.len() as f32;
    let pair = |a: u16, b: u16| u64::from(a) | u64::from(b) << 16;
    let half = |v: f32| half::f16::from_f32(v).to_bits();
    let brain = |v: f32| half::bf16::from_f32(v).to_bits();
    new[10] = pair(half(count), half(2.0 * count));
    new[11] = pair(brain(count), brain(-count));
    new[12] = pair(half(0.5 * count), 0);
    new[13] = u64::from(sum(x.iter().map(|v| v & 7)).wrapping_neg());
    new[14] = all().sum();
    (new[15], new[16], new[17], new[18]) = (77, 99, 3 * x.len() as u64, 5 * x.len() as u64);
    (longs(&old), long_words(&new))
}

/// Lanes of `N` bits of two words.
fn parts<const N: u32>(x: u32, y: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    let mask = (1 << N) - 1;
    (0..32 / N).fold(0, |d, i| d | (f(x >> (N * i) & mask, y >> (N * i) & mask) & mask) << (N * i))
}

fn packed(x: u32, y: u32) -> [u32; 8] {
    let (byte, short) = (|v: u32| i32::from(v as u8 as i8), |v: u32| i32::from(v as u16 as i16));
    let (a, b) = (x as i32, y as i32);
    let higher = |p, q| u32::from(short(p) >= short(q));
    let product = |i: u32, j: u32| short(x >> (16 * i)) * byte(y >> (8 * j));
    let low = (x & 0xffff) * (y & 0xff) + (x >> 16) * (y >> 8 & 0xff) + 3;
    let four: i32 = (0..4).map(|i| byte(x >> (8 * i)) * byte(y >> (8 * i))).sum();
    let third = |p: u32, q: u32, most: i32| short(p).min(short(q)).min(most).max(0) as u32;
    [
        parts::<8>(x, y, |p, q| p + q)
            ^ parts::<16>(x, y, |p, q| p.wrapping_sub(q))
            ^ parts::<8>(x, y, u32::abs_diff),
        parts::<16>(x, y, |p, q| if p >= q { 0xffff } else { 0 })
            ^ parts::<16>(x, y, |p, q| short(p).max(short(q)) as u32)
            ^ parts::<8>(x, y, |p, q| (p + q).div_ceil(2)),
        parts::<16>(x, y, |p, q| (short(p) + short(q)).clamp(-32768, 32767) as u32)
            ^ (0..4).map(|i| (x >> (8 * i) & 0xff).abs_diff(y >> (8 * i) & 0xff)).sum::<u32>()
            ^ parts::<8>(x, y, |p, q| u32::from(byte(p) > byte(q))),
        a.wrapping_add(b).max(5).max(0) as u32 ^ x.max(y).max(77),
        parts::<16>(x, y, |p, q| short(p.wrapping_add(q)).min(short(p)) as u32)
            ^ (third(x, y, 9) | third(x >> 16, y >> 16, 0x7fff) << 16),
        (a.max(b) as u32).wrapping_add(u32::from(a >= b)),
        parts::<16>(x, y, |p, q| short(p).max(short(q)) as u32)
            .wrapping_add(higher(x >> 16, y >> 16) + 2 * higher(x, y)),
        low ^ (product(0, 2) + product(1, 3) + 4) as u32 ^ (four + 9) as u32,
    ]
}

fn warps() -> Vec<Case> {
    let x = input(256);
    let one = (1, [256, 1, 1]);
    let with = |entry, words, want| case("warps", entry, one, vec![bytes(&x), zeros(words)], want);
    let all: Vec<[u32; 8]> = (0..256).map(|i| packed(x[i], x[i ^ 1])).collect();
    let clustered = (0..256_usize).map(|i| {
        let (rank, t) = (i / 64, i % 64);
        sum((0..4).map(|k| x[64 * k + (t ^ rank)])).wrapping_mul(4).wrapping_add(rank as u32)
    });
    let (old, want) = atomics(&x);
    let cluster = |entry, want| case("warps", entry, (4, [64, 1, 1]), vec![bytes(&x), zeros(256)], want);
    vec![
        with("reductions", 256, by_warp(&x, reductions)),
        with("matches", 256, by_warp(&x, matches)),
        with("partitions", 256, by_warp(&x, partitions)),
        case("warps", "atomics", one, vec![bytes(&x), old], want),
        with("packed", 2048, Want::Words((0..8).flat_map(|k| all.iter().map(move |a| a[k])).collect())),
        cluster("clustered", Want::Words(clustered.collect())),
        cluster("clustered_ends", Want::Finding("A03")),
        case(
            "warps",
            "grid_barrier",
            (4, [64, 1, 1]),
            vec![bytes(&x), zeros(256), zeros(256)],
            Want::Words(x.iter().rev().map(|v| v.wrapping_add(1)).collect()),
        ),
    ]
}

fn copies() -> Vec<Case> {
    let f = numbers(1536, 5);
    let at = |i: usize| f64::from(f[i]);
    let bulk = (0..512).map(|i| if i % 256 < 128 { 2.0 * at(i) + 1.0 } else { at(i) - 3.0 });
    let piped = (0..128).map(|t| (0..12).map(|k| at(128 * k + (t ^ 5)) * (k + 1) as f64).sum());
    let pairs = (0..64).map(|t| (0..6).fold(0.0, |s, k| 2.0 * s + at(64 * k + 63 - t)));
    let shapes = (0..128).map(|i| if at(i) > 0.0 { at(i) * at(i) + 2.0 } else { 3.0 * at(i) * at(i) - 5.0 });
    let with = |entry, blocks, words, want| {
        case("copies", entry, (blocks, [128, 1, 1]), vec![floats(&f), zeros(words)], want)
    };
    vec![
        with("bulk", 2, 512, Want::Floats(bulk.collect(), 1e-6)),
        with("piped", 1, 128, Want::Floats(piped.collect(), 1e-5)),
        with("specialised", 1, 64, Want::Floats(pairs.collect(), 1e-5)),
        with("specialised_early", 1, 64, Want::Finding("R01")),
        with("virtuals", 1, 128, Want::Floats(shapes.collect(), 1e-5)),
        case("copies", "latched", (1, [128, 1, 1]), vec![zeros(128)], Want::Words(vec![196; 128])),
    ]
}

/// `a` (m by k) times `b` (n by k), scaled.
fn product(a: &[i32], b: &[i32], k: usize, scale: i32) -> Vec<i32> {
    let one = |r: &[i32], c: &[i32]| scale * r.iter().zip(c).map(|(x, y)| x * y).sum::<i32>();
    a.chunks(k).flat_map(|r| b.chunks(k).map(move |c| one(r, c))).collect()
}

fn matrices() -> Vec<Case> {
    let x = input(1024);
    let small = |from: usize, n: usize| -> Vec<i32> {
        x[from..from + n].iter().map(|v| (v % 17) as i32 - 8).collect()
    };
    let halves = |list: &[i32]| {
        Given::Buffer(
            list.iter().flat_map(|v| half::f16::from_f32(*v as f32).to_bits().to_le_bytes()).collect(),
        )
    };
    let chars = |list: &[i32]| Given::Buffer(list.iter().map(|v| *v as u8).collect());
    let exact = |list: Vec<i32>| Want::Floats(list.into_iter().map(f64::from).collect(), 0.0);
    let warp = (1, [32, 1, 1]);
    let (a, b, c, d) = (small(0, 512), small(512, 512), small(256, 256), small(700, 128));
    let (e, g) = (small(100, 256), small(400, 256));
    let together: Vec<i32> = c.iter().chain(&d).copied().collect();
    let words = product(&e, &g, 16, 1).into_iter().map(|v| v as u32).collect();
    let long: Vec<u64> = (0..128).map(|i| u64::from(x[2 * i]) << 32 | u64::from(x[2 * i + 1])).collect();
    let wide = (0..128_usize).map(|i| {
        let (x, y) = (long[i], long[i ^ 1] | 1);
        let p = u128::from(x) * u128::from(y) + u128::from(x);
        let high = (i128::from(x as i64) * i128::from(y as i64)) >> 64;
        (p >> 64) as u64
            ^ (p / u128::from(y | 0x1_0000_0000)) as u64
            ^ (p % u128::from(x | 3)) as u64
            ^ (x % y)
            ^ high as u64
    });
    let wide: Vec<u64> = wide.collect();
    vec![
        case(
            "matrices",
            "halves",
            warp,
            vec![halves(&a), halves(&b), zeros(256)],
            exact(product(&a, &b, 32, 2)),
        ),
        case("matrices", "bytes", warp, vec![chars(&e), chars(&g), zeros(256)], Want::Words(words)),
        case(
            "matrices",
            "fragments",
            warp,
            vec![halves(&together), zeros(128)],
            exact(product(&c, &d, 16, 1)),
        ),
        case("matrices", "wide", (1, [128, 1, 1]), vec![longs(&long), zeros(256)], long_words(&wide)),
    ]
}

fn libraries() -> Vec<Case> {
    let x = input(512);
    let mut sorted = x.clone();
    sorted.sort_unstable();
    let most = *x[..128].iter().max().unwrap();
    let scanned = x[..128].iter().scan(0_u32, |s, v| {
        *s = s.wrapping_add(*v);
        Some(s.wrapping_add(most))
    });
    let mut bins = vec![0; 256];
    x.iter().for_each(|v| bins[(v & 255) as usize] += 1);
    let with =
        |entry, words, want| case("libraries", entry, (1, [128, 1, 1]), vec![bytes(&x), zeros(words)], want);
    vec![
        with("sorted", 512, Want::Words(sorted.clone())),
        with("merged", 512, Want::Words(sorted)),
        with("merged_races", 512, Want::Finding("R01")),
        with("scanned", 128, Want::Words(scanned.collect())),
        with("counted", 256, Want::Words(bins)),
    ]
}
