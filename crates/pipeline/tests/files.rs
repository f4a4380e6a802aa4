//! The pipeline on the files of `tests/files`:
//!
//! | command | what is done with the text | output |
//! |---|---|---|
//! | `program --target CHIP [--depth N] [--smem-limit N] [--entry NAME]` | compiled for partitions of their own | the program |
//! | `resume ..` | the same from whichever form, for one partition where that is the way | the program |
//! | `explain ..` | the same | what was decided and why |
//! | `check --target CHIP` | a program checked, nothing compiled | nothing |
//!
//! Facts: II and stages of the loops, slots of the rings, warps, registers and bytes, and how often each operation
//! stands in the program.

use std::collections::BTreeMap;
use std::process::ExitCode;

use warploom_chips::Target;
use warploom_filetests::{Answer, Case, Diagnostic, Severity, Suite};
use warploom_ir::Module;
use warploom_pipeline::check::{self, Effort};
use warploom_pipeline::{CompileOptions, Partitions, Resumed, compile_to_program, resume};

fn main() -> ExitCode {
    Suite::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files"))
        .command("program", |case| {
            compiled(case, |module, target, options| {
                let options = options.clone().partitions(Some(Partitions::Several));
                compile_to_program(module, target, &options).map(|c| Resumed::Compiled(Box::new(c)))
            })
        })
        .command("resume", |case| compiled(case, resume))
        .command("explain", |case| {
            let mut why = String::new();
            let answer = compiled(case, |module, target, options| {
                let resumed = resume(module, target, options)?;
                why = resumed.explain().unwrap_or_default();
                Ok(resumed)
            })?;
            Ok(answer.output(why))
        })
        .command("check", checked)
        .main()
}

fn number(case: &Case, name: &str) -> Result<Option<u64>, String> {
    let text = case.run.option(name);
    text.map(str::parse).transpose().map_err(|e| format!("--{name}: {e}"))
}

fn target(case: &Case) -> Result<Target, String> {
    Target::named(case.run.option("target").ok_or("--target is missing")?).map_err(|e| e.to_string())
}

/// The module, or an answer that says why the text is none.
fn parsed(case: &Case) -> Result<Module, Box<Answer>> {
    warploom_ir::parse(&case.text)
        .map_err(|errors| Box::new(Answer::new().diagnostics(errors.iter().map(|e| shown(e, &case.text)))))
}

fn compiled(
    case: &Case,
    compile: impl FnOnce(&Module, &Target, &CompileOptions) -> Result<Resumed, warploom_ir::Diagnostics>,
) -> Result<Answer, String> {
    let mut options = CompileOptions::default();
    options.depth = number(case, "depth")?;
    options.smem_limit = number(case, "smem-limit")?;
    options.entry = case.run.option("entry").map(str::to_owned);
    options.check = true;
    let module = match parsed(case) {
        Ok(module) => module,
        Err(answer) => return Ok(*answer),
    };
    let resumed = match compile(&module, &target(case)?, &options) {
        Ok(resumed) => resumed,
        Err(errors) => return Ok(Answer::new().diagnostics(errors.iter().map(|e| shown(e, &case.text)))),
    };
    let facts = resumed.facts();
    let mut answer = Answer::new().output(warploom_ir::print(resumed.program()));
    answer = answer.diagnostics(resumed.remarks().iter().map(|e| shown(e, &case.text)));
    for (number, found) in facts.loops.iter().enumerate() {
        answer = answer.fact(format!("loop{number}.ii"), found.ii);
        answer = answer.fact(format!("loop{number}.stages"), found.stages);
    }
    for (name, slots) in &facts.rings {
        answer = answer.fact(format!("{name}.slots"), slots);
    }
    for partition in &facts.partitions {
        answer = answer.fact(format!("{}.warps", partition.name), partition.warps);
        answer = answer.fact(format!("{}.registers", partition.name), partition.registers);
    }
    answer = answer.fact("shared", facts.shared_bytes).fact("columns", facts.tmem_columns);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let program = resumed.program();
    for (op, data) in program.ops.iter().filter(|(_, data)| data.block.is_some()) {
        let _ = data;
        *counts.entry(program.op_name(op)).or_default() += 1;
    }
    Ok(counts.into_iter().fold(answer, |answer, (name, count)| answer.fact(name, count)))
}

fn checked(case: &Case) -> Result<Answer, String> {
    let module = match parsed(case) {
        Ok(module) => module,
        Err(answer) => return Ok(*answer),
    };
    let violations = check::program(&module, &target(case)?, Effort::Quick).err().unwrap_or_default();
    let shown = violations.iter().map(|v| {
        let message = format!("{}: {}", v.at, v.message);
        Diagnostic::error(message).tag(format!("{:?}", v.rule)).tag(v.rule.number())
    });
    Ok(Answer::new().diagnostics(shown))
}

/// A diagnostic with its line, code, rule and notes.
fn shown(diagnostic: &warploom_ir::Diagnostic, text: &str) -> Diagnostic {
    let severity = match diagnostic.severity {
        warploom_ir::diag::Severity::Error => Severity::Error,
        warploom_ir::diag::Severity::Warning => Severity::Warning,
        _ => Severity::Remark,
    };
    let line =
        diagnostic.offset.and_then(|at| text.get(..at as usize)).map(|front| front.matches('\n').count() + 1);
    let mut shown = Diagnostic::new(severity, &diagnostic.message).on(line).tag(diagnostic.code.name());
    if let Some(rule) = diagnostic.rule {
        shown = shown.tag(rule);
    }
    diagnostic.notes.iter().fold(shown, |shown, (label, note)| shown.note(format!("{label}: {note}")))
}
