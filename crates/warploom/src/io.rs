//! Reading inputs, writing outputs whole or not at all, and how a command fails.

use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use warploom::Diagnostic;
use warploom_ir::diag;

/// The largest input read, in bytes.
const LARGEST_INPUT: u64 = 512 << 20;

/// A text that was read, and what to call it in messages.
#[derive(Clone)]
pub struct Input {
    /// The path as given, or `<stdin>`.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Why a command ends with a status other than 0.
pub enum Failure {
    /// The command line was wrong (status 2).
    Usage(String),
    /// The input was refused, or a check failed (status 1); the text is ready to print.
    Refused(String),
    /// Refused, and the machine-readable answer stands on standard output already (status 1).
    Answered,
}

impl Failure {
    /// Prints what is left to be said and gives the exit status.
    pub fn report(self) -> ExitCode {
        let (text, status) = match self {
            Failure::Usage(text) => (text, 2),
            Failure::Refused(text) => (text, 1),
            Failure::Answered => return ExitCode::from(1),
        };
        // A closed standard error must not turn a refusal into a panic.
        let _ = writeln!(io::stderr(), "{}", text.trim_end());
        ExitCode::from(status)
    }

    /// The refusal of an input, with its snippets.
    pub fn refused(diagnostics: &[Diagnostic], input: &Input) -> Failure {
        Failure::Refused(render(diagnostics, input))
    }
}

/// Diagnostics as text for people; coloured on a terminal.
pub fn render(diagnostics: &[Diagnostic], input: &Input) -> String {
    if io::stderr().is_terminal() {
        diag::render_coloured(diagnostics, &input.name, &input.text)
    } else {
        diag::render(diagnostics, &input.name, &input.text)
    }
}

/// Reads a file, or standard input for `-`.
pub fn read(path: &Path) -> Result<Input, Failure> {
    let (name, bytes) = read_bytes(path)?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        Failure::Refused(format!("error[parse]: {name} is not text: byte {at} is not UTF-8"))
    })?;
    Ok(Input { name, text })
}

/// Reads a file as bytes, or standard input for `-`.
pub fn read_bytes(path: &Path) -> Result<(String, Vec<u8>), Failure> {
    let stdin = path.as_os_str() == "-";
    let name = if stdin { "<stdin>".to_owned() } else { path.display().to_string() };
    let mut bytes = Vec::new();
    let limit = LARGEST_INPUT + 1;
    let read = if stdin {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        fs::File::open(path).and_then(|f| f.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|e| Failure::Refused(format!("error: cannot read {name}: {e}")))?;
    if bytes.len() as u64 > LARGEST_INPUT {
        return Err(Failure::Refused(format!("error: {name} is larger than {LARGEST_INPUT} bytes")));
    }
    Ok((name, bytes))
}

/// Writes to a file, or to standard output without one. A file appears whole or not at all.
pub fn write(path: Option<&PathBuf>, bytes: &[u8]) -> Result<(), Failure> {
    let Some(path) = path.filter(|p| p.as_os_str() != "-") else {
        return stdout(bytes);
    };
    let failed = |e: io::Error| Failure::Refused(format!("error: cannot write {}: {e}", path.display()));
    // A device or pipe is written to; replacing it by a file would be a surprise.
    if fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return fs::write(path, bytes).map_err(failed);
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".warploom-").tempfile_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path).map_or(0o644, |m| m.permissions().mode() & 0o777);
        file.as_file().set_permissions(fs::Permissions::from_mode(mode)).map_err(failed)?;
    }
    file.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
}

/// Writes to standard output; a reader that went away (`| head`) is no failure.
pub fn stdout(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Refused(format!("error: cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Prints one JSON value on a line of its own.
pub fn json(value: &serde_json::Value) -> Result<(), Failure> {
    stdout(format!("{value}\n").as_bytes())
}
