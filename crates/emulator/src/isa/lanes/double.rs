//! f64 arithmetic that does not round to nearest (`.rz`, `.rm`, `.rp`).

use super::{F1, F2, F3, Lanes};
use crate::number::Rounding;
use crate::number::exact;

fn mode(code: u8) -> Rounding {
    match code {
        0 => Rounding::Zero,
        1 => Rounding::Down,
        _ => Rounding::Up,
    }
}

fn one<const OP: u8, const R: u8>(x: &Lanes, d: &mut Lanes) {
    for (d, x) in d.iter_mut().zip(x) {
        let a = f64::from_bits(*x);
        *d = if OP == 0 { exact::sqrt(a, mode(R)) } else { exact::div(1.0, a, mode(R)) }.to_bits();
    }
}

fn two<const OP: u8, const R: u8>(x: &Lanes, y: &Lanes, d: &mut Lanes) {
    for (d, (x, y)) in d.iter_mut().zip(x.iter().zip(y)) {
        let (a, b) = (f64::from_bits(*x), f64::from_bits(*y));
        *d = match OP {
            0 => exact::add(a, b, mode(R)),
            1 => exact::add(a, -b, mode(R)),
            2 => exact::mul(a, b, mode(R)),
            _ => exact::div(a, b, mode(R)),
        }
        .to_bits();
    }
}

fn three<const R: u8>(x: &Lanes, y: &Lanes, z: &Lanes, d: &mut Lanes) {
    for (d, ((x, y), z)) in d.iter_mut().zip(x.iter().zip(y).zip(z)) {
        *d = exact::fma(f64::from_bits(*x), f64::from_bits(*y), f64::from_bits(*z), mode(R)).to_bits();
    }
}

macro_rules! modes {
    ($r:expr, $f:ident $(, $op:literal)?) => {
        match $r {
            Rounding::Zero => $f::<$($op,)? 0>,
            Rounding::Down => $f::<$($op,)? 1>,
            Rounding::Up => $f::<$($op,)? 2>,
            _ => return None,
        }
    };
}

/// `sqrt`, `rcp`.
pub(crate) fn unary(name: &str, r: Rounding) -> Option<F1> {
    Some(match name {
        "sqrt" => modes!(r, one, 0),
        "rcp" => modes!(r, one, 1),
        _ => return None,
    })
}

/// `add`, `sub`, `mul`, `div`.
pub(crate) fn binary(name: &str, r: Rounding) -> Option<F2> {
    Some(match name {
        "add" => modes!(r, two, 0),
        "sub" => modes!(r, two, 1),
        "mul" => modes!(r, two, 2),
        "div" => modes!(r, two, 3),
        _ => return None,
    })
}

/// `fma`.
pub(crate) fn ternary(name: &str, r: Rounding) -> Option<F3> {
    Some(match name {
        "fma" | "mad" => modes!(r, three),
        _ => return None,
    })
}
