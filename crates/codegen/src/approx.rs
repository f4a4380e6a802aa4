//! Coefficients of our own approximations (C68), highest power first, and what they promise.
//!
//! - `erf(x) = x + x P(x^2)` for `|x| <` [`ERF_TURN`], with `P` = [`ERF_NEAR`];
//!   `erf(x) = sign(x) (1 - 2^Q(|x|))` beyond, with `Q` = [`ERF_TAIL`], a fit of `log2(1 - erf)` weighted by
//!   `1 - erf`. `Q` falls without bound, so that the result is exactly 1 for large arguments.
//! - `tanh(x) = x + x P(x^2)` for `|x| <` [`TANH_TURN`], with `P` = [`TANH_NEAR`];
//!   `tanh(x) = sign(x) (1 - 2 / (1 + e^(2|x|)))` beyond.
//!
//! Coefficients are minimax fits by iteratively reweighted least squares in 40 digits. Evaluated in f32 with
//! fused steps, the relative error stays below [`ERF_ERROR`] and [`TANH_ERROR`]; a test measures it.

/// Where `erf` changes its form.
pub(crate) const ERF_TURN: f32 = 0.92;

/// `erf(x) / x - 1` by powers of `x^2`.
pub(crate) const ERF_NEAR: [f32; 6] =
    [-0.000_602_180_3, 0.004_999_601, -0.026_771_283, 0.112_819_55, -0.376_125_07, 0.128_379_15];

/// `log2(1 - erf(x))` by powers of `x`.
pub(crate) const ERF_TAIL: [f32; 8] = [
    -0.000_030_530_344,
    0.000_627_889_9,
    -0.006_022_745,
    0.036_252_96,
    -0.156_235_17,
    -0.913_708_75,
    -1.629_554_2,
    0.000_253_735_6,
];

/// Bound of the relative error of `erf`, in units of 2^-24.
#[cfg(test)]
pub(crate) const ERF_ERROR: f64 = 3.0;

/// Where `tanh` changes its form.
pub(crate) const TANH_TURN: f32 = 0.6;

/// `tanh(x) / x - 1` by powers of `x^2`.
pub(crate) const TANH_NEAR: [f32; 6] =
    [-0.005_863_202_7, 0.020_763_572, -0.053_771_842, 0.133_317_29, -0.333_332_84, -2.356_885_4e-9];

/// Bound of the relative error of `tanh`, in units of 2^-24.
#[cfg(test)]
pub(crate) const TANH_ERROR: f64 = 5.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn polynomial(x: f32, coefficients: &[f32]) -> f32 {
        coefficients.iter().copied().reduce(|sum, c| sum.mul_add(x, c)).unwrap()
    }

    /// `x - 2 ulp` of an approximation of the unit: `ex2.approx` errs by 2^-22 at most (PTX ISA).
    fn nudged(x: f32, by: f32) -> f32 {
        x * (1.0 + by * 2f32.powi(-22))
    }

    fn erf(x: f32, by: f32) -> f32 {
        let magnitude = x.abs();
        if magnitude >= ERF_TURN {
            (1.0 - nudged(polynomial(magnitude, &ERF_TAIL).exp2(), by)).copysign(x)
        } else {
            polynomial(x * x, &ERF_NEAR).mul_add(x, x)
        }
    }

    fn tanh(x: f32, by: f32) -> f32 {
        let magnitude = x.abs();
        if magnitude >= TANH_TURN {
            let power = nudged(((magnitude + magnitude) * std::f32::consts::LOG2_E).exp2(), by);
            (1.0 - nudged(2.0 / (power + 1.0), by)).copysign(x)
        } else {
            polynomial(x * x, &TANH_NEAR).mul_add(x, x)
        }
    }

    /// `erf` in f64 by its series, good to 1e-14 for |x| < 4.
    fn erf_exact(x: f64) -> f64 {
        if x.abs() > 5.5 {
            return x.signum();
        }
        // exp(-x^2) sum of 2^n x^(2n+1) / (2n+1)!!: all terms positive.
        let (mut term, mut sum) = (x, x);
        for n in 1..400 {
            term *= 2.0 * x * x / f64::from(2 * n + 1);
            sum += term;
        }
        sum * (-x * x).exp() * 2.0 / std::f64::consts::PI.sqrt()
    }

    fn worst(f: impl Fn(f32, f32) -> f32, exact: impl Fn(f64) -> f64) -> f64 {
        let mut worst: f64 = 0.0;
        for step in 1..40_000 {
            for x in [step as f32 * 2.5e-4, step as f32 * -2.5e-4, step as f32 * 1e-9] {
                for by in [-1.0, 0.0, 1.0] {
                    let (found, wanted) = (f64::from(f(x, by)), exact(f64::from(x)));
                    worst = worst.max(((found - wanted) / wanted).abs());
                }
            }
        }
        worst * f64::from(1u32 << 24)
    }

    #[test]
    fn erf_keeps_its_bound_c68() {
        let worst = worst(erf, erf_exact);
        assert!(worst < ERF_ERROR, "{worst}");
        assert!(worst > 0.5, "the measurement sees nothing: {worst}");
    }

    #[test]
    fn tanh_keeps_its_bound_c68() {
        let worst = worst(tanh, f64::tanh);
        assert!(worst < TANH_ERROR, "{worst}");
        assert!(worst > 0.5, "the measurement sees nothing: {worst}");
    }

    #[test]
    fn both_end_at_one_and_keep_zero_and_nan() {
        for f in [erf, tanh] {
            for x in [10.0f32, 20.0, 50.0, 1e3, 1e30, f32::MAX, f32::INFINITY] {
                assert_eq!(f(x, 0.0), 1.0);
                assert_eq!(f(-x, 0.0), -1.0);
            }
            assert_eq!(f(0.0, 0.0), 0.0);
            assert!(f(f32::NAN, 0.0).is_nan());
        }
    }
}
