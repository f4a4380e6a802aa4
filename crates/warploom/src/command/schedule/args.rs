//! What `warploom schedule` is asked on its command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use warploom_sched::{
    Algorithm, Answer, LoopGraph, MemoryBudget, Objective, ScheduleError, ScheduleOptions, schedule,
    schedule_within, validate,
};

/// Schedule loop graphs.
///
///   warploom schedule loops.jsonl --json
///   warploom schedule gemm.json
///   warploom schedule --check gemm.json gemm.schedule.json
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A loop graph, or one per line (JSONL, also gzipped); `-` is standard input
    pub(super) graph: PathBuf,
    /// With --check: the schedule to check, `{"ii":..,"nodes":[{"id":..,"time":..},..]}` or a whole answer
    #[arg(requires = "check")]
    pub(super) schedule: Option<PathBuf>,
    /// Give a verdict on SCHEDULE, naming each broken edge or resource
    #[arg(long, requires = "schedule")]
    pub(super) check: bool,
    /// auto, ims, sms, exact or serial
    #[arg(long, default_value = "auto", value_parser = algorithm)]
    pub(super) algorithm: Algorithm,
    /// What is made small after the II: latency, kernel, or nothing (interval)
    #[arg(long, default_value = "latency", value_parser = objective)]
    pub(super) objective: Objective,
    /// Smallest II tried
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    pub(super) min_ii: Option<i64>,
    /// Largest II tried
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    pub(super) max_ii: Option<i64>,
    /// Search nodes per question (deterministic bound)
    #[arg(long, value_name = "N")]
    pub(super) steps: Option<u64>,
    /// Bytes of a memory space; II and ring depths are then found together (may be repeated)
    #[arg(long, value_name = "SPACE=BYTES", value_parser = space)]
    pub(super) budget: Vec<(String, u64)>,
    /// The least II for every number of bytes of each memory space
    #[arg(long, conflicts_with_all = ["unroll", "partitions", "start", "explain", "trace", "svg", "check"])]
    pub(super) pareto: bool,
    /// Unroll by the factor up to N that takes the fewest cycles for an iteration; `auto` is 8
    #[arg(long, value_name = "N", value_parser = factor, conflicts_with_all = ["budget", "trace", "svg"])]
    pub(super) unroll: Option<u64>,
    /// The machine to find partitions for, in JSON; without it that of the loop, if any
    #[arg(long, value_name = "FILE", conflicts_with = "budget")]
    pub(super) partitions: Option<PathBuf>,
    /// A schedule to begin with, as --check takes it; the answer is none that is worse
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub(super) start: Option<PathBuf>,
    /// Loops scheduled at the same time; the output is the same for any number [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<NonZeroUsize>,
    /// Say what bounds II, each value's lifetime and depth, and what a lower II would take
    #[arg(long, conflicts_with = "json")]
    pub(super) explain: bool,
    /// Write the schedule of the (only) loop in the Chrome trace format, for Perfetto
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<PathBuf>,
    /// Write the reservation table of the (only) loop as a drawing
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
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
    /// What is asked of the scheduler, `left` being the time that remains.
    pub(super) fn options(&self, left: Option<Duration>) -> ScheduleOptions {
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
    pub(super) fn schedule(
        &self,
        graph: &LoopGraph,
        options: &ScheduleOptions,
    ) -> Result<Answer, ScheduleError> {
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
    pub(super) fn memory(&self, graph: &LoopGraph) -> MemoryBudget<'static> {
        let named = self.budget.iter().cloned();
        named.fold(MemoryBudget::of(graph), |budget, (space, bytes)| budget.space(space, bytes))
    }
}
