//! The command with a text on its standard input.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs `warploom` in the root of the checkout.
pub fn piped(args: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_warploom"))
        .args(args)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let bytes = stdin.to_vec();
    // The command may end before it has read everything; a broken pipe is then no failure of the test.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&bytes)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}
