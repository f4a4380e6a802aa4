//! What docs/buffer-phases.md names is there.
#![allow(clippy::unwrap_used)]

use std::path::Path;

/// Words in backquotes of a page.
fn quoted(page: &str) -> impl Iterator<Item = &str> {
    page.split('`').skip(1).step_by(2)
}

/// Every file exists, and every test that a row ends with is a test of one of the files that the row names before.
#[test]
fn the_page_of_the_phases_names_what_is_there() {
    let page = include_str!("../../../docs/buffer-phases.md");
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tests = 0;
    for row in page.lines().filter(|l| l.starts_with("| ")) {
        let Some(last) = row.trim_end_matches(" |").rsplit("| ").next() else { continue };
        let mut sources = String::new();
        for word in quoted(last) {
            if word.ends_with(".rs") {
                sources += &std::fs::read_to_string(crate_folder.join("tests").join(word)).unwrap();
            } else {
                assert!(sources.contains(&format!("fn {word}()")), "no test {word}: {row}");
                tests += 1;
            }
        }
        for file in quoted(row).filter(|w| w.starts_with("src/") && w.ends_with(".rs")) {
            assert!(crate_folder.join(file).exists(), "no file {file}: {row}");
        }
    }
    assert!(tests > 30, "{tests} tests are named");
}
