//! Reading data files: text to structs, with the line and key of what is wrong.

use crate::{Target, TargetError};

/// Reads a whole data file.
pub(crate) fn read(text: &str) -> Result<Target, TargetError> {
    toml::from_str(text).map_err(|error| located(text, &error))
}

/// A reader's error with the line it happened on; the key is that line's text up to the `=`.
fn located(text: &str, error: &toml::de::Error) -> TargetError {
    let start = error.span().map_or(0, |span| span.start);
    let before = text.get(..start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let content = text.lines().nth(line - 1).unwrap_or("");
    let key = content.split(['=', '#']).next().unwrap_or("").trim().trim_matches(['[', ']']);
    TargetError::File { line, key: key.to_owned(), reason: error.message().to_owned() }
}
