//! `warploom ptx`: PTX from anywhere on the emulator.

mod answer;
mod argument;
mod npy;
mod texture;

use std::path::{Path, PathBuf};

use serde_json::json;
use warploom::Target;
use warploom_emulator::{
    Break, Device, EmulatorRefusal, Entry, Launch, Look, Module, Policy, Race, Report, RunOptions, Watch,
};
use warploom_ir::Type;
use warploom_ir::diag;
use warploom_ir::interp::Tensor;

use self::answer::{Answer, Comparison};
use self::argument::{Buffer, Named, Spec};
use super::progress::Progress;
use super::{machine, targets, trace};
use crate::io::{Failure, Input, Io};

/// Run PTX without a GPU: is the result right, and could another schedule have broken it?
///
///   warploom ptx vecadd.ptx --grid 4 --block 256 --arg ptr:X:f32:1000:rand --arg ptr:Y:f32:1000:rand \
///       --arg ptr:Z:f32:1000 --arg i32:1000 --dump Z=z.npy
///   warploom ptx gemm.ptx --entry gemm --target sm_90a --grid 4,4 --smem 98328 \
///       --buffer A:bf16:512x512:rand --arg tmap:A:box=64x128:swizzle=128 --arg i32:512
///
/// Each --arg is one parameter, in order: ptr:NAME:TYPE:SHAPE[:FILL] a new buffer (rand, zero, iota, FILE.npy or raw
/// bytes), ptr:NAME[+BYTES] a buffer named elsewhere, tmap:NAME:box=64x128[:swizzle=128][:fill=nan] a tensor map of it
/// (box innermost first), tex:NAME:2d[:linear][:border|wrap|mirror][:normalized][:fractions] a texture or surface object of it
/// (also 1d 3d a1d a2d cube acube), i32:512, u64:0, f32:0.5, bf16:1 a number.
/// Status 0: clean; 1: findings, a mismatch or a refusal; 2: wrong usage.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// PTX text; `-` is standard input
    file: PathBuf,
    /// The kernel; may be left out where there is only one
    #[arg(long)]
    entry: Option<String>,
    /// The chip; without it, what `.target` says
    #[arg(long)]
    target: Option<String>,
    /// CTAs in x, y, z
    #[arg(long, value_name = "X,Y,Z", default_value = "1", value_parser = super::grid::grid)]
    grid: [u32; 3],
    /// Threads of a CTA; without it, what `.reqntid` or `.maxntid` says
    #[arg(long, value_name = "X,Y,Z", value_parser = super::grid::grid)]
    block: Option<[u32; 3]>,
    /// CTAs of a cluster; without it, what `.reqnctapercluster` says
    #[arg(long, value_name = "X,Y,Z", value_parser = super::grid::grid)]
    cluster: Option<[u32; 3]>,
    /// Dynamic shared memory in bytes
    #[arg(long, default_value_t = 0)]
    smem: u32,
    /// One parameter, in order
    #[arg(long = "arg", value_name = "SPEC")]
    args: Vec<Spec>,
    /// A buffer that is no parameter itself: NAME:TYPE:SHAPE[:FILL]
    #[arg(long = "buffer", value_name = "SPEC")]
    buffers: Vec<Buffer>,
    /// eager, lazy, random:SEED or pct:SEED; may be given several times
    #[arg(long = "policy")]
    policies: Vec<Policy>,
    /// One random interleaving with this seed
    #[arg(long, value_name = "N", conflicts_with = "policies")]
    seed: Option<u64>,
    /// Random interleavings, beside the earliest and the latest
    #[arg(long, value_name = "N", default_value_t = 4, conflicts_with_all = ["policies", "seed"])]
    #[arg(alias = "interleavings")]
    seeds: u64,
    /// Seed of random contents
    #[arg(long, value_name = "N", default_value_t = 0)]
    data_seed: u64,
    /// Proxy fences must stand in the writer, tcgen05 fences must be there
    #[arg(long)]
    strict: bool,
    /// `off` leaves out the happens-before analysis
    #[arg(long, value_parser = switch, default_value = "on", action = clap::ArgAction::Set)]
    race: bool,
    /// `off` runs launches that the chip would refuse
    #[arg(long, value_parser = switch, default_value = "on", action = clap::ArgAction::Set)]
    limits: bool,
    /// Warp instructions of a cluster before the run is given up
    #[arg(long, value_name = "N", default_value_t = 20_000_000)]
    max_steps: u64,
    /// Also leave out each synchronising instruction alone, and name those that this launch can do without
    #[arg(long)]
    mutate: bool,
    /// Tell every access to memory: NAME[FROM..TO] in bytes of a buffer or of `shared`, columns of `tmem`
    #[arg(long, value_name = "NAME[RANGE]")]
    watch: Vec<Watch>,
    /// Tell the registers of an instruction where a warp comes to it: LINE of the PTX or FILE:LINE, with @N only the Nth time
    #[arg(long = "break", value_name = "[FILE:]LINE[@N]")]
    breaks: Vec<Break>,
    /// At breaks and errors tell all registers of the warp, and the memory around
    #[arg(long)]
    registers: bool,
    /// What is told of each cluster for --watch, --break and --registers
    #[arg(long, value_name = "N", default_value_t = Look::MOST)]
    sights: usize,
    /// Write a buffer after the first interleaving: NAME=FILE (.npy, or raw bytes)
    #[arg(long, value_name = "NAME=FILE", value_parser = pair)]
    dump: Vec<(String, String)>,
    /// Compare a buffer after every interleaving: NAME=FILE[:TOLERANCE], relative to the largest value
    #[arg(long, value_name = "NAME=FILE[:TOL]", value_parser = pair)]
    expect: Vec<(String, String)>,
    /// Write the first interleaving as Chrome trace JSON
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// One JSON value on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" | "full" => Ok(true),
        "off" => Ok(false),
        _ => Err("on or off".into()),
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, file) = text.split_once('=').ok_or("NAME=FILE is expected")?;
    Ok((name.to_owned(), file.to_owned()))
}

