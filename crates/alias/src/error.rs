//! What a refusal, a warning or a note says: one record, in text and in JSON.

use std::fmt;

use serde::Serialize;

/// A place in a text: line and column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Pos {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub col: u32,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum AliasSeverity {
    /// The input is refused.
    Error,
    /// Laid out, but probably not as meant.
    Warning,
    /// Worth knowing.
    Note,
}

impl AliasSeverity {
    /// `error`, `warning` or `note`.
    pub fn name(self) -> &'static str {
        match self {
            AliasSeverity::Error => "error",
            AliasSeverity::Warning => "warning",
            AliasSeverity::Note => "note",
        }
    }
}

/// A second place that belongs to a diagnostic, and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Related {
    /// What it says.
    pub message: String,
    /// Where.
    pub at: Option<Pos>,
}

/// One refusal, warning or note. `code` is the rule it comes from (`A12`, `HC1`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AliasError {
    /// The rule.
    pub code: &'static str,
    /// How bad it is.
    pub severity: AliasSeverity,
    /// What is wrong, with the numbers.
    pub message: String,
    /// Where in the text; `None` for the typed API.
    pub at: Option<Pos>,
    /// Other places that matter.
    pub related: Vec<Related>,
    /// What to do about it.
    pub help: Option<String>,
}

/// A warning or a remark about a layout that was made.
pub type AliasNote = AliasError;

/// The result of everything that may refuse.
pub type Result<T, E = AliasError> = std::result::Result<T, E>;

impl AliasError {
    /// An error under a rule.
    pub fn new(code: &'static str, message: impl Into<String>) -> AliasError {
        AliasError {
            code,
            severity: AliasSeverity::Error,
            message: message.into(),
            at: None,
            related: Vec::new(),
            help: None,
        }
    }

    /// A warning under a rule.
    pub fn warning(code: &'static str, message: impl Into<String>) -> AliasError {
        AliasError { severity: AliasSeverity::Warning, ..AliasError::new(code, message) }
    }

    /// A remark under a rule.
    pub fn note(code: &'static str, message: impl Into<String>) -> AliasError {
        AliasError { severity: AliasSeverity::Note, ..AliasError::new(code, message) }
    }

    /// With its place in the text, unless it has one.
    pub fn at(mut self, at: impl Into<Option<Pos>>) -> AliasError {
        self.at = self.at.or(at.into());
        self
    }

    /// With what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> AliasError {
        self.help = Some(help.into());
        self
    }

    /// With a second place.
    pub fn related(mut self, message: impl Into<String>, at: impl Into<Option<Pos>>) -> AliasError {
        self.related.push(Related { message: message.into(), at: at.into() });
        self
    }

    /// With the remedy of its rule, unless it has one of its own.
    pub(crate) fn with_remedy(mut self) -> AliasError {
        if self.help.is_none() {
            self.help = remedy(self.code).map(str::to_owned);
        }
        self
    }

    /// An A7 error: a size that does not fit 64 bits.
    pub fn overflow(what: &str) -> AliasError {
        AliasError::new("A7", format!("the size of {what} does not fit 64 bits"))
            .help("use smaller dimensions, counts or group sizes")
    }

    /// The lines for a person: `FILE:LINE:COL: error: MESSAGE [A12]`, then notes and help.
    pub fn render(&self, file: &str) -> String {
        let mut out = String::new();
        line(&mut out, file, self.at, self.severity, &format!("{} [{}]", self.message, self.code));
        for related in &self.related {
            line(&mut out, file, related.at, AliasSeverity::Note, &related.message);
        }
        if let Some(help) = &self.help {
            out.push_str(&format!("  help: {help}\n"));
        }
        out
    }
}

/// Everything that was wrong, in the order of the steps.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AliasErrors(pub Vec<AliasError>);

impl AliasErrors {
    /// The errors in order.
    pub fn iter(&self) -> impl Iterator<Item = &AliasError> {
        self.0.iter()
    }

    /// The lines for a person, as [`AliasError::render`] has them.
    pub fn render(&self, file: &str) -> String {
        self.0.iter().map(|e| e.render(file)).collect()
    }
}

impl IntoIterator for AliasErrors {
    type Item = AliasError;
    type IntoIter = std::vec::IntoIter<AliasError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<Vec<AliasError>> for AliasErrors {
    fn from(errors: Vec<AliasError>) -> AliasErrors {
        AliasErrors(errors)
    }
}

impl From<AliasError> for AliasErrors {
    fn from(error: AliasError) -> AliasErrors {
        AliasErrors(vec![error])
    }
}

impl fmt::Display for AliasErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, error) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for AliasErrors {}

/// What to do about a violated rule in general.
fn remedy(code: &str) -> Option<&'static str> {
    Some(match code {
        "A7" => "give every dimension a number of at least 1; use smaller dimensions, counts or group sizes",
        "A8" => "write group_kind = shared or distinct, and group_size as a positive number",
        "A10" => "write tlx.set_buffer_overlap(%spec, %group) over allocations of the spec",
        "A15" => "name a storage_alias_spec, or an allocation to alias",
        "A16" => "write the operation as docs/aliasing.md shows it, or in generic form",
        "A17" => "write !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> with known sizes",
        "A18" => "use an encoding of Triton with its parameters as numbers",
        "A24" | "A30" => "write a number of bytes (columns in tensor memory), or leave it out",
        "A35" | "A36" => "index the allocation first, or use base and stride (no strict slots)",
        "A38" => "this is a fault of the lowering; please report it with the text",
        "A41" => "write \"prefix\", \"equal\" or \"gcd\"",
        _ => return None,
    })
}

fn line(out: &mut String, file: &str, at: Option<Pos>, severity: AliasSeverity, message: &str) {
    match at {
        Some(at) => out.push_str(&format!("{file}:{}:{}: ", at.line, at.col)),
        None => out.push_str(&format!("{file}: ")),
    }
    out.push_str(&format!("{}: {message}\n", severity.name()));
}

impl fmt::Display for AliasError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.severity.name(), self.message, self.code)?;
        for related in &self.related {
            write!(f, "; {}", related.message)?;
        }
        match &self.help {
            Some(help) => write!(f, "; help: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for AliasError {}
