//! `conformance.jsonl`: bounds, refusals, answers (S88).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use common::load;
use warploom_sched::{
    Algorithm, Answer, LoopGraph, MemoryBudget, Objective, ScheduleError, ScheduleOptions, bounds, check,
    schedule, schedule_within, validate,
};

#[test]
fn refusals() {
    for s in load("conformance.jsonl") {
        let expected = s.json.pointer("/expect/error").and_then(|e| e.as_str());
        match (validate(&s.graph), expected) {
            (Ok(_), None) => {}
            (Err(errors), Some(code)) => {
                let codes: Vec<&str> = errors.iter().map(|e| e.kind.code()).collect();
                assert!(codes.contains(&code), "{}: {codes:?}, expected {code}", s.graph.name);
                assert!(errors.iter().all(|e| !e.kind.help().is_empty() && !e.at.is_empty()));
            }
            (Ok(_), Some(code)) => panic!("{}: accepted, expected {code}", s.graph.name),
            (Err(e), None) => panic!("{}: refused: {e:?}", s.graph.name),
        }
    }
}

#[test]
fn bounds_of_the_table() {
    for s in load("conformance.jsonl") {
        let Ok(valid) = validate(&s.graph) else { continue };
        let b = bounds(&valid);
        for (field, found) in [("res_mii", b.res_mii), ("rec_mii", b.rec_mii), ("mii", b.mii)] {
            if let Some(expected) = s.number("expect", field) {
                assert_eq!(found, expected, "{} {field}", s.graph.name);
            }
        }
        if let Some(ratio) = s.json.pointer("/expect/rec_ratio") {
            let (p, q) = b.rec_ratio.unwrap();
            assert_eq!(*ratio, serde_json::json!([p, q]));
        }
    }
}

#[test]
fn answers_pass_the_checker() {
    for s in common::corpus() {
        let valid = validate(&s.graph).unwrap();
        let answer = schedule(&valid, &ScheduleOptions::default()).unwrap();
        check::all(&s.graph, &answer).unwrap_or_else(|v| panic!("{}: {v:?}", s.graph.name));
        for (part, field, found) in [
            ("reference", "res_mii", answer.res_mii),
            ("reference", "rec_mii", answer.rec_mii),
            ("reference", "mii", answer.mii),
        ] {
            if let Some(expected) = s.number(part, field) {
                assert_eq!(found, expected, "{} {field}", s.graph.name);
            }
        }
        if let Some(best) = s.number("reference", "best_ii").or(s.number("expect", "ii")) {
            println!("{}: II {} best {best}, length {}", s.graph.name, answer.ii, answer.length);
            assert_eq!(answer.ii, best, "{}", s.graph.name);
            assert!(answer.optimal, "{}", s.graph.name);
        }
    }
}

fn answer(graph: &LoopGraph, options: &ScheduleOptions) -> Answer {
    let answer =
        schedule(&validate(graph).unwrap(), options).unwrap_or_else(|e| panic!("{}: {e}", graph.name));
    check::all(graph, &answer).unwrap_or_else(|v| panic!("{}: {v:?}", graph.name));
    answer
}

fn depths(a: &Answer) -> serde_json::Value {
    a.values.iter().map(|v| v.depth).collect::<Vec<_>>().into()
}

#[test]
fn the_whole_table() {
    for s in load("conformance.jsonl").iter().filter(|s| s.json.pointer("/expect/error").is_none()) {
        let name = &s.graph.name;
        let exact = answer(&s.graph, &ScheduleOptions::default().algorithm(Algorithm::Exact));
        let auto = answer(&s.graph, &ScheduleOptions::default());
        let ims = answer(&s.graph, &ScheduleOptions::default().algorithm(Algorithm::Ims));
        for a in [&exact, &auto] {
            let expect = |field: &str, found: i64| {
                let wanted = s.number("expect", field).unwrap_or(found);
                assert_eq!(found, wanted, "{name} {field} by {}", a.algorithm);
            };
            expect("ii", a.ii);
            expect("length", a.length);
            expect("stages", a.stages);
            expect("in_flight", a.in_flight);
            expect("bytes", a.bytes.unwrap_or(0) as i64);
            assert!(a.optimal, "{name}");
            let expected = &s.json["expect"];
            if let Some(wanted) = expected.get("depths") {
                assert_eq!(depths(a), *wanted, "{name}");
            }
            if let Some(sum) = s.number("expect", "depths_sum") {
                assert_eq!(a.values.iter().map(|v| v.depth as i64).sum::<i64>(), sum, "{name}");
            }
            if let Some(order) = expected.get("order").and_then(|o| o.as_array()) {
                for (position, id) in order.iter().enumerate() {
                    assert_eq!(a.nodes[id.as_u64().unwrap() as usize].order, position, "{name}");
                }
            }
        }
        assert!(exact.length_optimal, "{name}");
        if let Some(ii) = s.number("expect", "ii") {
            assert!(ims.ii >= ii, "{name}");
        }
    }
}

