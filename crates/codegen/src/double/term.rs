//! Programs of numbers: what a function computes, step by step, written as arithmetic on handles.
//!
//! A function is written once, as Rust that records its steps. The code generator turns the steps into instructions, each
//! rounded by itself; tests evaluate them on this machine, to the same bits.

use std::cell::RefCell;

use super::step::{Binary, Id, Step, Unary};

/// A program under construction.
#[derive(Default)]
pub(crate) struct Program {
    steps: RefCell<Vec<Step>>,
}

impl Program {
    fn push(&self, step: Step) -> Id {
        let mut steps = self.steps.borrow_mut();
        steps.push(step);
        steps.len() - 1
    }

    /// An operand of the function, by its number.
    pub fn argument(&self, index: usize) -> Real<'_> {
        Real { program: self, id: self.push(Step::Argument(index)) }
    }

    /// The steps so far.
    pub fn steps(&self) -> Vec<Step> {
        self.steps.borrow().clone()
    }
}

/// A real number, an f64.
#[derive(Clone, Copy)]
pub(crate) struct Real<'p> {
    program: &'p Program,
    id: Id,
}

/// 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct Word<'p> {
    program: &'p Program,
    id: Id,
}

/// Yes or no.
#[derive(Clone, Copy)]
pub(crate) struct Truth<'p> {
    program: &'p Program,
    id: Id,
}

/// A real number or a constant.
pub(crate) trait Number<'p> {
    /// The number in a program.
    fn real(self, program: &'p Program) -> Real<'p>;
}

impl<'p> Number<'p> for Real<'p> {
    fn real(self, _: &'p Program) -> Real<'p> {
        self
    }
}

impl<'p> Number<'p> for f64 {
    fn real(self, program: &'p Program) -> Real<'p> {
        Real { program, id: program.push(Step::Constant(self)) }
    }
}

/// A word or a constant.
pub(crate) trait Bits<'p> {
    /// The word in a program.
    fn word(self, program: &'p Program) -> Word<'p>;
}

impl<'p> Bits<'p> for Word<'p> {
    fn word(self, _: &'p Program) -> Word<'p> {
        self
    }
}

impl<'p> Bits<'p> for u64 {
    fn word(self, program: &'p Program) -> Word<'p> {
        Word { program, id: program.push(Step::Word(self)) }
    }
}

impl<'p> Real<'p> {
    /// The step that computes it.
    pub fn id(self) -> Id {
        self.id
    }

    /// A function of it.
    pub(super) fn unary(self, function: Unary) -> Id {
        self.program.push(Step::Unary(function, self.id))
    }

    /// A function of it and another number.
    pub(super) fn binary(self, function: Binary, other: impl Number<'p>) -> Id {
        let other = other.real(self.program);
        self.program.push(Step::Binary(function, self.id, other.id))
    }

    /// The real number of a step of the same program.
    pub(super) fn of(self, id: Id) -> Real<'p> {
        Real { id, ..self }
    }

    /// The program.
    pub fn program(self) -> &'p Program {
        self.program
    }

    /// A constant of the same program.
    pub fn constant(self, value: f64) -> Real<'p> {
        value.real(self.program)
    }

    /// A word of the same program.
    pub fn word(self, value: u64) -> Word<'p> {
        value.word(self.program)
    }

    /// `self * by + plus`, rounded once.
    pub fn mul_add(self, by: impl Number<'p>, plus: impl Number<'p>) -> Real<'p> {
        let (by, plus) = (by.real(self.program), plus.real(self.program));
        self.of(self.program.push(Step::Fused(self.id, by.id, plus.id)))
    }

    /// `|self|`.
    pub fn abs(self) -> Real<'p> {
        self.of(self.unary(Unary::Absolute))
    }

    /// The square root.
    pub fn sqrt(self) -> Real<'p> {
        self.of(self.unary(Unary::Root))
    }

    /// The whole number next towards zero.
    pub fn trunc(self) -> Real<'p> {
        self.of(self.unary(Unary::Truncate))
    }

    /// The bits.
    pub fn bits(self) -> Word<'p> {
        Word { program: self.program, id: self.unary(Unary::Bits) }
    }

    /// `self < other`.
    pub fn less(self, other: impl Number<'p>) -> Truth<'p> {
        Truth { program: self.program, id: self.binary(Binary::Less, other) }
    }

    /// `self > other`.
    pub fn more(self, other: impl Number<'p>) -> Truth<'p> {
        other.real(self.program).less(self)
    }

    /// `self == other`.
    pub fn equals(self, other: impl Number<'p>) -> Truth<'p> {
        Truth { program: self.program, id: self.binary(Binary::Equal, other) }
    }

    /// Whether it is a number.
    pub fn is_number(self) -> Truth<'p> {
        self.equals(self)
    }

    /// Horner's rule by fused steps; highest power first.
    pub fn polynomial(self, coefficients: &[f64]) -> Real<'p> {
        let (first, rest) = coefficients.split_first().unwrap_or((&0.0, &[]));
        rest.iter().fold(self.constant(*first), |sum, &c| sum.mul_add(self, c))
    }
}

