//! `warploom schedule`: loop graphs in, schedules or verdicts out (S86).

mod asked;
mod refusal;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use warploom_ir::diag::Report;

use warploom_sched::{
    Algorithm, Answer, LoopGraph, MemoryBudget, Objective, PartitionModel, ReadError, ScheduleError,
    ScheduleOptions, StartSchedule, check, decode_text_within, in_order, read_graphs, read_partition_model,
    read_start, render, schedule, schedule_within, validate,
};

use self::asked::{Asked, Told};
use self::refusal::{Stretch, undecoded};
use crate::io::{Failure, Input, Io};

/// Schedule loop graphs.
///
///   warploom schedule loops.jsonl --json
///   warploom schedule gemm.json
///   warploom schedule --check gemm.json gemm.schedule.json
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A loop graph, or one per line (JSONL, also gzipped); `-` is standard input
    graph: PathBuf,
    /// With --check: the schedule to check, `{"ii":..,"nodes":[{"id":..,"time":..},..]}` or a whole answer
    #[arg(requires = "check")]
    schedule: Option<PathBuf>,
    /// Give a verdict on SCHEDULE, naming each broken edge or resource
    #[arg(long, requires = "schedule")]
    check: bool,
    /// auto, ims, sms, exact or serial
    #[arg(long, default_value = "auto", value_parser = algorithm)]
    algorithm: Algorithm,
    /// What is made small after the II: latency or kernel
    #[arg(long, default_value = "latency", value_parser = objective)]
    objective: Objective,
    /// Smallest II tried
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    min_ii: Option<i64>,
    /// Largest II tried
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    max_ii: Option<i64>,
    /// Search nodes per question (deterministic bound)
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// Bytes of a memory space; II and ring depths are then found together (may be repeated)
    #[arg(long, value_name = "SPACE=BYTES", value_parser = space)]
    budget: Vec<(String, u64)>,
    /// The least II for every number of bytes of each memory space
    #[arg(long, conflicts_with_all = ["unroll", "partitions", "start", "explain", "trace", "svg", "check"])]
    pareto: bool,
    /// Unroll by the factor up to N that takes the fewest cycles for an iteration; `auto` is 8
    #[arg(long, value_name = "N", value_parser = factor, conflicts_with_all = ["budget", "trace", "svg"])]
    unroll: Option<u64>,
    /// The machine to find partitions for, in JSON; without it that of the loop, if any
    #[arg(long, value_name = "FILE", conflicts_with = "budget")]
    partitions: Option<PathBuf>,
    /// A schedule to begin with, as --check takes it; the answer is none that is worse
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    start: Option<PathBuf>,
    /// Loops scheduled at the same time; the output is the same for any number [default: one for each core]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Say what bounds II, each value's lifetime and depth, and what a lower II would take
    #[arg(long, conflicts_with = "json")]
    explain: bool,
    /// Write the schedule of the (only) loop in the Chrome trace format, for Perfetto
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write the reservation table of the (only) loop as a drawing
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// One JSON object per loop on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

fn algorithm(text: &str) -> Result<Algorithm, String> {
    text.parse().map_err(|e: ScheduleError| e.to_string())
}

fn objective(text: &str) -> Result<Objective, String> {
    text.parse().map_err(|e: ScheduleError| e.to_string())
}

fn factor(text: &str) -> Result<u64, String> {
    if text == "auto" {
        Ok(8)
    } else {
        text.parse().map_err(|_| format!("`{text}` is neither auto nor a number"))
    }
}

fn space(text: &str) -> Result<(String, u64), String> {
    let parsed =
        text.split_once('=').and_then(|(space, bytes)| Some((space.to_owned(), bytes.parse().ok()?)));
    parsed.ok_or_else(|| format!("`{text}` is not like smem=232448"))
}

impl Args {
    /// Schedules or checks.
    pub fn run(self, io: &Io) -> Result<(), Failure> {
        let (name, bytes) = io.read_bytes(&self.graph)?;
        let input = match decode_text_within(&bytes, io.limits.max_unpacked) {
            Ok(text) => Input { name, text },
            Err(e) => return Err(undecoded(name, &bytes, &e)),
        };
        let graphs = read_graphs(&input.text);
        match &self.schedule {
            Some(schedule) => judge(io, &input, graphs, &io.read(schedule)?),
            None => self.schedule_all(io, &input, graphs),
        }
    }

    fn options(&self, left: Option<Duration>) -> ScheduleOptions {
        let mut options = ScheduleOptions::default().algorithm(self.algorithm).objective(self.objective);
        options = options.max_ii(self.max_ii).time_limit(left);
        if let Some(ii) = self.min_ii {
            options = options.min_ii(ii);
        }
        if let Some(steps) = self.steps {
            options = options.steps(steps);
        }
        options
    }

