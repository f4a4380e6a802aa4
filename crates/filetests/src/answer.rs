//! What a command says of a text.

use std::fmt;

/// How bad a diagnostic is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The text is refused.
    Error,
    /// The text is taken, but probably not as meant.
    Warning,
    /// Worth knowing.
    Remark,
}

impl Severity {
    /// All, as they are named in files.
    pub(crate) const ALL: [Severity; 3] = [Severity::Error, Severity::Warning, Severity::Remark];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
        }
    }
}

/// A refusal or remark of the command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The line of the text that it names, from 1.
    pub line: Option<usize>,
    /// What it says.
    pub message: String,
    /// Its code, its rule: `["registers", "C31"]`.
    pub tags: Vec<String>,
    /// What else it says: lifetimes, remedies.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// A diagnostic of this severity.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        Diagnostic { severity, line: None, message: message.into(), tags: Vec::new(), notes: Vec::new() }
    }

    /// An error.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    /// The same, on this line of the text, from 1.
    #[must_use]
    pub fn on(mut self, line: impl Into<Option<usize>>) -> Self {
        self.line = line.into();
        self
    }

    /// The same, with a code or rule.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// The same, with a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The message in one line, and the tags, as a file expects them.
    pub(crate) fn words(&self) -> String {
        let message = self.message.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.tags.is_empty() { message } else { format!("{message} [{}]", self.tags.join(", ")) }
    }
}

/// Everything a command says of a text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    /// What it prints.
    pub output: String,
    /// What it refuses and remarks, in its order.
    pub diagnostics: Vec<Diagnostic>,
    /// Numbers and words by name.
    pub facts: Vec<(String, String)>,
}

impl Answer {
    /// Nothing said.
    pub fn new() -> Self {
        Answer::default()
    }

    /// This text as output.
    #[must_use]
    pub fn output(mut self, text: impl Into<String>) -> Self {
        self.output = text.into();
        self
    }

    /// A fact more.
    #[must_use]
    pub fn fact(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.facts.push((name.into(), value.to_string()));
        self
    }

    /// A diagnostic more.
    #[must_use]
    pub fn diagnostic(mut self, diagnostic: Diagnostic) -> Self {
        self.diagnostics.push(diagnostic);
        self
    }

    /// These diagnostics more.
    #[must_use]
    pub fn diagnostics(mut self, all: impl IntoIterator<Item = Diagnostic>) -> Self {
        self.diagnostics.extend(all);
        self
    }
}
