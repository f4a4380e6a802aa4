//! The command on the files of `tests/files`, none of which needs LLVM.

mod command;
mod common;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::suite("files").main()
}
