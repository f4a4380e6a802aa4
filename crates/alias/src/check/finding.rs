//! What a checker found wrong.

use std::fmt;

use serde::Serialize;

/// A broken result breaks laws in many places; this many are enough.
const MOST: usize = 100;

/// A law that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AliasFinding {
    /// The law: `L1` to `L16`.
    pub law: &'static str,
    /// What is wrong, with names and numbers.
    pub message: String,
}

impl fmt::Display for AliasFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.law, self.message)
    }
}

/// Everything that a checker found, at most 100 findings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AliasFindings(pub Vec<AliasFinding>);

impl AliasFindings {
    /// Adds one, unless there are enough or it is known.
    pub fn add(&mut self, law: &'static str, message: impl Into<String>) {
        let finding = AliasFinding { law, message: message.into() };
        if self.0.len() < MOST && !self.0.contains(&finding) {
            self.0.push(finding);
        }
    }

    /// Whether more would be dropped.
    pub(crate) fn full(&self) -> bool {
        self.0.len() >= MOST
    }

    /// All well, or what was found.
    ///
    /// # Errors
    /// Themselves, when there are any.
    pub fn into_result(self) -> Result<(), AliasFindings> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }

    /// The findings in the order in which they were made.
    pub fn iter(&self) -> impl Iterator<Item = &AliasFinding> {
        self.0.iter()
    }
}

impl fmt::Display for AliasFindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, finding) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{finding}")?;
        }
        Ok(())
    }
}

impl std::error::Error for AliasFindings {}
