//! Logarithms and powers.
//!
//! `x = 2^k m` with `m` between the root of a half and the root of two, and `ln m = 2 artanh s` with `s = (m - 1) / (m + 1)`,
//! whose rounding error is kept.

use super::coefficients::{FIFTH, LN_2_SHORT, LOG, LOG_TAIL, LOG2_E, LOG10_2_SHORT, LOG10_E, THIRD};
use super::exponential::{Power, TINY, between, two_to};
use super::pair::{Pair, pick, with_sign};
use super::term::{Number, Real, Word};

/// `2^k m`, for `x` above zero and finite; `k` as a word is meant for `x` that is not subnormal.
struct Parts<'p> {
    word: Word<'p>,
    k: Real<'p>,
    m: Real<'p>,
}

impl<'p> Parts<'p> {
    fn of(x: Real<'p>) -> Parts<'p> {
        let subnormal = x.less(f64::MIN_POSITIVE);
        let bits = subnormal.pick(x * 18_014_398_509_481_984.0, x).bits();
        let word = (bits - std::f64::consts::FRAC_1_SQRT_2.to_bits()).right_signed(52u64);
        let m = (bits - word.left(52u64)).real();
        Parts { word, k: word.convert() - subnormal.pick(54.0, 0.0), m }
    }
}

/// `s = f / (2 + f)` where `m = 1 + f`.
fn ratio<'p>(f: Pair<'p>) -> Pair<'p> {
    let below = Pair::quick_sum(f.high.constant(2.0), f.high).plus(f.low);
    f.over(below)
}

/// `ln(1 + f)`, right to 2^-58 or so of it.
fn near_one<'p>(f: Pair<'p>) -> Pair<'p> {
    let s = ratio(f);
    let square = s.high * s.high;
    let cube = s.high * square;
    Pair::of(s.high + s.high, cube.mul_add(square.polynomial(&LOG), s.low + s.low))
}

/// `ln(1 + f)`, right to 2^-67 or so of it: the first three terms of the series with twice the precision.
fn near_one_well<'p>(f: Real<'p>) -> Pair<'p> {
    let s = ratio(Pair::exactly(f));
    let square = s.times(s);
    let tail = square.high * square.high.polynomial(&LOG_TAIL);
    let more = |constant: (f64, f64), term: Pair<'p>| {
        let sum = Pair::quick_sum(f.constant(constant.0), term.high);
        sum.plus(term.low + constant.1).normal()
    };
    let third = more(FIFTH, Pair::exactly(tail));
    let second = more(THIRD, square.times(third));
    let rest = s.times(square.times(second));
    Pair::quick_sum(s.high + s.high, rest.high).plus(rest.low + (s.low + s.low)).normal()
}

/// `k c + y`, where `k` times the first part of `c` is exact.
fn with_exponent<'p>(k: Real<'p>, c: (f64, f64), y: Pair<'p>) -> Pair<'p> {
    Pair::quick_sum(k * c.0, y.high).plus(k.mul_add(c.1, y.low))
}

/// A logarithm of what has one, and what the others have instead.
fn defined<'p>(x: Real<'p>, logarithm: Real<'p>) -> Real<'p> {
    let outside = x.equals(0.0).pick(f64::NEG_INFINITY, f64::NAN);
    x.more(0.0).pick(x.less(f64::INFINITY).pick(logarithm, x), outside)
}

