//! `expected-error @+1 {{..}}` comments against what was said (A21).

use regex_lite::Regex;

use crate::error::{AliasError, AliasErrors, AliasSeverity, Pos};

struct Expected<'a> {
    severity: AliasSeverity,
    line: u32,
    text: &'a str,
    regex: bool,
    at: Pos,
}

/// Each expectation of `source` must be met exactly once, and nothing else may have been said.
///
/// # Errors
/// A21 for an expectation that is not met, and for each unexpected error or warning.
pub fn verify_diagnostics(source: &str, said: &[AliasError]) -> Result<(), AliasErrors> {
    let mut errors = Vec::new();
    let mut left: Vec<&AliasError> = said.iter().filter(|d| d.severity != AliasSeverity::Note).collect();
    let notes: Vec<(u32, &str)> = said
        .iter()
        .flat_map(|d| d.related.iter().filter_map(|r| r.at.map(|at| (at.line, r.message.as_str()))))
        .chain(
            said.iter()
                .filter(|d| d.severity == AliasSeverity::Note)
                .filter_map(|d| d.at.map(|at| (at.line, d.message.as_str()))),
        )
        .collect();
    for expected in expectations(source, &mut errors) {
        let matches = |message: &str| match (expected.regex, Regex::new(&pattern(expected.text))) {
            (true, Ok(re)) => re.is_match(message),
            (true, Err(_)) => false,
            (false, _) => message.contains(expected.text),
        };
        let met = match expected.severity {
            AliasSeverity::Note => notes.iter().any(|(line, text)| *line == expected.line && matches(text)),
            severity => {
                let at = left.iter().position(|d| {
                    d.severity == severity
                        && d.at.is_none_or(|p| p.line == expected.line)
                        && matches(&d.message)
                });
                at.map(|n| left.remove(n)).is_some()
            }
        };
        if !met {
            let message = format!("expected {} not said: {}", expected.severity.name(), expected.text);
            errors.push(AliasError::new("A21", message).at(expected.at));
        }
    }
    for d in left {
        errors.push(
            AliasError::new("A21", format!("unexpected {}: {}", d.severity.name(), d.message)).at(d.at),
        );
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.into()) }
}

/// `text {{re}}` as one expression.
fn pattern(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((plain, tail)) = rest.split_once("{{") {
        out.push_str(&regex_lite::escape(plain));
        match tail.split_once("}}") {
            Some((re, after)) => {
                out.push_str(&format!("(?:{re})"));
                rest = after;
            }
            None => rest = tail,
        }
    }
    out.push_str(&regex_lite::escape(rest));
    out
}

fn expectations<'a>(source: &'a str, errors: &mut Vec<AliasError>) -> Vec<Expected<'a>> {
    let mut out = Vec::new();
    for (n, line) in (1u32..).zip(source.lines()) {
        let mut from = 0;
        while let Some(found) = line.get(from..).and_then(|t| t.find("expected-")) {
            let at = from + found;
            let pos = Pos { line: n, col: u32::try_from(at).unwrap_or(0).saturating_add(1) };
            let tail = line.get(at + 9..).unwrap_or("");
            from = at + 9;
            let kind = [
                ("error", AliasSeverity::Error),
                ("warning", AliasSeverity::Warning),
                ("note", AliasSeverity::Note),
                ("remark", AliasSeverity::Note),
            ]
            .into_iter()
            .find(|(word, _)| tail.starts_with(word));
            let Some((word, severity)) = kind else { continue };
            let tail = tail.get(word.len()..).unwrap_or("");
            let (regex, tail) = match tail.strip_prefix("-re") {
                Some(tail) => (true, tail),
                None => (false, tail),
            };
            let Some((place, body)) = tail.split_once("{{") else { continue };
            let Some(end) = body.rfind("}}") else {
                errors.push(AliasError::new("A21", "an expectation without '}}'").at(pos));
                continue;
            };
            let place = place.trim().trim_start_matches('@');
            let target = match place {
                "" => Some(n),
                "above" => n.checked_sub(1),
                "below" => n.checked_add(1),
                _ => match place.split_at_checked(1) {
                    Some(("+", d)) => d.parse::<u32>().ok().and_then(|d| n.checked_add(d)),
                    Some(("-", d)) => d.parse::<u32>().ok().and_then(|d| n.checked_sub(d)),
                    _ => None,
                },
            };
            match target {
                Some(line) => {
                    out.push(Expected { severity, line, text: body.get(..end).unwrap_or(""), regex, at: pos })
                }
                None => errors.push(AliasError::new("A21", format!("unknown place @{place}")).at(pos)),
            }
        }
    }
    // `@below` may skip comment lines, as several expectations stand above one operation.
    let lines: Vec<&str> = source.lines().collect();
    for e in &mut out {
        let is_comment = |n: u32| {
            let at = usize::try_from(n).ok().and_then(|n| n.checked_sub(1));
            at.and_then(|n| lines.get(n)).is_some_and(|l| l.trim_start().starts_with("//"))
        };
        while e.line > e.at.line && is_comment(e.line) && e.line < u32::MAX {
            e.line += 1;
        }
    }
    out
}
