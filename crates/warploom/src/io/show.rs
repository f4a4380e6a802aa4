//! The one way in which a command says what is wrong.

use std::io::{self, IsTerminal};

use warploom::Diagnostic;
use warploom_ir::diag::{Report, render_reports};

/// A text that was read, and what to call it in messages; without a name, what is said is about no file.
#[derive(Clone, Default)]
pub struct Input {
    /// The path as given, or `<stdin>`.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Input {
    /// A file whose text is of no use to a message.
    pub fn named(name: impl Into<String>) -> Input {
        Input { name: name.into(), text: String::new() }
    }
}

/// Reports as text for people; coloured on a terminal.
pub fn show(reports: &[Report], input: &Input) -> String {
    render_reports(reports, &input.name, &input.text, io::stderr().is_terminal())
}

/// The same for standard output, where what is found is part of an answer: an empty line ends it.
pub fn answered(reports: &[Report], input: &Input) -> String {
    let text = render_reports(reports, &input.name, &input.text, io::stdout().is_terminal());
    if text.is_empty() { text } else { text + "\n" }
}

/// Diagnostics as text for people; coloured on a terminal.
pub fn render(diagnostics: &[Diagnostic], input: &Input) -> String {
    show(&diagnostics.iter().map(Report::from).collect::<Vec<_>>(), input)
}
