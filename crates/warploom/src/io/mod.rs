//! What a command reads and writes: inputs within their limits, outputs whole or not at all.

mod failure;
pub mod json_place;
mod limits;
mod show;

use std::cell::RefCell;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use warploom_ir::diag::Report;

pub use failure::{Failure, diagnostic};
pub use limits::{Clock, Limits};
pub use show::{Input, answered, render, show};

/// Bytes shown behind the first one that is no text.
const GARBLED: usize = 64;

/// Held while something is written, so that a command whose time is over ends before a write or behind it. Within:
/// whether there is an answer already, for which a command whose time is over is waited for.
pub type Gate = Arc<Mutex<bool>>;

/// The files and streams of one command.
pub struct Io {
    /// What it may take.
    pub limits: Limits,
    /// The time that is left.
    pub clock: Clock,
    gate: Gate,
    /// The files read, which no output may replace.
    inputs: RefCell<Vec<PathBuf>>,
    /// Standard input and output of a command that a program calls.
    streams: Option<RefCell<Streams>>,
}

/// What stands for standard input and output within a program.
#[derive(Default)]
pub struct Streams {
    /// Read for `-`.
    pub input: Vec<u8>,
    /// What the command answered.
    pub output: Vec<u8>,
}

impl Io {
    /// Within limits, with a clock that runs already.
    pub fn new(limits: Limits, clock: Clock, gate: Gate) -> Io {
        Io { limits, clock, gate, inputs: RefCell::default(), streams: None }
    }

    /// Within a program, which gives the input and takes the output as bytes.
    pub fn within(limits: Limits, clock: Clock, input: Vec<u8>) -> Io {
        let streams = Some(RefCell::new(Streams { input, output: Vec::new() }));
        Io { streams, ..Io::new(limits, clock, Gate::default()) }
    }

    /// What the command answered the program within which it ran.
    pub fn output(self) -> Vec<u8> {
        self.streams.map(|streams| streams.into_inner().output).unwrap_or_default()
    }

    /// Says something on standard error, where people may read it.
    pub fn note(&self, text: &str) {
        if self.streams.is_none() {
            eprint!("{text}");
        }
    }

    /// Reads a file, or standard input for `-`.
    pub fn read(&self, path: &Path) -> Result<Input, Failure> {
        let (name, bytes) = self.read_bytes(path)?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Input { name, text }),
            Err(e) => {
                let at = e.utf8_error().valid_up_to();
                let shown = e.as_bytes().get(..at.saturating_add(GARBLED)).unwrap_or(e.as_bytes());
                let report = Report::error("parse", format!("this is no text: byte {at} is not UTF-8"));
                let report = report.at(Some(at)).note("instead", "write the file as UTF-8");
                let text = String::from_utf8_lossy(shown).into_owned();
                Err(Failure::refused(&[report], &Input { name, text }))
            }
        }
    }

    /// Reads a file as bytes, or standard input for `-`.
    pub fn read_bytes(&self, path: &Path) -> Result<(String, Vec<u8>), Failure> {
        let stdin = path.as_os_str() == "-";
        let name = if stdin { "<stdin>".to_owned() } else { path.display().to_string() };
        let (mut bytes, most) = (Vec::new(), self.limits.max_input);
        let limit = most.saturating_add(1);
        let read = if let Some(streams) = self.streams.as_ref().filter(|_| stdin) {
            streams.borrow().input.take(limit).read_to_end(&mut bytes)
        } else if stdin {
            io::stdin().lock().take(limit).read_to_end(&mut bytes)
        } else {
            self.inputs.borrow_mut().push(path.to_owned());
            fs::File::open(path).and_then(|f| f.take(limit).read_to_end(&mut bytes))
        };
        let wrong = match read {
            Ok(_) if bytes.len() as u64 <= most => return Ok((name, bytes)),
            Ok(_) => Report::error("limit", format!("the input is larger than {most} bytes"))
                .note("instead", "raise --max-input"),
            Err(e) => Report::error("input", format!("cannot read the input: {e}"))
                .note("instead", "name a file that is there and may be read"),
        };
        Err(Failure::refused(&[wrong], &Input::named(name)))
    }

    /// Writes to a file, or to standard output without one. A file appears whole or not at all, and never in place
    /// of an input.
    pub fn write(&self, path: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
        let Some(path) = path.filter(|p| p.as_os_str() != "-") else {
            return self.stdout(bytes);
        };
        let same = |input: &PathBuf| same_file::is_same_file(input, path).unwrap_or(false);
        if self.inputs.borrow().iter().any(same) {
            let report = Report::error("output", format!("{} is an input", path.display()));
            return Err(Failure::usage(report.note("instead", "write to another file")));
        }
        let _gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        write_whole(path, bytes).map_err(|e| {
            let report = Report::error("output", format!("cannot write the output: {e}"));
            Failure::refused(&[report], &Input::named(path.display().to_string()))
        })
    }

    /// Says that the command has an answer, and gives it by itself soon, whatever the clock says.
    pub fn has_answer(&self) {
        *self.gate.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    /// Writes to standard output; a reader that went away (`| head`) is no failure.
    pub fn stdout(&self, bytes: &[u8]) -> Result<(), Failure> {
        if let Some(streams) = &self.streams {
            streams.borrow_mut().output.extend_from_slice(bytes);
            return Ok(());
        }
        let mut answers = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        *answers = true;
        let mut out = io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::plain(Report::error("output", format!("cannot write to standard output: {e}"))))
            }
            _ => Ok(()),
        }
    }

    /// Prints one JSON value on a line of its own.
    pub fn json(&self, value: &serde_json::Value) -> Result<(), Failure> {
        self.stdout(format!("{value}\n").as_bytes())
    }
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A device or pipe is written to; replacing it by a file would be a surprise.
    if fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return fs::write(path, bytes);
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".warploom-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path).map_or(0o644, |m| m.permissions().mode() & 0o777);
        file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    }
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}
