//! How a command fails.

use std::io::{self, Write};

use serde_json::{Value, json};
use warploom_ir::diag::{Diagnostic, Report};

use super::show::{Input, show};

/// Why a command ends with a status other than 0.
pub enum Failure {
    /// The command line was wrong (status 2).
    Usage(Vec<Report>),
    /// The input was refused, or a check failed (status 1): the reasons, and the text that they speak of.
    Refused(Vec<Report>, Input),
    /// Refused, and the machine-readable answer stands on standard output already (status 1).
    Answered,
}

impl Failure {
    /// The input was refused, for these reasons.
    pub fn refused(reports: &[Report], input: &Input) -> Failure {
        Failure::Refused(reports.to_vec(), input.clone())
    }

    /// A kernel was refused.
    #[must_use]
    pub fn found(diagnostics: &[Diagnostic], input: &Input) -> Failure {
        Failure::Refused(diagnostics.iter().map(Report::from).collect(), input.clone())
    }

    /// Refused for a reason that lies in no file.
    pub fn plain(report: Report) -> Failure {
        Failure::Refused(vec![report], Input::default())
    }

    /// The command line was wrong.
    pub fn usage(report: Report) -> Failure {
        Failure::Usage(vec![report])
    }

    /// The exit status.
    pub fn status(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Refused(..) | Failure::Answered => 1,
        }
    }

    /// Prints what is left to be said, as JSON on standard output where that was asked for and the command line was
    /// right; gives the exit status.
    pub fn report(self, as_json: bool) -> u8 {
        let status = self.status();
        if let (Failure::Refused(..), true) = (&self, as_json) {
            let answer = json!({"ok": false, "diagnostics": self.diagnostics()});
            // A closed standard output has nobody to tell.
            let _ = writeln!(io::stdout(), "{answer}");
            return status;
        }
        let text = match self {
            Failure::Usage(reports) => show(&reports, &Input::default()),
            Failure::Refused(reports, input) => show(&reports, &input),
            Failure::Answered => return status,
        };
        // A closed standard error must not turn a refusal into a panic.
        let _ = writeln!(io::stderr(), "{}", text.trim_end());
        status
    }

    /// What is left to be said, one JSON object for each reason.
    pub fn diagnostics(&self) -> Vec<Value> {
        match self {
            Failure::Usage(reports) => reports.iter().map(|r| diagnostic(r, &Input::default())).collect(),
            Failure::Refused(reports, input) => reports.iter().map(|r| diagnostic(r, input)).collect(),
            Failure::Answered => Vec::new(),
        }
    }
}

/// A reason as JSON, with the line and column of its place.
pub fn diagnostic(report: &Report, input: &Input) -> Value {
    let place = report.offset.map(|offset| place(&input.text, offset));
    let notes: Vec<Value> =
        report.notes.iter().map(|(label, text)| json!({"label": label, "text": text})).collect();
    json!({
        "code": report.code, "severity": report.severity.name(), "rule": report.rule, "message": report.message,
        "file": input.name, "line": place.map(|p| p.0), "column": place.map(|p| p.1),
        "source": report.source, "op": report.subject, "notes": notes,
    })
}

/// Line and column of a byte, both from 1; columns count characters.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before: String = text.char_indices().take_while(|(at, _)| *at < offset).map(|(_, c)| c).collect();
    let line = before.rsplit('\n').next().unwrap_or("");
    (1 + before.matches('\n').count(), 1 + line.chars().count())
}
