//! Lengths against CP-SAT's at the same II with the same processor time, on loops of every generator (S99).

use crate::sets::Set;
use crate::{Args, oracle, processor_micros};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use warploom_sched::{
    Algorithm, Answer, LoopGraph, Observer, ScheduleOptions, check, schedule, to_line, validate,
};

/// CP-SAT may make schedules that are so many times as long as `auto`'s.
const ROOM: i64 = 2;

/// How `auto` and `exact` compare with the other program, summed up over loops.
#[derive(Default)]
struct Sum {
    loops: usize,
    longer: usize,
    worst: f64,
    shorter: usize,
}

impl Sum {
    /// Notes our length beside theirs; true where ours is longer.
    fn note(&mut self, ours: i64, theirs: Option<i64>) -> bool {
        self.loops += 1;
        self.shorter += usize::from(theirs.is_none_or(|t| ours < t));
        let Some(theirs) = theirs.filter(|&t| ours > t) else { return false };
        self.longer += 1;
        self.worst = self.worst.max(ours as f64 / theirs.max(1) as f64);
        true
    }

    fn line(&self, set: &str, what: &str) {
        let percent = 100.0 * (self.loops - self.longer) as f64 / self.loops.max(1) as f64;
        println!(
            "{set:22} {what:28} {:>6} loops, never longer on {percent:>5.1} %, longest by {:>6.4}, shorter on {}",
            self.loops,
            self.worst.max(1.0),
            self.shorter
        );
    }
}

/// Our two answers to a loop, the processor time of `auto`'s.
struct Ours {
    auto: Answer,
    micros: f64,
    exact: Answer,
}

/// Prints, per set: `auto` beside what CP-SAT has after as much processor time, and after all of it; `exact` beside CP-SAT,
/// with all of it for both. `--misses` lists the loops where ours is longer.
pub fn duel(sets: &[Set], args: &Args, seconds: f64) {
    let Some(python) = &args.oracle else {
        eprintln!("--duel needs --oracle PYTHON");
        std::process::exit(2);
    };
    for set in sets {
        let ours: Vec<(&LoopGraph, Ours)> =
            set.loops.iter().filter_map(|l| Some((&l.graph, ours(&l.graph, seconds)?))).collect();
        let lines: Vec<String> = ours.iter().map(|(g, o)| question(g, &o.auto)).collect();
        let theirs = match oracle::answers(python, oracle::OF_LENGTHS, &lines, seconds) {
            Ok(theirs) => theirs,
            Err(reason) => oracle::missing(&set.name, &reason),
        };
        let mut sums: [Sum; 3] = Default::default();
        for ((graph, ours), text) in ours.iter().zip(&theirs) {
            let theirs: Value = serde_json::from_str(text).unwrap_or_default();
            compare(graph, ours, &theirs, &mut sums, args.misses);
        }
        let names = ["auto, the same time", "auto, all the time for it", "exact, the same time"];
        sums.iter().zip(names).for_each(|(sum, name)| sum.line(&set.name, name));
    }
}

/// `None` where there is no schedule, or the II of `exact` is another one.
fn ours(graph: &LoopGraph, seconds: f64) -> Option<Ours> {
    let valid = validate(graph).ok()?;
    let start = processor_micros();
    let auto = schedule(&valid, &ScheduleOptions::default()).ok()?;
    let micros = processor_micros() - start;
    let start = processor_micros();
    let over = move || processor_micros() - start > seconds * 1e6;
    let observer =
        Observer::new(move |_| if over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
    let options = ScheduleOptions::default().algorithm(Algorithm::Exact).observer(Some(observer));
    let exact = schedule(&valid, &options).ok()?;
    let legal = check::all(graph, &auto).is_ok() && check::all(graph, &exact).is_ok();
    if !legal {
        println!("{}: CHECK FAILED", graph.name);
    }
    (legal && auto.ii == exact.ii).then_some(Ours { auto, micros, exact })
}

fn question(graph: &LoopGraph, auto: &Answer) -> String {
    let mut line: Value = serde_json::from_str(&to_line(graph)).unwrap_or_default();
    line["ask"] = json!({ "ii": auto.ii, "most": auto.length.saturating_mul(ROOM) });
    line.to_string()
}

fn compare(graph: &LoopGraph, ours: &Ours, theirs: &Value, sums: &mut [Sum; 3], misses: bool) {
    let found = theirs["found"].as_array().map_or(&[][..], Vec::as_slice);
    let lengths: Vec<(f64, i64)> = found
        .iter()
        .filter(|f| judged(graph, &ours.auto, f).is_some())
        .filter_map(|f| Some((f["micros"].as_f64()?, f["length"].as_i64()?)))
        .collect();
    let least = |within: f64| lengths.iter().filter(|l| l.0 <= within).map(|l| l.1).min();
    let (early, last) = (least(ours.micros), least(f64::INFINITY));
    let early = sums[0].note(ours.auto.length, early);
    let late = sums[1].note(ours.auto.length, last);
    let exact = sums[2].note(ours.exact.length, last);
    if misses && (early || late || exact) {
        println!(
            "{} ({} ops): II {}, auto {} in {:.1} ms, exact {}, CP-SAT {}{} after {:.1} ms{}",
            graph.name,
            graph.nodes.len(),
            ours.auto.ii,
            ours.auto.length,
            ours.micros / 1e3,
            ours.exact.length,
            last.unwrap_or(0),
            if theirs["optimal"] == json!(true) { " (least)" } else { "" },
            lengths.last().map_or(0.0, |l| l.0 / 1e3),
            if exact { ", EXACT LONGER" } else { "" },
        );
    }
}

/// The other program's times stand for ours where the checker finds the dependences and resources kept.
fn judged(graph: &LoopGraph, ours: &Answer, theirs: &Value) -> Option<()> {
    let times: Vec<i64> = theirs["times"].as_array()?.iter().filter_map(Value::as_i64).collect();
    let nodes: Vec<Value> = times.iter().enumerate().map(|(id, t)| json!({ "id": id, "time": t })).collect();
    let line = json!({ "ii": ours.ii, "length": theirs["length"], "nodes": nodes }).to_string();
    let verdict = check::verdict(graph, &line).ok()?;
    if !verdict.violations.is_empty() {
        println!("{}: CP-SAT's schedule is not one: {:?}", graph.name, verdict.violations);
        return None;
    }
    Some(())
}
