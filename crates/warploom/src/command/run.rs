//! `warploom run`: the compiled kernel on the emulator, against what the kernel means.

use std::path::PathBuf;

use serde_json::json;
use warploom::run::{ArgSpec, Case, RunError, policies, prepare};
use warploom_emulator as emulator;
use warploom_ir::diag::Report;

use super::compile::KernelArgs;
use super::progress::Progress;
use super::session::Session;
use super::{machine, trace};
use crate::io::{Failure, Input, Io, answered};

/// Compile a kernel, run its PTX on the emulator, and compare with the reference interpreter.
///
///   warploom run examples/kernels/gemm.ttir --target sm_90a --grid 2,2 \
///       --arg 200x320 --arg 500x320 --arg 200x500 --arg 320
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    kernel: KernelArgs,
    #[command(flatten)]
    ptx: crate::tools::PtxArgs,
    /// One per argument of the kernel, in order: `300x512` a tensor (`512x`: of one dimension), `[1024]` a buffer,
    /// either with `=1,2,3` of elements with these bits again and again, `0,70,270` a buffer of these integers (`70,` of one), `512` or `0.5` a
    /// number
    #[arg(long = "arg", value_name = "SPEC", allow_negative_numbers = true)]
    args: Vec<ArgSpec>,
    /// Programs in x, y, z
    #[arg(long, value_name = "X,Y,Z", default_value = "1", value_parser = super::grid::grid)]
    grid: [u32; 3],
    /// Seed of the data
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Random interleavings, beside the earliest and the latest
    #[arg(long, default_value_t = 4)]
    interleavings: u64,
    /// Proxy fences must stand in the writer, tcgen05 fences must be there
    #[arg(long)]
    strict: bool,
    /// Warp instructions of a cluster before the run is given up
    #[arg(long, value_name = "N", default_value_t = 20_000_000)]
    max_steps: u64,
    /// Write the first interleaving as Chrome trace JSON
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// One JSON value on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

impl Args {
    /// Compiles, runs, compares.
    pub fn run(self, io: &Io) -> Result<(), Failure> {
        let session = self.kernel.lower(io)?;
        if let warploom::Resumed::Program(_) = &session.lowered {
            let report = Report::error("op", "a program has no meaning to compare with");
            return Err(Failure::refused(&[report.note("instead", "run the kernel")], &session.input));
        }
        let emitted = crate::tools::ptx(&session, &self.ptx, false)?;
        let refused = |e: &RunError| refused(e, &session, &emitted.ptx);
        let ptx = emulator::Module::parse(&emitted.ptx).map_err(|e| refused(&RunError::Machine(e)))?;
        let case = Case { args: self.args, grid: self.grid, seed: self.seed };
        let name = &emitted.metadata.name;
        let prepared = prepare(&session.module, name, &case).map_err(|e| refused(&e))?;
        let (mut rows, mut text, mut failed) = (Vec::new(), String::new(), 0);
        let policies: Vec<emulator::Policy> = policies(self.interleavings).collect();
        let asked = policies.len();
        let mut bar = Progress::new(asked);
        for (i, policy) in policies.into_iter().enumerate() {
            if i > 0 && io.clock.is_short_of(bar.longest()) {
                text += &format!("the time was over behind {i} of {asked} interleavings\n");
                break;
            }
            bar.begin(policy);
            let options = emulator::RunOptions::default()
                .policy(policy)
                .strict(self.strict)
                .max_steps(self.max_steps)
                .threads(std::thread::available_parallelism().map_or(1, usize::from))
                .trace(if i == 0 && self.trace.is_some() { trace::LIMIT } else { 0 });
            let outcome =
                prepared.run(&ptx, &emitted.metadata, &session.target, &options).map_err(|e| refused(&e))?;
            bar.done();
            io.has_answer();
            if let (0, Some(path)) = (i, &self.trace) {
                let facts = session.lowered.facts().partitions;
                let partitions: Vec<(String, u64)> = facts.into_iter().map(|p| (p.name, p.warps)).collect();
                trace::write(io, path, &outcome.report, &partitions)?;
            }
            let verdict = if outcome.passed() { "passed" } else { "FAILED" };
            failed += usize::from(!outcome.passed());
            let (error, steps) = (outcome.relative_error, outcome.report.stats.steps);
            let policy_name = format!("{policy:?}");
            text += &format!(
                "{policy_name:<12} {verdict}  relative error {error:.2e}, {steps} warp instructions\n"
            );
            let errors = outcome.report.errors().map(|found| machine::finding(found, &emitted.ptx));
            text += &answered(&errors.collect::<Vec<_>>(), &ptx_input(&emitted.ptx));
            rows.push(json!({"policy": policy, "passed": outcome.passed(), "relative_error": error,
                             "findings": outcome.report.findings}));
        }
        drop(bar);
        if self.json {
            io.json(&json!({"ok": failed == 0, "name": name, "target": session.target.name(),
                             "depth": session.lowered.depth(), "asked": asked, "runs": rows}))?;
        } else {
            io.stdout(text.as_bytes())?;
        }
        if failed == 0 { Ok(()) } else { Err(Failure::Answered) }
    }
}

/// A launch that is not possible, a kernel without a meaning, or PTX of ours that the emulator does not take.
fn refused(error: &RunError, session: &Session, ptx: &str) -> Failure {
    match error {
        RunError::Meaning(e) => Failure::refused(&[(&e.diagnostic(&session.module)).into()], &session.input),
        RunError::Machine(refusal) => Failure::refused(&machine::reports(refusal, ptx), &ptx_input(ptx)),
        why => {
            let remedy =
                "one --arg for each parameter, as `warploom run --help` shows them, and a smaller grid";
            Failure::plain(Report::error("arg", why.to_string()).note("instead", remedy))
        }
    }
}

/// PTX of ours, which lies in no file.
fn ptx_input(ptx: &str) -> Input {
    Input { name: "<ptx>".to_owned(), text: ptx.to_owned() }
}
