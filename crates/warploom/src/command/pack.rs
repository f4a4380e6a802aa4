//! `warploom pack`: lifetimes and sizes in, offsets out (B61).

use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;
use warploom_bufassign::pack::{CsvError, CsvProblem, PackOptions, PackOutcome, pack};
use warploom_ir::diag::{Report, TextPlace};

use crate::io::{Failure, Io};

/// Nodes where a plan is asked for and the next best is of no use: hard instances of hundreds of buffers take a
/// million or more.
const PATIENCE: u64 = 20_000_000;

/// Pack lifetimes and sizes into a capacity; without one, the peak is made small.
///
///   warploom pack problem.csv --capacity 1048576
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
        if self.capacity == Some(0) {
            let report = Report::error("capacity", "the capacity is 0; nothing fits");
            return Err(Failure::plain(report.note("instead", "raise --capacity").rule("B61")));
        }
        let csv = CsvProblem::read(&input.text, self.capacity, &options)
            .map_err(|e| Failure::refused(&[unread(&e, &input.text)], &input))?;
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
                io.note(&format!(
                    "fits: peak {peak} bytes, no plan needs less than {lower_bound}, {proof}\n"
                ));
                Ok(())
            }
            _ if self.json => Err(Failure::Answered),
            other => Err(Failure::refused(&[unpacked(&other, &csv)], &input)),
        }
    }
}

/// A file that is no problem, at the field that is wrong.
fn unread(error: &CsvError, text: &str) -> Report {
    if error.late {
        return Report::error("limit", error.message.clone()).note("instead", "raise --time-limit");
    }
    let start = TextPlace::offset_of(text, error.line, 1);
    let row = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or("");
    let field = error.field.unwrap_or(0);
    let before: usize = row.split(',').take(field).map(|f| f.len() + 1).sum();
    let indent = row.get(before..).map_or(0, |rest| rest.len() - rest.trim_start().len());
    let message = match &error.column {
        Some(column) => format!("column '{column}': {}", error.message),
        None => error.message.clone(),
    };
    let remedy = "a header with id, lower, upper or end, and size, and rows of whole numbers";
    Report::error("csv", message).at(Some(start + before + indent)).note("instead", remedy).rule("B61")
}

/// A problem without a plan.
fn unpacked(outcome: &PackOutcome, csv: &CsvProblem) -> Report {
    match outcome {
        PackOutcome::ProvedInfeasible { lower_bound, core } => {
            let core: Vec<&str> = core.iter().filter_map(|&i| csv.id(i)).collect();
            let message = format!("infeasible, proved: no plan needs less than {lower_bound} bytes");
            Report::error("capacity", message)
                .note("together", format!("{} do not fit", core.join(", ")))
                .note("instead", "raise --capacity, or move one of these away from the others")
                .rule("B58")
        }
        PackOutcome::GaveUp { best, lower_bound } => {
            let message = "gave up: no plan found, none proved impossible";
            let report = Report::error("capacity", message)
                .note("bound", format!("no plan needs less than {lower_bound} bytes"));
            let report = match best {
                Some((_, peak)) => report.note("found", format!("a plan that needs {peak} bytes")),
                None => report,
            };
            report.note("instead", "raise --nodes or --capacity").rule("B58")
        }
        PackOutcome::Invalid(error) => Report::error("csv", error.to_string()).rule("B61"),
        other => Report::error("internal", format!("{other:?}")),
    }
}
