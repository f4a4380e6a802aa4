//! The steps of a program of numbers.

/// The number of a step.
pub(crate) type Id = usize;

/// Functions of one operand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unary {
    /// `-a`.
    Negate,
    /// `|a|`.
    Absolute,
    /// The square root.
    Root,
    /// The whole number next towards zero.
    Truncate,
    /// The bits of a real number.
    Bits,
    /// The real number of these bits.
    Real,
    /// The real number nearest to a signed word.
    Convert,
    /// Not so.
    Not,
}

/// Functions of two operands; words are unsigned where they do not say otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Binary {
    /// `a + b`.
    Add,
    /// `a * b`.
    Multiply,
    /// `a / b`.
    Divide,
    /// `a < b`; false where one is no number.
    Less,
    /// `a == b`; false where one is no number.
    Equal,
    /// `a + b` of words.
    AddWords,
    /// `a - b` of words.
    SubtractWords,
    /// The low half of the product of words.
    Low,
    /// The high half of the product of words.
    High,
    /// Both bits.
    And,
    /// One of the bits.
    Or,
    /// Just one of the bits.
    Xor,
    /// `a << b`, for `b` below 64.
    Left,
    /// `a >> b`, for `b` below 64.
    Right,
    /// `a >> b` that keeps the sign, for `b` below 64.
    RightSigned,
    /// `a < b` of words.
    Below,
    /// `a < b` of signed words.
    BelowSigned,
}

/// One step of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// An operand of the function.
    Argument(usize),
    /// A real constant.
    Constant(f64),
    /// A word.
    Word(u64),
    /// A function of one operand.
    Unary(Unary, Id),
    /// A function of two operands.
    Binary(Binary, Id, Id),
    /// `a * b + c`, rounded once.
    Fused(Id, Id, Id),
    /// The second where the first is so, else the third.
    Pick(Id, Id, Id),
    /// From here on to [`Step::Otherwise`] only where this is so.
    Branch(Id),
    /// From here on to [`Step::Join`] only where it is not.
    Otherwise,
    /// Both ways meet.
    Join,
    /// The one after the first way, the other after the second. Right behind the join.
    Either(Id, Id),
}
