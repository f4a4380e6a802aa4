//! Commands of file tests: `// run: compile - --target sm_90a` is `warploom compile - --target sm_90a` with the text on
//! standard input. What it prints is the output; `compile` also gives its facts, lists of values joined by commas
//! (`loops.ii = 1024, 512`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

use std::collections::BTreeMap;

use serde_json::Value;
use warploom_filetests::{Answer, Case, Diagnostic, Severity, Suite};

use crate::common;

/// The files below `tests/NAME`.
pub fn suite(name: &str) -> Suite {
    let suite =
        Suite::new(format!("{}/tests/{name}", env!("CARGO_MANIFEST_DIR"))).command("compile", compile);
    let names = ["alias", "assign", "explain", "pack", "ptx", "run", "schedule", "targets"];
    names.into_iter().fold(suite, |suite, name| suite.command(name, printed))
}

/// The command's answer, its status checked against its diagnostics.
fn run(case: &Case, more: &[&str]) -> (String, String, i32) {
    let mut args = vec![case.run.command.as_str()];
    args.extend(case.run.args.iter().map(String::as_str));
    args.extend(more);
    let output = common::piped(&args, case.text.as_bytes());
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code().expect("a status"))
}

/// `warploom compile`, with the facts of its JSON, which it gives where it writes PTX.
fn compile(case: &Case) -> Result<Answer, String> {
    let answer = printed(case)?;
    if case.run.option("emit").is_some_and(|form| form != "ptx") {
        return Ok(answer);
    }
    let (said, people, _) = run(case, &["--json"]);
    let json: Value = serde_json::from_str(&said).map_err(|e| format!("{e}: {said}{people}"))?;
    let mut facts = BTreeMap::new();
    flatten(&mut facts, "", &json["facts"]);
    let facts = facts.into_iter().map(|(name, values)| (name, values.join(", "))).collect();
    Ok(Answer { facts, ..answer })
}

/// What a command prints, and the diagnostics that it shows people.
fn printed(case: &Case) -> Result<Answer, String> {
    let (said, people, status) = run(case, &[]);
    // What a run finds is its answer.
    let diagnostics = [rendered(&said), rendered(&people)].concat();
    agree(status, Answer::new().output(said).diagnostics(diagnostics))
}

/// Status 0 without errors, 1 with them.
fn agree(status: i32, answer: Answer) -> Result<Answer, String> {
    let errors = answer.diagnostics.iter().any(|d| d.severity == Severity::Error);
    if status == i32::from(errors) {
        Ok(answer)
    } else {
        Err(format!("status {status} and the diagnostics {:#?}", answer.diagnostics))
    }
}

fn severity(name: &str) -> Severity {
    match name {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => Severity::Remark,
    }
}

/// The diagnostics on standard error: `error[CODE]: MESSAGE`, ` --> FILE:LINE:COLUMN`, notes, `rule: RULE`. Code, rule and
/// `column-COLUMN` are tags.
fn rendered(text: &str) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = Vec::new();
    // An empty line ends a diagnostic.
    let mut open = false;
    for line in text.lines() {
        open &= !line.is_empty();
        let head = line.split_once("]: ").and_then(|(head, message)| Some((head.split_once('[')?, message)));
        if let Some(((name @ ("error" | "warning" | "remark"), code), message)) = head {
            all.push(Diagnostic::new(severity(name), message).tag(code));
            open = true;
            continue;
        }
        let Some(last) = all.last_mut().filter(|_| open) else { continue };
        if let Some(place) = line.trim_start().strip_prefix("--> ") {
            let mut numbers = place.split(':').skip(1);
            last.line = numbers.next().and_then(|number| number.parse().ok());
            let column = numbers.next().and_then(|number| number.split(' ').next());
            last.tags.extend(column.map(|number| format!("column-{number}")));
        } else if let Some(rule) = line.strip_prefix("rule: ") {
            // Behind the rule stands how to look it up.
            last.tags.extend(rule.split_whitespace().next().map(str::to_owned));
        } else if line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            last.notes.push(line.to_owned());
        }
    }
    all
}

/// Numbers, words and truths of a JSON value by their path.
fn flatten(facts: &mut BTreeMap<String, Vec<String>>, path: &str, value: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                flatten(facts, &path, field);
            }
        }
        Value::Array(all) => all.iter().for_each(|one| flatten(facts, path, one)),
        Value::Null => {}
        Value::String(word) => facts.entry(path.to_owned()).or_default().push(word.clone()),
        other => facts.entry(path.to_owned()).or_default().push(other.to_string()),
    }
}
