//! What a command reads and writes: inputs within their limits, outputs whole or not at all.

mod failure;
mod limits;

use std::cell::RefCell;
use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use warploom::Diagnostic;
use warploom_ir::diag;

pub use failure::Failure;
pub use limits::{Clock, Limits};

/// A text that was read, and what to call it in messages.
#[derive(Clone)]
pub struct Input {
    /// The path as given, or `<stdin>`.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Held while something is written, so that a command whose time is over ends before a write or behind it.
pub type Gate = Arc<Mutex<()>>;

/// The files and streams of one command.
pub struct Io {
    /// What it may take.
    pub limits: Limits,
    /// The time that is left.
    pub clock: Clock,
    gate: Gate,
    /// The files read, which no output may replace.
    inputs: RefCell<Vec<PathBuf>>,
}

/// Diagnostics as text for people; coloured on a terminal.
pub fn render(diagnostics: &[Diagnostic], input: &Input) -> String {
    if io::stderr().is_terminal() {
        diag::render_coloured(diagnostics, &input.name, &input.text)
    } else {
        diag::render(diagnostics, &input.name, &input.text)
    }
}

impl Io {
    /// Within limits, with a clock that runs already.
    pub fn new(limits: Limits, clock: Clock, gate: Gate) -> Io {
        Io { limits, clock, gate, inputs: RefCell::default() }
    }

    /// Reads a file, or standard input for `-`.
    pub fn read(&self, path: &Path) -> Result<Input, Failure> {
        let (name, bytes) = self.read_bytes(path)?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let at = e.utf8_error().valid_up_to();
            Failure::Refused(format!("error[parse]: {name} is not text: byte {at} is not UTF-8"))
        })?;
        Ok(Input { name, text })
    }

    /// Reads a file as bytes, or standard input for `-`.
    pub fn read_bytes(&self, path: &Path) -> Result<(String, Vec<u8>), Failure> {
        let stdin = path.as_os_str() == "-";
        let name = if stdin { "<stdin>".to_owned() } else { path.display().to_string() };
        let (mut bytes, most) = (Vec::new(), self.limits.max_input);
        let limit = most.saturating_add(1);
        let read = if stdin {
            io::stdin().lock().take(limit).read_to_end(&mut bytes)
        } else {
            self.inputs.borrow_mut().push(path.to_owned());
            fs::File::open(path).and_then(|f| f.take(limit).read_to_end(&mut bytes))
        };
        read.map_err(|e| Failure::Refused(format!("error[input]: cannot read {name}: {e}")))?;
        if bytes.len() as u64 > most {
            let text =
                format!("error[limit]: {name} is larger than {most} bytes\ninstead: raise --max-input");
            return Err(Failure::Refused(text));
        }
        Ok((name, bytes))
    }

    /// Writes to a file, or to standard output without one. A file appears whole or not at all, and never in place
    /// of an input.
    pub fn write(&self, path: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
        let Some(path) = path.filter(|p| p.as_os_str() != "-") else {
            return self.stdout(bytes);
        };
        let same = |input: &PathBuf| same_file::is_same_file(input, path).unwrap_or(false);
        if self.inputs.borrow().iter().any(same) {
            let text =
                format!("error[output]: {} is an input\ninstead: write to another file", path.display());
            return Err(Failure::Usage(text));
        }
        let _gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        write_whole(path, bytes)
            .map_err(|e| Failure::Refused(format!("error[output]: cannot write {}: {e}", path.display())))
    }

    /// Writes to standard output; a reader that went away (`| head`) is no failure.
    pub fn stdout(&self, bytes: &[u8]) -> Result<(), Failure> {
        let _gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::Refused(format!("error[output]: cannot write to standard output: {e}")))
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
