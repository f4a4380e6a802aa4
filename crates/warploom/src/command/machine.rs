//! What the emulator refuses and finds, at its line of the PTX.

use warploom_emulator::{EmulatorRefusal, Finding, RefusalReason, Severity as Weight};
use warploom_ir::diag::{Report, Severity, TextPlace};

/// The reasons of a refusal, in the order of the text.
pub fn reports(refusal: &EmulatorRefusal, text: &str) -> Vec<Report> {
    let one = |d: &RefusalReason| {
        let report = Report::error(&d.code, &d.message).at(place(d.line, text));
        let report = if d.remedy.is_empty() { report } else { report.note("instead", &d.remedy) };
        report.rule(&d.code)
    };
    refusal.diagnostics.iter().map(one).collect()
}

/// What a run found, at the instruction at which it was found.
pub fn finding(found: &Finding, text: &str) -> Report {
    let severity = if found.severity == Weight::Error { Severity::Error } else { Severity::Remark };
    let (title, more) = found.message.split_once('\n').unwrap_or((&found.message, ""));
    let mut report = Report::new(severity, &found.code, title);
    report.offset = found.first.as_ref().and_then(|p| place(p.line, text));
    report.source = found.first.as_ref().and_then(|p| p.source.clone());
    if !more.is_empty() {
        report = report.note("", more);
    }
    let [x, y, z] = found.cta;
    report = report.note("in", format!("{} CTA ({x},{y},{z})", found.kernel));
    if let Some(e) = &found.extent {
        report = report.note("where", e.to_string());
    }
    for (label, place) in [("at", &found.first), ("against", &found.second)] {
        if let Some(p) = place {
            let source = p.source.as_ref().map_or(String::new(), |source| format!(" ({source})"));
            let who = format!("line {} {} by {}, time {}{source}", p.line, p.opcode, p.actor, p.visit);
            report = report.note(label, who);
        }
    }
    if !found.registers.is_empty() {
        let list: Vec<String> = found.registers.iter().map(ToString::to_string).collect();
        report = report.note("with", list.join("; "));
    }
    if !found.pairs.is_empty() {
        let pairs: Vec<String> = found.pairs.iter().map(|(a, b)| format!("{a} against {b}")).collect();
        report = report.note("also", format!("lines {}", pairs.join(", ")));
    }
    if found.count > 1 {
        report = report.note("found", format!("{} times", found.count));
    }
    if !found.remedy.is_empty() {
        report = report.note("instead", &found.remedy);
    }
    report.rule(&found.code)
}

/// The first byte of a line that is no white space; `None` for line 0, which is none of the text.
fn place(line: u32, text: &str) -> Option<usize> {
    let before = (line as usize).checked_sub(1)?;
    let row = text.lines().nth(before).unwrap_or("");
    let indent = row.len() - row.trim_start().len();
    Some(TextPlace::offset_of(text, before + 1, indent + 1))
}
