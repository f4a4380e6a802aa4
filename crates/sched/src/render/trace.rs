//! The Chrome trace format, which Perfetto opens.

use crate::model::answer::Answer;
use crate::model::graph::LoopGraph;
use serde_json::{Value, json};

/// Iterations drawn.
const ITERATIONS: i64 = 6;
/// At most so many events.
const MOST_EVENTS: usize = 200_000;

/// A schedule as a Chrome trace (JSON): one track per resource, and one per iteration with every operation from
/// its issue to its result. One cycle is one microsecond. The first six iterations are drawn.
pub fn chrome_trace(graph: &LoopGraph, answer: &Answer) -> String {
    let graph = &*graph.bound_by(&answer.bindings);
    let mut events: Vec<Value> = Vec::new();
    let name = |pid: i64, tid: usize, kind: &str, text: &str| json!({ "ph": "M", "name": kind, "pid": pid, "tid": tid, "args": { "name": text } });
    events.push(name(1, 0, "process_name", "units"));
    events.push(name(2, 0, "process_name", "iterations"));
    for (r, resource) in graph.resources.iter().enumerate().filter(|(_, r)| !r.interleaved) {
        events.push(name(1, r + 1, "thread_name", &resource.name));
    }
    for i in 0..ITERATIONS {
        events.push(name(2, i as usize + 1, "thread_name", &format!("iteration {i}")));
        for v in &answer.nodes {
            let Some(node) = graph.nodes.get(v.id) else { continue };
            if events.len() > MOST_EVENTS {
                break;
            }
            let start = v.time.saturating_add(answer.ii.saturating_mul(i));
            let args = json!({ "node": v.id, "iteration": i, "stage": v.stage, "cycle": v.cycle });
            let span = |pid: i64, tid: usize, from: i64, cycles: i64| json!({ "ph": "X", "name": node.name, "pid": pid, "tid": tid, "ts": from, "dur": cycles, "args": args });
            events.push(span(2, i as usize + 1, start, node.latency));
            for u in node.uses.iter().filter(|u| u.duration > 0) {
                let resource = graph.resources.iter().enumerate().find(|(_, r)| r.name == u.resource);
                // What is taken in turn has no place in time.
                if resource.is_some_and(|(_, r)| r.interleaved) {
                    continue;
                }
                let track = resource.map_or(0, |(r, _)| r + 1);
                let duration = i64::try_from(u.duration).unwrap_or(i64::MAX);
                events.push(span(1, track, start.saturating_add_unsigned(u.start), duration));
            }
        }
    }
    json!({ "displayTimeUnit": "ns", "traceEvents": events }).to_string()
}
