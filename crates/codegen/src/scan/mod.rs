//! Faults that LLVM and ptxas let through, found in the text of the PTX (C41, C43, C46).
//!
//! The scan knows nothing of the compiler: it reads PTX and says what is wrong with it.
//! - `.local` memory and `__local_depot`: a copy of a parameter, or a spill (C41, C80);
//! - `.extern .func`: a misspelt intrinsic (C43);
//! - wgmma: accumulators touched while a multiplication may still write them, multiplications without a
//!   fence behind other accesses to their registers, groups never committed or never waited for (C30, C46);
//! - tcgen05: registers of a load touched before its wait, products that nobody commits (C46).

mod block;
mod statement;
mod tcgen05;
mod wgmma;

use std::fmt;

use warploom_ir::Diagnostic;
use warploom_ir::diag::Code;

use crate::error::Refusal;

pub use statement::{Line, Statement, loops, registers, statements};

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule it breaks.
    pub rule: &'static str,
    /// Line of the PTX, from 1.
    pub line: usize,
    /// What is wrong.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {} ({})", self.line, self.text, self.rule)
    }
}

/// Every fault of a PTX text, in the order of its lines.
pub fn scan(ptx: &str) -> Vec<Finding> {
    let lines = statements(ptx);
    let mut findings: Vec<Finding> = lines.iter().filter_map(forbidden).collect();
    findings.extend(wgmma::check(&lines));
    findings.extend(tcgen05::check(&lines));
    findings.sort_by_key(|finding| finding.line);
    findings
}

/// A statement that must not occur at all.
fn forbidden(line: &Line) -> Option<Finding> {
    let text = line.text;
    let finding = |rule, text: &str| Some(Finding { rule, line: line.number, text: text.to_owned() });
    if text.contains("__local_depot") {
        return finding("C41", "local memory of the function");
    }
    let words = || text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_'));
    let local = |word: &str| word == ".local" || word.split('.').skip(1).any(|part| part == "local");
    if words().any(local) {
        return finding("C80", "local memory");
    }
    if text.contains(".extern") && text.contains(".func") {
        return finding("C43", "an external function");
    }
    None
}

/// The scan as a refusal of the compiler's own result.
pub(crate) fn check(ptx: &str) -> Result<(), Vec<Finding>> {
    let findings = scan(ptx);
    if findings.is_empty() { Ok(()) } else { Err(findings) }
}

/// One diagnostic of all findings; long lists are cut.
pub(crate) fn refusal(findings: &[Finding]) -> Refusal {
    let first = findings.first().map(ToString::to_string).unwrap_or_default();
    let mut all = Diagnostic::error(Code::Emit, format!("the PTX failed its scan: {first}"));
    all.rule = findings.first().map(|f| f.rule);
    for finding in findings.iter().skip(1).take(7) {
        all = all.note("found", finding.to_string());
    }
    all.into()
}