impl<'p> Word<'p> {
    /// A function of it and another word.
    pub(super) fn binary(self, function: Binary, other: impl Bits<'p>) -> Id {
        let other = other.word(self.program);
        self.program.push(Step::Binary(function, self.id, other.id))
    }

    /// The word of a step of the same program.
    pub(super) fn of(self, id: Id) -> Word<'p> {
        Word { id, ..self }
    }

    /// A constant of the same program.
    pub fn constant(self, value: u64) -> Word<'p> {
        value.word(self.program)
    }

    /// The real number of these bits.
    pub fn real(self) -> Real<'p> {
        Real { program: self.program, id: self.program.push(Step::Unary(Unary::Real, self.id)) }
    }

    /// The real number nearest to the signed word.
    pub fn convert(self) -> Real<'p> {
        Real { program: self.program, id: self.program.push(Step::Unary(Unary::Convert, self.id)) }
    }

    /// The high half of the product.
    pub fn high(self, other: impl Bits<'p>) -> Word<'p> {
        self.of(self.binary(Binary::High, other))
    }

    /// `self << by`, for `by` below 64.
    pub fn left(self, by: impl Bits<'p>) -> Word<'p> {
        self.of(self.binary(Binary::Left, by))
    }

    /// `self >> by`, for `by` below 64.
    pub fn right(self, by: impl Bits<'p>) -> Word<'p> {
        self.of(self.binary(Binary::Right, by))
    }

    /// `self >> by` that keeps the sign, for `by` below 64.
    pub fn right_signed(self, by: impl Bits<'p>) -> Word<'p> {
        self.of(self.binary(Binary::RightSigned, by))
    }

    /// `self < other`.
    pub fn below(self, other: impl Bits<'p>) -> Truth<'p> {
        Truth { program: self.program, id: self.binary(Binary::Below, other) }
    }

    /// `self < other` of signed words.
    pub fn below_signed(self, other: i64) -> Truth<'p> {
        Truth { program: self.program, id: self.binary(Binary::BelowSigned, other as u64) }
    }

    /// Whether any of these bits is set.
    pub fn any(self, mask: u64) -> Truth<'p> {
        0u64.word(self.program).below(self & mask)
    }
}

impl<'p> Truth<'p> {
    /// The first where it is so, else the second.
    pub fn pick(self, so: impl Number<'p>, otherwise: impl Number<'p>) -> Real<'p> {
        let (so, otherwise) = (so.real(self.program), otherwise.real(self.program));
        let id = self.program.push(Step::Pick(self.id, so.id, otherwise.id));
        Real { program: self.program, id }
    }

    /// The first where it is so, else the second.
    pub fn pick_word(self, so: impl Bits<'p>, otherwise: impl Bits<'p>) -> Word<'p> {
        let (so, otherwise) = (so.word(self.program), otherwise.word(self.program));
        let id = self.program.push(Step::Pick(self.id, so.id, otherwise.id));
        Word { program: self.program, id }
    }

    /// What one of two ways computes, by a branch: a word and two real numbers.
    pub fn either(
        self,
        so: impl FnOnce() -> (Word<'p>, Real<'p>, Real<'p>),
        otherwise: impl FnOnce() -> (Word<'p>, Real<'p>, Real<'p>),
    ) -> (Word<'p>, Real<'p>, Real<'p>) {
        let program = self.program;
        program.push(Step::Branch(self.id));
        let one = so();
        program.push(Step::Otherwise);
        let other = otherwise();
        program.push(Step::Join);
        let join = |a: Id, b: Id| program.push(Step::Either(a, b));
        let word = Word { program, id: join(one.0.id, other.0.id) };
        let first = Real { program, id: join(one.1.id, other.1.id) };
        (word, first, Real { program, id: join(one.2.id, other.2.id) })
    }

    /// A function of two truths.
    pub(super) fn binary(self, function: Binary, other: Truth<'p>) -> Truth<'p> {
        Truth { id: self.program.push(Step::Binary(function, self.id, other.id)), ..self }
    }

    /// Not so.
    pub(super) fn opposite(self) -> Truth<'p> {
        Truth { id: self.program.push(Step::Unary(Unary::Not, self.id)), ..self }
    }
}
