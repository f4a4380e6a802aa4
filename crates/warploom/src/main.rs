//! The `warploom` command.

use std::process::ExitCode;

/// Texts become trees of many small pieces; giving them all back took the C library a third of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    warploom::cli::main(std::env::args_os()).into()
}
