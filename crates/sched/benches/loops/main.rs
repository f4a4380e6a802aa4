//! `cargo bench -p warploom-sched --bench loops -- [OPTIONS]`
//!
//! Schedules our own loops, those that the pipeline makes of kernels (set `kernels`), those of a folder with the data
//! of others (`--data`) and generated ones with every algorithm, and compares with the best that is known: the proven
//! optima of the files, and whatever any algorithm of this run finds. Prints a table, or JSON.
//! `%<10ms` is the share with a schedule at the best II within 10 ms, `%prv<1s` that with its proof within a second; the
//! times beside them are of whole calls, length included.
//! Times are processor time, so that a busy machine does not count; `--time-limit` is by the clock.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)] // a program, not a library

mod bars;
mod curve;
mod duel;
mod oracle;
mod report;
mod sets;
mod shapes;
mod split;
mod stations;
mod tiles;

use rustix::time::{ClockId, clock_gettime};
use sets::{Loop, Set};
use stations::Stations;
use std::path::PathBuf;
use std::time::Duration;
use warploom_sched::{Algorithm, Answer, LoopGraph, ScheduleOptions, check, schedule, to_line, validate};

const USAGE: &str = "usage: loops [OPTIONS]
  --json                print JSON
  --misses              list the loops that fall short
  --split               find partitions for known kernels instead; with --oracle, CP-SAT on the same
  --duel SECONDS        lengths beside CP-SAT's, with as much processor time, on loops of every generator and known kernels, instead
  --curve               time large synthetic loops instead
  --bars                copies of loops, one long recurrence, rational IIs and cores instead
  --rationals           of these the rational IIs alone
  --cores               of these the cores alone
  --only ALGORITHM      auto, ims, sms or exact
  --set TEXT            only sets whose name contains TEXT
  --data DIR            also the loops of this folder: *.jsonl and *.jsonl.gz
  --file FILE           the loops of this file instead
  --generated N         so many loops of each generator (default 20)
  --seed N              the seed of the first of them (default 0)
  --time-limit SECONDS  per loop (default for exact: 1)
  --oracle PYTHON       also ask OR-Tools' CP-SAT, with this Python
  --oracle-limit SECONDS  per question (default 10)
  --dump FILE           write the loops as JSONL and stop";

/// The figures of an answer.
pub struct Figures {
    pub ii: i64,
    pub mii: i64,
    pub lower_bound: i64,
    pub optimal: bool,
    pub length: i64,
    pub length_optimal: bool,
    pub bytes: Option<u64>,
    pub steps: u64,
}

impl From<&Answer> for Figures {
    fn from(a: &Answer) -> Self {
        Figures {
            ii: a.ii,
            mii: a.mii,
            lower_bound: a.lower_bound,
            optimal: a.optimal,
            length: a.length,
            length_optimal: a.length_optimal,
            bytes: a.bytes,
            steps: a.steps,
        }
    }
}

/// What one algorithm made of one loop, in microseconds of the processor.
pub struct Outcome {
    pub answer: Option<Figures>,
    /// The whole call.
    pub micros: f64,
    /// Until the first schedule at the final II, where one was found.
    pub scheduled: Option<f64>,
    /// Until no smaller II was possible, where that was proved.
    pub proved: Option<f64>,
    pub violations: usize,
}

pub struct Args {
    json: bool,
    misses: bool,
    curve: bool,
    bars: bool,
    rationals: bool,
    cores: bool,
    split: bool,
    duel: Option<f64>,
    only: Option<Algorithm>,
    set: String,
    data: Option<PathBuf>,
    file: Option<PathBuf>,
    generated: u64,
    seed: u64,
    time_limit: Option<Duration>,
    oracle: Option<PathBuf>,
    oracle_limit: f64,
    dump: Option<PathBuf>,
}

fn main() {
    let Some(args) = arguments() else {
        eprintln!("{USAGE}");
        std::process::exit(2);
    };
    if args.curve {
        return curve::curve(&args);
    }
    if args.split {
        return split::split(&args);
    }
    let mut sets = match &args.file {
        Some(file) => sets::file(file).into_iter().collect(),
        None if args.duel.is_some() => sets::every(args.seed, args.generated),
        None => sets::all(args.data.as_deref(), args.seed, args.generated),
    };
    sets.retain(|s| s.name.contains(&args.set));
    if let Some(file) = &args.dump {
        let lines = sets.iter().flat_map(|s| &s.loops).map(|l| to_line(&l.graph) + "\n");
        if let Err(error) = std::fs::write(file, lines.collect::<String>()) {
            eprintln!("{}: {error}", file.display());
        }
        return;
    }
    if let Some(seconds) = args.duel {
        return duel::duel(&sets, &args, seconds);
    }
    if args.bars {
        return bars::bars(&sets, &args);
    }
    if args.rationals {
        return bars::rationals(&sets, &args);
    }
    if args.cores {
        return bars::cores(&sets, &args);
    }
    let mut rows = Vec::new();
    for mut set in sets {
        rows.extend(compare(&mut set, &args));
    }
    if rows.is_empty() {
        println!("no such loops");
    } else if args.json {
        println!("{}", serde_json::to_string_pretty(&rows).unwrap_or_default());
    } else {
        report::table(&rows);
    }
}

