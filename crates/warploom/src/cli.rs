//! The `warploom` command as a function: for the command itself, and for programs that call it in memory.

use std::ffi::OsString;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use clap::{CommandFactory, Parser};
use serde_json::Value;
use warploom_ir::diag::Report;

use crate::command::Command;
use crate::io::{Clock, Failure, Gate, Io, Limits};

/// Bytes of stack of a command that runs beside the clock: what the main thread of a process usually has.
const STACK: usize = 8 << 20;

/// Compiles GPU kernels whose time is spent in pipelined loops, and proves each step.
///
///   warploom compile gemm.ttir --target sm_90a --emit ptx -o gemm.ptx
///   warploom explain gemm.ttir --target sm_90a
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

/// Runs a command line, of which the first word is the command's own name, and gives its exit status: 0 done, 1
/// refused, 2 wrong usage. It reads and writes the streams of the process.
pub fn main(line: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(line) {
        Ok(cli) => cli,
        Err(error) => {
            if error.use_stderr() {
                return wrong_line(&error).report(false);
            }
            // Nothing is left to be done when even the help cannot be written.
            let _ = error.print();
            return 0;
        }
    };
    // The lines of `schedule` say of each loop why it was refused.
    let as_json = cli.command.as_json() && !matches!(cli.command, Command::Schedule(_));
    let (gate, clock) = (Gate::default(), Clock::start(cli.limits.time_limit));
    let answered = match cli.limits.time_limit.filter(|_| !cli.command.ends_in_time()) {
        None => cli.command.run(&Io::new(cli.limits, clock, gate), Cli::command()),
        Some(limit) => within(limit, cli, clock, &gate),
    };
    match answered {
        Ok(()) => 0,
        Err(failure) => failure.report(as_json),
    }
}

/// What a command answered in memory.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The exit status that the command would have had.
    pub status: u8,
    /// What it would have written to standard output.
    pub output: Vec<u8>,
    /// Why it failed, where its output does not say so: objects with the fields `code`, `severity`, `message`, `file`,
    /// `line`, `column`, `rule`, `notes`, as `warploom compile --json` gives them.
    pub diagnostics: Vec<Value>,
}

/// Runs a command line, without the command's own name, with `input` for `-`. Nothing is printed. `--time-limit` holds
/// for the commands that look at the clock themselves (`schedule`, `assign`, `pack`, `run`, `ptx`); others refuse it.
pub fn answer(line: impl IntoIterator<Item = String>, input: Vec<u8>) -> Answer {
    let cli = match Cli::try_parse_from(std::iter::once("warploom".to_owned()).chain(line)) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return Answer::failed(Vec::new(), &wrong_line(&error)),
        Err(help) => return Answer { status: 0, output: help.to_string().into(), diagnostics: Vec::new() },
    };
    if cli.limits.time_limit.is_some() && !cli.command.looks_at_clock() {
        let report = Report::error("usage", "this command has no answer before its end");
        return Answer::failed(Vec::new(), &Failure::usage(report.note("instead", "leave --time-limit out")));
    }
    let io = Io::within(cli.limits, Clock::start(cli.limits.time_limit), input);
    match cli.command.run(&io, Cli::command()) {
        Ok(()) => Answer { status: 0, output: io.output(), diagnostics: Vec::new() },
        Err(failure) => Answer::failed(io.output(), &failure),
    }
}

impl Answer {
    fn failed(output: Vec<u8>, failure: &Failure) -> Answer {
        Answer { status: failure.status(), output, diagnostics: failure.diagnostics() }
    }
}

/// What the reader of command lines says, in the form that every error has.
fn wrong_line(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let Some(text) = text.strip_prefix("error: ") else {
        return Failure::usage(Report::error("usage", "no command is given").note("", text.trim_end()));
    };
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    Failure::usage(Report::error("usage", first).note("", rest.trim_end()))
}

/// Runs a command that has no answer before its end on a thread, and gives it up when its time is over, unless it
/// has an answer: that is waited for. What it was writing then is written whole.
fn within(limit: Duration, cli: Cli, clock: Clock, gate: &Gate) -> Result<(), Failure> {
    let Cli { limits, command } = cli;
    let ((done, answer), theirs) = (channel(), Arc::clone(gate));
    let work = move || {
        let answer = command.run(&Io::new(limits, clock, theirs), Cli::command());
        // Nobody listens any more when the time was over first.
        let _ = done.send(answer);
    };
    let spawned = thread::Builder::new().stack_size(STACK).spawn(work);
    let internal = |message: String| Failure::plain(Report::error("internal", message));
    let thread = spawned.map_err(|e| internal(format!("no thread: {e}")))?;
    let in_time = answer.recv_timeout(clock.left().unwrap_or_default());
    if let Err(RecvTimeoutError::Timeout) = in_time {
        let held = gate.lock().unwrap_or_else(PoisonError::into_inner);
        if !*held {
            // To the end of the process: nothing is written behind the refusal.
            std::mem::forget(held);
            let message = format!("not done within {} s", limit.as_secs_f64());
            return Err(Failure::plain(
                Report::error("limit", message).note("instead", "raise --time-limit"),
            ));
        }
    }
    match in_time.or_else(|_| answer.recv()) {
        Ok(answer) => answer,
        Err(_) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => Err(internal("the command ended without an answer".into())),
        },
    }
}
