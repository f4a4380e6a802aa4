//! `warploom assign`: an assignment problem in, buffers and barriers out (B9).

use std::path::PathBuf;
use std::time::Instant;

use warploom_bufassign::check::check;
use warploom_bufassign::straight::{StraightAnswer, StraightLine, check_straight, straight_line};
use warploom_bufassign::{Alternative, AssignError, Problem, alternatives, assign, assign_within, render};
use warploom_ir::diag::Report;

use crate::io::{Failure, Input, Io, json_place};

/// Assign buffers and barriers to the values of scheduled loops.
///
///   warploom assign problem.json
///   warploom schedule gemm.loop.json --json | warploom assign gemm.buffers.json --schedule -
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The problem, one JSON object; `-` is standard input
    problem: PathBuf,
    /// One JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
    /// List so many plans of different prices, the best first, in place of the answer
    #[arg(long, value_name = "N", conflicts_with = "svg", value_parser = clap::value_parser!(u16).range(1..))]
    alternatives: Option<u16>,
    /// Give rings spare slots where a late copy would make its readers wait, while there is room
    #[arg(long, conflicts_with = "straight_line")]
    fill: bool,
    /// Take II, stages, times and partitions from this file, which `warploom schedule --json` writes; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "straight_line")]
    schedule: Option<PathBuf>,
    /// Take the layouts that values bind to from this file, which `warploom alias --emit json` writes
    #[arg(long, value_name = "FILE", conflicts_with = "straight_line")]
    layouts: Option<PathBuf>,
    /// The problem is a list of operations on tiles: one buffer for each that needs its own, and their addresses
    #[arg(long, conflicts_with_all = ["svg", "alternatives"])]
    straight_line: bool,
    /// Write the memory map as a drawing
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Args {
    /// Assigns, and prints the maps or the JSON.
    pub fn run(self, io: &Io) -> Result<(), Failure> {
        let files = [Some(&self.problem), self.schedule.as_ref(), self.layouts.as_ref()];
        if files.into_iter().flatten().filter(|f| f.as_os_str() == "-").count() > 1 {
            let report = Report::error(
                "usage",
                "standard input can be one of the problem, the schedule and the layouts",
            );
            return Err(Failure::usage(report.note("instead", "write the others to files")));
        }
        let input = io.read(&self.problem)?;
        if self.straight_line {
            return self.straight(io, &input);
        }
        let given = |path: &Option<PathBuf>| path.as_ref().map(|path| io.read(path)).transpose();
        let (schedule, layouts) = (given(&self.schedule)?, given(&self.layouts)?);
        let read = || {
            let mut problem = Problem::from_json(&input.text)?;
            schedule.as_ref().map_or(Ok(()), |s| problem.take_schedules(&s.text))?;
            layouts.as_ref().map_or(Ok(()), |l| problem.take_layouts(&l.text))?;
            problem.options.fill |= self.fill;
            Ok(problem)
        };
        let deadline = io.clock.left().and_then(|left| Instant::now().checked_add(left));
        if let Some(most) = self.alternatives {
            let found =
                read().and_then(|problem| alternatives(&problem, &problem.options, most.into(), deadline));
            return match found {
                Ok(found) if self.json => io.json(&serde_json::json!({ "alternatives": found })),
                Ok(found) => io.stdout(table(&found).as_bytes()),
                Err(error) => Err(self.refused(io, &error, &input)?),
            };
        }
        let answer = read().and_then(|problem| {
            let answer = match deadline {
                Some(deadline) => assign_within(&problem, &problem.options, deadline)?,
                None => assign(&problem, &problem.options)?,
            };
            Ok((check(&problem, &answer), answer))
        });
        let assignment = match answer {
            Ok((Ok(()), assignment)) => assignment,
            Ok((Err(wrong), _)) => return Err(unsound(&wrong, "B75", &input)),
            Err(error) => return Err(self.refused(io, &error, &input)?),
        };
        if let Some(path) = &self.svg {
            io.write(Some(path), render::svg(&assignment).as_bytes())?;
        }
        if self.json {
            return io.stdout(format!("{}\n", assignment.to_json()).as_bytes());
        }
        io.stdout(
            format!("{}\n{}", render::memory_map(&assignment), render::barriers(&assignment)).as_bytes(),
        )
    }

    /// Straight-line code (B83): the allocations at its head, and where each tile lies.
    fn straight(&self, io: &Io, input: &Input) -> Result<(), Failure> {
        let answer = StraightLine::from_json(&input.text).and_then(|code| {
            let answer = straight_line(&code)?;
            Ok((check_straight(&code, &answer), answer))
        });
        match answer {
            Ok((Err(wrong), _)) => Err(unsound(&wrong, "B83", input)),
            Ok((Ok(()), answer)) if self.json => io.json(&serde_json::json!(answer)),
            Ok((Ok(()), answer)) => io.stdout(listing(&answer).as_bytes()),
            Err(error) if self.json => {
                io.json(&serde_json::json!({ "ok": false, "error": error }))?;
                Err(Failure::Answered)
            }
            Err(error) => {
                let message =
                    match error.path.as_ref().and_then(|path| error.message.strip_prefix(path.as_str())) {
                        Some(why) => why.trim_start_matches(": ").to_owned(),
                        None => error.message.clone(),
                    };
                let mut report = Report::error("code", message);
                report.offset = error.path.as_ref().map(|path| json_place::fault(&input.text, path));
                if let (Some(need), Some(limit)) = (error.need, error.limit) {
                    report = report
                        .note("needs", format!("{need} of {limit}"))
                        .note("instead", r#"say `"place": "packed"`, or make tiles smaller"#);
                }
                Err(Failure::refused(&[report.rule(&error.code)], input))
            }
        }
    }

    /// Says why a problem is refused, as JSON or for people.
    fn refused(&self, io: &Io, error: &AssignError, input: &Input) -> Result<Failure, Failure> {
        if self.json {
            io.stdout(format!("{}\n", error.to_json()).as_bytes())?;
            return Ok(Failure::Answered);
        }
        Ok(Failure::refused(&[refusal(error, &input.text)], input))
    }
}

/// An answer of ours that no checker passes, which nobody is to see.
fn unsound(wrong: &dyn std::fmt::Display, rule: &str, input: &Input) -> Failure {
    let message = format!("the checker refused the answer, which is a bug: {wrong}");
    Failure::refused(&[Report::error("internal", message).rule(rule)], input)
}

/// Allocations and tiles for people, an allocation as PyPTO prints it.
fn listing(answer: &StraightAnswer) -> String {
    let addr = |a: Option<u64>| a.map_or("-".to_owned(), |a| a.to_string());
    let mut out = String::new();
    for a in &answer.allocs {
        out +=
            &format!("alloc  id {:>4}  {:<6} {:>9} bytes at {:>9}\n", a.id, a.space, a.bytes, addr(a.addr));
    }
    for t in &answer.tiles {
        out += &format!("tile   {:<16} buffer {:>4} at {:>9}\n", t.name, t.buffer, addr(t.addr));
    }
    for i in &answer.in_place {
        out += &format!("place  op {} leaves '{}' in '{}'\n", i.op, i.to, i.from);
    }
    for s in &answer.spaces {
        let bytes = s.bytes.map_or("no addresses".to_owned(), |b| format!("{} of {b} bytes", s.used));
        out += &format!("space  {:<16} {bytes}\n", s.name);
    }
    for w in &answer.warnings {
        out += &format!("note   {w}\n");
    }
    out
}

/// Alternatives as a table for people.
fn table(found: &[Alternative]) -> String {
    let mut out = format!(
        "{:>4} {:>8} {:>6} {:>11} {:>13}  sharing\n",
        "plan", "couples", "waits", "smem bytes", "tmem columns"
    );
    for (k, a) in found.iter().enumerate() {
        let p = a.price;
        out += &format!(
            "{:>4} {:>8} {:>6} {:>11} {:>13}  {:?}\n",
            k + 1,
            p.couples,
            p.waits,
            p.smem,
            p.tmem,
            a.sharing
        );
    }
    out
}

/// The refusal of a problem, at the field that is wrong, or at the value or loop that it speaks of.
fn refusal(error: &AssignError, text: &str) -> Report {
    let of_loop = error.in_loop.map(|l| format!("regions[id={}]", l.region));
    let of_value = error.value.as_ref().map(|v| format!("values[id={}]", v.id));
    let place = error.path.clone().or(of_value).or(of_loop);
    let message = match error.path.as_deref().and_then(|path| error.message.strip_prefix(path)) {
        // The reader of JSON repeats the place at the end, and writes `?` for a field whose name did not come to one.
        Some(why) => {
            let field = place.as_deref().unwrap_or_default().trim_end_matches('?').trim_end_matches('.');
            let field = if field.is_empty() { "problem" } else { field };
            format!("{field}{}", why.split(" at line ").next().unwrap_or_default())
        }
        None => error.message.clone(),
    };
    let mut report = Report::error(&error.code, message);
    report.offset = place.map(|path| json_place::fault(text, &path));
    if let Some(l) = &error.in_loop {
        report = report.note("loop", format!("region {}, II {}, {} stages", l.region, l.ii, l.stages));
    }
    if let Some(v) = &error.value {
        let mut value = format!("{} '{}'", v.id, v.name);
        if let (Some(start), Some(end), Some(length), Some(depth)) = (v.start, v.end, v.length, v.depth) {
            let [(s0, s1), (e0, e1)] = [start, end].map(|[stage, cycle]| (stage, cycle));
            value += &format!(": live ({s0}, {s1}) to ({e0}, {e1}), {length} cycles, depth {depth}");
        }
        report = report.note("value", value);
    }
    if let (Some(need), Some(limit)) = (error.need, error.limit) {
        report = report.note("needs", format!("{need} of {limit}"));
    }
    for also in error.also.iter().flatten() {
        report = report.note("also", format!("{} [{}]", also.message, also.code));
    }
    let remedy = match error.advice.iter().flatten().next() {
        Some(first) => Some(first.to_string()),
        None => error.path.as_ref().map(|_| "write the problem as docs/buffers.schema.json asks".to_owned()),
    };
    if let Some(remedy) = remedy {
        report = report.note("instead", remedy);
    }
    report.rule(&error.code)
}
