//! Answers that the checker has seen, and comparisons that say what they compare.

use warploom_sched::{Algorithm, Answer, ScheduleError, ScheduleOptions, ValidGraph, check, schedule};

/// Search nodes per question: enough for small loops, little enough for a fuzzer. `exact` multiplies it.
pub(super) const STEPS: u64 = 500;

pub(super) fn answer_with(
    valid: &ValidGraph<'_>,
    options: &ScheduleOptions,
) -> Result<Option<Answer>, String> {
    let algorithm = options.algorithm;
    match schedule(valid, options) {
        Ok(answer) => {
            check::all(valid.graph(), &answer).map_err(|v| {
                format!("{algorithm}: {}", v.iter().map(|v| format!("{v}; ")).collect::<String>())
            })?;
            Ok(Some(answer))
        }
        Err(ScheduleError::Check(message)) => Err(format!("{algorithm}: {message}")),
        Err(_) => Ok(None),
    }
}

pub(super) fn answer_of(valid: &ValidGraph<'_>, algorithm: Algorithm) -> Result<Option<Answer>, String> {
    let small = valid.graph().nodes.len() <= 5;
    let exact = if small { 10 } else { 1 };
    let options = ScheduleOptions::default().algorithm(algorithm);
    answer_with(valid, &options.steps(if algorithm == Algorithm::Exact { exact } else { STEPS }))
}

pub(super) fn same<T: PartialEq + std::fmt::Debug>(law: &str, found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{law}: {found:?}, expected {expected:?}")) }
}

pub(super) fn at_most(law: &str, found: i64, limit: i64) -> Result<(), String> {
    if found <= limit { Ok(()) } else { Err(format!("{law}: {found} is above {limit}")) }
}
