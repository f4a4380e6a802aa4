//! Runs ptxas and reads what it says (C80, T18). No LLVM here: any PTX text will do.

use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};
use warploom_ir::Diagnostic;
use warploom_ir::diag::Code;

/// A remark of ptxas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Its number, as in `C7510`, where it has one.
    pub code: Option<String>,
    /// `info`, `warning`, `error`, ..
    pub severity: String,
    /// The text behind it.
    pub text: String,
}

impl Note {
    /// Whether the note says that code was changed for the worse: `setmaxnreg` ignored, wgmma serialised or a
    /// wait injected (C80, T18).
    pub fn is_repair(&self) -> bool {
        let number =
            self.code.as_deref().and_then(|code| code.strip_prefix('C')).and_then(|n| n.parse().ok());
        matches!(number, Some(7508 | 7510..=7519))
    }
}

/// What ptxas reports of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of stack.
    pub stack: u32,
    /// Bytes spilled to local memory by stores.
    pub spill_stores: u32,
    /// Bytes read back from spills.
    pub spill_loads: u32,
    /// Bytes of static shared memory.
    pub static_shared: u32,
    /// Named barriers.
    pub barriers: u32,
    /// Warnings, and remarks that carry a number.
    pub notes: Vec<Note>,
}

impl Report {
    /// Whether nothing was spilled and nothing repaired (C80).
    pub fn is_clean(&self) -> bool {
        self.spill_stores == 0
            && self.spill_loads == 0
            && self.stack == 0
            && !self.notes.iter().any(Note::is_repair)
    }
}

/// Machine code with its report.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The cubin, an ELF file.
    pub cubin: Vec<u8>,
    /// What ptxas said.
    pub report: Report,
    /// All it said, verbatim.
    pub log: String,
}

/// Assembles a PTX text for a chip (`sm_90a`).
///
/// # Errors
/// `assemble` with the text of ptxas where it cannot be started or refuses.
pub fn assemble(ptxas: &Path, ptx: &str, chip: &str) -> Result<Assembled, Box<Diagnostic>> {
    let failed = |what: &str, error: std::io::Error| {
        Box::new(Diagnostic::error(Code::Assemble, format!("{what}: {error}")))
    };
    let folder = tempfile::tempdir().map_err(|e| failed("no temporary folder", e))?;
    let (input, output) = (folder.path().join("kernel.ptx"), folder.path().join("kernel.cubin"));
    std::fs::write(&input, ptx).map_err(|e| failed("the PTX could not be written", e))?;
    let mut command = Command::new(ptxas);
    command.arg("-v").arg(format!("-arch={chip}")).arg("-o").arg(&output).arg(&input);
    let run = command.output().map_err(|e| failed(&format!("{} did not start", ptxas.display()), e))?;
    let mut log = String::from_utf8_lossy(&run.stderr).into_owned();
    log.push_str(&String::from_utf8_lossy(&run.stdout));
    if !run.status.success() {
        let first = log.lines().find(|l| l.contains("error") || l.contains("fatal")).unwrap_or("no message");
        let refusal = Diagnostic::error(Code::Assemble, format!("ptxas refused the PTX: {first}"));
        return Err(Box::new(refusal.note("found", log)));
    }
    let cubin = std::fs::read(&output).map_err(|e| failed("ptxas wrote no cubin", e))?;
    Ok(Assembled { cubin, report: report(&log), log })
}

/// Reads the output of `ptxas -v` of one kernel.
///
/// ```
/// let log = "ptxas info    : Used 168 registers, used 2 barriers, 16 bytes smem\n\
///            ptxas info    : (C7519) Potential Performance Loss: wgmma.mma_async instructions are serialized\n";
/// let report = warploom_codegen::assemble::report(log);
/// assert_eq!((report.registers, report.barriers, report.static_shared), (168, 2, 16));
/// assert!(!report.is_clean());
/// ```
pub fn report(log: &str) -> Report {
    let mut report = Report::default();
    for line in log.lines() {
        for (count, what) in counts(line) {
            match what {
                "bytes stack frame" => report.stack = count,
                "bytes spill stores" => report.spill_stores = count,
                "bytes spill loads" => report.spill_loads = count,
                "bytes smem" => report.static_shared = count,
                "registers" => report.registers = count,
                "barriers" => report.barriers = count,
                _ => {}
            }
        }
        report.notes.extend(note(line));
    }
    report
}

/// The pieces `12 things` of a line, separated by commas; `Used 12 things` and `used 12 things` too.
fn counts(line: &str) -> impl Iterator<Item = (u32, &str)> {
    let text = line.rsplit_once(" : ").map_or(line, |(_, text)| text);
    text.split(',').filter_map(|piece| {
        let piece = piece.trim();
        let piece = piece.strip_prefix("Used ").or_else(|| piece.strip_prefix("used ")).unwrap_or(piece);
        let (number, what) = piece.split_once(' ')?;
        Some((number.parse().ok()?, what.trim()))
    })
}

/// A line as a note, if it is a warning or carries a number.
fn note(line: &str) -> Option<Note> {
    let (head, text) = line.split_once(" : ")?;
    let head = head.strip_prefix("ptxas ")?.trim();
    let severity = head.rsplit([' ', ';']).next()?.to_owned();
    let (code, text) = match text.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((code, rest)) if code.starts_with('C') => (Some(code.to_owned()), rest.trim()),
        _ => (None, text.trim()),
    };
    let matters = code.is_some() || severity != "info";
    matters.then(|| Note { code, severity, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read() {
        let log = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'matmul' for 'sm_90a'\n\
            ptxas info    : Function properties for matmul\n    \
            0 bytes stack frame, 1672 bytes spill stores, 1160 bytes spill loads\n\
            ptxas info    : Used 255 registers, used 1 barriers, 32 bytes cumulative stack size, 400 bytes cmem[0]\n\
            ptxas info    : Compile time = 240.469 ms\n";
        let report = report(log);
        assert_eq!((report.registers, report.spill_stores, report.spill_loads), (255, 1672, 1160));
        assert_eq!((report.stack, report.barriers), (0, 1));
        assert!(report.notes.is_empty());
        assert!(!report.is_clean());
    }

    #[test]
    fn repairs_are_told_from_other_notes_t18() {
        for (number, repair) in
            [(7507, false), (7508, true), (7509, false), (7510, true), (7519, true), (7520, false)]
        {
            let log = format!("ptxas info    : (C{number}) text in function 'f'\n");
            let report = report(&log);
            assert_eq!(report.notes.len(), 1);
            assert_eq!(report.notes[0].is_repair(), repair, "{number}");
            assert_eq!(report.is_clean(), !repair);
        }
        let warning = report("ptxas warning : .maxnreg 256 dropped\n");
        assert_eq!(warning.notes[0].severity, "warning");
    }

    #[test]
    fn a_missing_ptxas_is_a_diagnostic() {
        let error = assemble(Path::new("no/such/ptxas"), "", "sm_90a").unwrap_err();
        assert_eq!(error.code, Code::Assemble);
    }
}