/// The natural logarithm.
pub(super) fn log(x: Real<'_>) -> Real<'_> {
    let Parts { k, m, .. } = Parts::of(x);
    let sum = with_exponent(k, LN_2_SHORT, near_one(Pair::exactly(m - 1.0)));
    defined(x, sum.value())
}

/// The logarithm to base 2; exact for powers of it.
pub(super) fn log2(x: Real<'_>) -> Real<'_> {
    let Parts { k, m, .. } = Parts::of(x);
    let y = near_one(Pair::exactly(m - 1.0)).times_constant(LOG2_E.0, LOG2_E.1);
    defined(x, with_exponent(k, (1.0, 0.0), y).value())
}

/// The logarithm to base 10.
pub(super) fn log10(x: Real<'_>) -> Real<'_> {
    let Parts { k, m, .. } = Parts::of(x);
    let y = near_one(Pair::exactly(m - 1.0)).times_constant(LOG10_E.0, LOG10_E.1);
    defined(x, with_exponent(k, LOG10_2_SHORT, y).value())
}

/// `ln(1 + x)` for `x` above -1, and how many times two goes into what it is the logarithm of beside that.
fn one_plus<'p>(x: Pair<'p>, twos: impl Number<'p>) -> Real<'p> {
    let sum = Pair::sum(x.high.constant(1.0), x.high).plus(x.low).normal();
    let Parts { word, k, m } = Parts::of(sum.high);
    // What the sum has lost counts up to 2^64; with no exponent, the argument itself is what is wanted.
    let small = word.below_signed(64);
    let exponent = small.pick_word(x.high.word(0) - word, 0u64);
    let lost = small.pick(sum.low * two_to(exponent), 0.0);
    let f = pick(k.equals(0.0), x, Pair::of(m - 1.0, lost));
    with_exponent(k + twos, LN_2_SHORT, near_one(f)).value()
}

/// `ln(1 + x)`.
pub(super) fn log1p(x: Real<'_>) -> Real<'_> {
    let result = one_plus(Pair::exactly(x), 0.0);
    x.abs().less(TINY).pick(x, defined(x + 1.0, result))
}

/// `2^60`: beyond it, what is added to an argument has no weight in its logarithm.
const LARGE: f64 = 1_152_921_504_606_846_976.0;

/// The inverse hyperbolic sine: `ln(1 + x + x^2 / (1 + sqrt(1 + x^2)))`, or `ln 2x`.
pub(super) fn asinh(x: Real<'_>) -> Real<'_> {
    let size = x.abs();
    let square = Pair::product(size, size);
    let one = Pair::exactly(x.constant(1.0));
    let root = square.plus_pair(one).sqrt();
    let sum = square.over(root.plus_pair(one)).plus_pair(Pair::exactly(size));
    let large = size.more(LARGE);
    let result = one_plus(pick(large, Pair::exactly(size), sum), large.pick(1.0, 0.0));
    let plain = size.less(TINY) | !size.less(f64::INFINITY);
    plain.pick(x, with_sign(result, x))
}

/// The inverse hyperbolic cosine: `ln(1 + t + sqrt(2t + t^2))` with `t = x - 1`, or `ln 2x`.
pub(super) fn acosh(x: Real<'_>) -> Real<'_> {
    let t = Pair::sum(x, x.constant(-1.0));
    let root = t.times(t.plus_pair(Pair::exactly(x.constant(2.0)))).sqrt();
    let large = x.more(LARGE);
    let sum = pick(large, Pair::exactly(x), root.plus_pair(t));
    let result = one_plus(sum, large.pick(1.0, 0.0));
    x.less(1.0).pick(f64::NAN, x.less(f64::INFINITY).pick(result, x))
}

/// The inverse hyperbolic tangent: half of `ln(1 + 2x / (1 - x))`.
pub(super) fn atanh(x: Real<'_>) -> Real<'_> {
    let size = x.abs();
    let below = Pair::sum(x.constant(1.0), -size);
    let result = one_plus(Pair::exactly(size + size).over(below), 0.0) * 0.5;
    let ends = size.equals(1.0).pick(f64::INFINITY, f64::NAN);
    let result = with_sign(size.less(1.0).pick(result, ends), x);
    size.less(TINY).pick(x, result)
}

/// `x^y`, by the logarithm of `|x|`.
pub(super) fn pow<'p>(x: Real<'p>, y: Real<'p>) -> Real<'p> {
    let size = x.abs();
    let Parts { k, m, .. } = Parts::of(size);
    let logarithm = with_exponent(k, LN_2_SHORT, near_one_well(m - 1.0)).normal();
    // Larger exponents change nothing: no logarithm but zero is below 2^-54.
    let factor = between(y, -1e30, 1e30);
    let product = Pair::product(factor, logarithm.high).plus(factor * logarithm.low);
    let far = product.high.abs().more(800.0);
    let product = Pair::of(between(product.high, -800.0, 800.0), far.pick(0.0, product.low));
    let power = Power::of(product).value();
    // Zero and infinity have no logarithm.
    let (zero, endless) = (size.equals(0.0), size.equals(f64::INFINITY));
    let falls = y.less(0.0);
    let power = (zero | endless).pick((zero ^ falls).pick(0.0, f64::INFINITY), power);
    // Of numbers below zero, whole powers have a value, and odd ones a sign.
    let half = y * 0.5;
    let whole = y.trunc().equals(y);
    let odd = whole & !half.trunc().equals(half);
    let signed = (x.bits().right(63u64).any(1) & odd).pick(-power, power);
    let imaginary = x.less(0.0) & !whole & !endless;
    let result = imaginary.pick(f64::NAN, signed);
    let numbers = x.is_number() & y.is_number();
    let result = numbers.pick(result, f64::NAN);
    (y.equals(0.0) | x.equals(1.0)).pick(1.0, result)
}
