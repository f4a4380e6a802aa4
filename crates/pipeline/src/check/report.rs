//! The rules a program can break, and what was found broken.

use std::fmt;

/// The rules a program can break.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// The text is no program: an attribute or operand is missing or has another type.
    Form,
    /// Barriers and slots lie inside shared memory, and it fits the chip.
    Shared,
    /// Alignment of slots under their swizzle.
    Alignment,
    /// Two buffers that nothing orders share bytes, or a buffer lies over a barrier.
    Overlap,
    /// Columns of tensor memory: inside the allocation, apart from each other.
    Columns,
    /// Boxes and swizzles of descriptors against the tiles copied.
    Boxes,
    /// Partitions' warps.
    Warps,
    /// Arrival counts against who arrives.
    Arrivals,
    /// Bytes of a phase against the boxes copied.
    Bytes,
    /// Register pool and operands of `setmaxnreg`.
    Registers,
    /// Named barriers: ids, thread counts, who takes part.
    NamedBarrier,
    /// What one lane may do, and what all lanes must.
    Election,
    /// A missing proxy fence.
    Fence,
    /// A product's result or operands used before it is finished.
    Unfinished,
    /// A read that sees another iteration's data, or none.
    Read,
    /// A slot rewritten while it is read or before it was.
    Overwrite,
    /// Partitions that wait for each other for ever.
    Deadlock,
    /// Something in flight at the end.
    Drain,
}

impl Rule {
    /// Its rule in `docs/rules`.
    pub fn number(self) -> &'static str {
        match self {
            Rule::Form | Rule::Read | Rule::Overwrite | Rule::Deadlock | Rule::Drain => "C35",
            Rule::Shared | Rule::Overlap => "C20",
            Rule::Alignment => "C15",
            Rule::Columns => "T14",
            Rule::Boxes => "C14",
            Rule::Warps | Rule::Election => "C21",
            Rule::Arrivals | Rule::Bytes => "C24",
            Rule::Registers => "C31",
            Rule::NamedBarrier => "C32",
            Rule::Fence => "C26",
            Rule::Unfinished => "C30",
        }
    }
}

/// A broken rule.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ProgramViolation {
    /// Which one.
    pub rule: Rule,
    /// Where: a pipeline, a partition, an operation.
    pub at: String,
    /// What was found and what was expected.
    pub message: String,
}

impl fmt::Display for ProgramViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} ({}): {}: {}", self.rule, self.rule.number(), self.at, self.message)
    }
}

impl std::error::Error for ProgramViolation {}

/// At most so many violations are reported.
pub const MOST_VIOLATIONS: usize = 100;

/// Violations as they are found.
#[derive(Default)]
pub(super) struct Report(pub(super) Vec<ProgramViolation>);

impl Report {
    pub(super) fn add(&mut self, rule: Rule, at: impl Into<String>, message: impl Into<String>) {
        let violation = ProgramViolation { rule, at: at.into(), message: message.into() };
        if self.0.len() < MOST_VIOLATIONS && !self.0.contains(&violation) {
            self.0.push(violation);
        }
    }
}
