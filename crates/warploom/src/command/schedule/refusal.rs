//! What is wrong with a loop graph or a schedule, at its place in the file.

use warploom_ir::diag::{Report, TextPlace};
use warploom_sched::{ReadError, ReadErrorKind, ScheduleError};

use crate::io::{Failure, Input, json_place};

/// A loop's text, and where it begins in its file.
#[derive(Clone, Copy)]
pub struct Stretch<'t> {
    /// The text.
    pub text: &'t str,
    /// Its first byte.
    pub offset: usize,
}

impl Stretch<'_> {
    /// The texts of so many loops: the whole file, or its lines, blank ones aside.
    pub fn of(text: &str, loops: usize) -> Vec<Stretch<'_>> {
        if loops <= 1 {
            return vec![Stretch { text, offset: 0 }];
        }
        let mut offset = 0;
        let lines = text.split('\n').map(|text| {
            let line = Stretch { text, offset };
            offset += text.len() + 1;
            line
        });
        lines.filter(|line| !line.text.trim().is_empty()).collect()
    }

    /// A text that is no loop graph, or no schedule.
    pub fn unread(self, error: &ReadError) -> Report {
        // `?` is a field whose name did not come to an end.
        let path = error.path.trim_end_matches('?').trim_end_matches('.');
        let message = match path {
            "" => error.message.clone(),
            _ => format!("{} (at {path})", error.message),
        };
        report(error.kind, message).at(Some(self.offset + json_place::fault(self.text, path)))
    }

    /// A loop that has no schedule: each reason at its place.
    pub fn refused(self, name: &str, error: &ScheduleError) -> Vec<Report> {
        let first = error.record();
        let records = if first.all.is_empty() { vec![first] } else { first.all };
        // An option stands on the command line.
        let in_text = !matches!(error, ScheduleError::BadOption { .. });
        let one = |r: warploom_sched::ErrorRecord| {
            let place = in_text.then(|| self.offset + json_place::follow(self.text, &r.at));
            let report = Report::error(r.code, format!("{} (at {})", r.message, r.at)).at(place);
            let report = if name.is_empty() { report } else { report.note("loop", name) };
            report.note("instead", r.help).rule(r.rule)
        };
        records.into_iter().map(one).collect()
    }
}

/// A file that is no text, or too much of it.
pub fn undecoded(name: String, bytes: &[u8], error: &ReadError) -> Failure {
    let report = report(error.kind, error.message.clone());
    if error.kind != ReadErrorKind::Encoding || bytes.starts_with(b"\x1f\x8b") {
        return Failure::refused(&[report], &Input::named(name));
    }
    let text = String::from_utf8_lossy(bytes).into_owned();
    let place = TextPlace::offset_of(&text, error.line, error.column);
    Failure::refused(&[report.at(Some(place))], &Input { name, text })
}

fn report(kind: ReadErrorKind, message: String) -> Report {
    Report::error(kind.code(), message).note("instead", kind.help()).rule("S10")
}