/// What a buffer should hold.
struct Expected {
    name: String,
    values: Vec<f64>,
    tolerance: f64,
}

/// A refusal with the lines of the text it speaks of.
fn refused(io: &Io, refusal: &EmulatorRefusal, input: &Input, json: bool) -> Failure {
    if json {
        let answer = json!({"ok": false, "diagnostics": refusal.diagnostics});
        return io.json(&answer).err().unwrap_or(Failure::Answered);
    }
    Failure::refused(&machine::reports(refusal, &input.text), input)
}

/// The chip by name; plain names such as `sm_90` stand for the chip that runs them.
fn chip(name: &str) -> Result<Target, Failure> {
    Target::named(name)
        .or_else(|error| {
            let plain = name.trim_end_matches('f');
            Target::named(plain).or_else(|_| Target::named(&format!("{plain}a"))).map_err(|_| error)
        })
        .map_err(|e| targets::unknown(&e))
}

/// Relative error that the last rounding of an element type may cause, with some room for sums.
fn tolerance(elem: &Type) -> f64 {
    match elem.elem_bits() {
        Some(_) if !matches!(elem, Type::Float(_)) => 0.0,
        Some(8) => 0.13,
        Some(16) => 1e-2,
        Some(64) => 1e-9,
        _ => 1e-4,
    }
}

impl Args {
    /// Runs all interleavings.
    pub fn run(self, io: &Io) -> Result<(), Failure> {
        let input = io.read(&self.file)?;
        let no = |e: EmulatorRefusal| refused(io, &e, &input, self.json);
        let module = Module::parse(&input.text).map_err(no)?;
        let entry = self.kernel(&module).map_err(no)?;
        if let Some(refusal) = entry.refusal() {
            return Err(no(refusal.clone()));
        }
        let target = chip(self.target.as_deref().unwrap_or(&module.target))?;
        let mut device = Device::new(&target);
        let buffers = argument::buffers(io, &mut device, &self.buffers, &self.args, self.data_seed)?;
        let args = argument::arguments(&mut device, &buffers, &self.args, &entry.params)?;
        let base = Launch::of(entry);
        let launch = Launch {
            grid: self.grid,
            block: self.block.unwrap_or(base.block),
            cluster: self.cluster.unwrap_or(base.cluster),
            smem: self.smem,
            args,
            ..base
        };
        let expected = self.expected(io, &buffers)?;
        for (name, _) in &self.dump {
            argument::find(&buffers, name)?;
        }
        let policies = self.interleavings();
        let mut bar = Progress::new(policies.len());
        let (mut answer, mut first) = (Answer::of(policies.len()), None);
        for (i, policy) in policies.into_iter().enumerate() {
            if !answer.rows.is_empty() && io.clock.is_short_of(bar.longest()) {
                break;
            }
            bar.begin(policy);
            let mut device = device.clone();
            let report = device.run(&module, &launch, &self.options(policy, i == 0)).map_err(no)?;
            let found = state(&device, &buffers)?;
            answer.add(&report, compare(&buffers, &found, &expected), &input);
            if i == 0 {
                self.keep(io, &buffers, &found, &report)?;
            }
            answer.differ |= *first.get_or_insert_with(|| found.clone()) != found;
            bar.done();
            if !self.mutate {
                io.has_answer();
            }
        }
        drop(bar);
        if self.mutate && answer.failed == 0 {
            let options: Vec<RunOptions> =
                self.interleavings().into_iter().map(|p| self.options(p, false)).collect();
            answer.dispensable = Some(device.dispensable(&module, &launch, &options).map_err(no)?);
        }
        answer.print(io, self.json, &entry.name, target.name())
    }

