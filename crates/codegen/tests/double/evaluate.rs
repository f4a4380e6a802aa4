//! Programs of numbers evaluated on this machine.

use crate::double::{Binary, Function, Step, Unary};

/// What a function gives, step by step.
pub fn evaluate(function: &Function, args: &[f64]) -> f64 {
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
        Binary::High => ((u128::from(a) * u128::from(b)) >> 64) as u64,
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
