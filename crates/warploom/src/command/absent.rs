//! In place of a command that this build has no code for.

use std::ffi::OsString;

use warploom_ir::diag::Report;

use crate::io::{Failure, Io};

/// Not in this build, which has no LLVM.
///
///   cargo install warploom
#[derive(clap::Args)]
#[command(verbatim_doc_comment, disable_help_flag = true)]
pub struct Args {
    /// Read and not looked at
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _given: Vec<OsString>,
    /// One JSON value on standard output and nothing else
    #[arg(long, hide = true)]
    pub json: bool,
}

impl Args {
    /// Refuses.
    pub fn run(self, _io: &Io) -> Result<(), Failure> {
        let report = Report::error("usage", "this build has no LLVM");
        Err(Failure::usage(report.note("instead", "build with the feature `llvm`, which is on by default")))
    }
}