    fn kernel<'m>(&self, module: &'m Module) -> Result<&'m Entry, EmulatorRefusal> {
        match (&self.entry, module.entries()) {
            (None, [one]) => Ok(one),
            (name, _) => module.entry(name.as_deref().unwrap_or("(--entry is missing)")),
        }
    }

    fn interleavings(&self) -> Vec<Policy> {
        match self.seed {
            Some(seed) => vec![Policy::Random(seed)],
            None if !self.policies.is_empty() => self.policies.clone(),
            None => Policy::defaults(self.seeds),
        }
    }

    fn options(&self, policy: Policy, first: bool) -> RunOptions {
        RunOptions::default()
            .policy(policy)
            .race(if self.race { Race::Full } else { Race::Off })
            .strict(self.strict)
            .max_steps(self.max_steps)
            .threads(std::thread::available_parallelism().map_or(1, usize::from))
            .limits(self.limits)
            .look(self.look(first))
            .trace(if first && self.trace.is_some() { trace::LIMIT } else { 0 })
    }

    /// What is looked at: memory and places in the first interleaving, errors in all.
    fn look(&self, first: bool) -> Look {
        let look = Look::default().state(self.registers).most(self.sights);
        if !first {
            return look;
        }
        let look = self.watch.iter().cloned().fold(look, Look::watch);
        self.breaks.iter().cloned().fold(look, Look::break_at)
    }

    fn expected(&self, io: &Io, buffers: &[Named]) -> Result<Vec<Expected>, Failure> {
        let one = |(name, file): &(String, String)| {
            let like = &argument::find(buffers, name)?.tensor;
            let (file, given) = match file.rsplit_once(':') {
                Some((path, tol)) if tol.parse::<f64>().is_ok() => (path, tol.parse().ok()),
                _ => (file.as_str(), None),
            };
            let values = npy::load(io, Path::new(file), like)?.to_f64();
            let tolerance = given.unwrap_or_else(|| tolerance(like.elem()));
            Ok(Expected { name: name.clone(), values, tolerance })
        };
        self.expect.iter().map(one).collect()
    }

    /// What is kept of the first interleaving.
    fn keep(&self, io: &Io, buffers: &[Named], found: &[Tensor], report: &Report) -> Result<(), Failure> {
        for (name, file) in &self.dump {
            let at = buffers.iter().position(|b| b.name == *name);
            if let Some(tensor) = at.and_then(|i| found.get(i)) {
                npy::save(io, Path::new(file), tensor)?;
            }
        }
        match &self.trace {
            Some(path) => trace::write(io, path, report, &[]),
            None => Ok(()),
        }
    }
}

/// The contents of all buffers.
fn state(device: &Device, buffers: &[Named]) -> Result<Vec<Tensor>, Failure> {
    let one = |b: &Named| {
        let bytes = device.read(b.address).map_err(|e| argument::unheld(&e, &b.name))?;
        let lost = || {
            let message = format!("buffer {} changed its size", b.name);
            Failure::plain(diag::Report::error("internal", message))
        };
        b.tensor.with_bytes(bytes.to_vec()).ok_or_else(lost)
    };
    buffers.iter().map(one).collect()
}

fn compare(buffers: &[Named], found: &[Tensor], expected: &[Expected]) -> Vec<Comparison> {
    let one = |e: &Expected| {
        let tensor = buffers.iter().position(|b| b.name == e.name).and_then(|i| found.get(i));
        let error = tensor.and_then(|t| t.compare(&e.values)).map_or(f64::INFINITY, |d| d.max_rel);
        Comparison { name: e.name.clone(), error, tolerance: e.tolerance }
    };
    expected.iter().map(one).collect()
}
