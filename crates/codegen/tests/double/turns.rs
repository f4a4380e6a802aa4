//! Angles less their quarter turns, in fixed point of 1408 bits: doubled bit by bit, so that it shares no idea with what is
//! tested, and with a pi by Machin's formula.

use std::cmp::Ordering;
use std::sync::OnceLock;

use super::twice::Twice;

/// Words behind the point; one stands before it. The first is the highest.
const WORDS: usize = 22;

type Fixed = [u64; WORDS + 1];

fn add(a: &Fixed, b: &Fixed) -> Fixed {
    let (mut sum, mut carry) = ([0; WORDS + 1], false);
    for i in (0..=WORDS).rev() {
        let (s, c) = a[i].overflowing_add(b[i]);
        let (s, d) = s.overflowing_add(u64::from(carry));
        (sum[i], carry) = (s, c | d);
    }
    sum
}

fn subtract(a: &Fixed, b: &Fixed) -> Fixed {
    let (mut rest, mut borrow) = ([0; WORDS + 1], false);
    for i in (0..=WORDS).rev() {
        let (s, c) = a[i].overflowing_sub(b[i]);
        let (s, d) = s.overflowing_sub(u64::from(borrow));
        (rest[i], borrow) = (s, c | d);
    }
    rest
}

fn divide(a: &Fixed, by: u64) -> Fixed {
    let (mut quotient, mut rest) = ([0; WORDS + 1], 0u128);
    for i in 0..=WORDS {
        let part = rest << 64 | u128::from(a[i]);
        quotient[i] = (part / u128::from(by)) as u64;
        rest = part % u128::from(by);
    }
    quotient
}

/// `4 n arctan(1 / of)`.
fn arctangents(n: u64, of: u64) -> Fixed {
    let mut power = [0; WORDS + 1];
    power[0] = 4 * n;
    power = divide(&power, of);
    let mut sum = power;
    for k in 1..1000 {
        power = divide(&power, of * of);
        let term = divide(&power, 2 * k + 1);
        sum = if k % 2 == 1 { subtract(&sum, &term) } else { add(&sum, &term) };
    }
    sum
}

fn half_pi() -> &'static Fixed {
    static HALF_PI: OnceLock<Fixed> = OnceLock::new();
    HALF_PI.get_or_init(|| divide(&subtract(&arctangents(4, 5), &arctangents(1, 239)), 2))
}

fn number(a: &Fixed) -> Twice {
    let first = a.iter().position(|&word| word != 0).unwrap_or(WORDS);
    let mut sum = Twice(0.0, 0.0);
    for (i, &word) in a.iter().enumerate().skip(first).take(4) {
        let unit = 2f64.powi(-32 * i as i32);
        for (half, part) in [(2f64.powi(32), word >> 32), (1.0, word & 0xffff_ffff)] {
            sum = sum + part as f64 * half * unit * unit;
        }
    }
    sum
}

/// pi.
pub fn pi() -> Twice {
    number(half_pi()) * 2.0
}

/// Quarter turns modulo four, and the rest, of a positive number from 2^-1000.
pub fn reduced(x: f64) -> (u32, Twice) {
    let (m, e) = (x.to_bits() & ((1 << 52) - 1) | 1 << 52, (x.to_bits() >> 52) as i32 - 1075);
    let mut unit = [0; WORDS + 1];
    let place = -e.min(0) as usize;
    unit[place.div_ceil(64)] = 1 << ((64 - place % 64) % 64);
    let (mut turns, mut rest) = (0u32, [0; WORDS + 1]);
    for i in 0..53 + e.max(0) {
        (turns, rest) = (turns.wrapping_mul(2), add(&rest, &rest));
        for more in [false, i < 53 && m >> (52 - i) & 1 == 1] {
            rest = if more { add(&rest, &unit) } else { rest };
            if rest.cmp(half_pi()) != Ordering::Less {
                (turns, rest) = (turns.wrapping_add(1), subtract(&rest, half_pi()));
            }
        }
    }
    match add(&rest, &rest).cmp(half_pi()) {
        Ordering::Less => (turns % 4, number(&rest)),
        _ => (turns.wrapping_add(1) % 4, -number(&subtract(half_pi(), &rest))),
    }
}
