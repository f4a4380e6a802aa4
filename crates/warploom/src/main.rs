//! The `warploom` command.

mod command;
mod html;
mod io;
#[cfg(feature = "llvm")]
mod tools;

use std::process::ExitCode;

use clap::Parser;

/// Texts become trees of many small pieces; giving them all back took the C library a third of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Compiles GPU kernels whose time is spent in pipelined loops, and proves each step.
///
///     warploom compile gemm.ttir --target sm_90a --emit ptx -o gemm.ptx
///     warploom explain gemm.ttir --target sm_90a
///
/// `-` reads standard input. Exit status: 0 done, 1 the input was refused or a check failed, 2 the command line
/// was wrong.
#[derive(Parser)]
#[command(version, verbatim_doc_comment, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: command::Command,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let status = if error.use_stderr() { 2 } else { 0 };
            // Nothing is left to be done when even the message cannot be written.
            let _ = error.print();
            return ExitCode::from(status);
        }
    };
    match cli.command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
