//! A run as Chrome trace JSON, for `chrome://tracing` or Perfetto: one process for each CTA, one row for each warp and
//! kind of asynchronous operation, and steps where a profiler has microseconds (E3).

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use warploom_emulator::{Report, TraceEvent};

use crate::io::{Failure, Io};

/// Events of one cluster that are kept.
pub const LIMIT: usize = 200_000;

/// Writes the trace of a report. `partitions` are the names of a kernel's partitions with their warps, from warp 0 on.
pub fn write(io: &Io, path: &Path, report: &Report, partitions: &[(String, u64)]) -> Result<(), Failure> {
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
        let of = partition(partitions, *warp).map_or(String::new(), |name| format!(" ({name})"));
        let name = format!("warp {warp}{of} {operation}");
        let place = (process(cta), tid);
        events.push(json!({"ph": "M", "name": "thread_name", "pid": place.0, "tid": place.1,
                           "args": {"name": name.trim_end()}}));
    }
    for e in &report.trace {
        events.push(json!({"ph": "X", "name": e.opcode, "pid": process(&e.cta), "tid": rows.get(&row(e)),
                           "ts": e.begin, "dur": e.end.saturating_sub(e.begin).max(1), "args": {"line": e.line, "source": e.source}}));
    }
    let about = json!({"kernel": report.kernel, "target": report.target, "policy": report.policy.to_string(),
                       "clock": "warp instructions of the cluster"});
    let text = json!({"traceEvents": events, "otherData": about}).to_string();
    io.write(Some(path), text.as_bytes())
}

/// The partition of a warp.
fn partition(partitions: &[(String, u64)], warp: u32) -> Option<&str> {
    let mut end = 0;
    let mut here = |warps: u64| {
        end += warps;
        u64::from(warp) < end
    };
    partitions.iter().find(|(_, warps)| here(*warps)).map(|(name, _)| name.as_str())
}
