//! Bad input as text: what is refused says by which rule, where, and what to do instead (S12, S101 to S105).
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests

use serde_json::{Value, json};
use warploom_sched::{
    LoopGraph, PartitionModel, ScheduleError, ScheduleOptions, read_graph, read_partition_model, read_start,
    schedule, schedule_nest, schedule_unrolled, validate,
};

/// Two operations; the first takes one of two units.
fn text(change: impl FnOnce(&mut Value)) -> LoopGraph {
    let mut graph = json!({
        "name": "g",
        "resources": [{"name": "A", "count": 1}, {"name": "B", "count": 1}],
        "nodes": [
            {"id": 0, "name": "a", "latency": 4, "uses": [{"resource": ["A", "B"], "duration": 2}]},
            {"id": 1, "name": "b", "latency": 3, "uses": [{"resource": "A", "duration": 1}]},
        ],
        "edges": [{"src": 0, "dst": 1, "latency": 4, "distance": 0}],
    });
    change(&mut graph);
    read_graph(&graph.to_string()).unwrap()
}

/// Asserts that the refusal has this code, rule and place, and help.
fn told<T>(answer: Result<T, ScheduleError>, code: &str, rule: &str, at: &str) {
    let Err(error) = answer else { panic!("{code}: no refusal") };
    let record = error.record();
    assert_eq!((record.code.as_str(), record.rule.as_str(), record.at.as_str()), (code, rule, at), "{error}");
    assert!(!record.help.is_empty() && !record.message.is_empty());
}

#[test]
fn alternatives() {
    let scheduled = |change: fn(&mut Value)| {
        let graph = text(change);
        let valid = validate(&graph).map_err(ScheduleError::Graph)?;
        schedule(&valid, &ScheduleOptions::default())
    };
    let at = "nodes[0].uses[0]";
    assert!(scheduled(|_| ()).is_ok());
    let empty: fn(&mut Value) = |g| g["nodes"][0]["uses"][0]["resource"] = json!([]);
    told(scheduled(empty), "NoAlternative", "S103", at);
    let repeated: fn(&mut Value) = |g| g["nodes"][0]["uses"][0]["resource"] = json!(["A", "B", "A"]);
    told(scheduled(repeated), "RepeatedAlternative", "S103", at);
    let unequal: fn(&mut Value) = |g| g["resources"][1]["count"] = json!(2);
    told(scheduled(unequal), "UnequalAlternatives", "S103", at);
    let unknown: fn(&mut Value) = |g| g["nodes"][0]["uses"][0]["resource"] = json!(["A", "C"]);
    told(scheduled(unknown), "UnknownResource", "S12", at);
}

#[test]
fn unroll_limits() {
    let graph = text(|g| g["nodes"][0]["uses"][0]["resource"] = json!("B"));
    let valid = validate(&graph).unwrap();
    for most in [0, 65, u64::MAX] {
        let refused = schedule_unrolled(&valid, most, &ScheduleOptions::default());
        told(refused, "BadOption", "S46", "unroll");
    }
}

/// One operation issues for longer than the largest II allowed: no partition can hold it.
#[test]
fn streams_that_hold_no_operation() {
    let graph = text(|g| {
        g["nodes"][0]["uses"][0]["resource"] = json!("B");
        g["nodes"][1]["issue_latency"] = json!(9);
    });
    let valid = validate(&graph).unwrap();
    let model: PartitionModel = read_partition_model("{}").unwrap();
    let options = ScheduleOptions::default().partition(Some(model)).max_ii(Some(8));
    told(schedule(&valid, &options), "Infeasible", "S42", "edges");
    assert_eq!(schedule(&valid, &options.max_ii(None)).map(|a| a.ii), Ok(9));
}

/// Named, then ignored: the answer is that without it.
#[test]
fn starts_that_are_none() {
    let graph = text(|g| g["nodes"][0]["uses"][0]["resource"] = json!("B"));
    let valid = validate(&graph).unwrap();
    let cold = schedule(&valid, &ScheduleOptions::default()).unwrap();
    let starts = [
        (3, json!([{"id": 0, "time": 0}, {"id": 1, "time": 3}]), "edge 0"),
        (3, json!([{"id": 0, "time": 0}]), "node 1"),
        (3, json!([{"id": 0, "time": 0}, {"id": 0, "time": 4}]), "node 0"),
        (0, json!([{"id": 0, "time": 0}, {"id": 1, "time": 4}]), "II 0"),
        (i64::MAX, json!([{"id": 0, "time": 0}, {"id": 1, "time": 4}]), "II 9223372036854775807"),
        (3, json!([{"id": 0, "time": i64::MIN}, {"id": 1, "time": i64::MAX}]), "node 0"),
    ];
    for (ii, nodes, named) in starts {
        let start = read_start(&json!({"ii": ii, "nodes": nodes}).to_string()).unwrap();
        let warm = schedule(&valid, &ScheduleOptions::default().start(Some(start))).unwrap();
        let why = warm.start_refused.clone().unwrap_or_default();
        assert!(why.contains(named), "{why}");
        assert_eq!((warm.ii, &warm.nodes), (cold.ii, &cold.nodes));
    }
    let unread = read_start(r#"{"ii": 3, "nodes": 7}"#).unwrap_err();
    assert_eq!(unread.path, "nodes");
}

#[test]
fn nests_of_loops_that_do_not_exist() {
    let outer = text(|g| {
        g["nodes"][0]["uses"] = json!([]);
        g["nodes"][0]["inner"] = json!({"loop": "none", "trips": 4});
    });
    let scheduled = schedule_nest(std::slice::from_ref(&outer), 0, &ScheduleOptions::default());
    told(scheduled, "UnknownLoop", "S104", "nodes[0].inner");
}

/// The largest numbers that options take come to an end, with a refusal or a schedule.
#[test]
fn iis_at_the_limits() {
    let graph = text(|g| {
        g["nodes"][0]["uses"][0]["resource"] = json!("B");
        g["edges"][0]["distance"] = json!(1);
    });
    let valid = validate(&graph).unwrap();
    for ii in [1 << 20, i64::from(i32::MAX), 1 << 40] {
        let options = ScheduleOptions::default().min_ii(ii);
        match schedule(&valid, &options) {
            Ok(answer) => assert_eq!(answer.ii, ii),
            Err(error) => told::<()>(Err(error), "BadOption", "S46", "min_ii"),
        }
        told(schedule(&valid, &options.max_ii(Some(ii - 1))), "Infeasible", "S42", "edges");
    }
}
