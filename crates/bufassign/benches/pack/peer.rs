//! Another packer on the same problems: any command that takes MiniMalloc's options and CSV.

use crate::clock;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use warploom_bufassign::pack::{PackItem, PackOutcome, PackProblem, TimeSegment, check_pack};

/// What a peer made of a problem.
pub struct Answer {
    /// Milliseconds of processor time.
    pub ms: f64,
    /// A plan that our checker has nothing against, and its peak; else what it gave instead.
    pub plan: Result<u64, &'static str>,
}

/// A problem whose items live once each as MiniMalloc's CSV.
fn csv(p: &PackProblem) -> String {
    let mut text = "id,lower,upper,size\n".to_string();
    for (k, item) in p.items.iter().enumerate() {
        let live = item.live[0];
        // Writing to a string does not fail.
        let _ = writeln!(text, "b{k},{},{},{}", live.start, live.start + live.len, item.size);
    }
    text
}

/// Whether the CSV says all there is to say: one line, no alignment, no fixed places.
pub fn takes(p: &PackProblem) -> bool {
    let plain = |item: &PackItem| item.align == 1 && item.fixed.is_none() && item.live.len() == 1;
    p.segments == [TimeSegment::Linear] && p.items.iter().all(plain)
}

/// Runs `CMD --input=FILE --output=OUT --capacity=N`, which the system stops after so many seconds of processor time.
/// Without a file of the problem's, one is written for it.
pub fn run(command: &str, p: &PackProblem, file: Option<&Path>, seconds: u64) -> Answer {
    let scratch =
        |name: &str| std::env::temp_dir().join(format!("warploom-{}-{name}.csv", std::process::id()));
    let (own, output) = (scratch("input"), scratch("output"));
    let input = file.unwrap_or(&own);
    if file.is_none() && std::fs::write(&own, csv(p)).is_err() {
        return Answer { ms: 0.0, plan: Err("nowhere to write its input") };
    }
    let _ = std::fs::remove_file(&output);
    let capacity = p.capacity.unwrap_or(u64::MAX);
    // The words of the command may carry options of its own; file names are passed as they are.
    let script =
        format!("ulimit -t {seconds}; exec {command} \"--input=$1\" \"--output=$2\" --capacity={capacity}");
    let (status, ms) = clock::timed_child(|| {
        Command::new("sh").args(["-c", &script, "peer"]).arg(input).arg(&output).output()
    });
    let text = std::fs::read_to_string(&output).ok();
    for scratch in [&own, &output] {
        let _ = std::fs::remove_file(scratch);
    }
    let plan = match (status, text) {
        (Ok(s), Some(text)) if s.status.success() => judge(p, &text),
        _ => Err("no answer"),
    };
    Answer { ms, plan }
}

/// The peak of a plan, once our checker has seen it.
fn judge(p: &PackProblem, text: &str) -> Result<u64, &'static str> {
    let offsets = offsets(p, text).ok_or("cannot be read")?;
    let ends = p.items.iter().zip(&offsets).map(|(item, at)| at.saturating_add(item.size));
    let peak = ends.max().unwrap_or(0);
    let lower_bound = 0;
    let claim = PackOutcome::Fits { offsets, peak, lower_bound, optimal: false };
    check_pack(p, &claim).map(|()| peak).map_err(|_| "wrong")
}

/// Offsets in the order of the problem's rows; ids are those of the input in its order, or in any.
fn offsets(p: &PackProblem, text: &str) -> Option<Vec<u64>> {
    let mut rows = text.lines().map(|l| l.split(',').map(str::trim).collect::<Vec<_>>());
    let head = rows.next()?;
    let column = |name| head.iter().position(|h| *h == name);
    let (lower, upper, size, at) = (column("lower")?, column("upper")?, column("size")?, column("offset")?);
    let mut found: Vec<Option<u64>> = vec![None; p.items.len()];
    for row in rows.filter(|r| r.len() == head.len()) {
        let number = |k: usize| row[k].parse::<i64>().ok();
        let (from, to, bytes) = (number(lower)?, number(upper)?, number(size)?);
        // Rows that are alike may change places.
        let like = |k: &usize| {
            let (item, live) = (&p.items[*k], p.items[*k].live[0]);
            (live.start, live.start + live.len, item.size.cast_signed()) == (from, to, bytes)
                && found[*k].is_none()
        };
        let k = (0..p.items.len()).find(like)?;
        found[k] = Some(row[at].parse().ok()?);
    }
    found.into_iter().collect()
}
