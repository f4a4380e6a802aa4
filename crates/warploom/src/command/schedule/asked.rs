//! What is asked about each loop of a file, and what is said of it.

use std::time::Duration;

use serde_json::json;
use warploom_ir::diag::Report;
use warploom_sched::{
    Answer, InnerRun, LoopGraph, NestAnswer, ParetoCurve, PartitionModel, ReadError, ScheduleError,
    ScheduleOptions, StartSchedule, UnrolledAnswer, loop_core, pareto, read_error_record, record, render,
    schedule_nest, schedule_unrolled, validate,
};

use super::args::Args;
use super::refusal::Stretch;

/// What is asked about every loop.
pub(super) struct Asked<'a> {
    pub args: &'a Args,
    pub machine: Option<PartitionModel>,
    pub start: Option<StartSchedule>,
    /// The loops of the file, where some are inside others.
    pub loops: Vec<LoopGraph>,
}

/// What is to be printed of a loop.
#[derive(Default)]
pub(super) struct Told {
    pub text: String,
    pub refused: Vec<Report>,
    pub drawn: Option<(LoopGraph, Answer)>,
}

impl Asked<'_> {
    /// What is said of one loop.
    pub fn one(
        &self,
        file: &str,
        graph: &Result<LoopGraph, ReadError>,
        stretch: Stretch<'_>,
        left: Option<Duration>,
    ) -> Told {
        let mut told = Told::default();
        let graph = match graph {
            Ok(graph) => graph,
            Err(error) => {
                told.text = line_if(self.args.json, || read_error_record(file, error));
                told.refused.push(stretch.unread(error));
                return told;
            }
        };
        let options = self.args.options(left).start(self.start.clone()).partition(self.machine.clone());
        let refusal = match self.args.unroll {
            _ if graph.has_inner_loops() => self.nest(graph, &options, &mut told),
            _ if self.args.pareto => self.pareto(graph, &options, &mut told),
            Some(most) => {
                let found = validate(graph)
                    .map_err(ScheduleError::Graph)
                    .and_then(|valid| schedule_unrolled(&valid, most, &options));
                told.text = line_if(self.args.json, || record(&graph.name, &found));
                let shown = |found: &UnrolledAnswer| format!("{}\n", render::unrolled(graph, found));
                told.text += &found.iter().filter(|_| !self.args.json).map(shown).collect::<String>();
                found.err()
            }
            None => {
                let answer = self.args.schedule(graph, &options);
                told.text = line_if(self.args.json, || record(&graph.name, &answer));
                match answer {
                    Ok(answer) => {
                        told.text += &self.shown(graph, &answer, &options);
                        let drawn = self.args.trace.is_some() || self.args.svg.is_some();
                        told.drawn = drawn.then(|| (graph.clone(), answer));
                        None
                    }
                    Err(error) => Some(error),
                }
            }
        };
        told.refused.extend(refusal.iter().flat_map(|error| stretch.refused(&graph.name, error)));
        told
    }

    /// A loop around others of the file.
    fn nest(&self, graph: &LoopGraph, options: &ScheduleOptions, told: &mut Told) -> Option<ScheduleError> {
        let found = self.nest_of(graph, options);
        told.text = line_if(self.args.json, || record(&graph.name, &found));
        match found {
            Ok(nest) => {
                told.text += &self.shown(&nest.outer, &nest.answer, options);
                told.text += &self.inside(&nest);
                let drawn = self.args.trace.is_some() || self.args.svg.is_some();
                told.drawn = drawn.then_some((nest.outer, nest.answer));
                None
            }
            Err(error) => Some(error),
        }
    }

    fn nest_of(&self, graph: &LoopGraph, options: &ScheduleOptions) -> Result<NestAnswer, ScheduleError> {
        let refused = |option, what: &str| {
            let message = format!("{what} of a loop around others: schedule the inner loop alone");
            Err(ScheduleError::BadOption { option, message })
        };
        if self.args.unroll.is_some() {
            return refused("unroll", "no copies are made");
        }
        if self.args.pareto || !self.args.budget.is_empty() || !graph.budgets.is_empty() {
            return refused("budget", "no memory is shared out by the II");
        }
        // Of equal loops the first.
        let at = self.loops.iter().position(|g| g == graph).unwrap_or(self.loops.len());
        schedule_nest(&self.loops, at, options)
    }

    /// The II against the bytes of each space.
    fn pareto(&self, graph: &LoopGraph, options: &ScheduleOptions, told: &mut Told) -> Option<ScheduleError> {
        let valid = validate(graph).map_err(ScheduleError::Graph);
        let found = valid.and_then(|valid| pareto(&valid, &self.args.memory(graph), options));
        let named = |curves: &Vec<ParetoCurve>| json!({ "name": graph.name, "pareto": curves });
        told.text = match (&found, self.args.json) {
            (Ok(curves), false) => render::pareto(graph, curves),
            _ => line_if(self.args.json, || {
                record(&graph.name, &found.as_ref().map(named).map_err(Clone::clone))
            }),
        };
        found.err()
    }

    /// How the loops inside run, for people.
    fn inside(&self, nest: &NestAnswer) -> String {
        let inner = nest.inner.iter().filter(|_| !self.args.json);
        let line = |run: &InnerRun| {
            let answer = &run.nest.answer;
            let more = run.grows_at.map_or(String::new(), |at| {
                format!("; each iteration more adds {} cycles at cycle {at} of the II", answer.ii)
            });
            format!(
                "  node {}: {} iterations of {} every {} cycles, {} in all{more}\n",
                run.node, run.trips, answer.name, answer.ii, run.run
            )
        };
        inner.map(line).collect()
    }

    /// An answer for people.
    fn shown(&self, graph: &LoopGraph, answer: &Answer, options: &ScheduleOptions) -> String {
        let mut text = String::new();
        if self.args.json {
            return text;
        }
        text += &format!("{}\n", render::gantt(graph, answer));
        if let Some(why) = &answer.start_refused {
            text += &format!("The schedule to begin with is not used: {why}\n");
        }
        if self.args.explain {
            text += &format!("{}\n", render::explain(graph, answer));
            let core =
                validate(graph).ok().and_then(|valid| loop_core(&valid, answer, options).ok().flatten());
            text += &core.map(|core| format!("{}\n", render::why(graph, &core))).unwrap_or_default();
        }
        text
    }
}

/// A line of the answer, made only when it is asked for.
fn line_if(wanted: bool, line: impl FnOnce() -> String) -> String {
    if wanted { line() + "\n" } else { String::new() }
}
