//! `warploom assign`: an assignment problem in, buffers and barriers out (B9).

use std::path::PathBuf;
use std::time::Instant;

use warploom_bufassign::{Problem, assign, assign_within, render};

use crate::io::{Failure, Io};

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
    pub json: bool,
    /// Write the memory map as a drawing
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Args {
    /// Assigns, and prints the maps or the JSON.
    pub fn run(self, io: &Io) -> Result<(), Failure> {
        let input = io.read(&self.problem)?;
        let deadline = io.clock.left().and_then(|left| Instant::now().checked_add(left));
        let answer = Problem::from_json(&input.text).and_then(|problem| match deadline {
            Some(deadline) => assign_within(&problem, &problem.options, deadline),
            None => assign(&problem, &problem.options),
        });
        let assignment = match answer {
            Ok(assignment) => assignment,
            Err(error) if self.json => {
                io.stdout(format!("{}\n", error.to_json()).as_bytes())?;
                return Err(Failure::Answered);
            }
            Err(error) => {
                let last = super::rule::look_up(&error.code);
                return Err(Failure::Refused(format!("error: {}: {error}\n{last}", input.name)));
            }
        };
        if let Some(path) = &self.svg {
            io.write(Some(path), render::svg(&assignment).as_bytes())?;
        }
        if self.json {
            return io.stdout(format!("{}\n", assignment.to_json()).as_bytes());
        }
        io.stdout(
            format!("{}\n{}", render::memory_map(&assignment), render::barriers(&assignment)).as_bytes(),
        )
    }
}
