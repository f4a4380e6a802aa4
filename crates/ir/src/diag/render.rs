//! Diagnostics for people (C92): title, place, snippet with a caret, notes.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::code::Severity;
use super::diagnostic::Diagnostic;
use super::place::{LineCounter, WIDTH};
use super::report::Report;

/// The diagnostics as plain text, one after the other with an empty line between.
pub fn render(diags: &[Diagnostic], file_name: &str, text: &str) -> String {
    render_all(diags.iter().map(Report::from), file_name, text, false)
}

/// Reports as text, one after the other with an empty line between; with the colours of a terminal where asked for.
pub fn render_reports(reports: &[Report], file_name: &str, text: &str, coloured: bool) -> String {
    render_all(reports.iter().cloned(), file_name, text, coloured)
}

fn render_all(reports: impl Iterator<Item = Report>, file: &str, text: &str, coloured: bool) -> String {
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    let mut lines = LineCounter::new(text);
    let mut out = String::new();
    for (n, report) in reports.enumerate() {
        if n > 0 {
            out.push('\n');
        }
        one(&mut out, &report, file, &mut lines, &renderer, coloured);
    }
    out
}

fn one(
    out: &mut String,
    diag: &Report,
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
    let title = level.primary_title(diag.message.as_str()).id(diag.code.as_str());
    let source = diag.source.as_ref().map_or(String::new(), |s| format!(" ({s})"));
    let renderer = renderer.clone().term_width(WIDTH + 20);
    match diag.offset {
        Some(offset) => {
            let place = lines.place(offset);
            let (shown, caret) = lines.excerpt(offset);
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
            if let Some(op) = &diag.subject {
                note(out, "operation", op, coloured);
            }
        }
    }
    for (label, text) in &diag.notes {
        note(out, label, text, coloured);
    }
    if let Some(rule) = &diag.rule {
        note(out, "rule", &format!("{rule} (warploom rule {rule})"), coloured);
    }
}

fn note(out: &mut String, label: &str, text: &str, coloured: bool) {
    match coloured {
        _ if label.is_empty() => out.push_str(&format!("{text}\n")),
        true => out.push_str(&format!("\u{1b}[1m{label}:\u{1b}[0m {text}\n")),
        false => out.push_str(&format!("{label}: {text}\n")),
    }
}
