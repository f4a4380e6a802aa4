//! `warploom pack`: lifetimes and sizes in, offsets out (B61).

use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;
use warploom_bufassign::pack::{CsvProblem, PackOptions, PackOutcome, pack};

use crate::io::{Failure, Io};

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
    /// One JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

impl Args {
    /// Packs.
    pub fn run(self, io: &Io) -> Result<(), Failure> {
        let input = io.read(&self.problem)?;
        let deadline = io.clock.left().and_then(|left| Instant::now().checked_add(left));
        let mut options = PackOptions::default().deadline(deadline);
        if let Some(nodes) = self.nodes.or(self.capacity.map(|_| PATIENCE)) {
            options.node_budget = nodes;
        }
        let csv = CsvProblem::parse(&input.text, self.capacity)
            .map_err(|e| Failure::Refused(format!("error: {}: {e}", input.name)))?;
        let outcome = pack(&csv.problem, &options);
        if self.json {
            let mut answer = json!(outcome);
            if let Some(fields) =
                answer.as_object_mut().filter(|_| deadline.is_some_and(|end| Instant::now() >= end))
            {
                fields.insert("deterministic".into(), json!(false));
            }
            io.json(&answer)?;
        }
        match outcome {
            PackOutcome::Fits { .. } if self.json => Ok(()),
            PackOutcome::Fits { offsets, peak, lower_bound, optimal } => {
                io.stdout(csv.print(&offsets).as_bytes())?;
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
            other => Err(Failure::Refused(format!("error: {}: {other:?}", input.name))),
        }
    }
}
