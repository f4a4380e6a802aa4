//! What the tests share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(dead_code)]

pub mod changes;

use std::path::{Path, PathBuf};

use warploom_chips::Target;
use warploom_ir::Module;
use warploom_pipeline::check::{self, Effort, Rule};
use warploom_pipeline::{CompileOptions, Compiled, Partitions, compile_to_program};

/// The folder of the repository's kernels.
pub fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels")
}

/// Every kernel file with its name, sorted.
pub fn kernel_files() -> Vec<(String, String)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(kernels())
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

/// The text of a kernel of the repository.
pub fn kernel(name: &str) -> String {
    let path = kernels().join(format!("{name}.ttir"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Options with the checker on.
pub fn checked() -> CompileOptions {
    let mut options = CompileOptions::default();
    options.check = true;
    options
}

/// Options that ask for several partitions.
pub fn several() -> CompileOptions {
    CompileOptions::default().partitions(Some(Partitions::Several))
}

/// A kernel of the repository compiled for one partition.
pub fn one_partition(name: &str, chip: &str, options: &CompileOptions) -> Compiled {
    let module = parse(&kernel(name));
    let target = Target::named(chip).unwrap();
    compile_one(&module, &target, options).unwrap_or_else(|e| panic!("{name}: {}", e[0]))
}

/// A kernel compiled for one partition, or why it is not.
pub fn compile_one(
    module: &Module,
    target: &Target,
    options: &CompileOptions,
) -> Result<Compiled, warploom_ir::Diagnostics> {
    compile_to_program(module, target, &options.clone().partitions(Some(Partitions::One)))
}

/// The rules that a program breaks, each time that it does.
pub fn broken(chip: &str, text: &str) -> Vec<Rule> {
    let module = parse(text);
    let checked = check::program(&module, &Target::named(chip).unwrap(), Effort::Quick);
    checked.err().unwrap_or_default().iter().map(|v| v.rule).collect()
}

/// The same of a program whose text was changed in one place.
pub fn broken_by(chip: &str, text: &str, from: &str, to: &str) -> Vec<Rule> {
    assert!(text.contains(from), "{from}");
    broken(chip, &text.replacen(from, to, 1))
}
