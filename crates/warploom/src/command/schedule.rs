//! `warploom schedule`: loop graphs in, schedules or verdicts out (S86).

mod args;
mod asked;
mod refusal;

use std::num::NonZeroUsize;
use std::path::Path;

use warploom_ir::diag::Report;

use warploom_sched::{
    Answer, LoopGraph, PartitionModel, ReadError, ScheduleError, StartSchedule, check, decode_text_within,
    in_order, read_graphs, read_partition_model, read_start, render, validate,
};

pub use self::args::Args;
use self::asked::{Asked, Told};
use self::refusal::{Stretch, undecoded};
use crate::io::{Failure, Input, Io};

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
