//! Diagnostics for people (C92): title, place, snippet with a caret, notes.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::{Diagnostic, Severity};

/// A line and a column, both from 1; columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Columns of source shown around a caret.
const WIDTH: usize = 120;

/// The diagnostics as plain text, one after the other with an empty line between.
pub fn render(diags: &[Diagnostic], file_name: &str, text: &str) -> String {
    render_with(diags, file_name, text, &Renderer::plain(), false)
}

/// The same with the colours of a terminal.
pub fn render_coloured(diags: &[Diagnostic], file_name: &str, text: &str) -> String {
    render_with(diags, file_name, text, &Renderer::styled(), true)
}

fn render_with(diags: &[Diagnostic], file: &str, text: &str, renderer: &Renderer, coloured: bool) -> String {
    let mut lines = LineCounter { text, offset: 0, line: 1 };
    let mut out = String::new();
    for (n, diag) in diags.iter().enumerate() {
        if n > 0 {
            out.push('\n');
        }
        one(&mut out, diag, file, &mut lines, renderer, coloured);
    }
    out
}

impl Severity {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
        }
    }
}

impl Diagnostic {
    /// Line and column in the text that was read.
    pub fn place(&self, text: &str) -> Option<Place> {
        let offset = self.offset? as usize;
        Some(LineCounter { text, offset: 0, line: 1 }.place(offset))
    }
}

/// Counts lines, going on from the place asked for last.
struct LineCounter<'t> {
    text: &'t str,
    offset: usize,
    line: usize,
}

impl<'t> LineCounter<'t> {
    /// Start of the line that holds an offset, and the offset, both on character boundaries.
    fn bounds(&self, offset: usize) -> (usize, usize) {
        let mut at = offset.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let start = self.text.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |n| n + 1);
        (start, at)
    }

    fn place(&mut self, offset: usize) -> Place {
        let (start, at) = self.bounds(offset);
        if start < self.offset {
            (self.offset, self.line) = (0, 1);
        }
        let between = self.text.as_bytes().get(self.offset..start).unwrap_or(&[]);
        self.line += between.iter().filter(|b| **b == b'\n').count();
        self.offset = start;
        let column = 1 + self.text.get(start..at).map_or(0, |head| head.chars().count());
        Place { line: self.line, column }
    }

    /// The part of the line around an offset that is shown, and the bytes of it under the caret.
    fn excerpt(&self, offset: usize) -> (&'t str, std::ops::Range<usize>) {
        let (start, at) = self.bounds(offset);
        let tail = self.text.get(at..).unwrap_or("");
        let token = tail
            .find(|c: char| !(c.is_ascii_alphanumeric() || "_.$%@#!^".contains(c)))
            .unwrap_or(tail.len())
            .min(WIDTH);
        // Control characters and line ends stay outside.
        let rest = tail.find(['\n', '\r']).unwrap_or(tail.len());
        let mut end = at + rest.min(2 * WIDTH);
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let mut first = start.max(at.saturating_sub(2 * WIDTH));
        while !self.text.is_char_boundary(first) {
            first += 1;
        }
        let shown = self.text.get(first..end).unwrap_or("");
        let caret = at - first;
        (shown, caret..(caret + token).min(shown.len()).max(caret))
    }
}

fn one(
    out: &mut String,
    diag: &Diagnostic,
    file: &str,
    lines: &mut LineCounter<'_>,
    renderer: &Renderer,
    coloured: bool,
) {
    let level = match diag.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Remark => Level::NOTE.with_name("remark"),
    };
    let title = level.primary_title(diag.message.as_str()).id(diag.code.name());
    let source = diag.source.as_ref().map_or(String::new(), |s| format!(" ({s})"));
    let renderer = renderer.clone().term_width(WIDTH + 20);
    match diag.offset {
        Some(offset) => {
            let place = lines.place(offset as usize);
            let (shown, caret) = lines.excerpt(offset as usize);
            let snippet = Snippet::source(shown)
                .line_start(place.line)
                .path(file)
                .annotation(AnnotationKind::Primary.span(caret));
            let text = renderer.render(&[title.element(snippet)]);
            // The library writes the place of the excerpt; ours is that of the file, with the source.
            let mut placed = false;
            for line in text.lines() {
                match line.find("--> ") {
                    Some(at) if !placed => {
                        placed = true;
                        out.push_str(line.get(..at).unwrap_or(" "));
                        let end = if coloured { "\u{1b}[0m" } else { "" };
                        out.push_str(&format!("--> {end}{file}:{}:{}{source}", place.line, place.column));
                    }
                    _ => out.push_str(line),
                }
                out.push('\n');
            }
        }
        None => {
            out.push_str(&renderer.render(&[annotate_snippets::Group::with_title(title)]));
            out.push('\n');
            if !file.is_empty() || diag.source.is_some() {
                out.push_str(&format!(" --> {file}{source}\n"));
            }
            if let Some(op) = &diag.op {
                note(out, "operation", op, coloured);
            }
        }
    }
    for (label, text) in &diag.notes {
        note(out, label, text, coloured);
    }
    if let Some(rule) = diag.rule {
        note(out, "rule", rule, coloured);
    }
}

fn note(out: &mut String, label: &str, text: &str, coloured: bool) {
    match coloured {
        _ if label.is_empty() => out.push_str(&format!("{text}\n")),
        true => out.push_str(&format!("\u{1b}[1m{label}:\u{1b}[0m {text}\n")),
        false => out.push_str(&format!("{label}: {text}\n")),
    }
}
