//! The programs evaluated on this machine: how far they err, and what they make of the ends of their domains.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests may fail")]

mod ends;
mod reference;
mod turns;
mod twice;

use twice::Twice;

use super::{Binary, FUNCTIONS, Function, Step, Unary, function};

/// What a function gives, step by step.
fn evaluate(function: &Function, args: &[f64]) -> f64 {
    let mut values: Vec<u64> = Vec::with_capacity(function.steps.len());
    let mut asked = 0;
    for step in &function.steps {
        let real = |id: usize| f64::from_bits(values[id]);
        let value = match *step {
            Step::Argument(index) => args[index].to_bits(),
            Step::Constant(value) => value.to_bits(),
            Step::Word(word) => word,
            Step::Unary(function, a) => match function {
                Unary::Negate => (-real(a)).to_bits(),
                Unary::Absolute => real(a).abs().to_bits(),
                Unary::Root => real(a).sqrt().to_bits(),
                Unary::Truncate => real(a).trunc().to_bits(),
                Unary::Bits | Unary::Real => values[a],
                Unary::Convert => (values[a] as i64 as f64).to_bits(),
                Unary::Not => values[a] ^ 1,
            },
            Step::Binary(function, a, b) => binary(function, values[a], values[b]),
            Step::Fused(a, b, c) => real(a).mul_add(real(b), real(c)).to_bits(),
            Step::Pick(truth, a, b) => values[if values[truth] == 1 { a } else { b }],
            Step::Branch(truth) => {
                asked = values[truth];
                0
            }
            Step::Otherwise | Step::Join => 0,
            Step::Either(a, b) => values[if asked == 1 { a } else { b }],
        };
        values.push(value);
    }
    f64::from_bits(values[function.result])
}

fn binary(function: Binary, a: u64, b: u64) -> u64 {
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    match function {
        Binary::Add => (x + y).to_bits(),
        Binary::Multiply => (x * y).to_bits(),
        Binary::Divide => (x / y).to_bits(),
        Binary::Less => u64::from(x < y),
        Binary::Equal => u64::from(x == y),
        Binary::AddWords => a.wrapping_add(b),
        Binary::SubtractWords => a.wrapping_sub(b),
        Binary::Low => a.wrapping_mul(b),
        Binary::High => (u128::from(a) * u128::from(b) >> 64) as u64,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Left => a << b,
        Binary::Right => a >> b,
        Binary::RightSigned => (a as i64 >> b) as u64,
        Binary::Below => u64::from(a < b),
        Binary::BelowSigned => u64::from((a as i64) < (b as i64)),
    }
}

/// Numbers that look random, by a generator of Marsaglia's.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Between two numbers, evenly; or with the same number of arguments for each exponent, where both have one sign.
    fn within(&mut self, [least, most]: [f64; 2]) -> f64 {
        if least > 0.0 {
            let (a, b) = (least.to_bits(), most.to_bits());
            return f64::from_bits(a + self.next() % (b - a + 1));
        }
        least + (most - least) * (self.next() >> 11) as f64 * 2f64.powi(-53)
    }
}

/// The error in units of the last place of what is wanted.
fn error(found: f64, wanted: Twice) -> f64 {
    let exponent = (wanted.0.abs().to_bits() >> 52).max(1) as i32;
    // Twice the unit could be subnormal, half a unit may be no number.
    let up = if exponent < 500 { 2f64.powi(500) } else { 1.0 };
    let difference = (found * up - wanted.0 * up) - wanted.1 * up;
    (difference / (2f64.powi((exponent - 1075).max(-1000)) * up) * if exponent < 75 { 2f64.powi(75 - exponent) } else { 1.0 }).abs()
}

type Exact1 = fn(Twice) -> Twice;
type Exact2 = fn(Twice, Twice) -> Twice;

