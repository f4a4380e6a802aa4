//! Powers of e, 2 and 10, and the hyperbolic functions.
//!
//! `e^x = 2^n e^r` with `|r| <= ln 2 / 2`, and `e^r = 1 + r + r^2 P(r)`: the rounding errors of `r` and of `1 + r` are kept, so
//! that only those of the last term, at most a sixteenth of the result, add to its own.

use super::coefficients::{EXP, LN_2, LN_10, LOG2_10, LOG10_2, SINH, SINH_TURN};
use super::pair::{Pair, with_sign};
use super::term::{Real, Word};

/// `1.5 * 2^52`: added to a small number, it leaves the nearest whole number in the low bits.
pub(super) const MAGIC: f64 = 6_755_399_441_055_744.0;

/// Below it, `x` is what odd functions that begin with `x` give.
pub(super) const TINY: f64 = 1.0 / 18_014_398_509_481_984.0;

/// `2^n (1 + rest + tail)`.
pub(super) struct Power<'p> {
    n: Word<'p>,
    rest: Real<'p>,
    tail: Real<'p>,
}

/// What [`MAGIC`] was added to, as a whole number and as a word.
pub(super) fn whole<'p>(shifted: Real<'p>) -> (Real<'p>, Word<'p>) {
    (shifted - MAGIC, shifted.bits() - MAGIC.to_bits())
}

/// `2^n` for `n` from -1022 to 1023.
pub(super) fn two_to(n: Word<'_>) -> Real<'_> {
    (n + 1023u64).left(52u64).real()
}

/// `x 2^n`, rounded once, for `x` around 1 and `n` from -2044 to 2046.
pub(super) fn scaled<'p>(x: Real<'p>, n: Word<'p>) -> Real<'p> {
    let half = n.right_signed(1u64);
    x * two_to(half) * two_to(n - half)
}

/// A number between two bounds; what is no number stays none.
pub(super) fn between<'p>(x: Real<'p>, least: f64, most: f64) -> Real<'p> {
    at_most(x.less(least).pick(least, x), most)
}

/// A number no larger than a bound; what is no number stays none.
pub(super) fn at_most(x: Real<'_>, most: f64) -> Real<'_> {
    x.more(most).pick(most, x)
}

impl<'p> Power<'p> {
    /// `2^n e^r`, for `|r| <= ln 2 / 2`.
    fn near(n: Word<'p>, r: Pair<'p>) -> Power<'p> {
        let Pair { high, low } = r;
        let low = low.mul_add(high, low);
        Power { n, rest: high, tail: (high * high).mul_add(high.polynomial(&EXP), low) }
    }

    /// `e^x`, for `x` between -800 and 800.
    pub fn of(x: Pair<'p>) -> Power<'p> {
        let (n, word) = whole(x.high.mul_add(std::f64::consts::LOG2_E, MAGIC));
        // The first difference is exact: both are multiples of 2^-54, and below 1.
        let rest = (-n).mul_add(LN_2.0, x.high);
        let low = (-n).mul_add(LN_2.1, x.low);
        Power::near(word, Pair::sum(rest, low))
    }

    /// `1 + rest + tail`.
    fn fraction(&self) -> Pair<'p> {
        Pair::quick_sum(self.rest.constant(1.0), self.rest).plus(self.tail)
    }

    /// The value.
    pub fn value(&self) -> Real<'p> {
        scaled(self.fraction().value(), self.n)
    }

    /// The value less 1, for exponents from -60 to 64.
    fn less_one(&self) -> Pair<'p> {
        let n = self.n.below_signed(64).pick_word(self.n, 64u64);
        let unit = two_to(n);
        let whole = Pair::sum(unit, unit.constant(-1.0));
        let sum = Pair::sum(whole.high, unit * self.rest);
        sum.plus(unit.mul_add(self.tail, whole.low)).normal()
    }
}

/// `e^x`.
pub(super) fn exp(x: Real<'_>) -> Real<'_> {
    Power::of(Pair::exactly(between(x, -746.0, 710.0))).value()
}

/// `2^x`.
pub(super) fn exp2(x: Real<'_>) -> Real<'_> {
    let x = between(x, -1080.0, 1030.0);
    let (n, word) = whole(x + MAGIC);
    let rest = Pair::exactly(x - n).times_constant(LN_2.0, LN_2.1);
    Power::near(word, rest.normal()).value()
}

/// `10^x`.
pub(super) fn exp10(x: Real<'_>) -> Real<'_> {
    let x = between(x, -326.0, 310.0);
    let (n, word) = whole(x.mul_add(LOG2_10, MAGIC));
    let rest = Pair::sum((-n).mul_add(LOG10_2.0, x), n * -LOG10_2.1);
    Power::near(word, rest.times_constant(LN_10.0, LN_10.1).normal()).value()
}

/// `e^x - 1`.
pub(super) fn expm1(x: Real<'_>) -> Real<'_> {
    let power = Power::of(Pair::exactly(between(x, -40.0, 710.0)));
    let result = x.more(40.0).pick(power.value(), power.less_one().value());
    x.abs().less(TINY).pick(x, result)
}

/// The hyperbolic tangent, by `e^(2x) - 1`.
pub(super) fn tanh(x: Real<'_>) -> Real<'_> {
    let size = at_most(x.abs(), 22.0);
    let power = Power::of(Pair::exactly(size + size)).less_one();
    let below = Pair::sum(power.high, size.constant(2.0)).plus(power.low);
    x.is_number().pick(with_sign(power.over(below).value(), x), x)
}

/// `e^|x|` without its `2^n`, `2^-2n` times the inverse of that, and `n - 1`.
fn both_ways(x: Real<'_>) -> (Pair<'_>, Pair<'_>, Word<'_>) {
    let power = Power::of(Pair::exactly(at_most(x.abs(), 720.0)));
    let up = power.fraction().normal();
    let inverse = Pair::exactly(x.constant(1.0)).over(up);
    let twice = x.word(0) - power.n - power.n;
    let unit = power.n.below_signed(100).pick(two_to(twice), 0.0);
    (up, Pair::of(inverse.high * unit, inverse.low * unit), power.n - 1u64)
}

/// The hyperbolic cosine.
pub(super) fn cosh(x: Real<'_>) -> Real<'_> {
    let (up, down, n) = both_ways(x);
    scaled(Pair::sum(up.high, down.high).plus(up.low + down.low).value(), n)
}

/// The hyperbolic sine: a polynomial near zero, where the powers cancel.
pub(super) fn sinh(x: Real<'_>) -> Real<'_> {
    let (up, down, n) = both_ways(x);
    let far = scaled(Pair::sum(up.high, -down.high).plus(up.low - down.low).value(), n);
    let square = x * x;
    let near = (x * square).mul_add(square.polynomial(&SINH), x);
    x.abs().less(SINH_TURN).pick(near, with_sign(far, x))
}
