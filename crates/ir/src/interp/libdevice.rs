//! Functions of NVIDIA's libdevice by their names without `__nv_` and the `f` of f32 (C68).

/// A function evaluated in `f64` before its result is rounded.
pub(super) type Function = fn(f64) -> f64;

/// A function of two numbers.
pub(super) type Function2 = fn(f64, f64) -> f64;

/// A function of one number that gives an integer.
pub(super) type Integral = fn(f64) -> i64;

/// Functions of one number.
const UNARY: [(&str, Function); 46] = [
    ("acos", libm::acos),
    ("acosh", libm::acosh),
    ("asin", libm::asin),
    ("asinh", libm::asinh),
    ("atan", libm::atan),
    ("atanh", libm::atanh),
    ("cbrt", libm::cbrt),
    ("ceil", libm::ceil),
    ("cos", libm::cos),
    ("cosh", libm::cosh),
    ("cospi", |v| libm::cos(core::f64::consts::PI * libm::fmod(v, 2.0))),
    ("erf", libm::erf),
    ("erfc", libm::erfc),
    ("exp", libm::exp),
    ("exp10", libm::exp10),
    ("exp2", libm::exp2),
    ("expm1", libm::expm1),
    ("fabs", f64::abs),
    ("floor", libm::floor),
    ("fsqrt_rn", libm::sqrt),
    ("dsqrt_rn", libm::sqrt),
    ("j0", libm::j0),
    ("j1", libm::j1),
    ("lgamma", libm::lgamma),
    ("log", libm::log),
    ("log10", libm::log10),
    ("log1p", libm::log1p),
    ("log2", libm::log2),
    ("nearbyint", libm::rint),
    ("normcdf", |v| 0.5 * libm::erfc(-v / core::f64::consts::SQRT_2)),
    ("rcbrt", |v| 1.0 / libm::cbrt(v)),
    ("rint", libm::rint),
    ("round", libm::round),
    ("rsqrt", |v| 1.0 / libm::sqrt(v)),
    ("frsqrt_rn", |v| 1.0 / libm::sqrt(v)),
    ("saturate", |v| if v > 0.0 { v.min(1.0) } else { 0.0 }),
    ("sin", libm::sin),
    ("sinh", libm::sinh),
    ("sinpi", |v| libm::sin(core::f64::consts::PI * libm::fmod(v, 2.0))),
    ("sqrt", libm::sqrt),
    ("tan", libm::tan),
    ("tanh", libm::tanh),
    ("tgamma", libm::tgamma),
    ("trunc", libm::trunc),
    ("y0", libm::y0),
    ("y1", libm::y1),
];

/// Functions of two numbers.
const BINARY: [(&str, Function2); 15] = [
    ("atan2", libm::atan2),
    ("copysign", f64::copysign),
    ("dadd_rn", |a, b| a + b),
    ("dmul_rn", |a, b| a * b),
    ("fadd_rn", |a, b| a + b),
    ("fmul_rn", |a, b| a * b),
    ("fdim", libm::fdim),
    ("fdivide", |a, b| a / b),
    ("fdiv_rn", |a, b| a / b),
    ("ddiv_rn", |a, b| a / b),
    ("fmod", libm::fmod),
    ("hypot", libm::hypot),
    ("pow", libm::pow),
    ("remainder", libm::remainder),
    ("rhypot", |a, b| 1.0 / libm::hypot(a, b)),
];

/// Functions of one number that give an integer.
const INTEGRAL: [(&str, Integral); 13] = [
    ("finite", |v| i64::from(v.is_finite())),
    ("float2int_rn", |v| libm::rint(v) as i32 as i64),
    ("float2int_rz", |v| v as i32 as i64),
    ("ilogb", |v| i64::from(libm::ilogb(v))),
    ("isfinited", |v| i64::from(v.is_finite())),
    ("isinfd", |v| i64::from(v.is_infinite())),
    ("isinf", |v| i64::from(v.is_infinite())),
    ("isnan", |v| i64::from(v.is_nan())),
    ("isnand", |v| i64::from(v.is_nan())),
    ("llrint", |v| libm::rint(v) as i64),
    ("llround", |v| libm::round(v) as i64),
    ("signbitd", |v| i64::from(v.is_sign_negative())),
    ("signbit", |v| i64::from(v.is_sign_negative())),
];

/// The row of a symbol.
fn find<F: Copy>(table: &[(&str, F)], symbol: &str) -> Option<F> {
    let name = symbol.strip_prefix("__nv_")?;
    let name = name.strip_prefix("fast_").unwrap_or(name);
    let row = |wanted: &str| table.iter().find(|(name, _)| *name == wanted).map(|(_, f)| *f);
    row(name).or_else(|| row(name.strip_suffix('f')?))
}

/// A function of one number.
pub(super) fn unary(symbol: &str) -> Option<Function> {
    find(&UNARY, symbol)
}

/// A function of two numbers.
pub(super) fn binary(symbol: &str) -> Option<Function2> {
    find(&BINARY, symbol)
}

/// A function of one number that gives an integer.
pub(super) fn integral(symbol: &str) -> Option<Integral> {
    find(&INTEGRAL, symbol)
}
