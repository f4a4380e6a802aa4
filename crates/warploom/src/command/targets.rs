//! `warploom targets`: what the tool knows about the chips.

use std::path::PathBuf;

use warploom_chips::{Target, TargetError, describe, overview};
use warploom_ir::diag::{Report, TextPlace};

use crate::io::{Failure, Io};

/// List the chips, or show what is known about one.
///
///   warploom targets
///   warploom targets sm_90a --json
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A chip; without it, all of them in one table
    name: Option<String>,
    /// Replace entries of its cost model by those of this file
    #[arg(long, value_name = "FILE", requires = "name")]
    cost: Option<PathBuf>,
    /// One JSON value on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

impl Args {
    /// Prints the table or the chip.
    pub fn run(self, io: &Io) -> Result<(), Failure> {
        match &self.name {
            Some(name) => {
                let target = named(io, name, self.cost.as_ref())?;
                if self.json {
                    io.json(&serde_json::json!(target))
                } else {
                    io.stdout(describe(&target).as_bytes())
                }
            }
            None if self.json => {
                let all = Target::all().map_err(|e| unknown(&e))?;
                io.json(&serde_json::json!(all))
            }
            None => io.stdout(overview().as_bytes()),
        }
    }
}

/// The chip of this name, with the cost entries of a file replaced.
pub fn named(io: &Io, name: &str, cost: Option<&PathBuf>) -> Result<Target, Failure> {
    let target = Target::named(name).map_err(|e| unknown(&e))?;
    let Some(path) = cost else { return Ok(target) };
    let input = io.read(path)?;
    target.with_costs(&input.text).map_err(|e| Failure::refused(&[report(&e, &input.text)], &input))
}

/// The refusal of a chip.
pub fn unknown(error: &TargetError) -> Failure {
    Failure::plain(report(error, ""))
}

/// A chip that is not known, or an entry of a file of costs at its line.
fn report(error: &TargetError, text: &str) -> Report {
    let report = match error {
        TargetError::UnknownChip { name, known } => {
            Report::error("target", format!("unknown target `{name}`"))
                .note("instead", format!("one of {known}"))
        }
        TargetError::PlainName { name, instead } => {
            let message = format!("target `{name}` lacks the instructions that need the chip's own name");
            Report::error("target", message).note("instead", format!("`{instead}`"))
        }
        TargetError::File { line, key, reason } => {
            let row = text.lines().nth(line.saturating_sub(1)).unwrap_or("");
            let entry = key.rsplit('.').next().and_then(|name| row.find(name));
            let column = entry.unwrap_or(row.len() - row.trim_start().len()) + 1;
            let place = Some(TextPlace::offset_of(text, *line, column));
            Report::error("target", format!("`{key}`: {reason}")).at(place)
        }
        other => Report::error("target", other.to_string()),
    };
    report.rule(error.rule())
}
