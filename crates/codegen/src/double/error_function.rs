//! The error function.

use super::coefficients::{ERF, ERF_FIRST, ERF_THIRD, ERF_TURN, ERFC};
use super::exponential::{Power, at_most};
use super::pair::{Pair, with_sign};
use super::term::Real;

/// A polynomial near zero, whose first two terms are kept with their rounding errors; `1 - e^(-x^2) Q(t)` beyond, with
/// `t = (x - 3) / (x + 3)`, where 6 stands for what is larger: there it is 1.
pub(super) fn erf(x: Real<'_>) -> Real<'_> {
    let square = Pair::product(x, x);
    let third = Pair::quick_sum(x.constant(ERF_THIRD.0), square.high * square.high.polynomial(&ERF));
    let second = square.times(third.plus(x.constant(ERF_THIRD.1)));
    let rest = second.low + ERF_FIRST.1;
    let sum = Pair::quick_sum(x.constant(ERF_FIRST.0), second.high).plus(rest);
    let near = x.mul_add(sum.high, x * sum.low);
    let size = at_most(x.abs(), 6.0);
    let square = Pair::product(size, size);
    let t = (size - 3.0) / (size + 3.0);
    let tail = Power::of(square.negated()).value() * t.polynomial(&ERFC);
    let far = with_sign(x.constant(1.0) - tail, x);
    x.abs().less(ERF_TURN).pick(near, x.is_number().pick(far, x))
}