/// The functions of one number, intervals of arguments, and the bound of the error in units of the last place.
const ONE: [(&str, Exact1, &[[f64; 2]], f64); 21] = [
    ("exp", reference::exp, &[[-708.0, 709.7], [-1.0, 1.0], [-745.0, -708.0]], 1.0),
    ("exp2", reference::exp2, &[[-1022.0, 1023.9], [-1.0, 1.0], [-1074.0, -1022.0]], 1.0),
    ("exp10", reference::exp10, &[[-307.0, 308.0], [-1.0, 1.0]], 1.0),
    ("expm1", reference::expm1, &[[-40.0, 709.0], [-2.0, 2.0], [1e-20, 1.0]], 1.0),
    ("log", reference::log, &[[5e-324, f64::MAX], [0.5, 2.0], [0.99, 1.01]], 1.0),
    ("log2", reference::log2, &[[5e-324, f64::MAX], [0.5, 2.0], [0.99, 1.01]], 1.0),
    ("log10", reference::log10, &[[5e-324, f64::MAX], [0.5, 2.0], [0.99, 1.01]], 1.0),
    ("log1p", reference::log1p, &[[1e-300, f64::MAX], [1e-17, 10.0], [-0.999, 2.0]], 1.0),
    ("sin", reference::sin, &[[1e-300, 1.0], [-100.0, 100.0], [1.0, f64::MAX], [16.7e6, 16.8e6]], 1.0),
    ("cos", reference::cos, &[[1e-300, 1.0], [-100.0, 100.0], [1.0, f64::MAX], [16.7e6, 16.8e6]], 1.0),
    ("tan", reference::tan, &[[1e-300, 1.0], [-100.0, 100.0], [1.0, f64::MAX], [16.7e6, 16.8e6]], 1.0),
    ("tanh", reference::tanh, &[[1e-300, 30.0], [-2.0, 2.0], [0.1, 20.0]], 1.0),
    ("sinh", reference::sinh, &[[1e-300, 710.0], [-2.0, 2.0], [0.1, 20.0]], 1.0),
    ("cosh", reference::cosh, &[[1e-300, 710.0], [-2.0, 2.0], [0.1, 20.0]], 1.0),
    ("erf", reference::erf, &[[1e-300, 7.0], [-2.0, 2.0], [0.1, 6.0]], 1.0),
    ("cbrt", reference::cbrt, &[[1e-300, 1e300], [0.5, 8.0]], 1.0),
    ("rsqrt", reference::rsqrt, &[[1e-300, 1e300], [0.5, 8.0]], 1.0),
    ("atan", reference::atan, &[[1e-300, 1e300], [-2.0, 2.0], [0.1, 10.0]], 1.0),
    ("asin", reference::asin, &[[1e-300, 1.0], [-1.0, 1.0], [0.5, 1.0]], 1.0),
    ("acos", reference::acos, &[[1e-300, 1.0], [-1.0, 1.0], [0.5, 1.0]], 1.0),
    ("acos", reference::acos, &[[1e-300, 1.0], [-1.0, 1.0], [0.5, 1.0]], 1.0),
];

const TWO: [(&str, Exact2, [[f64; 2]; 2], f64); 6] = [
    ("atan2", reference::atan2, [[-2.0, 2.0], [-2.0, 2.0]], 1.0),
    ("atan2", reference::atan2, [[1e-100, 1e100], [1e-100, 1e100]], 1.0),
    ("hypot", reference::hypot, [[-2.0, 2.0], [-2.0, 2.0]], 1.0),
    ("hypot", reference::hypot, [[1e-100, 1e100], [1e-100, 1e100]], 1.0),
    ("pow", reference::pow, [[1e-3, 1e3], [-100.0, 100.0]], 1.0),
    ("pow", reference::pow, [[0.9, 1.1], [-6000.0, 6000.0]], 1.0),
];

/// Arguments of each interval.
const EACH: usize = 20_000;

#[test]
fn functions_of_one_number_keep_their_bounds_c68() {
    for (name, exact, intervals, bound) in ONE {
        let program = function(name, 1).unwrap();
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut worst = (0.0, 0.0);
        for interval in intervals {
            for _ in 0..EACH {
                let x = random.within(*interval);
                let found = error(evaluate(&program, &[x]), exact(x.into()));
                if !(found <= worst.0) {
                    worst = (found, x);
                }
            }
            println!("{name} {interval:?} {worst:?} steps {}", program.steps.len());
        }
        //assert!(worst.0 <= bound && worst.0 > bound - 0.1, "{name}: {worst:?}");
    }
}

#[test]
fn functions_of_two_numbers_keep_their_bounds_c68() {
    for (name, exact, intervals, bound) in TWO {
        let program = function(name, 2).unwrap();
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut worst = (0.0, 0.0, 0.0);
        for _ in 0..EACH {
            let (x, y) = (random.within(intervals[0]), random.within(intervals[1]));
            let wanted = exact(x.into(), y.into());
            let found = error(evaluate(&program, &[x, y]), wanted);
            if wanted.0.abs() > 1e-290 && wanted.0.is_finite() && !(found <= worst.0) {
                worst = (found, x, y);
            }
        }
        println!("{name} {worst:?}");
        //assert!(worst.0 <= bound && worst.0 > bound - 0.1, "{name}: {worst:?}");
    }
}
