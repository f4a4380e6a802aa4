//! What the README shows is what the project does.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn the_embedding_example_is_the_file_and_short() {
    let example = read("examples/embed.rs");
    assert!(
        read("README.md").contains(&format!("```rust\n{example}```")),
        "README.md shows another examples/embed.rs"
    );
    assert!(example.lines().count() <= 30, "{} lines", example.lines().count());
}

#[test]
fn the_table_of_machine_code_is_that_of_the_bars() {
    let readme = read("README.md");
    let bars: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&read("crates/warploom/tests/bars.json")).unwrap();
    for (name, bar) in &bars {
        let file = name.rsplit('/').next().unwrap_or(name).trim_end_matches(".ttir");
        let own = if name.starts_with("examples/") { "examples" } else { "reference" };
        let row = format!(
            "| {file} ({own}) | {} | {} | {} | {} | {} ({}) | {} ({}) |",
            bar["ii"],
            bar["slots"],
            bar["shared"],
            bar["registers"],
            bar["multiply_sass"],
            bar["multiply_hgmma"],
            bar["load_sass"],
            bar["load_utmaldg"],
        );
        assert!(readme.contains(&row), "README.md lacks the row\n{row}");
    }
}

#[test]
fn every_link_of_the_readme_leads_somewhere() {
    for link in read("README.md").split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(link.starts_with("http") || root().join(link).exists(), "README.md links to {link}");
    }
}
