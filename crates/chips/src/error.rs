//! Why a chip or a cost file is refused.

/// A chip that is not known, or data about it that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// The name is none of the nine (T1).
    #[error("unknown target `{name}`; known are {known}")]
    UnknownChip {
        /// The name asked for.
        name: String,
        /// The names there are, separated by commas.
        known: String,
    },
    /// The name lacks its architecture suffix (T1).
    #[error(
        "target `{name}` lacks wgmma, tcgen05, setmaxnreg and tensormap.replace, which need the architecture's own name; use `{instead}`"
    )]
    PlainName {
        /// The name asked for.
        name: String,
        /// The name to use.
        instead: &'static str,
    },
    /// A data or cost file breaks a rule (T38, T39).
    #[error("line {line}: `{key}`: {reason}")]
    File {
        /// Line in the file, from 1.
        line: usize,
        /// Dotted key of the entry, or the text of the line where there is no key.
        key: String,
        /// What is wrong and what would be right.
        reason: String,
    },
}

impl TargetError {
    /// The rule that was broken (`docs/rules/T.md`).
    pub fn rule(&self) -> &'static str {
        match self {
            TargetError::UnknownChip { .. } | TargetError::PlainName { .. } => "T1",
            TargetError::File { .. } => "T39",
        }
    }
}
