//! One refusal or remark.

use std::fmt;

use super::code::{Code, Severity};

/// One refusal or remark, with everything a person needs to mend it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Kind.
    pub code: Code,
    /// Error, warning or remark.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// The rule of `docs/rules` that is broken (`C62`, `T11`), if one is.
    pub rule: Option<&'static str>,
    /// Byte offset in the input text; `None` when the input was not text.
    pub offset: Option<u32>,
    /// The operation as printed, on one line.
    pub op: Option<String>,
    /// Location in the kernel's own source, if the file carries it (`others.py:76:9`).
    pub source: Option<String>,
    /// `found`, `needs`, `instead`, `fits`, ..: label and text, in order; the last one is the remedy. An empty label
    /// stands for a line without one.
    pub notes: Vec<(&'static str, String)>,
}

impl Diagnostic {
    /// An error of this kind.
    pub fn error(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, message)
    }

    /// A remark of this kind.
    pub fn remark(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Remark, code, message)
    }

    fn new(severity: Severity, code: Code, message: impl Into<String>) -> Diagnostic {
        let (offset, op, source) = (None, None, None);
        Diagnostic {
            code,
            severity,
            message: message.into(),
            rule: None,
            offset,
            op,
            source,
            notes: Vec::new(),
        }
    }

    /// Names the broken rule.
    pub fn rule(mut self, rule: &'static str) -> Diagnostic {
        self.rule = Some(rule);
        self
    }

    /// Names the place in the input text.
    pub fn at(mut self, offset: Option<u32>) -> Diagnostic {
        self.offset = offset;
        self
    }

    /// Adds a labelled note.
    pub fn note(mut self, label: &'static str, text: impl Into<String>) -> Diagnostic {
        self.notes.push((label, text.into()));
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity.name(), self.code.name(), self.message)?;
        self.notes.iter().try_for_each(|(label, text)| match label.is_empty() {
            true => write!(f, "\n{text}"),
            false => write!(f, "\n{label}: {text}"),
        })
    }
}

impl std::error::Error for Diagnostic {}
