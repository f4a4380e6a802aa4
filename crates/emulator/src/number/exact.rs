//! f64 arithmetic that rounds towards zero, down or up: the exact result in 128 bits and a sticky one, rounded once.

use super::Rounding;

/// A number that is not zero: `mantissa * 2^exponent`, and a little more where `more` is set, less than 2^exponent.
#[derive(Clone, Copy, Debug)]
struct Exact {
    negative: bool,
    mantissa: u128,
    exponent: i32,
    more: bool,
}

/// Bits of a mantissa of f64.
const BITS: u32 = 53;
/// The exponent of the least subnormal number.
const LEAST: i32 = -1074;

/// NaN as arithmetic gives it.
const NAN: f64 = f64::from_bits(0x7fff_ffff_ffff_ffff);

/// A finite number with a mantissa of exactly 53 bits; `None` for zero.
fn split(x: f64) -> Option<Exact> {
    let bits = x.to_bits();
    let (field, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    let mantissa = if field == 0 { fraction } else { fraction | 1 << 52 };
    if mantissa == 0 {
        return None;
    }
    let up = mantissa.leading_zeros() - (64 - BITS);
    let exponent = field.max(1) as i32 + LEAST - 1 - up as i32;
    Some(Exact {
        negative: x.is_sign_negative(),
        mantissa: u128::from(mantissa) << up,
        exponent,
        more: false,
    })
}

impl Exact {
    /// The nearest f64 in a direction.
    fn round(self, mode: Rounding) -> f64 {
        let width = 128 - self.mantissa.leading_zeros();
        // The last bit that stays stands at 2^last.
        let last = (self.exponent + width as i32 - BITS as i32).max(LEAST);
        let drop = last - self.exponent;
        let (mut kept, rest) = match u32::try_from(drop) {
            Ok(0) => (self.mantissa, 0),
            Ok(n @ 1..128) => (self.mantissa >> n, self.mantissa << (128 - n)),
            Ok(_) => (0, 1),
            Err(_) => (self.mantissa << drop.unsigned_abs().min(127), 0),
        };
        let inexact = rest != 0 || self.more;
        let half = 1_u128 << 127;
        let up = match mode {
            Rounding::Zero => false,
            Rounding::Down => self.negative && inexact,
            Rounding::Up => !self.negative && inexact,
            Rounding::Away => rest >= half,
            Rounding::Even => rest > half || rest == half && (self.more || kept & 1 == 1),
        };
        kept += u128::from(up);
        let mut last = last;
        if kept >> BITS != 0 {
            kept >>= 1;
            last += 1;
        }
        let magnitude = if last + BITS as i32 > 1024 && kept >> (BITS - 1) != 0 {
            let infinite = match mode {
                Rounding::Zero => false,
                Rounding::Down => self.negative,
                Rounding::Up => !self.negative,
                Rounding::Away | Rounding::Even => true,
            };
            if infinite { f64::INFINITY } else { f64::MAX }
        } else if kept >> (BITS - 1) == 0 {
            f64::from_bits(kept as u64)
        } else {
            f64::from_bits((kept as u64 & ((1 << 52) - 1)) | ((last - LEAST + 1) as u64) << 52)
        };
        if self.negative { -magnitude } else { magnitude }
    }

    /// The exact sum of two numbers of at most 106 bits; `None` for zero.
    fn plus(self, other: Exact) -> Option<Exact> {
        let top = |x: &Exact| x.exponent + (128 - x.mantissa.leading_zeros()) as i32;
        let (big, small) = if top(&self) >= top(&other) { (self, other) } else { (other, self) };
        // Three bits stay free above: for the carry, and for what is borrowed.
        let room = big.mantissa.leading_zeros().saturating_sub(3);
        let (mantissa, exponent) = (big.mantissa << room, big.exponent - room as i32);
        let down = exponent - small.exponent;
        let (part, more) = match u32::try_from(down) {
            Ok(n @ 0..128) => (small.mantissa >> n, n > 0 && small.mantissa << (128 - n) != 0),
            Ok(_) => (0, true),
            Err(_) => (small.mantissa << down.unsigned_abs().min(127), false),
        };
        if big.negative == small.negative {
            return Some(Exact { negative: big.negative, mantissa: mantissa + part, exponent, more });
        }
        if part > mantissa {
            // They begin with the same bit, so nothing of the second one was cut off.
            return Some(Exact { negative: small.negative, mantissa: part - mantissa, exponent, more });
        }
        // What is left over of the smaller one is taken from the last bit.
        let mantissa = mantissa - part - u128::from(more);
        (mantissa != 0 || more).then_some(Exact { negative: big.negative, mantissa, exponent, more })
    }

    fn times(self, other: Exact) -> Exact {
        Exact {
            negative: self.negative != other.negative,
            mantissa: self.mantissa * other.mantissa,
            exponent: self.exponent + other.exponent,
            more: false,
        }
    }
}

/// A zero that comes from a sum: of the sign that both have, else -0 when rounding down.
fn no_sum(a: f64, b: f64, mode: Rounding) -> f64 {
    let both = a == 0.0 && b == 0.0 && a.is_sign_negative() == b.is_sign_negative();
    if both { a } else { if mode == Rounding::Down { -0.0 } else { 0.0 } }
}

fn canonical(x: f64) -> f64 {
    if x.is_nan() { NAN } else { x }
}

/// `a + b`.
pub(crate) fn add(a: f64, b: f64, mode: Rounding) -> f64 {
    if !a.is_finite() || !b.is_finite() {
        return canonical(a + b);
    }
    match (split(a), split(b)) {
        (Some(x), Some(y)) => x.plus(y).map_or_else(|| no_sum(a, b, mode), |s| s.round(mode)),
        (Some(_), None) => a,
        (None, Some(_)) => b,
        (None, None) => no_sum(a, b, mode),
    }
}

/// `a * b`.
pub(crate) fn mul(a: f64, b: f64, mode: Rounding) -> f64 {
    match (split(a), split(b)) {
        (Some(x), Some(y)) if a.is_finite() && b.is_finite() => x.times(y).round(mode),
        _ => canonical(a * b),
    }
}

/// `a * b + c`.
pub(crate) fn fma(a: f64, b: f64, c: f64, mode: Rounding) -> f64 {
    if !a.is_finite() || !b.is_finite() || !c.is_finite() {
        return canonical(a.mul_add(b, c));
    }
    let product = split(a).zip(split(b)).map(|(x, y)| x.times(y));
    // A product that is zero, with its sign.
    let zero = if a.is_sign_negative() == b.is_sign_negative() { 0.0 } else { -0.0 };
    match (product, split(c)) {
        (Some(p), Some(z)) => p.plus(z).map_or_else(|| no_sum(1.0, -1.0, mode), |s| s.round(mode)),
        (Some(p), None) => p.round(mode),
        (None, Some(_)) => c,
        (None, None) => no_sum(zero, c, mode),
    }
}

/// `a / b`.
pub(crate) fn div(a: f64, b: f64, mode: Rounding) -> f64 {
    match (split(a), split(b)) {
        (Some(x), Some(y)) if a.is_finite() && b.is_finite() => {
            let above = x.mantissa << 64;
            Exact {
                negative: x.negative != y.negative,
                mantissa: above / y.mantissa,
                exponent: x.exponent - 64 - y.exponent,
                more: above % y.mantissa != 0,
            }
            .round(mode)
        }
        _ => canonical(a / b),
    }
}

/// The square root of `a`.
pub(crate) fn sqrt(a: f64, mode: Rounding) -> f64 {
    match split(a) {
        Some(x) if a.is_finite() && !x.negative => {
            // An even exponent, and enough bits for the root.
            let up = 64 + x.exponent.rem_euclid(2) as u32;
            let above = x.mantissa << up;
            let root = above.isqrt();
            Exact {
                negative: false,
                mantissa: root,
                exponent: (x.exponent - up as i32) / 2,
                more: root * root != above,
            }
            .round(mode)
        }
        _ => canonical(a.sqrt()),
    }
}

/// A whole number as f64.
pub(crate) fn whole(v: i128, mode: Rounding) -> f64 {
    let exact = Exact { negative: v < 0, mantissa: v.unsigned_abs(), exponent: 0, more: false };
    if v == 0 { 0.0 } else { exact.round(mode) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any bits, and numbers that lie close together.
    fn number() -> impl Strategy<Value = f64> {
        let near = (
            any::<bool>(),
            1015_u64..1035,
            prop_oneof![any::<u64>(), (0_u64..4), (0_u64..4).prop_map(|x| !x)],
        );
        let near =
            near.prop_map(|(s, e, f)| f64::from_bits(u64::from(s) << 63 | e << 52 | f & ((1 << 52) - 1)));
        let edge = prop::sample::select(vec![
            0.0,
            -0.0,
            5e-324,
            -5e-324,
            f64::MIN_POSITIVE,
            f64::MAX,
            f64::MIN,
            1.0,
            -1.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ]);
        prop_oneof![any::<u64>().prop_map(f64::from_bits), near, edge]
    }

    fn same(a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
    }

    /// Down, up and towards zero enclose what the processor rounds to nearest: one of the first two is it, they are equal
    /// or neighbours, and the third is the one nearer to zero.
    fn encloses(even: f64, of: impl Fn(Rounding) -> f64, exact: Option<bool>) -> Result<(), TestCaseError> {
        prop_assert!(same(of(Rounding::Even), even), "{} and not {even}", of(Rounding::Even));
        let (down, up, zero) = (of(Rounding::Down), of(Rounding::Up), of(Rounding::Zero));
        if even.is_nan() || even.is_infinite() && down == up {
            prop_assert!(same(down, even) && same(up, even) && same(zero, even));
            return Ok(());
        }
        prop_assert!(down == even || up == even, "{down} {even} {up}");
        prop_assert!(down == up || down.next_up() == up, "{down} {up}");
        prop_assert_eq!(zero, if up <= 0.0 && up != down || down < 0.0 { up } else { down });
        if let Some(exact) = exact {
            prop_assert_eq!(down == up, exact);
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn sums(a in number(), b in number()) {
            // What two-sum leaves over tells whether the sum is exact.
            let s = a + b;
            let back = s - a;
            let rest = (a - (s - back)) + (b - back);
            let exact = (s.is_finite() && back.is_finite()).then_some(rest == 0.0);
            encloses(s, |m| add(a, b, m), exact)?;
        }

        #[test]
        fn products(a in number(), b in number()) {
            let p = a * b;
            let normal = p.is_finite() && (p.abs() > 1e-280 || a == 0.0 || b == 0.0);
            encloses(p, |m| mul(a, b, m), normal.then(|| a.mul_add(b, -p) == 0.0))?;
        }

        #[test]
        fn products_and_sums(a in number(), b in number(), c in number()) {
            encloses(a.mul_add(b, c), |m| fma(a, b, c, m), None)?;
            // A sum that nearly cancels.
            encloses(a.mul_add(b, -(a * b)), |m| fma(a, b, -(a * b), m), None)?;
        }

        #[test]
        fn quotients(a in number(), b in number()) {
            let q = a / b;
            let normal = q.is_finite() && q.abs() > 1e-200 && a.abs() > 1e-200 && b.is_finite();
            encloses(q, |m| div(a, b, m), normal.then(|| (-q).mul_add(b, a) == 0.0))?;
        }

        #[test]
        fn roots(a in number()) {
            let q = a.sqrt();
            let normal = q.is_finite() && a > 1e-200;
            encloses(q, |m| sqrt(a, m), normal.then(|| (-q).mul_add(q, a) == 0.0))?;
        }

        #[test]
        fn whole_numbers(v in any::<i64>(), w in any::<u64>()) {
            for v in [i128::from(v), i128::from(w)] {
                encloses(v as f64, |m| whole(v, m), Some((v as f64) as i128 == v))?;
            }
        }
    }

    #[test]
    fn signs_of_zeros() {
        assert!(same(add(1.0, -1.0, Rounding::Down), -0.0) && same(add(1.0, -1.0, Rounding::Up), 0.0));
        assert!(
            same(fma(2.0, 3.0, -6.0, Rounding::Down), -0.0) && same(fma(0.0, -1.0, 0.0, Rounding::Zero), 0.0)
        );
        assert!(same(add(-0.0, -0.0, Rounding::Up), -0.0) && same(mul(-5e-324, 0.5, Rounding::Zero), -0.0));
        assert_eq!(mul(5e-324, 0.5, Rounding::Up), 5e-324);
    }
}
