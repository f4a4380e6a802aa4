//! One file per subcommand.

mod alias;
mod assign;
pub mod compile;
mod completions;
mod explain;
mod grid;
mod machine;
mod man;
mod pack;
mod progress;
mod ptx;
mod rule;
#[cfg(feature = "llvm")]
mod run;
#[cfg(not(feature = "llvm"))]
#[path = "absent.rs"]
mod run;
#[cfg(feature = "llvm")]
mod sass;
#[cfg(not(feature = "llvm"))]
#[path = "absent.rs"]
mod sass;
mod schedule;
pub mod session;
mod targets;
mod trace;
mod tuning;

use clap::Subcommand;

use crate::io::{Failure, Io};

/// What the command can do. Each says so itself, with an example, in the doc comment of its arguments.
#[derive(Subcommand)]
pub enum Command {
    Compile(compile::Args),
    Explain(explain::Args),
    Run(run::Args),
    Ptx(Box<ptx::Args>),
    Sass(sass::Args),
    Schedule(schedule::Args),
    Assign(assign::Args),
    Alias(alias::Args),
    Pack(pack::Args),
    Targets(targets::Args),
    Rule(rule::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    /// Runs it; `definition` is the command line's own.
    pub fn run(self, io: &Io, definition: clap::Command) -> Result<(), Failure> {
        match self {
            Command::Compile(args) => args.run(io),
            Command::Explain(args) => args.run(io),
            Command::Run(args) => args.run(io),
            Command::Ptx(args) => args.run(io),
            Command::Sass(args) => args.run(io),
            Command::Schedule(args) => args.run(io),
            Command::Assign(args) => args.run(io),
            Command::Alias(args) => args.run(io),
            Command::Pack(args) => args.run(io),
            Command::Targets(args) => args.run(io),
            Command::Rule(args) => args.run(io),
            Command::Completions(args) => args.run(io, definition),
            Command::Man(args) => args.run(io, definition),
        }
    }

    /// Whether it looks at the clock itself and gives what it has when the time is over.
    pub fn ends_in_time(&self) -> bool {
        matches!(self, Command::Schedule(_) | Command::Assign(_) | Command::Pack(_))
    }

    /// Whether it looks at the clock between its steps at least.
    pub fn looks_at_clock(&self) -> bool {
        self.ends_in_time() || matches!(self, Command::Run(_) | Command::Ptx(_))
    }

    /// Whether the answer is to be one JSON value.
    pub fn as_json(&self) -> bool {
        match self {
            Command::Compile(args) => args.json,
            Command::Explain(args) => args.json,
            Command::Run(args) => args.json,
            Command::Ptx(args) => args.json,
            Command::Sass(args) => args.json,
            Command::Schedule(args) => args.json,
            Command::Assign(args) => args.json,
            Command::Pack(args) => args.json,
            Command::Targets(args) => args.json,
            Command::Rule(args) => args.json,
            Command::Alias(_) | Command::Completions(_) | Command::Man(_) => false,
        }
    }
}