#[test]
fn infeasible_iis_in_between() {
    for s in load("conformance.jsonl") {
        let list =
            |field: &str| s.json.pointer(&format!("/expect/{field}")).and_then(|l| l.as_array()).cloned();
        let at = |ii: &serde_json::Value| {
            let ii = ii.as_i64().unwrap();
            schedule(&validate(&s.graph).unwrap(), &ScheduleOptions::default().min_ii(ii).max_ii(Some(ii)))
        };
        for ii in list("feasible_ii").unwrap_or_default() {
            assert_eq!(at(&ii).unwrap().ii, ii.as_i64().unwrap(), "{}", s.graph.name);
        }
        for ii in list("infeasible_ii").unwrap_or_default() {
            assert!(at(&ii).is_err(), "{} at {ii}", s.graph.name);
        }
    }
}

#[test]
fn bytes_before_length() {
    for s in load("conformance.jsonl") {
        let Some(bytes) = s.number("expect", "min_bytes") else { continue };
        let options = ScheduleOptions::default().algorithm(Algorithm::Exact).objective(Objective::Kernel);
        let a = answer(&s.graph, &options);
        assert_eq!(a.bytes, Some(bytes as u64), "{}", s.graph.name);
        if let Some(length) = s.number("expect", "length_at_min_bytes") {
            assert_eq!(a.length, length, "{}", s.graph.name);
        }
    }
}

#[test]
fn budgets() {
    for s in load("conformance.jsonl") {
        for part in ["budget", "budget3"] {
            let Some(expected) = s.json["expect"].get(part) else { continue };
            let smem = expected["smem"].as_u64().unwrap();
            let within = |graph: &LoopGraph| {
                let valid = validate(graph).unwrap();
                let budget = MemoryBudget::of(graph).space("smem", smem);
                let a = schedule_within(&valid, &budget, &ScheduleOptions::default()).unwrap();
                check::all(graph, &a).unwrap_or_else(|v| panic!("{}: {v:?}", graph.name));
                assert!(a.bytes <= Some(smem));
                a
            };
            let a = within(&s.graph);
            assert_eq!(a.ii, expected["ii"].as_i64().unwrap(), "{} {part}", s.graph.name);
            assert!(a.optimal, "{} {part}: bound {}", s.graph.name, a.lower_bound);
            if let Some(bytes) = expected.get("bytes") {
                assert_eq!(a.bytes, bytes.as_u64(), "{}", s.graph.name);
            }
            if let Some(wanted) = expected.get("depths") {
                assert_eq!(depths(&a), *wanted, "{}", s.graph.name);
            }
            if let Some(ii) = expected.get("ii_when_peers").and_then(|i| i.as_i64()) {
                let mut peers = s.graph.clone();
                peers.values.iter_mut().for_each(|v| v.group = Some(0));
                let a = within(&peers);
                assert_eq!(a.ii, ii, "{} peers", s.graph.name);
                assert_eq!(depths(&a), expected["depths_when_peers"], "{} peers", s.graph.name);
            }
        }
    }
}

#[test]
fn least_bytes_of_gpu_loops() {
    for s in load("gpu.jsonl") {
        let a = answer(&s.graph, &ScheduleOptions::default());
        assert_eq!(Some(a.length), s.number("reference", "min_length_at_best_ii"), "{}", s.graph.name);
        assert_eq!(depths(&a), s.json["reference"]["depths_at_min_length"], "{}", s.graph.name);
        let none = MemoryBudget::of(&s.graph).space("smem", 1);
        let error =
            schedule_within(&validate(&s.graph).unwrap(), &none, &ScheduleOptions::default()).unwrap_err();
        assert!(matches!(error, ScheduleError::BudgetInfeasible { have: 1, .. }), "{error}");
    }
}
