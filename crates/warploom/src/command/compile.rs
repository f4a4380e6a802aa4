//! `warploom compile`: any text form in, any later form out.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Map, Value, json};
use warploom::ir::print;
use warploom::pipeline::loops::{GraphOptions, PipelinedLoop, loop_graphs};
use warploom::{Diagnostics, Module, Options, Partitions, Resumed, Target, TuneOptions, Tuned};
use warploom_ir::diag::Report;

use super::session::{Emit, Made, Session};
use super::targets::named;
use super::tuning;
use crate::io::{Failure, Input, Io, diagnostic, render};

/// Compile a kernel in Triton IR, or resume from a later text form.
///
///   warploom compile gemm.ttir --target sm_90a --emit ptx -o gemm.ptx
///   warploom compile gemm.ttir --target sm_90a --emit scheduled > edited.mlir
///   warploom compile edited.mlir --target sm_90a --emit cubin -o gemm.cubin
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// What to write
    #[arg(long, value_enum, default_value = "ptx")]
    emit: Emit,
    /// Where to write it; without it, or with `-`, standard output
    #[arg(short, long, value_name = "OUT")]
    out: Option<PathBuf>,
    /// One JSON value on standard output and nothing else: the launch record, and the text unless -o is given
    #[arg(long)]
    pub json: bool,
    #[cfg(feature = "llvm")]
    #[command(flatten)]
    ptx: crate::tools::PtxArgs,
}

// The kernel, the chip, and what the author may decide. No doc comment: it would replace those of the commands.
#[derive(clap::Args)]
pub struct KernelArgs {
    /// Triton IR or a later text form; `-` is standard input
    input: PathBuf,
    /// The chip; `warploom targets` lists them
    #[arg(long, value_name = "CHIP")]
    target: String,
    /// The kernel to compile, where the file holds several
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Exactly so many slots in the ring, or a refusal
    #[arg(long, value_name = "SLOTS", value_parser = clap::value_parser!(u64).range(1..=4096))]
    depth: Option<u64>,
    /// Slots beyond the depth law, for copies slower than modelled; as many as fit
    #[arg(long, value_name = "SLOTS", default_value_t = 0, conflicts_with = "depth",
          value_parser = clap::value_parser!(u64).range(..=4096))]
    slack_slots: u64,
    /// Less shared memory than the chip has, bytes
    #[arg(long, value_name = "BYTES")]
    smem_limit: Option<u64>,
    /// Who runs the kernel; without it, whatever costs less
    #[arg(long, value_enum, value_name = "WHO")]
    partitions: Option<Who>,
    /// Registers and shared memory for so many CTAs on an SM
    #[arg(long, value_name = "CTAS", value_parser = clap::value_parser!(u32).range(1..=32))]
    residents: Option<u32>,
    /// Try depths, shares of an SM and register splits on the cost model, take the best, show the others
    #[arg(long, conflicts_with_all = ["residents", "no_check"])]
    tune: bool,
    /// Iterations of the loops that --tune reckons with
    #[arg(long, value_name = "N", default_value_t = 64, requires = "tune",
          value_parser = clap::value_parser!(u32).range(1..))]
    trips: u32,
    /// Do not run the checkers of schedule, assignment and program
    #[arg(long)]
    no_check: bool,
    /// Replace entries of the chip's cost model by those of this file
    #[arg(long, value_name = "FILE")]
    cost: Option<PathBuf>,
}

/// Who runs a kernel.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Who {
    /// One partition copies, multiplies and computes
    One,
    /// Copies have a partition of their own, and so have products into tensor memory
    Several,
}

impl From<Who> for Partitions {
    fn from(who: Who) -> Partitions {
        match who {
            Who::One => Partitions::One,
            Who::Several => Partitions::Several,
        }
    }
}

impl KernelArgs {
    /// The loop graphs of the kernel, one line of JSON each.
    fn graphs(&self, io: &Io) -> Result<String, Failure> {
        let target = named(io, &self.target, self.cost.as_ref())?;
        let input = io.read(&self.input)?;
        let graphs = warploom::read(&input.text).and_then(|module| {
            let options = GraphOptions::default()
                .max_depth(self.depth)
                .one_partition(self.partitions == Some(Who::One));
            loop_graphs(&module, self.entry.as_deref(), &target, options)
        });
        let graphs = match graphs {
            Ok(graphs) => graphs,
            Err(found) => return Err(Failure::found(&found, &input)),
        };
        let line = |g: &PipelinedLoop| serde_json::to_string(&g.graph).unwrap_or_default() + "\n";
        Ok(graphs.iter().map(line).collect())
    }

