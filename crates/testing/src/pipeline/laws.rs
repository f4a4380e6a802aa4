//! The laws of the pipeline, for kernels of your own.

use warploom_chips::Target;
use warploom_ir::Module;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_pipeline::check::{self, Effort};
use warploom_pipeline::{CompileOptions, TextForm, compile_to_program, resume};

/// What became of a generated kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It compiled, passed every checker, and each of its text forms read back and resumed to the same program.
    Compiled,
    /// It was refused with a diagnostic.
    Refused,
}

/// Compiles a kernel and tests the laws: what compiles passes the checkers under many interleavings, every text form
/// verifies and reads back to an equal module, and resuming from any of them gives the same program.
///
/// # Errors
/// The law that does not hold.
pub fn exercise(
    text: &str,
    target: &Target,
    options: &CompileOptions,
    seeds: u64,
) -> Result<Outcome, String> {
    let Ok(module) = warploom_ir::parse(text) else { return Ok(Outcome::Refused) };
    let compiled = match compile_to_program(&module, target, options) {
        Ok(compiled) => compiled,
        Err(refusals) => return reasoned(&refusals).map(|()| Outcome::Refused),
    };
    check::program(&compiled.program, target, Effort::Seeds(seeds))
        .map_err(|v| v.first().map(ToString::to_string).unwrap_or_default())?;
    for (form, module) in [
        (TextForm::Scheduled, &compiled.scheduled),
        (TextForm::Assigned, &compiled.assigned),
        (TextForm::Program, &compiled.program),
    ] {
        let back = reads_back(module).map_err(|error| format!("{}: {error}", form.name()))?;
        let resumed = resume(&back, target, options).map_err(|errors| {
            format!(
                "{} does not resume: {}",
                form.name(),
                errors.first().map(ToString::to_string).unwrap_or_default()
            )
        })?;
        if warploom_ir::print(resumed.program()) != warploom_ir::print(&compiled.program) {
            return Err(format!("{} resumes to another program", form.name()));
        }
    }
    Ok(Outcome::Compiled)
}

/// The module that a module's text reads back to; it must be equal.
fn reads_back(module: &Module) -> Result<Module, String> {
    let text = warploom_ir::print(module);
    let back = warploom_ir::parse(&text).map_err(|errors| {
        format!("does not read back: {}", errors.first().map(ToString::to_string).unwrap_or_default())
    })?;
    if let Some(error) = warploom_ir::verify(&back).first() {
        return Err(format!("does not verify: {error}"));
    }
    match warploom_ir::difference(module, &back) {
        None => Ok(back),
        Some(difference) => Err(format!("reads back differently: {difference}")),
    }
}

/// Whether refusals are ones: at least one, and none that tells of a bug of ours.
///
/// # Errors
/// The law that does not hold.
pub fn reasoned<'a>(refusals: impl IntoIterator<Item = &'a Diagnostic>) -> Result<(), String> {
    let mut refused = false;
    for refusal in refusals {
        refused = true;
        if matches!(refusal.code, Code::Internal | Code::Emit) {
            return Err(format!("internal error: {refusal}"));
        }
    }
    if refused { Ok(()) } else { Err("refused without a reason".to_owned()) }
}
