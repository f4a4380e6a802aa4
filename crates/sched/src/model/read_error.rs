//! Texts that are no loop graph and no answer (S10).

/// A JSON text that is no loop graph or answer (S10).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}, at `{path}`: {message}")]
#[non_exhaustive]
pub struct ReadError {
    /// What sort of fault it is.
    pub kind: ReadErrorKind,
    /// Line, from 1; 0 when the text could not be decoded at all.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// The field, as `nodes[3].latency`.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// The sorts of fault of a [`ReadError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// No JSON, or a field of the wrong type.
    Format,
    /// Not UTF-8.
    Encoding,
    /// A damaged gzip archive.
    Archive,
    /// A text of more bytes than the limit.
    TooLarge {
        /// The limit, bytes.
        limit: u64,
    },
}

impl ReadErrorKind {
    /// Stable name, for machines.
    pub fn code(self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "TooLarge",
            Self::Format | Self::Encoding | Self::Archive => "Read",
        }
    }

    /// What to do about it.
    pub fn help(self) -> &'static str {
        match self {
            Self::Format => "write the loop graph as the format asks: whole numbers, known types",
            Self::Encoding => "write the text as UTF-8",
            Self::Archive => "pack the file again",
            Self::TooLarge { .. } => "split the file",
        }
    }
}

impl ReadError {
    /// A fault of the text as a whole.
    pub(crate) fn whole(kind: ReadErrorKind, message: String) -> Self {
        ReadError { kind, line: 0, column: 0, path: ".".to_owned(), message }
    }

    pub(crate) fn on_line(mut self, offset: usize) -> Self {
        self.line += offset;
        self
    }
}
