//! A toy language: lines are `set NAME VALUE`, `print NAME`, or wrong.

use warploom_filetests::{Answer, Case, Diagnostic, Severity};

/// Prints what the lines ask for.
pub fn run(case: &Case) -> Result<Answer, String> {
    let mut answer = Answer::new();
    let mut known: Vec<(&str, &str)> = Vec::new();
    for (number, line) in case.text.lines().enumerate() {
        let line = line.trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] | ["//", ..] => {}
            ["set", name, value] => {
                if known.iter().any(|(n, _)| *n == name) {
                    let again = Diagnostic::new(Severity::Warning, format!("{name} is set again"));
                    answer.diagnostics.push(again.on(number + 1).tag("twice"));
                }
                known.push((name, value));
            }
            ["print", name] => match known.iter().rev().find(|(n, _)| *n == name) {
                Some((_, value)) => answer.output += &format!("{name} is   {value}\n"),
                None => {
                    let error = Diagnostic::error(format!("{name} is not known")).on(number + 1);
                    answer.diagnostics.push(error.tag("name").tag("T1").note("instead: set it first"));
                }
            },
            _ => answer.diagnostics.push(Diagnostic::error("not understood").on(number + 1).tag("parse")),
        }
    }
    if case.run.flag("strict") && known.is_empty() {
        answer.diagnostics.push(Diagnostic::error("nothing is set"));
    }
    Ok(answer.fact("names", known.len()))
}
