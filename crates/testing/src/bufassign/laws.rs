//! What must hold of every problem and of every answer.

use super::choices::Choices;
use super::nested::nested;
use super::packings::packing;
use super::problems::problem;
use super::replay::{delayed, steady};
use super::timings::every_timing;
use warploom_bufassign::check::check;
use warploom_bufassign::pack::{CsvProblem, PackOptions, PackOutcome, PackProblem, check_pack, pack};
use warploom_bufassign::{Assignment, ErrorKind, Problem, assign, assign_json};

/// A problem is refused without an internal error, or its answer passes the checker and the replays (B75, B76).
/// Gives the answer, if there is one.
///
/// # Errors
/// The law that was broken.
pub fn assignment_holds(p: &Problem, delays: &mut Choices<'_>) -> Result<Option<Assignment>, String> {
    match assign(p, &p.options) {
        Err(e) if e.kind == ErrorKind::Internal => Err(e.to_string()),
        Err(_) => Ok(None),
        Ok(a) => {
            check(p, &a).map_err(|v| v.to_string())?;
            if p.regions.iter().any(|r| r.inside.is_some()) {
                nested(p, &a, delays)?;
                return Ok(Some(a));
            }
            steady(p, &a)?;
            every_timing(p, &a)?;
            let rounds = 1 + delays.below(6);
            delayed(p, &a, rounds, delays)?;
            Ok(Some(a))
        }
    }
}

/// The outcome of a packing problem passes the packing checker and is the same when asked again (B64); a problem
/// that makes no sense is refused. Gives the outcome.
///
/// # Errors
/// The law that was broken.
pub fn packing_holds(p: &PackProblem, options: &PackOptions<'_>) -> Result<PackOutcome, String> {
    let outcome = pack(p, options);
    if let PackOutcome::Invalid(e) = &outcome {
        return if p.validate().is_err() { Ok(outcome) } else { Err(e.to_string()) };
    }
    check_pack(p, &outcome).map_err(|v| v.to_string())?;
    if outcome == pack(p, options) { Ok(outcome) } else { Err("two answers to one problem".into()) }
}

/// The law of the fuzz target `assign`: text is refused or assigned without a panic, and of a generated problem
/// [`assignment_holds`].
///
/// # Errors
/// The law that was broken.
pub fn assign_bytes(data: &[u8]) -> Result<(), String> {
    if let [b'{', ..] = data {
        // Text of a corpus; everything else makes a problem.
        return match assign_json(&String::from_utf8_lossy(data)) {
            Err(e) if e.kind == ErrorKind::Internal => Err(e.to_string()),
            _ => Ok(()),
        };
    }
    let mut choices = Choices::new(data);
    let p = problem(&mut choices);
    assignment_holds(&p, &mut choices).map(|_| ())
}

/// The law of the fuzz target `pack`: [`packing_holds`] of text or of a generated problem.
///
/// # Errors
/// The law that was broken.
pub fn pack_bytes(data: &[u8]) -> Result<(), String> {
    let options = PackOptions::default().node_budget(20_000);
    let p = if let [b'i' | b's' | b'l', ..] = data {
        match CsvProblem::parse(&String::from_utf8_lossy(data), Some(1 << 20)) {
            Ok(csv) => csv.problem,
            Err(_) => return Ok(()),
        }
    } else {
        packing(&mut Choices::new(data))
    };
    packing_holds(&p, &options).map(|_| ())
}
