//! Scalar float operations as PTX has them: flushing, minimum and maximum, approximations (E55).

/// Subnormals become zeros of the same sign.
pub(crate) fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0.0_f32.copysign(x) } else { x }
}

/// The NaN that arithmetic produces.
pub(crate) const NAN: f32 = f32::from_bits(0x7fff_ffff);

/// NaN loses, +0 is above -0.
pub(crate) fn max(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => NAN,
        (true, false) => b,
        (false, true) => a,
        _ if a == b => {
            if a.is_sign_negative() {
                b
            } else {
                a
            }
        }
        _ => {
            if a > b {
                a
            } else {
                b
            }
        }
    }
}

/// NaN loses, -0 is below +0.
pub(crate) fn min(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => NAN,
        (true, false) => b,
        (false, true) => a,
        _ if a == b => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        _ => {
            if a < b {
                a
            } else {
                b
            }
        }
    }
}

/// NaN wins (`.NaN`).
pub(crate) fn max_nan(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { NAN } else { max(a, b) }
}

/// NaN wins (`.NaN`).
pub(crate) fn min_nan(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { NAN } else { min(a, b) }
}

/// Clamp to [0, 1], NaN and -0 to 0 (`.sat`).
pub(crate) fn saturate(x: f32) -> f32 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// The same of an f64.
pub(crate) fn saturate64(x: f64) -> f64 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// Of two f64: NaN loses, +0 is above -0.
pub(crate) fn max64(a: f64, b: f64) -> f64 {
    if a == b && a.is_sign_negative() { b } else { a.max(b) }
}

/// Of two f64: NaN loses, -0 is below +0.
pub(crate) fn min64(a: f64, b: f64) -> f64 {
    if a == b && b.is_sign_negative() { b } else { a.min(b) }
}

/// `rcp.approx.ftz.f64` and its kin: of the upper word alone, to 20 bits of the mantissa, without subnormals.
pub(crate) fn rough(bits: u64, f: impl Fn(f64) -> f64) -> u64 {
    const UPPER: u64 = 0xffff_ffff_0000_0000;
    let flush = |x: f64| if x.is_subnormal() { 0.0_f64.copysign(x) } else { x };
    let y = flush(f(flush(f64::from_bits(bits & UPPER))));
    if y.is_finite() { y.to_bits().wrapping_add(1 << 31) & UPPER } else { y.to_bits() & UPPER }
}

/// NaN in the form that arithmetic gives it.
pub(crate) fn canonical(x: f32) -> f32 {
    if x.is_nan() { NAN } else { x }
}

macro_rules! via_f64 {
    ($($(#[$doc:meta])* $name:ident: $f:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(x: f32) -> f32 {
            let f: fn(f64) -> f64 = $f;
            canonical(f(f64::from(x)) as f32)
        }
    )*};
}

via_f64! {
    /// 2^x.
    exp2: f64::exp2;
    /// log2 x.
    log2: f64::log2;
    /// 1/x.
    reciprocal: |x| 1.0 / x;
    /// x^(-1/2).
    rsqrt: |x| 1.0 / x.sqrt();
    /// Square root.
    sqrt: f64::sqrt;
    /// Sine.
    sin: f64::sin;
    /// Cosine.
    cos: f64::cos;
    /// Hyperbolic tangent.
    tanh: f64::tanh;
}
