//! An answer against what its case expects.

use crate::answer::{Answer, Severity};
use crate::case::Written;
use crate::expectation::{CheckKind, Expectation, Relation};
use crate::output;

/// What came of comparing.
#[derive(Debug, Default)]
pub struct Compared {
    /// What is wrong: the index of the line in the body, where there is one, and a sentence.
    pub problems: Vec<(Option<usize>, String)>,
    /// The diagnostics that nobody expected, by their index; remarks among them are no fault.
    pub unexpected: Vec<usize>,
    /// The expectations of diagnostics that nothing met, by their index.
    pub unmet: Vec<usize>,
}

/// Compares an answer with everything that its case expects.
pub fn compare(case: &Written, text: &str, answer: &Answer) -> Compared {
    let mut found = Compared::default();
    diagnostics(case, text, answer, &mut found);
    let clean = case.expected.iter().any(|(_, e)| *e == Expectation::Clean);
    if case.expected.is_empty() && case.output.is_none() {
        found.problems.push((None, "the case expects nothing; `--update` gives it its output".to_owned()));
    }
    for (index, expected) in &case.expected {
        if let Expectation::Fact { name, relation, value } = expected {
            found.problems.extend(fact(answer, name, *relation, value).map(|p| (Some(*index), p)));
        }
    }
    let checks: Vec<(usize, CheckKind, &str)> = case
        .expected
        .iter()
        .filter_map(|(index, e)| match e {
            Expectation::Check { kind, words } => Some((*index, *kind, words.as_str())),
            _ => None,
        })
        .collect();
    let plain: Vec<(CheckKind, &str)> = checks.iter().map(|(_, kind, words)| (*kind, *words)).collect();
    let failed = output::check(&plain, &answer.output);
    let shown = !failed.is_empty();
    found.problems.extend(failed.into_iter().map(|(check, why)| {
        let (index, _, words) = checks[check];
        (Some(index), format!("`{words}`: {why}"))
    }));
    if shown {
        found.problems.push((None, format!("the output is\n{}", output::ended(&answer.output))));
    }
    if let Some(diff) = case.output.as_deref().and_then(|wanted| output::difference(wanted, &answer.output)) {
        found.problems.push((None, format!("another output\n{diff}")));
    }
    if clean
        && case
            .expected
            .iter()
            .any(|(_, e)| matches!(e, Expectation::Said(s) if s.severity != Severity::Remark))
    {
        found.problems.push((None, "`clean`, and an error or warning is expected".to_owned()));
    }
    found
}

/// Every expected diagnostic takes the first one that it means; what is left on either side is wrong.
fn diagnostics(case: &Written, text: &str, answer: &Answer, found: &mut Compared) {
    let mut free: Vec<usize> = (0..answer.diagnostics.len()).collect();
    let mut last: Option<usize> = None;
    for (number, (index, expected)) in case.expected.iter().enumerate() {
        match expected {
            Expectation::Said(said) => {
                let line = match case.place(*index, said, text) {
                    Ok(line) => line,
                    Err(problem) => {
                        found.problems.push((Some(*index), problem));
                        found.unmet.push(number);
                        continue;
                    }
                };
                let meant =
                    |d: &&usize| answer.diagnostics[**d].line == line && said.means(&answer.diagnostics[**d]);
                last = free.iter().find(meant).copied();
                free.retain(|d| Some(*d) != last);
                if last.is_none() {
                    let at = line.map_or("without a place".to_owned(), |line| format!("on line {line}"));
                    let problem = format!("no {} {at}: {}", said.severity.name(), said.written);
                    found.problems.push((Some(*index), problem));
                    found.unmet.push(number);
                }
            }
            Expectation::Note(words) => {
                let notes = last.map(|d| &answer.diagnostics[d].notes);
                let has = notes.is_some_and(|notes| notes.iter().any(|note| note.contains(words.as_str())));
                // Without its diagnostic a note is missed with it.
                if !has && notes.is_some() {
                    found.problems.push((
                        Some(*index),
                        format!("no note `{words}` among {:?}", notes.unwrap_or(&Vec::new())),
                    ));
                }
            }
            _ => {}
        }
    }
    for index in &free {
        let given = &answer.diagnostics[*index];
        if given.severity != Severity::Remark {
            let at = given.line.map_or("without a place".to_owned(), |line| format!("on line {line}"));
            found
                .problems
                .push((None, format!("unexpected {} {at}: {}", given.severity.name(), given.words())));
        }
    }
    found.unexpected = free;
}

/// What is wrong with a fact.
fn fact(answer: &Answer, name: &str, relation: Relation, value: &str) -> Option<String> {
    let Some((_, given)) = answer.facts.iter().find(|(known, _)| known == name) else {
        let known: Vec<&str> = answer.facts.iter().map(|(known, _)| known.as_str()).collect();
        return Some(format!("no fact `{name}`; there are {}", known.join(", ")));
    };
    let ordered = || Some((given.parse::<f64>().ok()?, value.parse::<f64>().ok()?));
    let right = match relation {
        Relation::Equal => given == value,
        Relation::AtMost => ordered().is_some_and(|(given, bound)| given <= bound),
        Relation::AtLeast => ordered().is_some_and(|(given, bound)| given >= bound),
    };
    (!right).then(|| format!("{name} is {given}"))
}
