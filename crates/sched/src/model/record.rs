//! The machine-readable form of a refusal (S27).

use serde::Serialize;

/// The machine-readable form of a refusal (S27).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorRecord {
    /// Stable name of the reason.
    pub code: String,
    /// The rule.
    pub rule: String,
    /// The place.
    pub at: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// All reasons, when there is more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub all: Vec<ErrorRecord>,
}
