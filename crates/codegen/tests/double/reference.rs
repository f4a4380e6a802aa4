//! The functions in arithmetic of twice the precision, by their series.

use std::sync::OnceLock;

use super::turns;
use super::twice::Twice;

const ONE: Twice = Twice(1.0, 0.0);

/// `x + x f(1) + x f(1) f(2) + ...`, where the factors fall fast.
fn series(x: Twice, factor: impl Fn(f64) -> Twice) -> Twice {
    let (mut term, mut sum, mut k) = (x, x, 1.0);
    while term.0.abs() > sum.0.abs() * 1e-36 {
        term = term * factor(k);
        sum = sum + term;
        k += 1.0;
    }
    sum
}

fn ln2() -> Twice {
    static LN_2: OnceLock<Twice> = OnceLock::new();
    *LN_2.get_or_init(|| artanh(ONE / 3.0) * 2.0)
}

/// For arguments up to 0.34.
fn artanh(s: Twice) -> Twice {
    let square = s * s;
    let (mut power, mut sum, mut k) = (s, s, 1.0);
    while power.0.abs() > sum.0.abs() * 1e-36 {
        power = power * square;
        k += 2.0;
        sum = sum + power / k;
    }
    sum
}

/// `e^x` as a number around 1 and a power of two.
fn power(x: Twice) -> (Twice, i32) {
    let n = (x.0 / std::f64::consts::LN_2).round();
    let r = (x - ln2() * n) / 256.0;
    let mut sum = ONE + series(r, |k| r / (k + 1.0));
    for _ in 0..8 {
        sum = sum * sum;
    }
    (sum, n as i32)
}

pub fn exp(x: Twice) -> Twice {
    let (value, n) = power(x);
    value.scaled(n)
}

pub fn expm1(x: Twice) -> Twice {
    if x.0.abs() < 0.4 { series(x, |k| x / (k + 1.0)) } else { exp(x) - 1.0 }
}

pub fn log(x: Twice) -> Twice {
    let scale = if x.0 < 1e-300 { 100 } else { 0 };
    let x = x.scaled(scale);
    let k = ((x.0.to_bits() as i64 - 0.7f64.to_bits() as i64) >> 52) as i32;
    let m = x.scaled(-k);
    artanh((m - 1.0) / (m + 1.0)) * 2.0 + ln2() * f64::from(k - scale)
}

pub fn log1p(x: Twice) -> Twice {
    if x.0.abs() < 0.4 { artanh(x / (x + 2.0)) * 2.0 } else { log(x + 1.0) }
}

pub fn exp2(x: Twice) -> Twice {
    exp(ln2() * x)
}

pub fn exp10(x: Twice) -> Twice {
    exp(log(10.0.into()) * x)
}

pub fn log2(x: Twice) -> Twice {
    log(x) / ln2()
}

pub fn log10(x: Twice) -> Twice {
    log(x) / log(10.0.into())
}

pub fn pow(x: Twice, y: Twice) -> Twice {
    exp(log(x) * y)
}

pub fn cosh(x: Twice) -> Twice {
    let (up, n) = power(Twice(x.0.abs(), 0.0));
    (up + (ONE / up).scaled((-2 * n).max(-200))).scaled(n - 1)
}

pub fn sinh(x: Twice) -> Twice {
    if x.0.abs() < 0.5 {
        return series(x, |k| x * x / ((2.0 * k) * (2.0 * k + 1.0)));
    }
    let (up, n) = power(Twice(x.0.abs(), 0.0));
    (up - (ONE / up).scaled((-2 * n).max(-200))).scaled(n - 1) * x.0.signum()
}

pub fn tanh(x: Twice) -> Twice {
    if x.0.abs() > 40.0 { x.0.signum().into() } else { sinh(x) / cosh(x) }
}

fn sine(r: Twice) -> Twice {
    series(r, |k| -(r * r) / ((2.0 * k) * (2.0 * k + 1.0)))
}

fn cosine(r: Twice) -> Twice {
    series(ONE, |k| -(r * r) / ((2.0 * k - 1.0) * (2.0 * k)))
}

/// Quarter turns and the rest of the size of a number.
fn reduced(x: Twice) -> (u32, Twice) {
    let size = x.0.abs();
    if size < 0.5 { (0, size.into()) } else { turns::reduced(size) }
}

pub fn sin(x: Twice) -> Twice {
    let (turns, r) = reduced(x);
    let value = if turns % 2 == 0 { sine(r) } else { cosine(r) };
    if (turns & 2 == 2) != (x.0 < 0.0) { -value } else { value }
}

pub fn cos(x: Twice) -> Twice {
    let (turns, r) = reduced(x);
    let value = if turns % 2 == 0 { cosine(r) } else { sine(r) };
    if turns == 1 || turns == 2 { -value } else { value }
}

pub fn tan(x: Twice) -> Twice {
    sin(x) / cos(x)
}

/// One step of Newton's method from the nearest f64; for numbers up to 1.
fn arctangent(t: Twice) -> Twice {
    let guess = Twice::from(t.0.atan());
    let (s, c) = (sine(guess), cosine(guess));
    guess + (t * c - s) / (c + t * s)
}

/// The angle of a point, for `y` that is not negative.
fn angle(y: Twice, x: Twice) -> Twice {
    let size = if x.0 < 0.0 { -x } else { x };
    let half_pi = turns::pi() / 2.0;
    let angle = if size.0 < y.0 { half_pi - arctangent(size / y) } else { arctangent(y / size) };
    if x.0 < 0.0 { turns::pi() - angle } else { angle }
}

pub fn atan2(y: Twice, x: Twice) -> Twice {
    if y.0 < 0.0 { -angle(-y, x) } else { angle(y, x) }
}

pub fn atan(x: Twice) -> Twice {
    atan2(x, ONE)
}

pub fn asin(x: Twice) -> Twice {
    atan2(x, (ONE - x * x).sqrt())
}

pub fn acos(x: Twice) -> Twice {
    angle((ONE - x * x).sqrt(), x)
}

pub fn erf(x: Twice) -> Twice {
    if x.0.abs() > 6.5 {
        return x.0.signum().into();
    }
    // e^(-x^2) times a sum of 2^n x^(2n+1) / (2n+1)!!: all terms have one sign.
    let square = x * x;
    let sum = series(x, |k| square * 2.0 / (2.0 * k + 1.0));
    sum * exp(-square) * 2.0 / turns::pi().sqrt()
}

pub fn asinh(x: Twice) -> Twice {
    let size = Twice(x.0.abs(), 0.0);
    let square = size * size;
    log1p(size + square / ((square + 1.0).sqrt() + 1.0)) * x.0.signum()
}

pub fn acosh(x: Twice) -> Twice {
    let t = x - 1.0;
    log1p(t + (t * (t + 2.0)).sqrt())
}

pub fn atanh(x: Twice) -> Twice {
    log1p(x * 2.0 / (ONE - x)) / 2.0
}

pub fn cbrt(x: Twice) -> Twice {
    let root = Twice::from(x.0.cbrt());
    root - (root * root * root - x) / (root * root * 3.0)
}

pub fn rsqrt(x: Twice) -> Twice {
    ONE / x.sqrt()
}

pub fn hypot(x: Twice, y: Twice) -> Twice {
    (x * x + y * y).sqrt()
}
