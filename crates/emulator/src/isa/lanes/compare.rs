//! Comparisons to a mask of lanes.

use super::{Compare, Lanes};
use crate::isa::types::Ty;
use crate::number::minifloat::{bf16_value, f16_value};

macro_rules! mask {
    (|$a:ident, $b:ident| $e:expr) => {{
        fn f(x: &Lanes, y: &Lanes) -> u32 {
            let mut m = 0;
            for i in 0..32 {
                let ($a, $b) = (x[i], y[i]);
                m |= u32::from($e) << i;
            }
            m
        }
        f as Compare
    }};
}

macro_rules! ordered {
    ($name:expr, $view:expr) => {
        match $name {
            "eq" => mask!(|a, b| $view(a) == $view(b)),
            "ne" => mask!(|a, b| $view(a) != $view(b)),
            "lt" | "lo" => mask!(|a, b| $view(a) < $view(b)),
            "le" | "ls" => mask!(|a, b| $view(a) <= $view(b)),
            "gt" | "hi" => mask!(|a, b| $view(a) > $view(b)),
            "ge" | "hs" => mask!(|a, b| $view(a) >= $view(b)),
            _ => return None,
        }
    };
}

macro_rules! real {
    ($name:expr, $view:expr) => {
        match $name {
            "eq" => mask!(|a, b| $view(a) == $view(b)),
            "ne" => mask!(|a, b| $view(a) != $view(b) && !$view(a).is_nan() && !$view(b).is_nan()),
            "lt" => mask!(|a, b| $view(a) < $view(b)),
            "le" => mask!(|a, b| $view(a) <= $view(b)),
            "gt" => mask!(|a, b| $view(a) > $view(b)),
            "ge" => mask!(|a, b| $view(a) >= $view(b)),
            "equ" => mask!(|a, b| !($view(a) < $view(b) || $view(a) > $view(b))),
            "neu" => mask!(|a, b| $view(a) != $view(b)),
            "ltu" => mask!(|a, b| !($view(a) >= $view(b))),
            "leu" => mask!(|a, b| !($view(a) > $view(b))),
            "gtu" => mask!(|a, b| !($view(a) <= $view(b))),
            "geu" => mask!(|a, b| !($view(a) < $view(b))),
            "num" => mask!(|a, b| !$view(a).is_nan() && !$view(b).is_nan()),
            "nan" => mask!(|a, b| $view(a).is_nan() || $view(b).is_nan()),
            _ => return None,
        }
    };
}

fn f32_of(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn flushed(x: u64) -> f32 {
    crate::number::float::flush(f32_of(x))
}

/// `testp`: the property of an f32 or f64.
pub(crate) fn property(name: &str, ty: Ty) -> Option<Compare> {
    macro_rules! of {
        ($view:expr) => {
            match name {
                "finite" => mask!(|a, _b| $view(a).is_finite()),
                "infinite" => mask!(|a, _b| $view(a).is_infinite()),
                "number" => mask!(|a, _b| !$view(a).is_nan()),
                "notanumber" => mask!(|a, _b| $view(a).is_nan()),
                "normal" => mask!(|a, _b| $view(a).is_normal() || $view(a) == 0.0),
                "subnormal" => mask!(|a, _b| $view(a).is_subnormal()),
                _ => return None,
            }
        };
    }
    Some(match ty {
        Ty::F32 => of!(f32_of),
        Ty::F64 => of!(f64::from_bits),
        _ => return None,
    })
}

/// The comparison `name` on a type; `ftz` flushes inputs of f32 and f16, which alone have it.
pub(crate) fn compare(name: &str, ty: Ty, ftz: bool) -> Option<Compare> {
    #[allow(clippy::neg_cmp_op_on_partial_ord, reason = "unordered comparisons are true for NaN")]
    Some(match ty {
        Ty::F16 if ftz => real!(name, |x: u64| f16_value(super::half::flush(x) as u16)),
        Ty::F32 if ftz => real!(name, flushed),
        _ if ftz => return None,
        Ty::U8 | Ty::B8 => ordered!(name, |x: u64| x as u8),
        Ty::U16 | Ty::B16 => ordered!(name, |x: u64| x as u16),
        Ty::U32 | Ty::B32 => ordered!(name, |x: u64| x as u32),
        Ty::U64 | Ty::B64 => ordered!(name, |x: u64| x),
        Ty::S8 => ordered!(name, |x: u64| x as i8),
        Ty::S16 => ordered!(name, |x: u64| x as i16),
        Ty::S32 => ordered!(name, |x: u64| x as i32),
        Ty::S64 => ordered!(name, |x: u64| x as i64),
        Ty::F32 => real!(name, f32_of),
        Ty::F64 => real!(name, f64::from_bits),
        Ty::F16 => real!(name, |x: u64| f16_value(x as u16)),
        Ty::BF16 => real!(name, |x: u64| bf16_value(x as u16)),
        _ => return None,
    })
}
