//! One file per subcommand.

mod alias;
mod assign;
pub mod compile;
mod explain;
mod pack;
#[cfg(feature = "llvm")]
mod progress;
#[cfg(feature = "llvm")]
mod ptx;
#[cfg(feature = "llvm")]
mod run;
#[cfg(feature = "llvm")]
mod sass;
mod schedule;
mod targets;
#[cfg(feature = "llvm")]
mod trace;
mod tuning;

use clap::Subcommand;

use crate::io::Failure;

/// What the command can do.
#[derive(Subcommand)]
pub enum Command {
    /// Compile a kernel in Triton IR (or resume from a later text form)
    Compile(compile::Args),
    /// Show what was decided for a kernel, and why
    Explain(explain::Args),
    /// Compile a kernel, run its PTX on the emulator, and compare with what the kernel means
    #[cfg(feature = "llvm")]
    Run(run::Args),
    /// Run any PTX on the emulator: races, deadlocks, broken barriers, results
    #[cfg(feature = "llvm")]
    Ptx(Box<ptx::Args>),
    /// Count the instructions a trip of the loops in machine code, ours or anyone's
    #[cfg(feature = "llvm")]
    Sass(sass::Args),
    /// Schedule loop graphs (JSON, or one object per line), or check someone else's schedule
    Schedule(schedule::Args),
    /// Assign buffers and barriers to the values of scheduled loops
    Assign(assign::Args),
    /// Lay out and lower storage-alias specs, text to text
    Alias(alias::Args),
    /// Pack lifetimes and sizes into a capacity (MiniMalloc's CSV)
    Pack(pack::Args),
    /// List the chips, or show what is known about one
    Targets(targets::Args),
}

impl Command {
    /// Runs it.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Command::Compile(args) => args.run(),
            Command::Explain(args) => args.run(),
            #[cfg(feature = "llvm")]
            Command::Run(args) => args.run(),
            #[cfg(feature = "llvm")]
            Command::Ptx(args) => args.run(),
            #[cfg(feature = "llvm")]
            Command::Sass(args) => args.run(),
            Command::Schedule(args) => args.run(),
            Command::Assign(args) => args.run(),
            Command::Alias(args) => args.run(),
            Command::Pack(args) => args.run(),
            Command::Targets(args) => args.run(),
        }
    }
}
