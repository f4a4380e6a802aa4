//! Coefficients of our own approximations (C68), highest power first, and what they promise.
//!
//! - `erf(x) = x + x P(x^2)` for `|x| <` [`ERF_TURN`], with `P` = [`ERF_NEAR`];
//!   `erf(x) = sign(x) (1 - 2^Q(|x|))` beyond, with `Q` = [`ERF_TAIL`], a fit of `log2(1 - erf)` weighted by
//!   `1 - erf`. `Q` falls without bound, so that the result is exactly 1 for large arguments.
//! - `tanh(x) = x + x P(x^2)` for `|x| <` [`TANH_TURN`], with `P` = [`TANH_NEAR`];
//!   `tanh(x) = sign(x) (1 - 2 / (1 + e^(2|x|)))` beyond.
//!
//! - `sin(x)` and `cos(x)`: `r`, what is left of `|x|` less the nearest number of quarter turns, in three steps by the
//!   parts of pi/2 ([`HALF_PI`]) below [`TRIG_TURN`], by the bits of 2/pi ([`TWO_OVER_PI`]) beyond; then
//!   `sin(r) = r + r^3 P(r^2)` with `P` = [`SIN`] and `cos(r) = 1 + r^2 Q(r^2)` with `Q` = [`COS`], one or the other
//!   and its sign by the number of quarter turns.
//!
//! Coefficients are minimax fits by iteratively reweighted least squares in 40 digits. Evaluated in f32 with
//! fused steps, the relative error stays below [`ERF_ERROR`], [`TANH_ERROR`] and [`TRIG_ERROR`]; a test measures it.

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

/// Where `sin` and `cos` change the way they reduce their angle.
pub(crate) const TRIG_TURN: f32 = 65536.0;

/// Parts of pi/2; the first times a whole number, taken from an angle below the turn, is exact in one fused step.
pub(crate) const HALF_PI: [f32; 3] = [1.570_796_4, -4.371_139e-8, -1.715_124_5e-15];

/// Bits of 2/pi behind the point, and a word of zeros before it.
pub(crate) const TWO_OVER_PI: [u32; 8] =
    [0, 0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041, 0xfe51_63ab];

/// `(sin(r) / r - 1) / r^2` by powers of `r^2`.
pub(crate) const SIN: [f32; 4] = [2.718_046e-6, -0.000_198_393_04, 0.008_333_329, -0.166_666_67];

/// `(cos(r) - 1) / r^2` by powers of `r^2`.
pub(crate) const COS: [f32; 4] = [2.443_241e-5, -0.001_388_731, 0.041_666_646, -0.5];

/// Bound of the relative error of `sin` and `cos`, in units of 2^-24.
#[cfg(test)]
pub(crate) const TRIG_ERROR: f64 = 3.0;

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

    /// Quarter turns and the rest, as the code computes them.
    fn reduced(size: f32) -> (u32, f32) {
        if size < TRIG_TURN {
            let shifted = size.mul_add(std::f32::consts::FRAC_2_PI, 12_582_912.0);
            let count = shifted - 12_582_912.0;
            return (shifted.to_bits(), HALF_PI.iter().fold(size, |rest, part| count.mul_add(-part, rest)));
        }
        let bits = size.to_bits();
        let m = u64::from(bits & 0x7f_ffff | 0x80_0000);
        let first = (bits >> 23) - 120;
        let word = |k: u32| u64::from(TWO_OVER_PI[(first / 32 + k) as usize]);
        let window = |k: u32| ((word(k) << 32 | word(k + 1)) << (first % 32)) >> 32;
        let low = (m * window(2)) >> 32;
        let product = ((m * window(0)) << 32).wrapping_add(m * window(1)).wrapping_add(low);
        let part = product << 2;
        let turns = (product >> 62) as u32 + (part >> 63) as u32;
        let unit = std::f64::consts::FRAC_PI_2 / 2f64.powi(64);
        (turns, (part as i64 as f64 * unit) as f32)
    }

    fn sine(x: f32, cosine: bool) -> f32 {
        let (turns, r) = reduced(x.abs());
        let square = r * r;
        let odd = (polynomial(square, &SIN) * square).mul_add(r, r);
        let even = polynomial(square, &COS).mul_add(square, 1.0);
        let turns = turns.wrapping_add(u32::from(cosine));
        let found = if turns & 1 == 1 { even } else { odd };
        let found = if turns & 2 == 2 { -found } else { found };
        if cosine || x.is_sign_positive() { found } else { -found }
    }

    #[test]
    fn sine_and_cosine_keep_their_bound_for_every_size_c68() {
        let mut worst: f64 = 0.0;
        // Every exponent, and multiples of pi/2, where everything cancels.
        let spread = (0..400_000u32).map(|i| f32::from_bits(0x0080_0000 + i * 5323));
        let turns = (1..50_000).map(|i| (f64::from(i) * std::f64::consts::FRAC_PI_2) as f32);
        for x in spread.chain(turns).filter(|x| x.is_finite()) {
            for x in [x, -x] {
                let (sin, cos) = f64::from(x).sin_cos();
                for (found, wanted) in [(sine(x, false), sin), (sine(x, true), cos)] {
                    worst = worst.max(((f64::from(found) - wanted) / wanted).abs());
                }
            }
        }
        let worst = worst * f64::from(1u32 << 24);
        assert!(worst < TRIG_ERROR, "{worst}");
        assert!(worst > 0.5, "the measurement sees nothing: {worst}");
    }

    #[test]
    fn the_parts_of_half_pi_and_the_bits_of_its_inverse_are_right() {
        let sum: f64 = HALF_PI.iter().map(|&p| f64::from(p)).sum();
        assert_eq!(sum, std::f64::consts::FRAC_PI_2);
        let bits = TWO_OVER_PI[1..3].iter().fold(0f64, |sum, &w| sum * 2f64.powi(32) + f64::from(w));
        assert!((bits / 2f64.powi(64) - std::f64::consts::FRAC_2_PI).abs() < 2e-16);
        // An angle within 2^-29 of a multiple of pi/2.
        let x = 16_367_173.0f32 * 2f32.powi(72);
        assert!(
            (f64::from(sine(x, true)) - f64::from(x).cos()).abs()
                < 1e-12 * f64::from(x).cos().abs().max(1e-3)
        );
    }
}
