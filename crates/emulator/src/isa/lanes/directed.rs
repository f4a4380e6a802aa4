//! f32 arithmetic that rounds towards zero, down or up (`.rz`, `.rm`, `.rp`).
//!
//! The exact result is first rounded to odd in f64, which is wide enough that rounding it again to f32 is right in
//! every mode (Boldo and Melquiond, 2008).

use super::{F1, F2, F3, Lanes};
use crate::number::Rounding;
use crate::number::float as n;
use crate::number::minifloat::F32;

/// `x` with its last bit set if `error`, what `x` lacks of the exact value, is not zero.
pub(crate) fn to_odd(x: f64, error: f64) -> f64 {
    let bits = x.to_bits();
    if error == 0.0 || error.is_nan() || !x.is_finite() || bits & 1 == 1 {
        return x;
    }
    let away = (error > 0.0) == (x > 0.0);
    f64::from_bits(if away { bits + 1 } else { bits - 1 })
}

/// The sum of two f64, rounded to odd.
fn sum(p: f64, c: f64) -> f64 {
    let s = p + c;
    let back = s - p;
    to_odd(s, (p - (s - back)) + (c - back))
}

fn mode(code: u8) -> Rounding {
    match code {
        0 => Rounding::Zero,
        1 => Rounding::Down,
        _ => Rounding::Up,
    }
}

fn finish<const R: u8, const FTZ: bool>(x: f64, zeros_agree: bool) -> u64 {
    if x.is_nan() {
        return u64::from(n::NAN.to_bits());
    }
    // x - x is -0 when rounding down.
    let x = if x == 0.0 && !zeros_agree && R == 1 { -0.0 } else { x };
    let y = f32::from_bits(F32.encode(x, mode(R), false));
    u64::from(if FTZ { n::flush(y) } else { y }.to_bits())
}

fn input<const FTZ: bool>(bits: u64) -> f64 {
    let x = f32::from_bits(bits as u32);
    f64::from(if FTZ { n::flush(x) } else { x })
}

fn two<const OP: u8, const R: u8, const FTZ: bool>(x: &Lanes, y: &Lanes, d: &mut Lanes) {
    for i in 0..32 {
        let (a, b) = (input::<FTZ>(x[i]), input::<FTZ>(y[i]));
        d[i] = match OP {
            0 | 1 => {
                let b = if OP == 1 { -b } else { b };
                finish::<R, FTZ>(
                    sum(a, b),
                    a == 0.0 && b == 0.0 && a.is_sign_positive() == b.is_sign_positive(),
                )
            }
            2 => finish::<R, FTZ>(a * b, true),
            _ => {
                let q = a / b;
                let rest = (-q).mul_add(b, a);
                finish::<R, FTZ>(to_odd(q, if b.is_finite() { rest / b } else { 0.0 }), true)
            }
        };
    }
}

fn three<const NEGATE: u8, const R: u8, const FTZ: bool>(x: &Lanes, y: &Lanes, z: &Lanes, d: &mut Lanes) {
    for i in 0..32 {
        let a = if NEGATE == 1 { -input::<FTZ>(x[i]) } else { input::<FTZ>(x[i]) };
        let (p, c) = (a * input::<FTZ>(y[i]), input::<FTZ>(z[i]));
        let agree = p == 0.0 && c == 0.0 && p.is_sign_positive() == c.is_sign_positive();
        d[i] = finish::<R, FTZ>(sum(p, c), agree);
    }
}

fn one<const OP: u8, const R: u8, const FTZ: bool>(x: &Lanes, d: &mut Lanes) {
    for i in 0..32 {
        let a = input::<FTZ>(x[i]);
        let (q, error) = if OP == 0 {
            let q = a.sqrt();
            (q, (-q).mul_add(q, a))
        } else {
            let q = 1.0 / a;
            (q, (-q).mul_add(a, 1.0) / a)
        };
        d[i] = finish::<R, FTZ>(to_odd(q, error), true);
    }
}

macro_rules! modes {
    ($r:expr, $ftz:expr, $f:ident :: <$op:literal>) => {
        match ($r, $ftz) {
            (Rounding::Zero, false) => $f::<$op, 0, false>,
            (Rounding::Zero, true) => $f::<$op, 0, true>,
            (Rounding::Down, false) => $f::<$op, 1, false>,
            (Rounding::Down, true) => $f::<$op, 1, true>,
            (Rounding::Up, false) => $f::<$op, 2, false>,
            (Rounding::Up, true) => $f::<$op, 2, true>,
            _ => return None,
        }
    };
}

/// `sqrt`, `rcp`.
pub(crate) fn unary(name: &str, r: Rounding, ftz: bool) -> Option<F1> {
    Some(match name {
        "sqrt" => modes!(r, ftz, one::<0>),
        "rcp" => modes!(r, ftz, one::<1>),
        _ => return None,
    })
}

/// `add`, `sub`, `mul`, `div`.
pub(crate) fn binary(name: &str, r: Rounding, ftz: bool) -> Option<F2> {
    Some(match name {
        "add" => modes!(r, ftz, two::<0>),
        "sub" => modes!(r, ftz, two::<1>),
        "mul" => modes!(r, ftz, two::<2>),
        "div" => modes!(r, ftz, two::<3>),
        _ => return None,
    })
}

/// `fma`.
pub(crate) fn ternary(name: &str, r: Rounding, ftz: bool) -> Option<F3> {
    Some(match name {
        "fma" | "mad" => modes!(r, ftz, three::<0>),
        _ => return None,
    })
}
