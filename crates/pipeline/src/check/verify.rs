//! The order of the checks: what is declared, then the handshakes.

use warploom_chips::Target;
use warploom_ir::Module;

use crate::check::report::Report;
use crate::check::{Effort, ProgramViolation, boxes, model, scenario, structure};

/// Checks a program, its declarations and its handshakes.
///
/// # Errors
/// Everything found wrong. Handshakes are run only when the declarations are right.
pub fn program(module: &Module, target: &Target, effort: Effort) -> Result<(), Vec<ProgramViolation>> {
    declarations(module, target)?;
    handshakes(module, effort)
}

/// Checks what a program declares, without running it.
///
/// # Errors
/// Everything found wrong.
pub fn declarations(module: &Module, target: &Target) -> Result<(), Vec<ProgramViolation>> {
    let mut report = Report::default();
    if let Some(model) = model::read(module, &mut report) {
        structure::check(&model, target, &mut report);
        boxes::check(&model, &mut report);
    }
    if report.0.is_empty() { Ok(()) } else { Err(report.0) }
}

/// Runs the handshakes of a program.
///
/// # Errors
/// Everything that went wrong in the first run that failed.
pub fn handshakes(module: &Module, effort: Effort) -> Result<(), Vec<ProgramViolation>> {
    let mut report = Report::default();
    if let Some(model) = model::read(module, &mut report) {
        scenario::run(&model, effort, &mut report);
    }
    if report.0.is_empty() { Ok(()) } else { Err(report.0) }
}
