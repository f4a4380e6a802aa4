//! The files of a folder as tests.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::answer::Answer;
use crate::case::{self, Case, Run, Written};
use crate::check::compare;
use crate::update;

type Command = Box<dyn Fn(&Case) -> Result<Answer, String> + Send + Sync>;

/// A folder of files, and what the commands in them do.
pub struct Suite {
    folder: PathBuf,
    root: PathBuf,
    commands: Vec<(&'static str, Command)>,
}

impl Suite {
    /// The files below a folder, all of them but those whose name begins with a dot. Sources are searched from the root of
    /// the repository: the nearest folder above with a `Cargo.lock`.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let root = folder.ancestors().find(|at| at.join("Cargo.lock").is_file());
        let root = root.unwrap_or(&folder).to_owned();
        Suite { folder, root, commands: Vec::new() }
    }

    /// A command: what it answers to a case, or why the case makes no sense to it.
    #[must_use]
    pub fn command(
        mut self,
        name: &'static str,
        answer: impl Fn(&Case) -> Result<Answer, String> + Send + Sync + 'static,
    ) -> Self {
        self.commands.push((name, Box::new(answer)));
        self
    }

    /// The tests of a program: a test for each file, arguments as those of `cargo test`, and `--update`.
    pub fn main(self) -> ExitCode {
        let update = std::env::args().any(|arg| arg == "--update");
        let args = Arguments::from_iter(std::env::args().filter(|arg| arg != "--update"));
        let suite = Arc::new(self);
        let mut files = Vec::new();
        if let Err(error) = walk(&suite.folder, &mut files) {
            eprintln!("{}: {error}", suite.folder.display());
            return ExitCode::FAILURE;
        }
        if files.is_empty() {
            eprintln!("{}: no files", suite.folder.display());
            return ExitCode::FAILURE;
        }
        files.sort();
        let trial = |path: PathBuf| {
            let name = path.strip_prefix(&suite.folder).unwrap_or(&path).display().to_string();
            let suite = Arc::clone(&suite);
            Trial::test(name, move || suite.file(&path, update).map_err(Failed::from))
        };
        libtest_mimic::run(&args, files.into_iter().map(trial).collect()).exit_code()
    }

    /// Runs a file, and writes it again where it is to be updated; everything that is wrong with it.
    pub fn file(&self, path: &Path, update: bool) -> Result<(), String> {
        let shown = path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        let file = std::fs::read_to_string(path).map_err(|e| format!("{shown}: {e}"))?;
        let cases = case::read(&file).map_err(|problem| format!("{shown}: {problem}"))?;
        let (mut problems, mut written) = (Vec::new(), Vec::new());
        for case in &cases {
            let mut fail = |line: Option<usize>, problem: String| {
                problems.push(format!("{shown}:{}: {problem}", case.first + line.unwrap_or_default()));
            };
            let runs = if case.runs.is_empty() { &cases[0].runs } else { &case.runs };
            if runs.is_empty() {
                fail(None, "no `// run:` here or in the first case".to_owned());
            }
            let mut current = case.clone();
            for run in runs {
                let (sourced, text, answer) = match self.answer(case, &cases[0], run, &shown) {
                    Ok(found) => found,
                    Err(problem) => {
                        fail(None, problem);
                        continue;
                    }
                };
                let mut compared = compare(&current, &text, &answer);
                if update {
                    let whole = update::rewritten(&current, &text, sourced, &answer, &compared);
                    current = one(&whole, case.first)?;
                    compared = compare(&current, &text, &answer);
                }
                for (line, problem) in compared.problems {
                    let which = if runs.len() > 1 { format!("{run}: ") } else { String::new() };
                    fail(line, which + &problem);
                }
            }
            written.push(current.whole());
        }
        if update {
            let whole = update::joined(&written);
            if whole != file {
                std::fs::write(path, whole).map_err(|e| format!("{shown}: {e}"))?;
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
    }

    /// Whether the text is that of another file, the text, and what a command says of it.
    fn answer(
        &self,
        case: &Written,
        first: &Written,
        run: &Run,
        path: &str,
    ) -> Result<(bool, String, Answer), String> {
        let source = case.source.as_ref().or(first.source.as_ref().filter(|_| !case.has_text()));
        let text = case::text(case, source.map(String::as_str), &self.root)?;
        let command = self.commands.iter().find(|(name, _)| *name == run.command).ok_or_else(|| {
            let known: Vec<&str> = self.commands.iter().map(|(name, _)| *name).collect();
            format!("no command `{}`; there are {}", run.command, known.join(", "))
        })?;
        let asked = Case { text, run: run.clone(), path: source.map_or(path, String::as_str).to_owned() };
        let answer = (command.1)(&asked)?;
        Ok((source.is_some(), asked.text, answer))
    }
}

/// A case that was written again.
fn one(whole: &str, first: usize) -> Result<Written, String> {
    match case::read(whole)?.as_slice() {
        [case] => Ok(Written { first, ..case.clone() }),
        _ => Err("the output has a line that divides cases".to_owned()),
    }
}

/// The files below a folder.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
            continue;
        }
        if path.is_dir() { walk(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
