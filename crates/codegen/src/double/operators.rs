//! Arithmetic on the numbers, words and truths of a program.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

use super::step::{Binary, Unary};
use super::term::{Bits, Number, Real, Truth, Word};

impl<'p, N: Number<'p>> Add<N> for Real<'p> {
    type Output = Real<'p>;
    fn add(self, other: N) -> Real<'p> {
        self.of(self.binary(Binary::Add, other))
    }
}

impl<'p, N: Number<'p>> Sub<N> for Real<'p> {
    type Output = Real<'p>;
    fn sub(self, other: N) -> Real<'p> {
        self + -other.real(self.program())
    }
}

impl<'p, N: Number<'p>> Mul<N> for Real<'p> {
    type Output = Real<'p>;
    fn mul(self, other: N) -> Real<'p> {
        self.of(self.binary(Binary::Multiply, other))
    }
}

impl<'p, N: Number<'p>> Div<N> for Real<'p> {
    type Output = Real<'p>;
    fn div(self, other: N) -> Real<'p> {
        self.of(self.binary(Binary::Divide, other))
    }
}

impl<'p> Neg for Real<'p> {
    type Output = Real<'p>;
    fn neg(self) -> Real<'p> {
        self.of(self.unary(Unary::Negate))
    }
}

impl<'p, B: Bits<'p>> Add<B> for Word<'p> {
    type Output = Word<'p>;
    fn add(self, other: B) -> Word<'p> {
        self.of(self.binary(Binary::AddWords, other))
    }
}

impl<'p, B: Bits<'p>> Sub<B> for Word<'p> {
    type Output = Word<'p>;
    fn sub(self, other: B) -> Word<'p> {
        self.of(self.binary(Binary::SubtractWords, other))
    }
}

impl<'p, B: Bits<'p>> Mul<B> for Word<'p> {
    type Output = Word<'p>;
    fn mul(self, other: B) -> Word<'p> {
        self.of(self.binary(Binary::Low, other))
    }
}

impl<'p, B: Bits<'p>> BitAnd<B> for Word<'p> {
    type Output = Word<'p>;
    fn bitand(self, other: B) -> Word<'p> {
        self.of(self.binary(Binary::And, other))
    }
}

impl<'p, B: Bits<'p>> BitOr<B> for Word<'p> {
    type Output = Word<'p>;
    fn bitor(self, other: B) -> Word<'p> {
        self.of(self.binary(Binary::Or, other))
    }
}

impl<'p, B: Bits<'p>> BitXor<B> for Word<'p> {
    type Output = Word<'p>;
    fn bitxor(self, other: B) -> Word<'p> {
        self.of(self.binary(Binary::Xor, other))
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
