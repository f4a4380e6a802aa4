//! The files of `tests/cases`: what verifies, what is linear, where buffers lie and what is copied.

use std::process::ExitCode;

use warploom_filetests::{Answer, Case, Diagnostic, Severity, Suite};
use warploom_stablehlo::{AliasEmit, AliasSeverity, StablehloOptions, TextOptions, lower_text};

fn main() -> ExitCode {
    Suite::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases"))
        .command("verify", |case| answer(&case.text, &no_lower().no_linearity(true)))
        .command("lint", |case| {
            let strict = case.run.args.iter().any(|arg| arg == "strict");
            answer(&case.text, &no_lower().xla_strict(strict))
        })
        .command("lower", lower)
        .main()
}

/// Verified and printed back.
fn no_lower() -> StablehloOptions {
    StablehloOptions::default().text(TextOptions::default().no_lower(true))
}

/// What is said and printed; what is printed reads back to itself.
fn answer(text: &str, options: &StablehloOptions) -> Result<Answer, String> {
    let out = lower_text(text, options);
    let again = lower_text(&out.text, options);
    if !out.failed && (again.failed || again.text != out.text) {
        return Err(format!("what is printed reads back as another text:\n{}\n{}", out.text, again.text));
    }
    let mut answer = Answer::new().output(&out.text);
    for said in &out.diagnostics {
        let severity = match said.severity {
            AliasSeverity::Error => Severity::Error,
            AliasSeverity::Warning => Severity::Warning,
            _ => Severity::Remark,
        };
        let line = said.at.map(|at| at.line as usize);
        let mut diagnostic = Diagnostic::new(severity, said.message.as_str()).on(line).tag(said.code);
        for note in said.related.iter().map(|r| &r.message).chain(&said.help) {
            diagnostic = diagnostic.note(note.as_str());
        }
        answer = answer.diagnostic(diagnostic);
    }
    Ok(answer)
}

/// The lowered text, and how many storages and which copies it has.
fn lower(case: &Case) -> Result<Answer, String> {
    let emit = TextOptions::default().emit(AliasEmit::Json);
    let json = lower_text(&case.text, &StablehloOptions::default().text(emit));
    let json: serde_json::Value = serde_json::from_str(&json.text).map_err(|e| e.to_string())?;
    let list = |name: &str| json[name].as_array().cloned().unwrap_or_default();
    let copies: Vec<String> = list("copies")
        .iter()
        .map(|c| format!("{}:{}", c["kind"].as_str().unwrap_or("?"), c["bytes"]))
        .collect();
    let copies = if copies.is_empty() { "none".to_owned() } else { copies.join("+") };
    let said = answer(&case.text, &StablehloOptions::default())?;
    Ok(said.fact("storages", list("storages").len()).fact("copies", copies))
}
