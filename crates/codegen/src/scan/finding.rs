//! What the scan finds.

use std::fmt;

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule it breaks.
    pub rule: &'static str,
    /// Line of the PTX, from 1.
    pub line: usize,
    /// What is wrong.
    pub text: String,
}

impl Finding {
    pub(super) fn new(rule: &'static str, line: warploom_ptx::Line, text: impl Into<String>) -> Finding {
        Finding { rule, line: line.0 as usize, text: text.into() }
    }

    /// A fault of an instruction, which is named after it.
    pub(super) fn at(rule: &'static str, text: &str, instruction: &warploom_ptx::Instruction<'_>) -> Finding {
        let named: String = instruction.to_string().chars().take(60).collect();
        Finding::new(rule, instruction.line, format!("{text}: {named}"))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {} ({})", self.line, self.text, self.rule)
    }
}
