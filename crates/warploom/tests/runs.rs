//! The command on the files of `tests/runs`, which are compiled to PTX and run on the emulator.

mod command;
mod common;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::suite("runs").main()
}
