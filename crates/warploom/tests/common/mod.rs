//! The command with a text on its standard input, the kernels of the repository and the tools of `make setup`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The root of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of a file, by its path from the root of the checkout.
pub fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The text of `kernels/NAME.ttir`.
pub fn kernel(name: &str) -> String {
    read(Path::new("kernels").join(format!("{name}.ttir")))
}

/// Who runs a kernel that was compiled.
pub fn partitions(lowered: &warploom::Resumed) -> Option<warploom::Partitions> {
    lowered.strategy().map(|strategy| strategy.partitions)
}

/// `ptxas` or `nvdisasm`, as `make setup` installs them.
pub fn tool(name: &str) -> PathBuf {
    let pythons = std::fs::read_dir(root().join(".venv/lib")).into_iter().flatten().flatten();
    let mut found = pythons.map(|p| p.path().join("site-packages/nvidia/cu13/bin").join(name));
    found.find(|p| p.is_file()).unwrap_or_else(|| panic!("no {name} in .venv: `make setup` installs it"))
}

/// Runs `warploom` in the root of the checkout.
pub fn piped(args: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_warploom"))
        .args(args)
        .current_dir(root())
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

/// Writes numbers beside the build output, for whoever wants them to be the new bars, and says where.
pub fn found(name: &str, numbers: &serde_json::Value) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, serde_json::to_string_pretty(numbers).unwrap() + "\n").unwrap();
    path
}
