//! The `warploom` command.

mod command;
mod html;
mod io;
#[cfg(feature = "llvm")]
mod tools;

use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use clap::{CommandFactory, Parser};
use warploom_ir::diag::Report;

use command::Command;
use io::{Clock, Failure, Gate, Io, Limits};

/// Texts become trees of many small pieces; giving them all back took the C library a third of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Bytes of stack of a command that runs beside the clock: what the main thread of a process usually has.
const STACK: usize = 8 << 20;

/// Compiles GPU kernels whose time is spent in pipelined loops, and proves each step.
///
///     warploom compile gemm.ttir --target sm_90a --emit ptx -o gemm.ptx
///     warploom explain gemm.ttir --target sm_90a
///
/// `-` reads standard input. Exit status: 0 done, 1 the input was refused or a check failed, 2 the command line
/// was wrong.
#[derive(Parser)]
#[command(name = "warploom", version, verbatim_doc_comment, max_term_width = 110)]
struct Cli {
    #[command(flatten)]
    limits: Limits,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if error.use_stderr() {
                return wrong_line(&error).report();
            }
            // Nothing is left to be done when even the help cannot be written.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
    };
    let (gate, clock) = (Gate::default(), Clock::start(cli.limits.time_limit));
    let answered = match cli.limits.time_limit.filter(|_| !cli.command.ends_in_time()) {
        None => cli.command.run(&Io::new(cli.limits, clock, gate), Cli::command()),
        Some(limit) => within(limit, cli, clock, &gate),
    };
    match answered {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// What the reader of command lines says, in the form that every error has.
fn wrong_line(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let Some(text) = text.strip_prefix("error: ") else { return Failure::Usage(text) };
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    Failure::usage(Report::error("usage", first).note("", rest.trim_end()))
}

/// Runs a command that has no answer before its end on a thread, and gives it up when its time is over. What it was
/// writing then is written whole.
fn within(limit: Duration, cli: Cli, clock: Clock, gate: &Gate) -> Result<(), Failure> {
    let Cli { limits, command } = cli;
    let (as_json, (done, answer), theirs) = (command.as_json(), channel(), Arc::clone(gate));
    let work = move || {
        let answer = command.run(&Io::new(limits, clock, theirs), Cli::command());
        // Nobody listens any more when the time was over first.
        let _ = done.send(answer);
    };
    let spawned = thread::Builder::new().stack_size(STACK).spawn(work);
    let internal = |message: String| Failure::plain(Report::error("internal", message));
    let thread = spawned.map_err(|e| internal(format!("no thread: {e}")))?;
    match answer.recv_timeout(clock.left().unwrap_or_default()) {
        Ok(answer) => answer,
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => Err(internal("the command ended without an answer".into())),
        },
        Err(RecvTimeoutError::Timeout) => {
            // To the end of the process: nothing is written behind the refusal.
            let held = gate.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(held);
            let message = format!("not done within {} s", limit.as_secs_f64());
            Err(Failure::late(&message, "raise --time-limit", as_json))
        }
    }
}
