//! Sine, cosine and tangent: the angle less a multiple of a quarter turn, as a pair, then polynomials.

use super::coefficients::{COS, HALF_PI, SIN, TRIG_TURN, TWO_OVER_PI};
use super::exponential::{MAGIC, whole};
use super::pair::{Pair, pick};
use super::term::{Real, Truth, Word};

/// Quarter turns, of which the last two bits count, and what is left of an angle: at most an eighth turn either way.
struct Angle<'p> {
    quarters: Word<'p>,
    rest: Pair<'p>,
}

impl<'p> Angle<'p> {
    /// Of an angle that is not negative.
    fn of(size: Real<'p>) -> Angle<'p> {
        let large = !size.less(TRIG_TURN);
        let (quarters, high, low) = large.either(|| far(size), || near(size));
        Angle { quarters, rest: Pair::of(high, low) }
    }

    /// Its sine.
    fn sine(&self) -> Pair<'p> {
        let r = self.rest.high;
        let square = r * r;
        let turned = square.mul_add(-0.5, 1.0);
        let low = (r * square).mul_add(square.polynomial(&SIN), self.rest.low * turned);
        Pair::of(r, low)
    }

    /// Its cosine.
    fn cosine(&self) -> Pair<'p> {
        let r = self.rest.high;
        let square = Pair::product(r, r);
        let half = square.high * 0.5;
        let sum = Pair::quick_sum(r.constant(1.0), -half);
        let low = square.low.mul_add(-0.5, -(r * self.rest.low));
        let fourth = square.high * square.high;
        sum.plus(fourth.mul_add(square.high.polynomial(&COS), low))
    }

    /// Sine and cosine of the whole angle without their signs.
    fn both(&self) -> (Pair<'p>, Pair<'p>) {
        let (sine, cosine) = (self.sine(), self.cosine());
        let odd = self.quarters.any(1);
        (pick(odd, cosine, sine), pick(odd, sine, cosine))
    }
}

/// An angle below the turn less its quarter turns, in three steps by the parts of pi/2 (W. J. Cody and W. Waite, "Software
/// manual for the elementary functions", 1980).
fn near(size: Real<'_>) -> (Word<'_>, Real<'_>, Real<'_>) {
    let (count, quarters) = whole(size.mul_add(std::f64::consts::FRAC_2_PI, MAGIC));
    let count = -count;
    // Exact: both are multiples of 2^-53, and below 1.
    let rest = count.mul_add(HALF_PI.0, size);
    let second = Pair::product(count, count.constant(HALF_PI.1));
    let sum = Pair::sum(rest, second.high);
    let rest = sum.plus(count.mul_add(HALF_PI.2, second.low)).normal();
    (quarters, rest.high, rest.low)
}

/// An angle `m 2^e` of any size less its quarter turns: of `m 2^e 2/pi` only the bits that matter modulo four are multiplied
/// (M. Payne and R. Hanek, "Radian reduction for trigonometric functions", 1983).
fn far(size: Real<'_>) -> (Word<'_>, Real<'_>, Real<'_>) {
    let bits = size.bits();
    let m = (bits & 0x000f_ffff_ffff_ffff) | (1 << 52);
    // The bit of weight 2 in the product is bit `first` of the table, whose first word is zero.
    let first = bits.right(52u64) - 1013u64;
    let (index, by) = (first.right(6u64), first & 63);
    let mut words: Vec<Word<'_>> = TWO_OVER_PI.iter().map(|&word| bits.constant(word)).collect();
    for step in [16, 8, 4, 2, 1] {
        let ahead = index.any(step as u64);
        let here = words.iter().take(step + 3).enumerate();
        words = here
            .map(|(i, &here)| words.get(i + step).map_or(here, |&there| ahead.pick_word(there, here)))
            .collect();
    }
    let rest = size.word(63) - by;
    let window: Vec<Word<'_>> =
        words.windows(2).map(|w| w[0].left(by) | w[1].right(1u64).right(rest)).collect();
    let product = |k: usize| window.get(k).map_or((m, m), |&word| (m.high(word), m * word));
    // The upper 128 bits of the product modulo 2^192.
    let ((_, top), (middle, low), (carry, _)) = (product(0), product(1), product(2));
    let below = low + carry;
    let above = top + middle + below.below(low).pick_word(1u64, 0u64);
    fraction(above, below)
}

/// Quarter turns and the rest of `above 2^-62 + below 2^-126` of them.
fn fraction<'p>(above: Word<'p>, below: Word<'p>) -> (Word<'p>, Real<'p>, Real<'p>) {
    let part = above.left(2u64) | below.right(62u64);
    let low = below.left(2u64);
    // More than half a quarter turn is the next one, less what is missing.
    let round: Truth<'p> = part.right(63u64).any(1);
    let zero = above.constant(0);
    let borrow = zero.below(low).pick_word(1u64, 0u64);
    let quarters = above.right(62u64) + part.right(63u64);
    let part = round.pick_word(zero - part - borrow, part);
    let low = round.pick_word(zero - low, low);
    // 53, 53 and 22 bits.
    let first = part.right(11u64).convert() * 2f64.powi(-53);
    let second = (part & 0x7ff).left(42u64) | low.right(22u64);
    let second = second.convert() * 2f64.powi(-106);
    let third = (low & 0x3f_ffff).convert() * 2f64.powi(-128);
    let turns = Pair::quick_sum(first, second).plus(third).normal();
    let rest = turns.times_constant(HALF_PI.0, HALF_PI.1).normal();
    let sign = |x: Real<'p>| round.pick(-x, x);
    (quarters, sign(rest.high), sign(rest.low))
}

/// A function of a finite angle, with its sign turned by this bit.
fn turned<'p>(x: Real<'p>, value: Real<'p>, sign: Word<'p>) -> Real<'p> {
    let value = (value.bits() ^ sign.left(63u64)).real();
    x.abs().less(f64::INFINITY).pick(value, f64::NAN)
}

/// The sine.
pub(super) fn sin(x: Real<'_>) -> Real<'_> {
    let angle = Angle::of(x.abs());
    turned(x, angle.both().0.value(), angle.quarters.right(1u64) ^ x.bits().right(63u64))
}

/// The cosine.
pub(super) fn cos(x: Real<'_>) -> Real<'_> {
    let angle = Angle::of(x.abs());
    turned(x, angle.both().1.value(), (angle.quarters + 1u64).right(1u64))
}

/// The tangent.
pub(super) fn tan(x: Real<'_>) -> Real<'_> {
    let angle = Angle::of(x.abs());
    let (sine, cosine) = angle.both();
    turned(x, sine.normal().over(cosine.normal()).value(), angle.quarters ^ x.bits().right(63u64))
}
