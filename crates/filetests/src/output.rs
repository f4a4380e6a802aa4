//! The output against its checks, or against the output that the file holds.

use similar::TextDiff;

use crate::expectation::CheckKind;

/// The differences of the output, as a unified diff; `None` where there are none.
pub fn difference(expected: &str, found: &str) -> Option<String> {
    if expected.trim_end() == found.trim_end() {
        return None;
    }
    let (expected, found) = (ended(expected), ended(found));
    let diff = TextDiff::from_lines(&expected, &found);
    Some(diff.unified_diff().context_radius(3).header("expected", "found").to_string())
}

/// A text that ends with one end of line, or is empty.
pub fn ended(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() { String::new() } else { format!("{text}\n") }
}

/// Tries the checks on the output in turn; what fails, by the index of the check.
pub fn check(checks: &[(CheckKind, &str)], output: &str) -> Vec<(usize, String)> {
    let lines: Vec<String> = output.lines().map(plain).collect();
    let (mut wrong, mut at) = (Vec::new(), 0);
    // Lines that must not be there lie between the hits of the checks around them.
    let mut forbidden: Vec<usize> = Vec::new();
    let mut clear = |forbidden: &mut Vec<usize>, from: usize, to: usize| {
        for index in forbidden.drain(..) {
            let hit = lines[from..to].iter().position(|line| holds(line, &plain(checks[index].1)));
            wrong.extend(hit.map(|hit| (index, format!("line {} of the output has it", from + hit + 1))));
        }
    };
    let mut missing = Vec::new();
    for (index, (kind, words)) in checks.iter().enumerate() {
        let words = plain(words);
        match kind {
            CheckKind::Not => forbidden.push(index),
            CheckKind::Next if lines.get(at).is_some_and(|line| holds(line, &words)) => at += 1,
            CheckKind::Next => {
                let line = output.lines().nth(at).unwrap_or("the end");
                missing.push((index, format!("the next line is {}: {line}", at + 1)));
            }
            CheckKind::Behind => match lines[at..].iter().position(|line| holds(line, &words)) {
                Some(hit) => {
                    clear(&mut forbidden, at, at + hit);
                    at += hit + 1;
                }
                None => missing.push((index, format!("not behind line {at} of the output"))),
            },
        }
    }
    clear(&mut forbidden, at, lines.len());
    wrong.extend(missing);
    wrong.sort();
    wrong
}

/// A line with one space where it has several.
fn plain(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a line has these words, `...` standing for anything.
fn holds(line: &str, words: &str) -> bool {
    let mut rest = line;
    words.split("...").map(str::trim).all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}
