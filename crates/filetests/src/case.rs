//! A file, read.

use std::fmt;
use std::path::Path;

use crate::expectation::{Expectation, Place, Said, of_line, trailing};

/// The line between two cases.
pub(crate) const DIVIDER: &str = "// -----";
/// The line before the output.
pub(crate) const OUTPUT: &str = "// =====";

/// What a command is called with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The text, its expectations taken out.
    pub text: String,
    /// The command with its arguments.
    pub run: Run,
    /// The file that the text lies in, from the root of the repository.
    pub path: String,
}

/// A command with its arguments.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Run {
    /// The command.
    pub command: String,
    /// What stands behind it; `"two words"` are one argument.
    pub args: Vec<String>,
}

impl Run {
    fn read(line: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        let (mut quoted, mut inside) = (false, false);
        for c in line.chars() {
            match c {
                '"' => (quoted, inside) = (!quoted, inside || !quoted && push(&mut words)),
                c if c.is_whitespace() && !quoted => inside = false,
                c => {
                    inside = inside || push(&mut words);
                    if let Some(word) = words.last_mut() {
                        word.push(c);
                    }
                }
            }
        }
        let mut words = words.into_iter();
        Run { command: words.next().unwrap_or_default(), args: words.collect() }
    }

    /// What stands behind `--NAME`.
    pub fn option(&self, name: &str) -> Option<&str> {
        let at = self.args.iter().position(|arg| arg.strip_prefix("--") == Some(name))?;
        self.args.get(at + 1).map(String::as_str)
    }

    /// Whether `--NAME` is there.
    pub fn flag(&self, name: &str) -> bool {
        self.args.iter().any(|arg| arg.strip_prefix("--") == Some(name))
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.command)?;
        self.args.iter().try_for_each(|arg| write!(f, " {arg}"))
    }
}

/// Begins a word.
fn push(words: &mut Vec<String>) -> bool {
    words.push(String::new());
    true
}

/// A case as it stands in its file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    /// The number of its first line in the file, from 1.
    pub first: usize,
    /// Its lines, the output aside.
    pub body: Vec<String>,
    /// The lines of the body as the command sees them.
    pub text: Vec<String>,
    /// Commands, each of which answers as expected.
    pub runs: Vec<Run>,
    pub source: Option<String>,
    pub replaced: Vec<(String, String)>,
    /// What is expected, by the index of the line in the body.
    pub expected: Vec<(usize, Expectation)>,
    /// The output, where it is given.
    pub output: Option<String>,
}

impl Written {
    /// All of it, as it stands in the file.
    pub fn whole(&self) -> String {
        let mut whole: String = self.body.iter().map(|line| format!("{line}\n")).collect();
        if let Some(output) = &self.output {
            whole += &format!("{OUTPUT}\n{output}");
        }
        whole
    }

    /// Whether it has a text of its own; comments are none.
    pub fn has_text(&self) -> bool {
        self.text.iter().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with("//"))
    }
}

/// Reads the cases of a file, or says which line is wrong.
pub(crate) fn read(file: &str) -> Result<Vec<Written>, String> {
    let mut cases = vec![Written { first: 1, ..Written::default() }];
    for (number, line) in file.lines().enumerate() {
        if line.trim_end() == DIVIDER {
            cases.push(Written { first: number + 2, ..Written::default() });
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        match &mut case.output {
            Some(output) => {
                output.push_str(line);
                output.push('\n');
            }
            None if line.trim_end() == OUTPUT => case.output = Some(String::new()),
            None => case.line(line).map_err(|problem| format!("line {}: {problem}", number + 1))?,
        }
    }
    Ok(cases)
}

impl Written {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let index = self.body.len();
        self.body.push(line.to_owned());
        let comment = line.trim().strip_prefix("// ");
        let after = |key: &str| comment.and_then(|c| c.strip_prefix(key)).map(str::trim);
        if let Some(command) = after("run:") {
            self.runs.push(Run::read(command));
        } else if let Some(path) = after("source:") {
            self.source = Some(path.to_owned());
        } else if let Some(pair) = after("replace:") {
            self.replaced.push(replacement(pair).ok_or("expected `A` -> `B`")?);
        } else if let Some(expected) = of_line(line)? {
            self.expected.push((index, expected));
        } else {
            let (code, said) = trailing(line);
            self.expected.extend(said.into_iter().map(|s| (index, Expectation::Said(s))));
            self.text.push(code.to_owned());
            return Ok(());
        }
        self.text.push(String::new());
        Ok(())
    }

    /// The line of the text that a diagnostic is expected on, from 1; `Ok(None)` without a place.
    pub fn place(&self, index: usize, said: &Said, text: &str) -> Result<Option<usize>, String> {
        match &said.place {
            Place::Here => Ok(Some(index + 1)),
            Place::Above => Ok(Some(index)),
            Place::Below => Ok(Some(index + 2)),
            Place::Nowhere => Ok(None),
            Place::Holding(part) => {
                let at = text.lines().position(|line| line.contains(part.as_str()));
                at.map(|at| Some(at + 1)).ok_or_else(|| format!("no line of the text holds `{part}`"))
            }
        }
    }
}

/// `` `A` -> `B` ``.
fn replacement(pair: &str) -> Option<(String, String)> {
    let (from, to) = pair.strip_prefix('`')?.strip_suffix('`')?.split_once("` -> `")?;
    let lines = |text: &str| text.replace("\\n", "\n");
    Some((lines(from), lines(to)))
}

/// The text of a case: its own, or that of its source, with everything replaced.
pub(crate) fn text(case: &Written, source: Option<&str>, root: &Path) -> Result<String, String> {
    let mut text = match source {
        Some(_) if case.has_text() => return Err("a text and a source".to_owned()),
        Some(path) => std::fs::read_to_string(root.join(path)).map_err(|e| format!("{path}: {e}"))?,
        None => case.text.join("\n") + "\n",
    };
    for (from, to) in &case.replaced {
        if !text.contains(from.as_str()) {
            return Err(format!("nothing to replace: no `{from}` in the text"));
        }
        text = text.replace(from.as_str(), to);
    }
    Ok(text)
}
