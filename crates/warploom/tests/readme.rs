//! What the README and the figures show is what the project does.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]
#![cfg(feature = "llvm")]

mod common;

use std::path::Path;
use std::process::Command;

use common::{read, root};
use tempfile::TempDir;

#[test]
fn the_embedding_example_is_the_file_and_short() {
    let example = read("crates/warploom/examples/embed.rs");
    let readme = read("README.md");
    assert!(readme.contains(&format!("```rust\n{example}```")), "README.md shows another embed.rs");
    assert!(example.lines().count() <= 30, "{} lines", example.lines().count());
    assert!(readme.lines().count() <= 150, "README.md has {} lines", readme.lines().count());
}

/// The lines of all blocks of shell commands.
fn commands(page: &str) -> Vec<String> {
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

/// A folder that looks like the checkout to who reads, and keeps what commands write.
fn copy() -> TempDir {
    let folder = TempDir::new().unwrap();
    let root = root().canonicalize().unwrap();
    for part in ["crates", "examples", "kernels", ".venv"] {
        std::os::unix::fs::symlink(root.join(part), folder.path().join(part)).unwrap();
    }
    folder
}

/// In order, since some read what those before them wrote. `make` builds and installs; of its targets only the names are
/// compared.
#[test]
fn every_command_of_the_readme_does_what_it_says() {
    let folder = copy();
    let program = Path::new(env!("CARGO_BIN_EXE_warploom")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let makefile = read("Makefile");
    let all = commands(&read("README.md"));
    assert!(all.iter().filter(|line| line.starts_with("warploom ")).count() >= 12, "{all:#?}");
    for line in all {
        if let Some(rest) = line.strip_prefix("make ") {
            let target = rest.split_whitespace().next().unwrap();
            assert!(makefile.contains(&format!("\n{target}:")), "no target `{target}`");
            continue;
        }
        let mut shell = Command::new("bash");
        shell.args(["-o", "pipefail", "-c", &line]).current_dir(folder.path()).env("PATH", &path);
        let done = shell.output().unwrap();
        let wanted = i32::from(line.contains("status 1"));
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(wanted), "{line}\n{said}");
        assert!(!done.stdout.is_empty() || !said.is_empty() || line.contains(" -o "), "{line}: no answer");
    }
}

#[test]
fn the_messages_that_the_readme_shows_are_what_is_said() {
    let readme = read("README.md");
    let args = ["ptx", "examples/ptx/race.ptx", "--arg", "ptr:OUT:u32:64"];
    let said = common::piped(&args, b"");
    let said = [said.stdout, said.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let shown = readme.split("```text\n").find(|block| block.starts_with("error[R01]")).unwrap();
    for line in shown.split("```").next().unwrap().lines() {
        assert!(said.contains(line.trim()), "README.md shows `{line}`, said is\n{said}");
    }
}

#[test]
fn the_tables_of_machine_code_are_those_of_the_bars() {
    let page = read("docs/figures.md");
    for file in ["bars.json", "bars.tcgen05.json"] {
        let text = read(format!("crates/warploom/tests/{file}"));
        let bars: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
        for (name, bar) in &bars {
            let row = page.lines().find(|line| line.starts_with(&format!("| {name} |")));
            let row = row.unwrap_or_else(|| panic!("docs/figures.md lacks {name}: make figures"));
            for field in [
                "ii",
                "slots",
                "shared",
                "registers",
                "multiply_sass",
                "issue_sass",
                "load_sass",
                "math_sass",
            ] {
                let Some(value) = bar.get(field) else { continue };
                let there =
                    [format!(" {value} |"), format!(" {value} (")].iter().any(|cell| row.contains(cell));
                assert!(there, "docs/figures.md has another {field} than {value} (make figures): {row}");
            }
        }
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut pages = vec!["README.md".to_owned()];
    for folder in ["docs", "docs/rules", "kernels"] {
        let Ok(entries) = std::fs::read_dir(root().join(folder)) else { continue };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        pages.extend(names.filter(|name| name.ends_with(".md")).map(|name| format!("{folder}/{name}")));
    }
    for page in pages {
        let folder = root().join(&page);
        let folder = folder.parent().unwrap();
        for link in read(&page).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or(link);
            let there = link.starts_with("http") || file.is_empty() || folder.join(file).exists();
            assert!(there, "{page} links to {link}");
        }
    }
}
