//! The runner on files of its own.

mod toy;

use std::process::ExitCode;

use warploom_filetests::Suite;

fn main() -> ExitCode {
    Suite::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files")).command("toy", toy::run).main()
}
