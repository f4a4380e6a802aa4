//! What is refused, and why (E4, E66).

use serde::{Deserialize, Serialize};
use std::fmt;

/// One reason why an input cannot be run. Never a panic (E4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefusalReason {
    /// `P01` not PTX, `X01` unsupported, `L01` launch over the limits, `A01`, `A02` for host buffers.
    pub code: String,
    /// Line in the PTX text, from 1; 0 when the fault is not in the text.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl RefusalReason {
    pub(crate) fn new(code: &str, line: u32, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        RefusalReason { code: code.to_string(), line, message: message.into(), remedy: remedy.into() }
    }

    /// The same, with the name of the instruction in front where it does not say it.
    pub(crate) fn of(mut self, opcode: &str) -> Self {
        if !self.message.contains(opcode) {
            self.message = format!("{opcode}: {}", self.message);
        }
        self
    }
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]", self.code)?;
        if self.line > 0 {
            write!(f, " line {}", self.line)?;
        }
        write!(f, ": {}", self.message)?;
        if !self.remedy.is_empty() {
            write!(f, "\n  instead: {}", self.remedy)?;
        }
        Ok(())
    }
}

/// All the reasons found in one pass, in file order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmulatorRefusal {
    /// At least one.
    pub diagnostics: Vec<RefusalReason>,
}

impl EmulatorRefusal {
    pub(crate) fn one(code: &str, line: u32, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        EmulatorRefusal { diagnostics: vec![RefusalReason::new(code, line, message, remedy)] }
    }
}

impl From<RefusalReason> for EmulatorRefusal {
    fn from(d: RefusalReason) -> Self {
        EmulatorRefusal { diagnostics: vec![d] }
    }
}

impl fmt::Display for EmulatorRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.diagnostics.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{d}")?;
        }
        Ok(())
    }
}

impl std::error::Error for EmulatorRefusal {}
