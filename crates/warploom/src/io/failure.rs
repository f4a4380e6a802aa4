//! How a command fails.

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::json;
use warploom_ir::diag::Report;

use super::show::{Input, show};

/// Why a command ends with a status other than 0.
pub enum Failure {
    /// The command line was wrong (status 2); the text is ready to print.
    Usage(String),
    /// The input was refused, or a check failed (status 1); the text is ready to print.
    Refused(String),
    /// Refused, and the machine-readable answer stands on standard output already (status 1).
    Answered,
}

impl Failure {
    /// The input was refused, for these reasons.
    pub fn refused(reports: &[Report], input: &Input) -> Failure {
        Failure::Refused(show(reports, input))
    }

    /// Refused for a reason that lies in no file.
    pub fn plain(report: Report) -> Failure {
        Failure::refused(&[report], &Input::default())
    }

    /// The command line was wrong.
    pub fn usage(report: Report) -> Failure {
        Failure::Usage(show(&[report], &Input::default()))
    }

    /// The time of a command is over: as text for people, or as JSON where that was asked for.
    pub fn late(message: &str, remedy: &str, as_json: bool) -> Failure {
        if !as_json {
            return Failure::plain(Report::error("limit", message).note("instead", remedy));
        }
        let diagnostic = json!({"code": "limit", "severity": "error", "message": message,
                                "notes": [{"label": "instead", "text": remedy}]});
        let answer = json!({"ok": false, "diagnostics": [diagnostic]});
        // A closed standard output has nobody to tell.
        let _ = writeln!(io::stdout(), "{answer}");
        Failure::Answered
    }

    /// Prints what is left to be said and gives the exit status.
    pub fn report(self) -> ExitCode {
        let (text, status) = match self {
            Failure::Usage(text) => (text, 2),
            Failure::Refused(text) => (text, 1),
            Failure::Answered => return ExitCode::from(1),
        };
        // A closed standard error must not turn a refusal into a panic.
        let _ = writeln!(io::stderr(), "{}", text.trim_end());
        ExitCode::from(status)
    }
}