    /// The schedule of one loop, within the budgets of the graph and of the command line, where there are any.
    /// A space without one is unlimited if the command line names none, and refused otherwise (S12).
    fn schedule(&self, graph: &LoopGraph, options: &ScheduleOptions) -> Result<Answer, ScheduleError> {
        let valid = validate(graph).map_err(ScheduleError::Graph)?;
        if self.budget.is_empty() && graph.budgets.is_empty() {
            return schedule(&valid, options);
        }
        let mut budget = self.memory(graph);
        if self.budget.is_empty() {
            let unnamed = graph.values.iter().filter(|v| !graph.budgets.contains_key(&v.space));
            budget = unnamed.fold(budget, |budget, v| budget.space(v.space.clone(), u64::MAX));
        }
        schedule_within(&valid, &budget, options)
    }

    /// The budgets of the graph, and those of the command line instead.
    fn memory(&self, graph: &LoopGraph) -> MemoryBudget<'static> {
        let named = self.budget.iter().cloned();
        named.fold(MemoryBudget::of(graph), |budget, (space, bytes)| budget.space(space, bytes))
    }

    /// The drawings asked for.
    fn draw(&self, io: &Io, graph: &LoopGraph, answer: &Answer) -> Result<(), Failure> {
        if let Some(path) = &self.trace {
            io.write(Some(path), render::chrome_trace(graph, answer).as_bytes())?;
        }
        match &self.svg {
            Some(path) => io.write(Some(path), render::svg(graph, answer).as_bytes()),
            None => Ok(()),
        }
    }

    fn schedule_all(
        &self,
        io: &Io,
        input: &Input,
        graphs: Vec<Result<LoopGraph, ReadError>>,
    ) -> Result<(), Failure> {
        if graphs.len() > 1 && (self.trace.is_some() || self.svg.is_some() || self.start.is_some()) {
            let message = "--trace, --svg and --start take a file with one loop";
            return Err(Failure::usage(Report::error("usage", message)));
        }
        let known = graphs.iter().flatten();
        let nested = known.clone().any(LoopGraph::has_inner_loops);
        let loops = if nested { known.cloned().collect() } else { Vec::new() };
        let asked = Asked { args: self, machine: self.machine(io)?, start: self.start(io)?, loops };
        let every = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let items: Vec<_> = graphs.iter().zip(Stretch::of(&input.text, graphs.len())).collect();
        let (mut refused, mut failed) = (Vec::new(), Ok(()));
        let clock = &io.clock;
        in_order(
            &items,
            self.threads.unwrap_or(every),
            |(graph, stretch)| asked.one(&input.name, graph, *stretch, clock.left()),
            |told: Told| {
                refused.extend(told.refused);
                if failed.is_ok() {
                    let drawn = told.drawn.map_or(Ok(()), |(graph, answer)| self.draw(io, &graph, &answer));
                    failed = drawn.and_then(|()| io.stdout(told.text.as_bytes()));
                }
            },
        );
        failed?;
        match refused.is_empty() {
            true => Ok(()),
            false => Err(Failure::refused(&refused, input)),
        }
    }

    /// The machine that the command line names.
    fn machine(&self, io: &Io) -> Result<Option<PartitionModel>, Failure> {
        self.partitions.as_ref().map(|path| parsed(io, path, read_partition_model)).transpose()
    }

    fn start(&self, io: &Io) -> Result<Option<StartSchedule>, Failure> {
        self.start.as_ref().map(|path| parsed(io, path, read_start)).transpose()
    }
}

fn parsed<T>(io: &Io, path: &Path, read: impl Fn(&str) -> Result<T, ReadError>) -> Result<T, Failure> {
    let input = io.read(path)?;
    read(&input.text).map_err(|e| {
        let report = Stretch { text: &input.text, offset: 0 }.unread(&e);
        Failure::refused(&[report], &input)
    })
}

fn judge(
    io: &Io,
    input: &Input,
    graphs: Vec<Result<LoopGraph, ReadError>>,
    schedule: &Input,
) -> Result<(), Failure> {
    let Ok([graph]) = <[_; 1]>::try_from(graphs) else {
        let report = Report::error("input", "--check takes one loop graph, and this file has several");
        return Err(Failure::refused(&[report.note("instead", "one file for each loop")], input));
    };
    let stretch = Stretch { text: &input.text, offset: 0 };
    let graph = graph.map_err(|e| Failure::refused(&[stretch.unread(&e)], input))?;
    validate(&graph)
        .map_err(|e| Failure::refused(&stretch.refused(&graph.name, &ScheduleError::Graph(e)), input))?;
    let verdict = check::verdict(&graph, &schedule.text).map_err(|e| {
        let report = Stretch { text: &schedule.text, offset: 0 }.unread(&e);
        Failure::refused(&[report], schedule)
    })?;
    io.stdout(verdict.to_string().as_bytes())?;
    if verdict.violations.is_empty() { Ok(()) } else { Err(Failure::Answered) }
}
