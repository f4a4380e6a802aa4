//! `warploom pack`: lifetimes and sizes in, offsets out (B61).

use std::path::PathBuf;

use serde_json::json;
use warploom_bufassign::pack::{PackOptions, PackOutcome, pack_csv};

use crate::io::{self, Failure};

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
    /// Nodes the exact search may visit (deterministic bound)
    #[arg(long, value_name = "N")]
    nodes: Option<u64>,
    /// One JSON object on standard output and nothing else
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Packs.
    pub fn run(self) -> Result<(), Failure> {
        let input = io::read(&self.problem)?;
        let mut options = PackOptions::default();
        if let Some(nodes) = self.nodes {
            options.node_budget = nodes;
        }
        let (outcome, rows) = pack_csv(&input.text, self.capacity, &options)
            .map_err(|e| Failure::Refused(format!("error: {}: {e}", input.name)))?;
        if self.json {
            io::json(&json!(outcome))?;
        }
        match (outcome, rows) {
            (PackOutcome::Fits { .. }, Some(_)) if self.json => Ok(()),
            (PackOutcome::Fits { peak, lower_bound, optimal, .. }, Some(rows)) => {
                io::stdout(rows.as_bytes())?;
                let proof = if optimal { "optimal" } else { "not proved optimal" };
                eprintln!("fits: peak {peak} bytes, no plan needs less than {lower_bound}, {proof}");
                Ok(())
            }
            _ if self.json => Err(Failure::Answered),
            (PackOutcome::ProvedInfeasible { lower_bound, core }, _) => Err(Failure::Refused(format!(
                "infeasible, proved: at least {lower_bound} bytes are needed, for instance by rows {core:?}"
            ))),
            (PackOutcome::GaveUp { best, lower_bound }, _) => {
                let best =
                    best.map_or(String::new(), |(_, peak)| format!("; the best plan needs {peak} bytes"));
                Err(Failure::Refused(format!(
                    "gave up: no plan found, none proved impossible (bound {lower_bound} bytes){best}\n\
                     instead: raise --nodes or --capacity"
                )))
            }
            (PackOutcome::Invalid(error), _) => {
                Err(Failure::Refused(format!("error: {}: {error}", input.name)))
            }
            (PackOutcome::Fits { .. }, None) => Err(Failure::Refused("error: the plan has no rows".into())),
        }
    }
}
