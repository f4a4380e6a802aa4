//! `warploom assign`: an assignment problem in, buffers and barriers out (B9).

use std::path::PathBuf;

use warploom_bufassign::{assign_json, render};

use crate::io::{self, Failure};

/// Assign buffers and barriers to the values of scheduled loops.
///
///     warploom assign problem.json
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The problem, one JSON object; `-` is standard input
    problem: PathBuf,
    /// One JSON object on standard output and nothing else
    #[arg(long)]
    json: bool,
    /// Write the memory map as a drawing
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Args {
    /// Assigns, and prints the maps or the JSON.
    pub fn run(self) -> Result<(), Failure> {
        let input = io::read(&self.problem)?;
        let assignment = match assign_json(&input.text) {
            Ok(assignment) => assignment,
            Err(error) if self.json => {
                io::stdout(format!("{}\n", error.to_json()).as_bytes())?;
                return Err(Failure::Answered);
            }
            Err(error) => return Err(Failure::Refused(format!("error: {}: {error}", input.name))),
        };
        if let Some(path) = &self.svg {
            io::write(Some(path), render::svg(&assignment).as_bytes())?;
        }
        if self.json {
            return io::stdout(format!("{}\n", assignment.to_json()).as_bytes());
        }
        io::stdout(
            format!("{}\n{}", render::memory_map(&assignment), render::barriers(&assignment)).as_bytes(),
        )
    }
}
