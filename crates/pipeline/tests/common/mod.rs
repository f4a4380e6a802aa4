//! What the tests share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(dead_code)]

use std::path::{Path, PathBuf};

use warploom_ir::Module;
use warploom_target::Target;

/// The reference kernels beside the checkout, if they are there.
pub fn kernels() -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    let folder = workspace.join("../shared/data/kernels");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no reference kernels in {}", folder.display());
    None
}

/// Every kernel file with its name, sorted.
pub fn kernel_files() -> Vec<(String, String)> {
    let Some(folder) = kernels() else { return Vec::new() };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "ttir"))
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|p| (p.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&p).unwrap()))
        .collect()
}

/// Reads a module that must be well-formed.
pub fn parse(text: &str) -> Module {
    warploom_ir::parse(text).unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]))
}

/// The chip of this milestone.
pub fn hopper() -> Target {
    Target::named("sm_90a").unwrap()
}

/// The text of a reference kernel, if it is there.
pub fn reference_kernel(name: &str) -> Option<String> {
    std::fs::read_to_string(kernels()?.join(format!("{name}.ttir"))).ok()
}
