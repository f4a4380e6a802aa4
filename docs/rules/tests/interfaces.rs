//! What the crates show to who builds on them: types that may grow say so, errors are errors, front pages compile.

#![allow(clippy::expect_used)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What nobody builds on: crates for tests alone, and the modules of the command.
const LEFT_OUT: [&str; 6] = [
    "filetests/",
    "testing/",
    "warploom/src/command/",
    "warploom/src/html/",
    "warploom/src/io/",
    "warploom/src/tools/",
];

/// A public struct or enum.
struct Public {
    /// `ir/src/loc.rs:12 Loc`.
    shown: String,
    name: String,
    is_enum: bool,
    /// Its docstring and attributes.
    above: String,
}

/// The public structs and enums of a crate, and its whole source.
fn crate_of(folder: &Path) -> io::Result<(Vec<Public>, String)> {
    let (mut found, mut whole) = (Vec::new(), String::new());
    for file in files(&folder.join("src"))? {
        let path = shown(&file);
        if LEFT_OUT.iter().any(|l| path.starts_with(l)) {
            continue;
        }
        let text = fs::read_to_string(&file)?;
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            let (is_enum, rest) = match (code.strip_prefix("pub enum "), code.strip_prefix("pub struct ")) {
                (Some(rest), _) => (true, rest),
                (_, Some(rest)) => (false, rest),
                _ => continue,
            };
            let name: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || "_$".contains(*c)).collect();
            let shown = format!("{path}:{} {name}", number + 1);
            found.push(Public { shown, name, is_enum, above: above(&lines[..number]) });
        }
        whole += &text;
    }
    Ok((found, whole))
}

/// The folder of the crates.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates")
}

/// A path from there, with `/`.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// The docstring and attributes at the end of these lines.
fn above(lines: &[&str]) -> String {
    let code_ends = |line: &str| line.is_empty() || line.ends_with(['{', '}', ';']);
    let begin = lines.iter().rposition(|line| {
        let line = line.trim();
        !line.starts_with("///") && code_ends(line)
    });
    lines[begin.map_or(0, |b| b + 1)..].join("\n")
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The folders of all crates.
fn folders() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(root()).expect("the crates");
    entries.map(|entry| entry.expect("a folder").path()).filter(|f| f.join("src").exists())
}

/// Every crate with something public.
fn crates() -> Vec<(Vec<Public>, String)> {
    let all = folders().map(|f| crate_of(&f).expect("its source"));
    let found: Vec<_> = all.filter(|(public, _)| !public.is_empty()).collect();
    assert!(found.len() > 10, "only {} crates: are they being read?", found.len());
    found
}

fn is_error(public: &Public) -> bool {
    ["Error", "Errors"].iter().any(|end| public.name.ends_with(end))
}

#[test]
fn enums_options_and_errors_may_grow_or_say_why_not() {
    let mut closed = Vec::new();
    let crates = crates();
    for public in crates.iter().flat_map(|(found, _)| found) {
        let may_grow = public.is_enum || is_error(public) || public.name.ends_with("Options");
        let says = ["#[non_exhaustive]", "xhaustive: ", "xhaustive on purpose: "];
        if may_grow && !says.iter().any(|s| public.above.contains(s)) {
            closed.push(public.shown.as_str());
        }
    }
    assert!(
        closed.is_empty(),
        "neither #[non_exhaustive] nor `Exhaustive: ` and a reason in the docstring:\n{}",
        closed.join("\n")
    );
}

#[test]
fn errors_are_errors() {
    let mut wrong = Vec::new();
    for (found, whole) in &crates() {
        for public in found.iter().filter(|p| is_error(p)) {
            let by_hand = [format!("Error for {} {{", public.name), format!("Error for {}<", public.name)];
            let derived = public.above.contains("Error)") || public.above.contains("Error,");
            if !derived && !by_hand.iter().any(|i| whole.contains(i)) {
                wrong.push(public.shown.clone());
            }
        }
    }
    assert!(wrong.is_empty(), "no std::error::Error:\n{}", wrong.join("\n"));
}

#[test]
fn options_are_built() {
    let mut wrong = Vec::new();
    for (found, whole) in &crates() {
        for public in found.iter().filter(|p| p.name.ends_with("Options") && !p.is_enum) {
            let body = whole.split(&format!("pub struct {}", public.name)).nth(1).unwrap_or_default();
            let fields = body.split("\n}").next().unwrap_or_default();
            for line in fields.lines().filter_map(|l| l.trim_start().strip_prefix("pub ")) {
                let field = line.split(':').next().unwrap_or_default();
                let by_value = [format!("pub fn {field}(self, "), format!("pub fn {field}(mut self, ")];
                if !by_value.iter().any(|b| whole.contains(b)) {
                    wrong.push(format!("{}::{field}", public.shown));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "no `.field(..)`:\n{}", wrong.join("\n"));
}

#[test]
fn front_pages_show_an_example_that_compiles() {
    for folder in folders() {
        let page = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
        assert!(page.contains("```rust"), "{}/README.md has no example", shown(&folder));
        let library = fs::read_to_string(folder.join("src/lib.rs")).expect("a library");
        assert!(
            library.contains("include_str!(\"../README.md\")"),
            "{}: nothing compiles it",
            shown(&folder)
        );
    }
}
