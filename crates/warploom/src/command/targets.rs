//! `warploom targets`: what the tool knows about the chips.

use std::path::PathBuf;

use warploom_chips::{Target, describe, overview};

use crate::io::{Failure, Io};

/// List the chips, or show what is known about one.
///
///     warploom targets
///     warploom targets sm_90a --json
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
                let all = Target::all().map_err(|e| Failure::Refused(format!("error[target]: {e}")))?;
                io.json(&serde_json::json!(all))
            }
            None => io.stdout(overview().as_bytes()),
        }
    }
}

/// The chip of this name, with the cost entries of a file replaced.
pub fn named(io: &Io, name: &str, cost: Option<&PathBuf>) -> Result<Target, Failure> {
    let refused = |e: warploom_chips::TargetError| Failure::Refused(format!("error[target]: {e}"));
    let target = Target::named(name).map_err(refused)?;
    match cost {
        Some(path) => target.with_costs(&io.read(path)?.text).map_err(refused),
        None => Ok(target),
    }
}
