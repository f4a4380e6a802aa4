//! Faults that LLVM and ptxas let through, found in the text of the PTX (C41, C43, C46).
//!
//! The scan knows nothing of the compiler: it reads PTX and says what is wrong with it.
//! - `.local` memory and `__local_depot`: a copy of a parameter, or a spill (C41, C80); a text that
//!   prints passes its arguments there, a linked library keeps tables there;
//! - `.extern .func`: a misspelt intrinsic (C43), unless the device runtime has it;
//! - wgmma: accumulators touched while a multiplication may still write them, multiplications without a
//!   fence behind other accesses to their registers, groups never committed or never waited for (C30, C46);
//! - tcgen05: registers of a load touched before its wait, products that nobody commits (C46).

mod finding;
mod forward;
mod tcgen05;
mod wgmma;

use warploom_ir::Diagnostic;
use warploom_ir::diag::Code;
use warploom_ptx::{Function, Instruction, Item, Module, Statement, Variable};

use crate::error::Refusal;

pub use finding::Finding;

/// Every fault of a PTX text, in the order of its lines. A text that is no PTX has that one fault.
pub fn scan(ptx: &str) -> Vec<Finding> {
    let checked = warploom_ptx::parse(ptx).and_then(|module| faults(&module));
    checked.unwrap_or_else(|e| vec![Finding { rule: "E16", line: e.line as usize, text: e.message }])
}

fn faults(module: &Module<'_>) -> Result<Vec<Finding>, warploom_ptx::SyntaxError> {
    let mut findings = Vec::new();
    for item in &module.items {
        match item {
            Item::Variable(v) => findings.extend(local_variable(v)),
            Item::Function(f) => {
                findings.extend(external(f));
                findings.extend(f.body.iter().flatten().filter_map(forbidden).filter(|_| !prints(module)));
                let code = warploom_ptx::Code::of(f)?;
                findings.extend(wgmma::check(&code));
                findings.extend(tcgen05::check(&code));
            }
            _ => {}
        }
    }
    findings.sort_by_key(|finding| finding.line);
    Ok(findings)
}

/// What the device runtime of CUDA defines, of what kernels of Triton call.
const RUNTIME: [&str; 2] = ["vprintf", "__assertfail"];

/// Whether a text prints: the arguments of `vprintf` stand in local memory.
fn prints(module: &Module<'_>) -> bool {
    let printer =
        |item: &Item<'_>| matches!(item, Item::Function(f) if f.body.is_none() && f.name == "vprintf");
    module.items.iter().any(printer)
}

/// A function that nobody defines: a misspelt intrinsic.
fn external(f: &Function<'_>) -> Option<Finding> {
    let external = f.body.is_none() && f.linkage.contains(&".extern") && !RUNTIME.contains(&f.name);
    external.then(|| Finding::new("C43", f.line, format!("an external function: {}", f.name)))
}

/// A statement that must not occur at all.
fn forbidden(statement: &Statement<'_>) -> Option<Finding> {
    match statement {
        Statement::Variable(v) => local_variable(v),
        Statement::Instruction(i) if i.names().any(depot) => Some(depot_of_function(i.line, i)),
        Statement::Instruction(i) => local_access(i),
        _ => None,
    }
}

fn depot(name: &str) -> bool {
    name.starts_with("__local_depot")
}

fn depot_of_function(line: warploom_ptx::Line, what: impl std::fmt::Display) -> Finding {
    Finding::new("C41", line, format!("local memory of the function: {what}"))
}

fn local_variable(v: &Variable<'_>) -> Option<Finding> {
    if depot(v.name) {
        return Some(depot_of_function(v.line, v));
    }
    (v.space == ".local").then(|| Finding::new("C80", v.line, format!("local memory: {v}")))
}

fn local_access(i: &Instruction<'_>) -> Option<Finding> {
    let local = i.opcode.split(['.', ':']).skip(1).any(|part| part == "local");
    local.then(|| Finding::new("C80", i.line, format!("local memory: {i}")))
}

/// The scan as a refusal of the compiler's own result; functions of a linked library keep tables in local memory.
pub(crate) fn check(ptx: &str, linked: bool) -> Result<(), Vec<Finding>> {
    let mut findings = scan(ptx);
    findings.retain(|finding| !(linked && matches!(finding.rule, "C41" | "C80")));
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