/// All algorithms on one set.
fn compare(set: &mut Set, args: &Args) -> Vec<serde_json::Value> {
    let algorithms = [Algorithm::Ims, Algorithm::Sms, Algorithm::Auto, Algorithm::Exact];
    let wanted = algorithms.into_iter().filter(|a| args.only.is_none_or(|only| only == *a));
    let mut results: Vec<(String, Vec<Outcome>)> =
        wanted.map(|a| (a.to_string(), set.loops.iter().map(|l| run(&l.graph, a, args)).collect())).collect();
    if let Some(python) = &args.oracle {
        match oracle::ask(python, &set.loops, args.oracle_limit) {
            Ok(outcomes) => results.push(("cp-sat".to_owned(), outcomes)),
            Err(reason) => oracle::missing(&set.name, &reason),
        }
    }
    learn(&mut set.loops, results.iter().map(|(_, outcomes)| outcomes.as_slice()));
    if args.misses {
        results.iter().for_each(|(name, outcomes)| report::misses(&set.loops, outcomes, name));
    }
    results.iter().map(|(name, outcomes)| report::row(&set.name, name, &set.loops, outcomes)).collect()
}

/// Where a file does not tell the optimum, the best checked answer of this run stands for it.
fn learn<'o>(loops: &mut [Loop], results: impl Iterator<Item = &'o [Outcome]> + Clone) {
    for (i, l) in loops.iter_mut().enumerate() {
        let answers = results.clone().filter_map(|o| o.get(i)).filter(|o| o.violations == 0);
        for a in answers.filter_map(|o| o.answer.as_ref()) {
            if l.best_ii.is_none_or(|best| a.ii < best) {
                (l.best_ii, l.best_length, l.length_proven) = (Some(a.ii), None, false);
            }
            if l.best_ii == Some(a.ii) && !l.length_proven {
                l.length_proven = a.length_optimal;
                l.best_length = Some(l.best_length.map_or(a.length, |best| best.min(a.length)));
            }
        }
    }
}

fn arguments() -> Option<Args> {
    let mut args = Args {
        json: false,
        misses: false,
        curve: false,
        bars: false,
        rationals: false,
        cores: false,
        split: false,
        duel: None,
        only: None,
        set: String::new(),
        data: None,
        file: None,
        generated: 20,
        seed: 0,
        time_limit: None,
        oracle: None,
        oracle_limit: 10.0,
        dump: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => args.json = true,
            "--misses" => args.misses = true,
            "--curve" => args.curve = true,
            "--bars" => args.bars = true,
            "--rationals" => args.rationals = true,
            "--cores" => args.cores = true,
            "--split" => args.split = true,
            "--duel" => args.duel = Some(words.next()?.parse().ok()?),
            "--only" => args.only = Some(words.next()?.parse().ok()?),
            "--set" => args.set = words.next()?,
            "--data" => args.data = Some(words.next()?.into()),
            "--file" => args.file = Some(words.next()?.into()),
            "--generated" => args.generated = words.next()?.parse().ok()?,
            "--seed" => args.seed = words.next()?.parse().ok()?,
            "--time-limit" => args.time_limit = Some(Duration::from_secs_f64(words.next()?.parse().ok()?)),
            "--oracle" => args.oracle = Some(words.next()?.into()),
            "--oracle-limit" => args.oracle_limit = words.next()?.parse().ok()?,
            "--dump" => args.dump = Some(words.next()?.into()),
            // cargo bench passes this on
            "--bench" => {}
            _ => return None,
        }
    }
    Some(args)
}

pub fn run(graph: &LoopGraph, algorithm: Algorithm, args: &Args) -> Outcome {
    let exact = (algorithm == Algorithm::Exact).then_some(Duration::from_secs(1));
    let stations = Stations::default();
    let options = ScheduleOptions::default().algorithm(algorithm).time_limit(args.time_limit.or(exact));
    let options = options.observer(Some(stations.observer()));
    let start = processor_micros();
    let answer = validate(graph).ok().and_then(|valid| schedule(&valid, &options).ok());
    let micros = processor_micros() - start;
    let violations = answer.as_ref().map_or(1, |a| check::all(graph, a).err().map_or(0, |v| v.len()));
    let answer = answer.as_ref().map(Figures::from);
    let since = |at: Option<f64>| at.map(|at| at - start);
    let scheduled = answer.as_ref().map(|a| since(stations.scheduled(a.ii)).unwrap_or(micros));
    let proof = answer.as_ref().filter(|a| a.optimal).map(|a| since(stations.proved(a.ii)).unwrap_or(micros));
    // A proof of the II needs the schedule, too.
    let proved = proof.zip(scheduled).map(|(bound, schedule)| bound.max(schedule));
    Outcome { answer, micros, scheduled, proved, violations }
}

/// What this thread has used of its processor.
pub fn processor_micros() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}
