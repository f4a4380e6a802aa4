//! Arithmetic on the numbers, words and truths of a program.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

use super::step::{Binary, Unary};
use super::term::{Bits, Number, Real, Truth, Word};

/// Operators of a kind of numbers and what may stand on their right, each a step.
macro_rules! operators {
    ($number:ident with $other:ident: $($operator:ident $method:ident = $step:ident),*) => {$(
        impl<'p, O: $other<'p>> $operator<O> for $number<'p> {
            type Output = $number<'p>;
            fn $method(self, other: O) -> $number<'p> {
                self.of(self.binary(Binary::$step, other))
            }
        }
    )*};
}

operators!(Real with Number: Add add = Add, Mul mul = Multiply, Div div = Divide);
operators!(Word with Bits: Add add = AddWords, Sub sub = SubtractWords, Mul mul = Low);
operators!(Word with Bits: BitAnd bitand = And, BitOr bitor = Or, BitXor bitxor = Xor);

impl<'p, N: Number<'p>> Sub<N> for Real<'p> {
    type Output = Real<'p>;
    fn sub(self, other: N) -> Real<'p> {
        self + -other.real(self.program())
    }
}

impl<'p> Neg for Real<'p> {
    type Output = Real<'p>;
    fn neg(self) -> Real<'p> {
        self.of(self.unary(Unary::Negate))
    }
}

impl<'p> BitAnd for Truth<'p> {
    type Output = Truth<'p>;
    fn bitand(self, other: Truth<'p>) -> Truth<'p> {
        self.binary(Binary::And, other)
    }
}

impl<'p> BitOr for Truth<'p> {
    type Output = Truth<'p>;
    fn bitor(self, other: Truth<'p>) -> Truth<'p> {
        self.binary(Binary::Or, other)
    }
}

impl<'p> BitXor for Truth<'p> {
    type Output = Truth<'p>;
    fn bitxor(self, other: Truth<'p>) -> Truth<'p> {
        self.binary(Binary::Xor, other)
    }
}

impl<'p> Not for Truth<'p> {
    type Output = Truth<'p>;
    fn not(self) -> Truth<'p> {
        self.opposite()
    }
}
