//! Arithmetic of about 104 bits, for the reference: unevaluated sums of two f64.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `high + low`.
#[derive(Clone, Copy, Debug)]
pub struct Twice(pub f64, pub f64);

fn two_sum(a: f64, b: f64) -> Twice {
    let s = a + b;
    let t = s - a;
    Twice(s, (a - (s - t)) + (b - t))
}

impl Twice {
    fn normal(self) -> Twice {
        let s = self.0 + self.1;
        Twice(s, self.1 - (s - self.0))
    }

    /// The product of two numbers, exactly.
    pub fn product(a: f64, b: f64) -> Twice {
        Twice(a * b, a.mul_add(b, -(a * b)))
    }

    /// Times a power of two.
    pub fn scaled(self, n: i32) -> Twice {
        let half = n / 2;
        let by = |x: f64| x * 2f64.powi(half) * 2f64.powi(n - half);
        Twice(by(self.0), by(self.1))
    }

    pub fn sqrt(self) -> Twice {
        let root = self.0.sqrt();
        let rest = self - Twice::product(root, root);
        two_sum(root, rest.0 / (2.0 * root))
    }
}

impl From<f64> for Twice {
    fn from(x: f64) -> Twice {
        Twice(x, 0.0)
    }
}

impl Neg for Twice {
    type Output = Twice;
    fn neg(self) -> Twice {
        Twice(-self.0, -self.1)
    }
}

impl<T: Into<Twice>> Add<T> for Twice {
    type Output = Twice;
    fn add(self, other: T) -> Twice {
        let other = other.into();
        let (high, low) = (two_sum(self.0, other.0), two_sum(self.1, other.1));
        let first = Twice(high.0, high.1 + low.0).normal();
        Twice(first.0, first.1 + low.1).normal()
    }
}

impl<T: Into<Twice>> Sub<T> for Twice {
    type Output = Twice;
    fn sub(self, other: T) -> Twice {
        self + -other.into()
    }
}

impl<T: Into<Twice>> Mul<T> for Twice {
    type Output = Twice;
    fn mul(self, other: T) -> Twice {
        let other = other.into();
        let high = Twice::product(self.0, other.0);
        Twice(high.0, high.1 + (self.0 * other.1 + self.1 * other.0)).normal()
    }
}

impl<T: Into<Twice>> Div<T> for Twice {
    type Output = Twice;
    fn div(self, other: T) -> Twice {
        let other = other.into();
        let first = self.0 / other.0;
        let rest = self - other * first;
        let second = rest.0 / other.0;
        let rest = rest - other * second;
        two_sum(first, second) + rest.0 / other.0
    }
}
