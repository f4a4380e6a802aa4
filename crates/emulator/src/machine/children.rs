//! Grids that a kernel launches itself, by the device runtime of CUDA: they run when the one that launched them has ended,
//! in the order of the launches, each with all that it launches in turn, and those of the tail stream last. CUDA promises no
//! other order, for a kernel cannot wait for what it launched.

use super::child::Child;
use super::device::Device;
use super::launch::{Launch, RunOptions, check};
use super::run::{Inputs, merge_finding, sane};
use crate::error::EmulatorRefusal;
use crate::module::Module;
use crate::report::{Coverage, Finding, Report, Severity};
use std::collections::BTreeMap;

/// Launches below one that the host made, of all depths: more are taken for a recursion without end.
const MOST: usize = 10_000;
/// Grids that launch each other, as CUDA has it.
const DEEPEST: u32 = 24;

/// What children add to the report of the launch that the host made.
struct Family<'a> {
    module: &'a Module,
    opts: &'a RunOptions,
    launched: usize,
    /// What each kernel reached, in all its launches.
    coverage: BTreeMap<String, Coverage>,
}

impl Device {
    /// Runs what a grid launched, and adds what is said about it to the report.
    pub(super) fn run_children(
        &mut self,
        module: &Module,
        children: Vec<Child>,
        opts: &RunOptions,
        report: &mut Report,
    ) {
        let mut family = Family { module, opts, launched: 0, coverage: BTreeMap::new() };
        self.generation(&mut family, children, report, 1);
        for coverage in family.coverage.into_values() {
            report.coverage.instructions += coverage.instructions;
            report.coverage.never.extend(coverage.never);
            report.coverage.trivial.extend(coverage.trivial);
            report.coverage.hints.extend(coverage.hints);
        }
    }

    fn generation(&mut self, family: &mut Family<'_>, children: Vec<Child>, report: &mut Report, depth: u32) {
        let (tail, now): (Vec<Child>, Vec<Child>) = children.into_iter().partition(|c| c.tail);
        for child in now.into_iter().chain(tail) {
            let Some(entry) = family.module.entries().get(child.kernel) else { continue };
            family.launched += 1;
            if family.launched > MOST || depth > DEEPEST {
                let message = format!("no end after {MOST} launches by kernels, {DEEPEST} deep");
                let endless = told(&entry.name, "D02", message, "end the recursion");
                merge_finding(&mut report.findings, endless, family.opts.max_findings);
                return;
            }
            let launch = Launch {
                entry: entry.name.clone(),
                grid: child.grid,
                block: child.block,
                cluster: entry.cluster.unwrap_or([1; 3]),
                smem: child.smem,
                args: Vec::new(),
            };
            let fits = if family.opts.limits {
                check(&self.target, &family.module.target, entry, &launch)
            } else {
                Ok(())
            };
            let inputs = Inputs { entry, launch: &launch, params: &child.params, opts: family.opts };
            match fits.and_then(|()| sane(&launch)).and_then(|()| self.run_one(&inputs)) {
                Ok((own, children)) => {
                    family.coverage.entry(own.kernel.clone()).or_default().join(&own.coverage);
                    add(report, own, family.opts);
                    self.generation(family, children, report, depth + 1);
                }
                Err(refusal) => {
                    let refused = refused(&entry.name, &refusal);
                    merge_finding(&mut report.findings, refused, family.opts.max_findings);
                }
            }
        }
    }
}

/// Adds the report of a child.
fn add(report: &mut Report, own: Report, opts: &RunOptions) {
    report.stats.add(&own.stats);
    report.printed.push_str(&own.printed);
    report.seen.extend(own.seen);
    let room = opts.trace.saturating_sub(report.trace.len());
    report.trace.extend(own.trace.into_iter().take(room));
    for f in own.findings {
        merge_finding(&mut report.findings, f, opts.max_findings);
    }
}

/// A launch that cannot begin.
fn refused(kernel: &str, refusal: &EmulatorRefusal) -> Finding {
    let first = refusal.diagnostics.first();
    let (code, message) = first.map_or(("L01", ""), |d| (d.code.as_str(), d.message.as_str()));
    let remedy = first.map_or("", |d| d.remedy.as_str());
    told(kernel, code, format!("a kernel launches what cannot run: {message}"), remedy)
}

fn told(kernel: &str, code: &str, message: String, remedy: &str) -> Finding {
    Finding {
        code: code.to_string(),
        severity: Severity::Error,
        kernel: kernel.to_string(),
        cta: [0; 3],
        message,
        remedy: remedy.to_string(),
        first: None,
        second: None,
        extent: None,
        registers: Vec::new(),
        count: 1,
        pairs: Vec::new(),
        since: None,
        lanes: 0,
    }
}
