//! What was found, written into the file.

use crate::answer::{Answer, Diagnostic, Severity};
use crate::case::{DIVIDER, OUTPUT, Written};
use crate::check::Compared;
use crate::expectation::{Expectation, Relation, trailing};
use crate::output;

/// The lines of a case as they would be right: facts, diagnostics and the output as they were found. Checks are left as
/// they are: they say what somebody wants. `sourced` says that the text lies in another file.
pub fn rewritten(case: &Written, text: &str, sourced: bool, answer: &Answer, compared: &Compared) -> String {
    let mut lines: Vec<Option<String>> = case.body.iter().cloned().map(Some).collect();
    drop_unmet(case, compared, &mut lines);
    for (index, expected) in &case.expected {
        let Expectation::Fact { name, relation: Relation::Equal, .. } = expected else { continue };
        if let Some((_, value)) = answer.facts.iter().find(|(known, _)| known == name) {
            lines[*index] = Some(format!("// fact: {name} = {value}"));
        }
    }
    // Remarks may go unmentioned; where one is expected, all are written.
    let remarks = case
        .expected
        .iter()
        .any(|(_, e)| matches!(e, Expectation::Said(s) if s.severity == Severity::Remark));
    let mut extra = Vec::new();
    for given in compared.unexpected.iter().map(|index| &answer.diagnostics[*index]) {
        if given.severity == Severity::Remark && !remarks {
            continue;
        }
        let line =
            given.line.filter(|_| !sourced).and_then(|line| lines.get_mut(line - 1)).and_then(Option::as_mut);
        match line {
            Some(line) => *line = format!("{line} // {}: {}", given.severity.name(), given.words()),
            None => extra.push(comment(given, text)),
        }
    }
    let mut all: Vec<String> = lines.into_iter().flatten().collect();
    let fresh = case.expected.is_empty() && case.output.is_none() && extra.is_empty();
    // Behind the comments at the head of the case, so that no line of the text moves more than it must.
    let head = all.iter().take_while(|line| line.starts_with("// ")).count();
    all.splice(head..head, extra);
    let mut whole: String = all.iter().map(|line| format!("{line}\n")).collect();
    if case.output.is_some() || fresh && compared.unexpected.is_empty() {
        whole += &format!("{OUTPUT}\n{}", output::ended(&answer.output));
    }
    whole
}

/// Takes out the diagnostics that were expected and not met.
fn drop_unmet(case: &Written, compared: &Compared, lines: &mut [Option<String>]) {
    let mut touched: Vec<usize> = compared.unmet.iter().map(|number| case.expected[*number].0).collect();
    touched.dedup();
    for index in touched {
        let Some(line) = &lines[index] else { continue };
        let (code, all) = trailing(line);
        if all.is_empty() {
            lines[index] = None;
            continue;
        }
        let unmet = |number: &usize| compared.unmet.contains(number);
        let numbers: Vec<usize> = (0..case.expected.len()).filter(|n| case.expected[*n].0 == index).collect();
        let kept = numbers.iter().zip(&all).filter(|(number, _)| !unmet(number)).map(|(_, said)| said);
        let comments: String = kept.map(|s| format!(" // {}: {}", s.severity.name(), s.written)).collect();
        lines[index] = Some(format!("{code}{comments}"));
    }
}

/// A diagnostic in a line of its own.
fn comment(given: &Diagnostic, text: &str) -> String {
    let name = given.severity.name();
    match given.line.and_then(|line| part(text, line)) {
        Some(part) => format!("// {name} @`{part}`: {}", given.words()),
        None => format!("// {name} @none: {}", given.words()),
    }
}

/// Words at the head of a line that no line before it holds: a few, or as many as that takes.
fn part(text: &str, line: usize) -> Option<&str> {
    let whole = text.lines().nth(line - 1)?.trim();
    let ends = whole.match_indices(' ').map(|(at, _)| at).chain([whole.len()]);
    let long = ends.filter(|at| *at >= FEW.min(whole.len()));
    let first = |part: &&str| text.lines().position(|l| l.contains(*part)) == Some(line - 1);
    long.map(|end| &whole[..end]).find(first).filter(|part| !part.is_empty())
}

/// Bytes that a reader knows a line by.
const FEW: usize = 20;

/// The cases of a file, one behind the other.
pub fn joined(cases: &[String]) -> String {
    cases.join(&format!("{DIVIDER}\n"))
}
