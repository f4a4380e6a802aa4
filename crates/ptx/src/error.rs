//! What is no PTX, and where.

use std::fmt;

/// Why a text is no PTX. Never a panic, whatever the text (E4).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyntaxError {
    /// Line of the text, from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl SyntaxError {
    /// The code that goes with every syntax error.
    pub const CODE: &str = "P01";

    pub(crate) fn new(line: u32, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        SyntaxError { line, message: message.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}] line {}: {}", Self::CODE, self.line, self.message)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "\n  instead: {}", self.remedy) }
    }
}

impl std::error::Error for SyntaxError {}
