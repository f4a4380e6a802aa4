//! What is said of a loop that the scheduler has no answer for.

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId};
use warploom_sched::{GraphErrors, ScheduleError};

use crate::place::refuse;

/// A loop graph of ours that the scheduler refuses (S12).
pub(crate) fn invalid_graph(errors: &GraphErrors) -> Box<Diagnostic> {
    let text = errors.first().map(ToString::to_string).unwrap_or_default();
    let text = format!("the loop graph is invalid: {text}");
    Box::new(Diagnostic::error(Code::Internal, text).rule("S12"))
}

/// Why a loop has no schedule (S42). A defect of the scheduler is no answer about the loop, and keeps its name (S71).
pub(crate) fn no_schedule(module: &Module, scf_for: OpId, error: &ScheduleError) -> Box<Diagnostic> {
    let (code, rule) = match error.is_internal() {
        true => (Code::Internal, "S71"),
        false => (Code::Loop, "S42"),
    };
    Box::new(refuse(module, scf_for, code, format!("the loop cannot be scheduled: {error}")).rule(rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_defect_of_the_scheduler_is_not_taken_for_an_answer() {
        let module = Module::new();
        let op = module.root;
        let of = |error| no_schedule(&module, op, &error);
        let broken = of(ScheduleError::Check("two uses meet".to_owned()));
        assert_eq!((broken.code, broken.rule), (Code::Internal, Some("S71")));
        let none = of(ScheduleError::GaveUp { lower_bound: 3 });
        assert_eq!((none.code, none.rule), (Code::Loop, Some("S42")));
    }
}