    /// Reads and compiles up to the program. Refusals come with the text they speak of.
    pub fn lower(&self, io: &Io) -> Result<Session, Failure> {
        let target = named(io, &self.target, self.cost.as_ref())?;
        let input = io.read(&self.input)?;
        let mut options = Options::default();
        options.pipeline.entry.clone_from(&self.entry);
        options.pipeline.depth = self.depth;
        options.pipeline.slack_slots = self.slack_slots;
        options.pipeline.smem_limit = self.smem_limit;
        options.pipeline.partitions = self.partitions.map(Partitions::from);
        options.pipeline.check = !self.no_check;
        let mut micros = Map::new();
        let start = Instant::now();
        let module = match warploom::read(&input.text) {
            Ok(module) => module,
            Err(found) => return Err(Failure::found(&found, &input)),
        };
        micros.insert("read".into(), micros_since(start));
        let start = Instant::now();
        let made = match self.tune {
            true => self.tuned(&module, &target, &mut options),
            false => {
                let ctas = self.residents.unwrap_or(1);
                let part = target.shared_by(ctas);
                warploom::lower_for_share(&module, &part, &options, ctas).map(|lowered| (lowered, None))
            }
        };
        let (lowered, tuned) = match made {
            Ok(made) => made,
            Err(found) => return Err(Failure::found(&found, &input)),
        };
        micros.insert("lower".into(), micros_since(start));
        Ok(Session { input, target, options, module, lowered, tuned, micros })
    }

    /// The best candidate, whose options replace those given, and all of them.
    fn tuned(
        &self,
        module: &Module,
        target: &Target,
        options: &mut Options,
    ) -> Result<(Resumed, Option<Tuned>), Diagnostics> {
        let limits = TuneOptions::default().trips(self.trips);
        let tuned = warploom::tune(module, target, options, &limits)?;
        options.clone_from(&tuned.best.options);
        Ok((tuned.best.lowered.clone(), Some(tuned)))
    }
}

fn micros_since(start: Instant) -> Value {
    json!(u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX))
}

impl Args {
    /// Compiles.
    pub fn run(self, io: &Io) -> Result<(), Failure> {
        if matches!(self.emit, Emit::Graph) {
            let lines = self.kernel.graphs(io)?;
            return io.write(self.out.as_deref(), lines.as_bytes());
        }
        let session = self.kernel.lower(io)?;
        if let Some(tuned) = session.tuned.as_ref().filter(|_| !self.json) {
            io.note(&tuning::text(tuned));
        }
        let made = self.make(&session)?;
        let remarks = [session.lowered.remarks(), &made.remarks].concat();
        if !self.json && !remarks.is_empty() {
            io.note(&render(&remarks, &session.input));
        }
        if !self.json {
            return io.write(self.out.as_deref(), &made.bytes);
        }
        let mut answer = made.fields;
        answer.insert("ok".into(), json!(true));
        answer.insert("target".into(), json!(session.target.name()));
        answer.insert("emit".into(), json!(self.emit.name()));
        let remarks: Vec<Value> = remarks.iter().map(|d| diagnostic(&d.into(), &session.input)).collect();
        answer.insert("remarks".into(), json!(remarks));
        if let Some(tuned) = &session.tuned {
            answer.insert("tuned".into(), tuning::json(tuned));
        }
        match &self.out {
            Some(path) if path.as_os_str() != "-" => io.write(Some(path), &made.bytes)?,
            _ => match String::from_utf8(made.bytes) {
                Ok(text) => drop(answer.insert("text".into(), json!(text))),
                Err(_) => {
                    let report = Report::error("usage", "--json with --emit cubin needs -o OUT");
                    return Err(Failure::usage(report));
                }
            },
        }
        io.json(&Value::Object(answer))
    }

    fn make(&self, session: &Session) -> Result<Made, Failure> {
        let text = |module: &Module| Made {
            bytes: print(module).into_bytes(),
            fields: Map::from_iter([("micros".to_owned(), Value::Object(session.micros.clone()))]),
            remarks: Vec::new(),
        };
        match self.emit {
            // Answered before anything is lowered.
            Emit::Graph => Ok(Made { bytes: Vec::new(), fields: Map::new(), remarks: Vec::new() }),
            Emit::Scheduled => earlier(session.lowered.scheduled(), self.emit, &session.input).map(text),
            Emit::Assigned => earlier(session.lowered.assigned(), self.emit, &session.input).map(text),
            Emit::Program => Ok(text(session.lowered.program())),
            #[cfg(feature = "llvm")]
            Emit::Llvm | Emit::Ptx | Emit::Cubin => {
                crate::tools::make(session, self.emit, &self.ptx, self.json)
            }
            #[cfg(not(feature = "llvm"))]
            Emit::Llvm | Emit::Ptx | Emit::Cubin => {
                let report = Report::error("usage", "this build has no LLVM; it ends at --emit program");
                let remedy = "build with the feature `llvm`, which is on by default";
                Err(Failure::usage(report.note("instead", remedy)))
            }
        }
    }
}

/// A form before the program, unless the input was a program, where none is known.
fn earlier<'m>(form: Option<&'m Module>, emit: Emit, input: &Input) -> Result<&'m Module, Failure> {
    form.ok_or_else(|| {
        let report = Report::error("op", format!("a program has no {} form any more", emit.name()));
        Failure::refused(&[report.note("instead", "start from the kernel")], input)
    })
}
