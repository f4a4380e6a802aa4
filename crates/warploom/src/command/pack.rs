//! `warploom pack`: lifetimes and sizes in, offsets out (B61).

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use warploom_bufassign::pack::{CsvProblem, PackOptions, PackOutcome, pack};

use crate::io::{self, Failure};

/// Nodes where a plan is asked for and the next best is of no use: hard instances of hundreds of buffers take a
/// million or more.
const PATIENCE: u64 = 20_000_000;

/// Pack lifetimes and sizes into a capacity; without one, the peak is made small.
///
///     warploom pack problem.csv --capacity 1048576
///
/// Columns, in any order: id, lower, upper (exclusive) or end (inclusive), size, optionally alignment, offset
/// (fixed), gaps. The answer is the same rows with `offset`.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The problem; `-` is standard input
    problem: PathBuf,
    /// Bytes there are
    #[arg(long, value_name = "BYTES")]
    capacity: Option<u64>,
    /// Nodes the exact search may visit (deterministic bound): 2,000,000 unless told, with --capacity 20,000,000
    #[arg(long, value_name = "N")]
    nodes: Option<u64>,
    /// Stop after so many seconds with the best that is known; the answer then depends on the machine
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time_limit: Option<Duration>,
    /// One JSON object on standard output and nothing else
    #[arg(long)]
    json: bool,
}

/// A positive number of seconds, fractions allowed.
fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().filter(|s| *s > 0.0);
    let limit = number.and_then(|s| Duration::try_from_secs_f64(s).ok());
    limit.ok_or_else(|| format!("'{text}' is no positive number of seconds"))
}

impl Args {
    /// Packs.
    pub fn run(self) -> Result<(), Failure> {
        let input = io::read(&self.problem)?;
        let mut options = PackOptions::default();
        if let Some(nodes) = self.nodes.or(self.capacity.map(|_| PATIENCE)) {
            options.node_budget = nodes;
        }
        let late = Arc::new(AtomicBool::new(false));
        if let Some(limit) = self.time_limit {
            let late = Arc::clone(&late);
            // Ends with the process if the answer comes first.
            std::thread::spawn(move || {
                std::thread::sleep(limit);
                late.store(true, Ordering::Relaxed);
            });
        }
        options.stop = self.time_limit.is_some().then_some(&*late);
        let csv = CsvProblem::parse(&input.text, self.capacity)
            .map_err(|e| Failure::Refused(format!("error: {}: {e}", input.name)))?;
        let outcome = pack(&csv.problem, &options);
        if self.json {
            let mut answer = json!(outcome);
            if let Some(fields) = answer.as_object_mut().filter(|_| late.load(Ordering::Relaxed)) {
                fields.insert("deterministic".into(), json!(false));
            }
            io::json(&answer)?;
        }
        match outcome {
            PackOutcome::Fits { .. } if self.json => Ok(()),
            PackOutcome::Fits { offsets, peak, lower_bound, optimal } => {
                io::stdout(csv.print(&offsets).as_bytes())?;
                let proof = if optimal { "optimal" } else { "not proved optimal" };
                eprintln!("fits: peak {peak} bytes, no plan needs less than {lower_bound}, {proof}");
                Ok(())
            }
            _ if self.json => Err(Failure::Answered),
            PackOutcome::ProvedInfeasible { lower_bound, core } => {
                let ids: Vec<&str> =
                    core.iter().filter_map(|&i| csv.ids().get(i)).map(String::as_str).collect();
                Err(Failure::Refused(format!(
                    "infeasible, proved: no plan needs less than {lower_bound} bytes; these do not fit together: {}",
                    ids.join(", ")
                )))
            }
            PackOutcome::GaveUp { best, lower_bound } => {
                let best =
                    best.map_or(String::new(), |(_, peak)| format!("; the best plan needs {peak} bytes"));
                Err(Failure::Refused(format!(
                    "gave up: no plan found, none proved impossible (bound {lower_bound} bytes){best}\n\
                     instead: raise --nodes or --capacity"
                )))
            }
            PackOutcome::Invalid(error) => Err(Failure::Refused(format!("error: {}: {error}", input.name))),
        }
    }
}
