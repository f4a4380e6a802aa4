//! What the runner says of wrong files, and what `--update` makes of them.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod toy;

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use warploom_filetests::Suite;

struct File {
    folder: TempDir,
    path: PathBuf,
}

impl File {
    fn new(text: &str) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("Cargo.lock"), "").unwrap();
        let path = folder.path().join("a.toy");
        fs::write(&path, text).unwrap();
        File { folder, path }
    }

    fn run(&self, update: bool) -> Result<(), String> {
        Suite::new(self.folder.path()).command("toy", toy::run).file(&self.path, update)
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }
}

/// What is said of a file.
fn said(text: &str) -> String {
    File::new(text).run(false).unwrap_err()
}

#[test]
fn problems_name_file_line_and_what_was_found() {
    for (text, expected) in [
        ("set a 1\n// clean\n", "a.toy:1: no `// run:` here or in the first case"),
        ("// run: tax\n// clean\n", "a.toy:1: no command `tax`; there are toy"),
        ("// run: toy\nset a 1\n", "a.toy:1: the case expects nothing; `--update` gives it its output"),
        ("// run: toy\n// clean\nno\n", "a.toy:1: unexpected error on line 3: not understood [parse]"),
        ("// run: toy\nset a 1 // error: bad\n", "a.toy:2: no error on line 2: bad"),
        ("// run: toy\nno // error: not [lex]\n", "a.toy:2: no error on line 2: not [lex]"),
        ("// run: toy\nno // warning: not\n", "a.toy:2: no warning on line 2: not"),
        ("// run: toy\n\n// error @above: not\nno\n", "a.toy:1: unexpected error on line 4"),
        ("// run: toy\nprint a // error: known\n// note: never\n", "a.toy:3: no note `never` among"),
        ("// run: toy\n// fact: names = 2\nset a 1\n", "a.toy:2: names is 1"),
        ("// run: toy\n// fact: names >= 2\nset a 1\n", "a.toy:2: names is 1"),
        ("// run: toy\n// fact: name = 2\nset a 1\n", "a.toy:2: no fact `name`; there are names"),
        ("// run: toy\n// fact: names 2\n", "line 2: expected NAME = VALUE"),
        ("// run: toy\n// check: a is 2\nset a 1\nprint a\n", "a.toy:2: `a is 2`: not behind line 0"),
        (
            "// run: toy\n// check-not: a is 1\nset a 1\nprint a\n",
            "a.toy:2: `a is 1`: line 1 of the output has it",
        ),
        ("// run: toy\n// check-next: b\nset a 1\nprint a\n", "a.toy:2: `b`: the next line is 1: a is   1"),
        ("// run: toy\nset a 1\nprint a\n// =====\na is 2\n", "-a is 2\n+a is   1"),
        ("// run: toy\n// error: not\nno\n", "line 2: `error` in a line of its own needs a place"),
        ("// run: toy\n// error @left: not\nno\n", "line 2: `@left` is no place"),
        (
            "// run: toy\n// error @`yes`: not\n// clean\nset a 1\n",
            "a.toy:2: no line of the text holds `yes`",
        ),
        ("// run: toy\n// source: b.toy\n// clean\n", "a.toy:1: b.toy: "),
        ("// run: toy\n// source: a.toy\nset a 1\n", "a.toy:1: a text and a source"),
        ("// run: toy\n// replace: `x` -> `y`\n// clean\n", "a.toy:1: nothing to replace: no `x`"),
        ("// run: toy\n// replace: x -> y\n", "line 2: expected `A` -> `B`"),
        (
            "// run: toy\n// run: toy --strict\n// clean\n",
            "a.toy:1: toy --strict: unexpected error without a place",
        ),
        ("// run: toy\n// clean\n// -----\nno\n// clean\n", "a.toy:4: unexpected error on line 1"),
    ] {
        let found = said(text);
        assert!(found.contains(expected), "{text}\n{found}");
    }
}

#[test]
fn an_update_writes_what_was_found_and_is_then_right() {
    for (before, after) in [
        ("// run: toy\nset a 1\nprint a\n", "// run: toy\nset a 1\nprint a\n// =====\na is   1\n"),
        (
            "// run: toy\nset a 1\nprint a\n// =====\nb is 2\n",
            "// run: toy\nset a 1\nprint a\n// =====\na is   1\n",
        ),
        ("// run: toy\n// fact: names = 3\nset a 1\n", "// run: toy\n// fact: names = 1\nset a 1\n"),
        (
            "// run: toy\nno\nset a 1 // error: old\n",
            "// run: toy\nno // error: not understood [parse]\nset a 1\n",
        ),
        (
            "// run: toy --strict\n// error @none: old\n// -----\n// run: toy\n// clean\n",
            "// run: toy --strict\n// error @none: nothing is set\n// -----\n// run: toy\n// clean\n",
        ),
    ] {
        let file = File::new(before);
        assert_eq!(file.run(true), Ok(()), "{before}");
        assert_eq!(file.text(), after);
        assert_eq!(file.run(false), Ok(()), "{after}");
        assert_eq!(file.run(true), Ok(()));
        assert_eq!(file.text(), after);
    }
}

#[test]
fn an_update_of_a_text_in_another_file_names_the_line_by_its_words() {
    let file = File::new("// run: toy\n// source: b.toy\n// replace: `yes` -> `no`\n");
    fs::write(file.folder.path().join("b.toy"), "set a 1\n  yes\n").unwrap();
    assert_eq!(file.run(true), Ok(()));
    let after =
        "// run: toy\n// source: b.toy\n// replace: `yes` -> `no`\n// error @`no`: not understood [parse]\n";
    assert_eq!(file.text(), after);
    assert_eq!(file.run(false), Ok(()));
}

#[test]
fn what_somebody_wants_is_not_updated_away() {
    for text in [
        "// run: toy\n// check: b is\nset a 1\nprint a\n",
        "// run: toy\n// clean\nno\n",
        "// run: toy\n// fact: names >= 2\nset a 1\n",
    ] {
        assert!(File::new(text).run(true).is_err(), "{text}");
    }
}
