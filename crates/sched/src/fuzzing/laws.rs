//! What must hold of every answer.

use super::brute::enumerate;
use crate::answer::{Algorithm, Answer};
use crate::check;
use crate::error::ScheduleError;
use crate::graph::LoopGraph;
use crate::json::{read_graph, read_graphs, to_line};
use crate::options::Options;
use crate::schedule::schedule;
use crate::validate::{ValidGraph, validate};

/// Loops are enumerated up to this II.
const MOST_II: i64 = 8;
/// Search nodes per question: enough for small loops, little enough for a fuzzer. `exact` multiplies it.
const STEPS: u64 = 500;

fn answer_of(valid: &ValidGraph<'_>, algorithm: Algorithm) -> Result<Option<Answer>, String> {
    let small = valid.graph().nodes.len() <= 5;
    let exact = if small { 10 } else { 1 };
    let options = Options::default().algorithm(algorithm);
    let options = options.steps(if algorithm == Algorithm::Exact { exact } else { STEPS });
    match schedule(valid, &options) {
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

/// Every algorithm's answer passes the checker, and the exact ones are no worse than the heuristics.
///
/// # Errors
/// The law that is broken.
pub fn laws(valid: &ValidGraph<'_>) -> Result<(), String> {
    let auto = answer_of(valid, Algorithm::Auto)?;
    let again = answer_of(valid, Algorithm::Auto)?;
    let timeless = |a: &Option<Answer>| a.clone().map(|a| to_line(&Answer { micros: 0, ..a }));
    same("equal input, equal bytes", &timeless(&auto), &timeless(&again))?;
    let exact = answer_of(valid, Algorithm::Exact)?;
    for algorithm in [Algorithm::Ims, Algorithm::Sms, Algorithm::Serial] {
        let Some(other) = answer_of(valid, algorithm)? else { continue };
        let Some(auto) = &auto else { return Err(format!("{algorithm} finds a schedule, auto does not")) };
        at_most("auto against a heuristic: II", auto.ii, other.ii)?;
        at_most("a proved bound against an II", auto.lower_bound, other.ii)?;
        if let Some(exact) = &exact {
            at_most("an exact bound against an II", exact.lower_bound, other.ii)?;
            at_most("exact against a heuristic: II", exact.ii, other.ii)?;
            if exact.length_optimal && exact.ii == other.ii {
                at_most("the least length against a length", exact.length, other.length)?;
            }
        }
    }
    if let (Some(auto), Some(exact)) = (&auto, &exact)
        && exact.optimal
    {
        at_most("exact against auto: II", exact.ii, auto.ii)?;
    }
    Ok(())
}

/// All laws, and the truth by enumeration, for loops of at most five operations.
///
/// # Errors
/// The law that is broken.
pub fn small_laws(valid: &ValidGraph<'_>) -> Result<(), String> {
    laws(valid)?;
    let graph = valid.graph();
    if graph.nodes.len() > 5 || graph.values.iter().any(|v| v.max_depth.is_some()) {
        return Ok(());
    }
    let most = if graph.nodes.len() == 5 { 5 } else { MOST_II };
    let truth = (1..=most).find_map(|ii| Some((ii, enumerate(graph, ii).length?)));
    let found = answer_of(valid, Algorithm::Exact)?;
    match (truth, &found) {
        (Some((ii, length)), Some(a)) => {
            same("II", &a.ii, &ii)?;
            if !a.optimal || !a.length_optimal {
                return Err(format!("a loop of {} operations is left undecided", graph.nodes.len()));
            }
            same("length", &a.length, &length)
        }
        (Some((ii, _)), None) => Err(format!("II {ii} exists, none was found")),
        (None, Some(a)) if a.ii <= most => Err(format!("II {} was found, none exists up to {most}", a.ii)),
        (None, _) => Ok(()),
    }
}

/// Arbitrary bytes as a graph, and as a schedule of a fixed graph.
///
/// # Errors
/// The law that is broken.
pub fn check_anything(data: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(data);
    let mut fixed = LoopGraph::new("fixed");
    fixed.add_resource("U", 1).add_node("a", 1, &[("U", 0, 2)]);
    let _ = check::verdict(&fixed, &text);
    for graph in read_graphs(&text).into_iter().flatten() {
        let back = read_graph(&to_line(&graph)).map_err(|e| e.to_string())?;
        same("what is written reads back", &back, &graph)?;
        let small = graph.nodes.len() <= 30 && graph.edges.len() <= 200;
        if let (true, Ok(valid)) = (small, validate(&graph)) {
            answer_of(&valid, Algorithm::Auto)?;
        }
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(law: &str, found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{law}: {found:?}, expected {expected:?}")) }
}

fn at_most(law: &str, found: i64, limit: i64) -> Result<(), String> {
    if found <= limit { Ok(()) } else { Err(format!("{law}: {found} is above {limit}")) }
}
