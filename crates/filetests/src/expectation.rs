//! What one comment of a file expects.

use crate::answer::{Diagnostic, Severity};

/// A comment with a meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expectation {
    /// A diagnostic at a place.
    Said(Said),
    /// A note of the diagnostic expected before.
    Note(String),
    /// A number or word.
    Fact { name: String, relation: Relation, value: String },
    /// Words of the output.
    Check { kind: CheckKind, words: String },
    /// No error, no warning.
    Clean,
}

/// An expected diagnostic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said {
    pub severity: Severity,
    pub place: Place,
    /// As it stands in the file.
    pub written: String,
    /// The message holds this.
    pub words: String,
    /// All of these are tags of it.
    pub tags: Vec<String>,
}

impl Said {
    /// Whether this diagnostic is meant, its place aside.
    pub fn means(&self, found: &Diagnostic) -> bool {
        let message = found.words();
        let tagged = || message.contains(&self.words) && self.tags.iter().all(|tag| found.tags.contains(tag));
        self.severity == found.severity && (message.contains(&self.written) || tagged())
    }
}

/// Where a diagnostic is expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// On the line of the comment.
    Here,
    Above,
    Below,
    /// Without a place.
    Nowhere,
    /// On the first line that holds this.
    Holding(String),
}

/// How a fact is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    Equal,
    AtMost,
    AtLeast,
}

/// Which lines of the output are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckKind {
    Behind,
    Next,
    Not,
}

/// A comment of a line of its own, or what is wrong with it; `None` where it is no comment of ours.
pub fn of_line(line: &str) -> Result<Option<Expectation>, String> {
    let Some(comment) = line.trim().strip_prefix("// ") else { return Ok(None) };
    if comment.trim() == "clean" {
        return Ok(Some(Expectation::Clean));
    }
    if let Some(place) = placed(comment) {
        return place.map(|said| Some(Expectation::Said(said)));
    }
    let Some((key, words)) = comment.split_once(':') else { return Ok(None) };
    let words = words.trim().to_owned();
    let check = |kind| Some(Expectation::Check { kind, words: words.clone() });
    let found = match key {
        "note" => Some(Expectation::Note(words)),
        "fact" => Some(fact(&words)?),
        "check" => check(CheckKind::Behind),
        "check-next" => check(CheckKind::Next),
        "check-not" => check(CheckKind::Not),
        _ if Severity::ALL.iter().any(|s| s.name() == key) => {
            return Err(format!(
                "`{key}` in a line of its own needs a place: @above, @below, @none or @`PART`"
            ));
        }
        _ => None,
    };
    Ok(found)
}

/// `error @PLACE: WORDS`.
fn placed(comment: &str) -> Option<Result<Said, String>> {
    let severity = Severity::ALL.into_iter().find(|s| comment.starts_with(&format!("{} @", s.name())))?;
    let rest = &comment[severity.name().len() + 2..];
    if let Some(quoted) = rest.strip_prefix('`') {
        let Some((part, words)) = quoted.split_once("`:") else {
            return Some(Err("expected @`PART`: WORDS".to_owned()));
        };
        return Some(Ok(said(severity, Place::Holding(part.to_owned()), words)));
    }
    let Some((place, words)) = rest.split_once(':') else {
        return Some(Err("expected `:` behind the place".to_owned()));
    };
    Some(match place {
        "above" => Ok(said(severity, Place::Above, words)),
        "below" => Ok(said(severity, Place::Below, words)),
        "none" => Ok(said(severity, Place::Nowhere, words)),
        other => Err(format!("`@{other}` is no place: @above, @below, @none or @`PART`")),
    })
}

/// The code of a line, and what its comments expect on it.
pub fn trailing(line: &str) -> (&str, Vec<Said>) {
    let first = |text: &str| {
        let starts = Severity::ALL.into_iter().filter_map(|s| {
            let mark = format!(" // {}:", s.name());
            text.find(&mark).map(|at| (at, at + mark.len(), s))
        });
        starts.min_by_key(|start| start.0)
    };
    let (mut code, mut all, mut rest) = (line, Vec::new(), line);
    while let Some((at, behind, severity)) = first(rest) {
        if all.is_empty() {
            code = rest[..at].trim_end();
        }
        rest = &rest[behind..];
        let end = first(rest).map_or(rest.len(), |next| next.0);
        all.push(said(severity, Place::Here, &rest[..end]));
    }
    (code, all)
}

/// Words with tags in brackets at their end.
fn said(severity: Severity, place: Place, words: &str) -> Said {
    let words = words.trim();
    let tagged = words.strip_suffix(']').and_then(|w| w.rsplit_once('['));
    // `[` of the message itself: tags are single words.
    let tags = tagged.map(|(_, tags)| tags.split(", ").map(str::to_owned).collect::<Vec<_>>());
    match (tagged, tags) {
        (Some((before, _)), Some(tags)) if tags.iter().all(|t| is_tag(t)) => {
            Said { severity, place, written: words.to_owned(), words: before.trim_end().to_owned(), tags }
        }
        _ => Said { severity, place, written: words.to_owned(), words: words.to_owned(), tags: Vec::new() },
    }
}

fn is_tag(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(word)
}

/// `NAME = VALUE`, `NAME <= VALUE` or `NAME >= VALUE`.
fn fact(words: &str) -> Result<Expectation, String> {
    let relations = [("<=", Relation::AtMost), (">=", Relation::AtLeast), ("=", Relation::Equal)];
    let found = relations
        .into_iter()
        .find_map(|(sign, relation)| words.split_once(&format!(" {sign} ")).map(|sides| (relation, sides)));
    let Some((relation, (name, value))) = found else {
        return Err("expected NAME = VALUE, NAME <= VALUE or NAME >= VALUE".to_owned());
    };
    Ok(Expectation::Fact { name: name.trim().to_owned(), relation, value: value.trim().to_owned() })
}
