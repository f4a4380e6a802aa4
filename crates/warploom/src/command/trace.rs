//! A run as Chrome trace JSON, for `chrome://tracing` or Perfetto: one process for each CTA, one row for each warp and
//! kind of asynchronous operation, and steps where a profiler has microseconds (E3).

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use warploom_emulator::{Report, TraceEvent};

use crate::io::{Failure, Io};

/// Events of one cluster that are kept.
pub const LIMIT: usize = 200_000;

/// Writes the trace of a report.
pub fn write(io: &Io, path: &Path, report: &Report) -> Result<(), Failure> {
    let mut rows: BTreeMap<([u32; 3], u32, String), usize> = BTreeMap::new();
    let row = |e: &TraceEvent| (e.cta, e.warp, e.operation.clone().unwrap_or_default());
    for event in &report.trace {
        rows.entry(row(event)).or_insert(0);
    }
    for (number, slot) in rows.values_mut().enumerate() {
        *slot = number;
    }
    let mut ctas: Vec<[u32; 3]> = rows.keys().map(|(cta, _, _)| *cta).collect();
    ctas.dedup();
    let process = |cta: &[u32; 3]| ctas.iter().position(|c| c == cta);
    let mut events: Vec<Value> = Vec::new();
    for cta in &ctas {
        let name = format!("CTA {},{},{}", cta[0], cta[1], cta[2]);
        events.push(json!({"ph": "M", "name": "process_name", "pid": process(cta), "args": {"name": name}}));
    }
    for ((cta, warp, operation), tid) in &rows {
        let name = format!("warp {warp} {operation}");
        let place = (process(cta), tid);
        events.push(json!({"ph": "M", "name": "thread_name", "pid": place.0, "tid": place.1,
                           "args": {"name": name.trim_end()}}));
    }
    for e in &report.trace {
        events.push(json!({"ph": "X", "name": e.opcode, "pid": process(&e.cta), "tid": rows.get(&row(e)),
                           "ts": e.begin, "dur": e.end.saturating_sub(e.begin).max(1), "args": {"line": e.line}}));
    }
    let about = json!({"kernel": report.kernel, "target": report.target, "policy": report.policy.to_string(),
                       "clock": "warp instructions of the cluster"});
    let text = json!({"traceEvents": events, "otherData": about}).to_string();
    io.write(Some(path), text.as_bytes())
}
