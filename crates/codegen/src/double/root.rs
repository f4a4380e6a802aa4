//! Roots and lengths.

use super::pair::{Pair, with_sign};
use super::term::Real;

/// A third of the bits of `a` taken from this is a guess of `a^(-1/3)`: `4/3` of the bits of 1 less 0.068 of a binade, so that
/// the guess errs by 3.4 % at most.
const THIRD_ROOT: u64 = 0x553e_e910_0000_0000;

/// A power of two that takes a number far from subnormal and infinite ones, and what takes its `root`-th root back.
fn range(x: Real<'_>, root: i32) -> (Real<'_>, Real<'_>) {
    let (small, large) = (x.less(2f64.powi(-500)), x.more(2f64.powi(500)));
    let three = |small_one: f64, large_one: f64| small.pick(small_one, large.pick(large_one, 1.0));
    let part = 600 / root;
    (three(2f64.powi(600), 2f64.powi(-600)), three(2f64.powi(-part), 2f64.powi(part)))
}

/// Zero, infinity and what is no number are their own roots.
fn of_numbers<'p>(x: Real<'p>, root: Real<'p>) -> Real<'p> {
    let size = x.abs();
    (size.more(0.0) & size.less(f64::INFINITY)).pick(root, x)
}

/// The cube root: its inverse by two steps of fourth order, then one step of Newton's method.
pub(super) fn cbrt(x: Real<'_>) -> Real<'_> {
    let size = x.abs();
    let (unit, back) = range(size, 3);
    let a = size * unit;
    let third = a.bits().high(0x5555_5555_5555_5556u64);
    let mut inverse = (a.word(THIRD_ROOT) - third).real();
    for _ in 0..2 {
        let error = (-(a * inverse * inverse)).mul_add(inverse, 1.0);
        let series = error.polynomial(&[14.0 / 81.0, 2.0 / 9.0, 1.0 / 3.0]);
        inverse = (inverse * error).mul_add(series, inverse);
    }
    let root = a * inverse * inverse;
    let square = Pair::product(root, root);
    let cube = Pair::product(square.high, root);
    let excess = (cube.high - a) + square.low.mul_add(root, cube.low);
    let slope = inverse * inverse * (1.0 / 3.0);
    let root = (-excess).mul_add(slope, root) * back;
    of_numbers(x, with_sign(root, x))
}

/// `1 / sqrt(x)`.
pub(super) fn rsqrt(x: Real<'_>) -> Real<'_> {
    let (unit, back) = range(x, -2);
    let root = Pair::exactly(x * unit).sqrt();
    let inverse = Pair::exactly(x.constant(1.0)).over(root).value() * back;
    let endless = x.equals(0.0).pick(with_sign(x.constant(f64::INFINITY), x), f64::NAN);
    let ends = x.equals(f64::INFINITY).pick(0.0, endless);
    (x.more(0.0) & x.less(f64::INFINITY)).pick(inverse, ends)
}

/// `sqrt(x^2 + y^2)`.
pub(super) fn hypot<'p>(x: Real<'p>, y: Real<'p>) -> Real<'p> {
    let (x, y) = (x.abs(), y.abs());
    let steep = x.less(y);
    let (small, large) = (steep.pick(x, y), steep.pick(y, x));
    let (unit, back) = range(large, 1);
    let (a, b) = (large * unit, small * unit);
    let (first, second) = (Pair::product(a, a), Pair::product(b, b));
    let sum = Pair::quick_sum(first.high, second.high).plus(first.low + second.low).normal();
    let length = sum.sqrt().value() * back;
    let endless = x.equals(f64::INFINITY) | y.equals(f64::INFINITY);
    endless.pick(f64::INFINITY, length)
}
