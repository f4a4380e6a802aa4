//! The program checker (C35): an independent reading of a program, from its text alone.
//!
//! [`program`] first checks what is declared ([`Rule`]s about memory, counts, bytes, warps, registers, boxes), then
//! runs the handshakes without the arithmetic: every warp steps through its agent's region, mbarriers count arrivals
//! and bytes as the hardware's do, copies and products complete some time after they were issued, a product's operands
//! are read until a `warploom.mma_wait` retires it, and products that one lane issues into tensor memory finish in their
//! order, each commit behind the products before it. Warps are interleaved by several fixed policies and by seeded random
//! choice, for the trip counts of C28, and for each of them must hold: every read sees the write of its own
//! iteration, no slot is rewritten while it is read, every phase gets just the arrivals and bytes it counts,
//! nobody waits for ever, nothing is in flight at the end. Scalars are computed from made-up arguments, so that loops and
//! branches go as they would.
//!
//! It shares no code with the builders of programs. What it does not check: the arithmetic on tiles, and coordinates of
//! copies.

mod boxes;
mod machine;
mod model;
mod run;
mod scenario;
mod structure;
mod warp;

use std::fmt;

use warploom_ir::Module;
use warploom_target::Target;

pub use scenario::Effort;

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
    /// Agents' warps.
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
    /// Agents that wait for each other for ever.
    Deadlock,
    /// Something in flight at the end.
    Drain,
}

impl Rule {
    /// The rule of the specification.
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
pub struct Violation {
    /// Which one.
    pub rule: Rule,
    /// Where: a pipeline, an agent, an operation.
    pub at: String,
    /// What was found and what was expected.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} ({}): {}: {}", self.rule, self.rule.number(), self.at, self.message)
    }
}

impl std::error::Error for Violation {}

/// At most so many violations are reported.
pub const MOST_VIOLATIONS: usize = 100;

/// Violations as they are found.
#[derive(Default)]
struct Report(Vec<Violation>);

impl Report {
    fn add(&mut self, rule: Rule, at: impl Into<String>, message: impl Into<String>) {
        let violation = Violation { rule, at: at.into(), message: message.into() };
        if self.0.len() < MOST_VIOLATIONS && !self.0.contains(&violation) {
            self.0.push(violation);
        }
    }
}

/// Checks a program, its declarations and its handshakes.
///
/// # Errors
/// Everything found wrong. Handshakes are run only when the declarations are right.
pub fn program(module: &Module, target: &Target, effort: Effort) -> Result<(), Vec<Violation>> {
    declarations(module, target)?;
    handshakes(module, effort)
}

/// Checks what a program declares, without running it.
///
/// # Errors
/// Everything found wrong.
pub fn declarations(module: &Module, target: &Target) -> Result<(), Vec<Violation>> {
    let mut report = Report::default();
    if let Some(model) = model::read(module, &mut report) {
        structure::check(&model, target, &mut report);
        boxes::check(&model, &mut report);
    }
    if report.0.is_empty() { Ok(()) } else { Err(report.0) }
}

/// Runs the handshakes of a program.
///
/// # Errors
/// Everything that went wrong in the first run that failed.
pub fn handshakes(module: &Module, effort: Effort) -> Result<(), Vec<Violation>> {
    let mut report = Report::default();
    if let Some(model) = model::read(module, &mut report) {
        scenario::run(&model, effort, &mut report);
    }
    if report.0.is_empty() { Ok(()) } else { Err(report.0) }
}
