//! What people are shown of a refusal or remark, of whichever reader or checker (C92).

use super::code::Severity;
use super::diagnostic::Diagnostic;

/// A refusal or remark of any reader or checker, as it is shown: title, place with its line and a caret, notes, rule.
///
/// [`Diagnostic`]s are rendered by way of it; readers of other formats fill it in from errors of their own, so that
/// all look alike.
///
/// ```
/// use warploom_ir::diag::{Report, render_reports};
///
/// let text = "id,size\na,one\n";
/// let wrong = Report::error("csv", "`one` is no number of bytes").at(text.find("one")).note("instead", "digits");
/// let shown = render_reports(&[wrong.rule("B61")], "problem.csv", text, false);
/// assert!(shown.contains(" --> problem.csv:2:3\n"));
/// assert!(shown.ends_with("instead: digits\nrule: B61 (warploom rule B61)\n"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Error, warning or remark.
    pub severity: Severity,
    /// Kind: a word such as `parse`, or a code such as `X01`.
    pub code: String,
    /// What is wrong, in one line.
    pub message: String,
    /// Byte offset in the input text, if the place is known.
    pub offset: Option<usize>,
    /// The operation or record it speaks of, shown where there is no place.
    pub subject: Option<String>,
    /// Where that comes from in another text (`others.py:76:9`).
    pub source: Option<String>,
    /// Label and text, in order; the last one is the remedy.
    pub notes: Vec<(String, String)>,
    /// The rule that is broken.
    pub rule: Option<String>,
}

impl Report {
    /// An error of this kind.
    pub fn error(code: impl Into<String>, message: impl Into<String>) -> Report {
        Report::new(Severity::Error, code, message)
    }

    /// A report of this kind.
    pub fn new(severity: Severity, code: impl Into<String>, message: impl Into<String>) -> Report {
        Report {
            severity,
            code: code.into(),
            message: message.into(),
            offset: None,
            subject: None,
            source: None,
            notes: Vec::new(),
            rule: None,
        }
    }

    /// Names the place: a byte offset in the input text.
    pub fn at(mut self, offset: Option<usize>) -> Report {
        self.offset = offset;
        self
    }

    /// Adds a labelled note.
    pub fn note(mut self, label: &str, text: impl Into<String>) -> Report {
        self.notes.push((label.to_owned(), text.into()));
        self
    }

    /// Names the broken rule.
    pub fn rule(mut self, rule: impl Into<String>) -> Report {
        self.rule = Some(rule.into());
        self
    }
}

impl From<&Diagnostic> for Report {
    fn from(d: &Diagnostic) -> Report {
        Report {
            severity: d.severity,
            code: d.code.name().to_owned(),
            message: d.message.clone(),
            offset: d.offset.map(|offset| offset as usize),
            subject: d.op.clone(),
            source: d.source.clone(),
            notes: d.notes.iter().map(|(label, text)| ((*label).to_owned(), text.clone())).collect(),
            rule: d.rule.map(str::to_owned),
        }
    }
}
