//! Inverse functions of angles, all by the angle of a point in the plane.

use super::coefficients::{ATAN, ATAN_TURN, HALF_PI, PI, QUARTER_PI};
use super::pair::{Pair, pick, with_sign};
use super::term::{Real, Truth};

/// The angle of the point `(x, y)` in the first quadrant, or of its mirror image on the left.
///
/// It is the inverse tangent of the smaller over the larger coordinate, or a quarter turn less that; near the diagonal, an
/// eighth turn less the inverse tangent of their difference over their sum.
fn angle<'p>(y: Pair<'p>, x: Pair<'p>, left: Truth<'p>) -> Real<'p> {
    let steep = x.high.less(y.high);
    let (small, large) = (pick(steep, x, y), pick(steep, y, x));
    // Neither the inverse of the larger one nor what is left of the smaller one may be subnormal.
    let unit = large.high.more(2f64.powi(400)).pick(2f64.powi(-100), 2f64.powi(500));
    let scaled = |p: Pair<'p>| Pair::of(p.high * unit, p.low * unit);
    let (small, large) = (scaled(small), scaled(large));
    let near = (large.high * ATAN_TURN).less(small.high);
    let below = pick(near, large.plus_pair(small), large);
    let quotient = pick(near, large.plus_pair(small.negated()), small).over(below);
    // No quotients: of zeros, by infinity, of infinities.
    let (none, endless) = (small.high.equals(0.0), large.high.equals(f64::INFINITY));
    let none = none | endless;
    let (t, low) = (none.pick(0.0, quotient.high), none.pick(0.0, quotient.low));
    let square = t * t;
    // The derivative, 1 / (1 + t^2), is needed to a few bits only.
    let low = (t * square).mul_add(square.polynomial(&ATAN), (-low).mul_add(square, low));
    let angle = Pair::of(t, low);
    let diagonal = near | small.high.equals(f64::INFINITY);
    let angle = pick(diagonal, angle.taken_from(QUARTER_PI.0, QUARTER_PI.1), angle);
    let angle = pick(steep, angle.taken_from(HALF_PI.0, HALF_PI.1), angle);
    pick(left, angle.taken_from(PI.0, PI.1), angle).value()
}

/// Whether the sign bit is set.
fn negative(x: Real<'_>) -> Truth<'_> {
    x.bits().right(63u64).any(1)
}

/// `sqrt(1 - x^2)`.
fn other_leg(x: Real<'_>) -> Pair<'_> {
    let square = Pair::product(x, x);
    Pair::quick_sum(x.constant(1.0), -square.high).plus(-square.low).normal().sqrt()
}

/// The angle of a point in the plane.
pub(super) fn atan2<'p>(y: Real<'p>, x: Real<'p>) -> Real<'p> {
    let angle = angle(Pair::exactly(y.abs()), Pair::exactly(x.abs()), negative(x));
    let numbers = x.is_number() & y.is_number();
    numbers.pick(with_sign(angle, y), f64::NAN)
}

/// The inverse tangent.
pub(super) fn atan(x: Real<'_>) -> Real<'_> {
    let one = x.constant(1.0);
    atan2(x, one)
}

/// The inverse sine.
pub(super) fn asin(x: Real<'_>) -> Real<'_> {
    let one = x.constant(1.0);
    let angle = angle(Pair::exactly(x.abs()), other_leg(x.abs()), negative(one));
    with_sign(angle, x)
}

/// The inverse cosine.
pub(super) fn acos(x: Real<'_>) -> Real<'_> {
    let angle = angle(other_leg(x), Pair::exactly(x.abs()), negative(x));
    x.abs().more(1.0).pick(f64::NAN, angle)
}
