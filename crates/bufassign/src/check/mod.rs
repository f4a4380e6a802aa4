//! The independent checker: is this answer right for this problem? (B75)
//!
//! It takes input and output alone and shares no code with the producer: its own time arithmetic,
//! its own order graph with plain relaxation, its own idea of who holds which byte when. Each
//! failure names the rule that owns what is broken.
//!
//! For two values on common bytes the argument is about versions, not circles: version i of `a`
//! and version i + m of `b` meet in a slot for all m of one residue class. Let m be the least such
//! that `b` starts after `a` has ended; then the version of `b` before it must have ended before
//! `a` started, and the release of `a` must precede the write of `b` at that distance.
//!
//! What it does not verify: that a plan not called optimal could not be better, that notes tell the
//! truth, and advice, which exists in failures only. Whether barriers of one generation deadlock is
//! replayed by a test, not here.

mod barriers;
mod chip;
mod class;
mod description;
mod facts;
mod fill;
mod graph;
mod levels;
mod load;
mod machine;
mod memory;
mod place;
mod records;
mod report;
mod sharing;
mod ways;

use crate::failure::CheckFailure;
use crate::{AssignOptions, Assignment, Problem};
use facts::Facts;
use report::Report;

pub use report::AssignViolation;

/// Verifies an answer to a problem with the options the problem carries.
///
/// # Errors
/// Every violation found.
pub fn check(problem: &Problem, assignment: &Assignment) -> Result<(), CheckFailure<AssignViolation>> {
    check_with(problem, &problem.options, assignment)
}

/// Verifies an answer given under other options.
///
/// # Errors
/// Every violation found.
pub fn check_with(
    problem: &Problem,
    options: &AssignOptions,
    assignment: &Assignment,
) -> Result<(), CheckFailure<AssignViolation>> {
    let mut report = Report::default();
    let levels = match levels::levels(problem) {
        Ok(levels) => levels,
        Err(message) => {
            report.add("B79", &[], message);
            return CheckFailure::unless_empty(report.0);
        }
    };
    match Facts::gather(problem, levels.as_ref(), options) {
        Err(message) => report.add("B4", &[], message),
        Ok(mut facts) => {
            // Without one record per value nothing else can be looked up.
            if records::complete(&facts, assignment, &mut report)
                && fill::follow(&mut facts, assignment, &mut report)
            {
                fill::alone(&facts, assignment, &mut report);
                class::check(&facts, assignment, &mut report);
                records::check(&facts, assignment, &mut report);
                barriers::check(&facts, assignment, &mut report);
                memory::check(&facts, assignment, &mut report);
                machine::check(&facts, assignment, &mut report);
                sharing::check(&facts, assignment, &mut report);
                load::check(&facts, assignment, &mut report);
            }
        }
    }
    CheckFailure::unless_empty(report.0)
}

/// Whether the orders that an answer promises put all uses of one value before another is written, `distance`
/// iterations later (B51); false where there is no such value.
pub fn ordered(problem: &Problem, assignment: &Assignment, from: u64, to: u64, distance: i64) -> bool {
    let Ok(levels) = levels::levels(problem) else { return false };
    let Ok(facts) = Facts::gather(problem, levels.as_ref(), &problem.options) else { return false };
    let Some(life) = facts.life_of.get(&from).and_then(|k| facts.lives.get(*k)) else { return false };
    let graph = graph::Graph::new(&facts, assignment, life.region, None);
    let waits = graph::waits(&facts, from, to, distance.into());
    waits.iter().all(|&(x, y, d)| graph.implied(x, y, d))
}
