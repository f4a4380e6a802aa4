//! The texts of the repository, and who cites which rule there.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use warploom_rules::cite::{Citer, Kind};

/// The repository this crate stands in.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A text of the repository.
pub struct Text {
    /// Its path from the root, with `/`.
    pub path: String,
    pub kind: Kind,
    pub text: String,
}

/// Folders of what is built, downloaded or generated, and the pages that define the rules.
const LEFT_OUT: [&str; 5] = ["target", "corpus", "artifacts", "docs/rules", "node_modules"];

/// Every text that may cite a rule.
pub fn texts() -> io::Result<Vec<Text>> {
    let mut found = Vec::new();
    visit(&root(), "", &mut found)?;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn visit(folder: &Path, prefix: &str, found: &mut Vec<Text>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let left_out = LEFT_OUT.iter().any(|l| *l == path || *l == name);
        let of = entry.file_type()?;
        if left_out || (name.starts_with('.') && name != ".github") || of.is_symlink() {
            continue;
        }
        if of.is_dir() {
            visit(&entry.path(), &format!("{path}/"), found)?;
        } else if let Some(kind) = kind_of(&name) {
            // A text that is no UTF-8 stands there to be refused.
            let text = String::from_utf8_lossy(&fs::read(entry.path())?).into_owned();
            found.push(Text { path, kind, text });
        }
    }
    Ok(())
}

/// Comments and strings of Rust, PTX and MLIR; everything of pages, tables and scripts. Lists of loops (`.jsonl`) are
/// data and cite nothing.
fn kind_of(name: &str) -> Option<Kind> {
    match name.rsplit_once('.').map_or(name, |(_, end)| end) {
        "rs" | "mlir" | "ttir" | "ptx" => Some(Kind::Rust),
        "md" | "toml" | "py" | "sh" | "yml" | "json" | "csv" | "Makefile" => Some(Kind::Prose),
        _ => None,
    }
}

/// The files of checkers, code and tests that cite each rule, the most citations first.
pub fn citing(texts: &[Text]) -> BTreeMap<String, Vec<&str>> {
    let citer = Citer::default();
    let mut counts: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    for text in texts.iter().filter(|t| ["crates/", "fuzz/", "bench/"].iter().any(|p| t.path.starts_with(p)))
    {
        for citation in citer.codes(&text.text, text.kind) {
            *counts.entry(citation.code).or_default().entry(&text.path).or_default() += 1;
        }
    }
    counts.into_iter().map(|(code, files)| (code, ordered(files))).collect()
}

fn ordered(files: BTreeMap<&str, usize>) -> Vec<&str> {
    let mut list: Vec<_> = files.into_iter().collect();
    list.sort_by_key(|&(path, n)| (Reverse(n), path));
    list.into_iter().map(|(path, _)| path).collect()
}
