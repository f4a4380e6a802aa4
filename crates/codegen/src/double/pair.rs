//! Numbers of twice the precision: the unevaluated sum of two f64 (T. J. Dekker, "A floating-point technique for extending
//! the available precision", 1971).

use super::term::{Real, Truth};

/// `high + low`, with `low` far smaller.
#[derive(Clone, Copy)]
pub(super) struct Pair<'p> {
    /// The number, rounded.
    pub high: Real<'p>,
    /// What is missing.
    pub low: Real<'p>,
}

impl<'p> Pair<'p> {
    /// A pair of its parts.
    pub fn of(high: Real<'p>, low: Real<'p>) -> Pair<'p> {
        Pair { high, low }
    }

    /// A number of single length.
    pub fn exactly(x: Real<'p>) -> Pair<'p> {
        Pair { high: x, low: x.constant(0.0) }
    }

    /// `a + b`, exactly.
    pub fn sum(a: Real<'p>, b: Real<'p>) -> Pair<'p> {
        let high = a + b;
        let part = high - a;
        Pair { high, low: (a - (high - part)) + (b - part) }
    }

    /// `a + b`, exactly, where `a` is zero or no smaller than `b`.
    pub fn quick_sum(a: Real<'p>, b: Real<'p>) -> Pair<'p> {
        let high = a + b;
        Pair { high, low: b - (high - a) }
    }

    /// `a * b`, exactly.
    pub fn product(a: Real<'p>, b: Real<'p>) -> Pair<'p> {
        let high = a * b;
        Pair { high, low: a.mul_add(b, -high) }
    }

    /// A little more.
    pub fn plus(self, low: Real<'p>) -> Pair<'p> {
        Pair { low: self.low + low, ..self }
    }

    /// The sum of two pairs.
    pub fn plus_pair(self, other: Pair<'p>) -> Pair<'p> {
        Pair::sum(self.high, other.high).plus(self.low + other.low).normal()
    }

    /// The same number with as much as possible in the high part.
    pub fn normal(self) -> Pair<'p> {
        Pair::quick_sum(self.high, self.low)
    }

    /// The product.
    pub fn times(self, by: Pair<'p>) -> Pair<'p> {
        let product = Pair::product(self.high, by.high);
        product.plus(self.low.mul_add(by.high, self.high * by.low))
    }

    /// The product with a constant of two parts.
    pub fn times_constant(self, high: f64, low: f64) -> Pair<'p> {
        self.times(Pair { high: self.high.constant(high), low: self.high.constant(low) })
    }

    /// `self / by`, by one division.
    pub fn over(self, by: Pair<'p>) -> Pair<'p> {
        let inverse = by.high.constant(1.0) / by.high;
        let quotient = self.high * inverse;
        let rest = (-quotient).mul_add(by.high, self.high);
        let rest = (-quotient).mul_add(by.low, rest) + self.low;
        Pair { high: quotient, low: rest * inverse }
    }

    /// The square root of a number that is not negative.
    pub fn sqrt(self) -> Pair<'p> {
        let root = self.high.sqrt();
        let rest = (-root).mul_add(root, self.high) + self.low;
        let low = rest * (root.constant(0.5) / root);
        Pair { high: root, low: root.equals(0.0).pick(0.0, low) }
    }

    /// `-self`.
    pub fn negated(self) -> Pair<'p> {
        Pair { high: -self.high, low: -self.low }
    }

    /// The sum, rounded once.
    pub fn value(self) -> Real<'p> {
        self.high + self.low
    }

    /// `high + low - self`, for constants no smaller than it.
    pub fn taken_from(self, high: f64, low: f64) -> Pair<'p> {
        let sum = Pair::quick_sum(self.high.constant(high), -self.high);
        sum.plus(sum.high.constant(low) - self.low).normal()
    }
}

/// One of two pairs.
pub(super) fn pick<'p>(truth: Truth<'p>, so: Pair<'p>, otherwise: Pair<'p>) -> Pair<'p> {
    Pair { high: truth.pick(so.high, otherwise.high), low: truth.pick(so.low, otherwise.low) }
}

/// The size of one number with the sign of another.
pub(super) fn with_sign<'p>(size: Real<'p>, of: Real<'p>) -> Real<'p> {
    (size.abs().bits() | (of.bits() & (1 << 63))).real()
}
