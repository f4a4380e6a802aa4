//! Small problems for the tests of rules.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub use serde_json::{Value as Json, json};
use warploom_bufassign::check::check;
use warploom_bufassign::*;

/// An op in region 0: (partition, stage, cycle, order, latency, async).
pub fn op(id: u64, partition: u64, at: (u64, u64, u64), latency: u64, is_async: bool) -> Json {
    let (stage, cycle, order) = at;
    json!({"id": id, "region": 0, "partition": partition, "stage": stage, "cycle": cycle, "order": order,
           "latency": latency, "async": is_async})
}

pub fn value(id: u64, producer: (u64, &str), consumers: &[(u64, &str, u64)]) -> Json {
    let uses: Vec<Json> =
        consumers.iter().map(|c| json!({"op": c.0, "role": c.1, "distance": c.2})).collect();
    json!({"id": id, "name": format!("v{id}"), "root": id, "shape": [64, 128], "element": "f16",
           "producer": {"op": producer.0, "role": producer.1}, "consumers": uses})
}

pub fn with(mut v: Json, more: Json) -> Json {
    for (k, x) in more.as_object().unwrap() {
        v[k.as_str()] = x.clone();
    }
    v
}

pub fn problem(target: &str, ii: u64, stages: u64, warps: &[u32], ops: Vec<Json>, values: Vec<Json>) -> Json {
    let partitions: Vec<Json> = warps
        .iter()
        .enumerate()
        .map(|(k, w)| json!({"id": k, "name": format!("a{k}"), "warps": w}))
        .collect();
    json!({"name": "t", "target": target, "partitions": partitions, "ops": ops, "values": values,
           "regions": [{"id": 0, "kind": "loop", "ii": ii, "stages": stages}]})
}

pub fn solve(p: &Json) -> Assignment {
    let p = Problem::from_json(&p.to_string()).unwrap();
    let a = assign(&p, &p.options).unwrap_or_else(|e| panic!("{e}"));
    check(&p, &a).unwrap();
    a
}

pub fn refuse(p: &Json) -> AssignError {
    let p = Problem::from_json(&p.to_string()).unwrap();
    assign(&p, &p.options).unwrap_err()
}

pub fn kind(p: &Json) -> ErrorKind {
    refuse(p).kind
}

pub const W: &str = "reg_write";
pub const R: &str = "reg_read";

/// A copy and its use: issue at (0, cycle 0, rank), use as given; the depth that comes out.
pub fn depth(ii: u64, stages: u64, load: (u64, u64, u64, u64), uses: &[(u64, u64, u64, u64)]) -> (u64, bool) {
    let mut ops = vec![op(0, 0, (load.0, load.1, load.2), load.3, true)];
    let mut consumers = Vec::new();
    for (k, u) in uses.iter().enumerate() {
        ops.push(op(k as u64 + 1, 1, (u.0, u.1, u.2), u.3, false));
        consumers.push((k as u64 + 1, "wgmma_b", 0));
    }
    let a = solve(&problem("sm_90a", ii, stages, &[1, 4], ops, vec![value(0, (0, "tma_load"), &consumers)]));
    (a.records[0].depth, a.records[0].pipelined)
}

/// Two values of one partition: (start, latency of use) each; the merge classes that come out.
pub fn classes(ii: u64, warps: &[u32], arcs: &[(u64, u64, u64)], sharing: &str) -> Assignment {
    let mut cycles: Vec<(u64, usize, bool)> = Vec::new();
    for (k, &(start, used, _)) in arcs.iter().enumerate() {
        cycles.push((start % ii, k, false));
        cycles.push((used % ii, k, true));
    }
    cycles.sort();
    let mut ops = Vec::new();
    for (rank, &(cycle, k, is_use)) in cycles.iter().enumerate() {
        let t = if is_use { arcs[k].1 } else { arcs[k].0 };
        let latency = if is_use { arcs[k].2 } else { 1 };
        let partition = if warps.len() > 1 { k as u64 } else { 0 };
        ops.push(op(
            2 * k as u64 + u64::from(is_use),
            partition,
            (t / ii, cycle, rank as u64),
            latency,
            false,
        ));
    }
    let values = (0..arcs.len() as u64).map(|k| value(k, (2 * k, W), &[(2 * k + 1, R, 0)])).collect();
    let mut p = problem("sm_90a", ii, 4, warps, ops, values);
    p["options"] = json!({"sharing": sharing});
    solve(&p)
}
