//! What the emulator refuses, at its line of the PTX.

use warploom_emulator::{EmulatorRefusal, RefusalReason};
use warploom_ir::diag::{Report, TextPlace};

/// The reasons, in the order of the text.
pub fn reports(refusal: &EmulatorRefusal, text: &str) -> Vec<Report> {
    let one = |d: &RefusalReason| {
        let place = (d.line as usize).checked_sub(1).map(|before| {
            let line = text.lines().nth(before).unwrap_or("");
            let indent = line.len() - line.trim_start().len();
            TextPlace::offset_of(text, before + 1, indent + 1)
        });
        let report = Report::error(&d.code, &d.message).at(place);
        let report = if d.remedy.is_empty() { report } else { report.note("instead", &d.remedy) };
        report.rule(&d.code)
    };
    refusal.diagnostics.iter().map(one).collect()
}
