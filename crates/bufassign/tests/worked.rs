//! The worked example of the specification (B3, B10..B13), byte for byte.

#![allow(clippy::unwrap_used, clippy::panic)]

use serde_json::Value;
use warploom_bufassign::{ErrorKind, Problem, Remedy, assign, assign_json};

const PROBLEM: &str = include_str!("fixtures/worked.json");
const ANSWER: &str = include_str!("fixtures/worked.answer.json");

/// The specification leaves `name`, `stages`, null and false fields out of the records it prints.
fn as_printed(json: &str) -> Value {
    let mut v: Value = serde_json::from_str(json).unwrap();
    for r in v["records"].as_array_mut().unwrap() {
        let r = r.as_object_mut().unwrap();
        r.retain(|k, v| k != "name" && k != "stages" && !v.is_null() && *v != Value::Bool(false));
    }
    v
}

#[test]
fn answer_is_the_specified_one() {
    let answer = assign_json(PROBLEM).unwrap();
    let ours = as_printed(&answer.to_json());
    let theirs: Value = serde_json::from_str(ANSWER).unwrap();
    for (a, b) in ours["records"].as_array().unwrap().iter().zip(theirs["records"].as_array().unwrap()) {
        assert_eq!(a.to_string(), b.to_string());
    }
    assert_eq!(ours.to_string(), theirs.to_string());
}

#[test]
fn refused_within_40000_bytes_with_the_remedy() {
    let mut p = Problem::from_json(PROBLEM).unwrap();
    p.options.smem_limit = Some(40000);
    let e = assign(&p, &p.options).unwrap_err();
    assert_eq!(e.kind, ErrorKind::Capacity);
    assert!(e.message.starts_with("fails to assign smem buffer"), "{e}");
    // The state at the failure (B73): loop, value, class, pool and map.
    let of_loop = e.in_loop.as_ref().map(|l| (l.ii, l.stages));
    let value = e.value.as_ref().map(|v| (v.id, v.start, v.end, v.depth));
    assert_eq!((e.phase, of_loop), (Some(3), Some((400, 3))));
    assert_eq!(value, Some((0, Some([0, 0]), Some([1, 300]), Some(2))));
    assert!(e.classification.is_some() && e.barrier_pool.is_some(), "{e}");
    assert!(e.smem_map.as_ref().is_some_and(|m| !m.is_empty()));
    let advice = e.advice.as_ref().unwrap();
    let expected = Remedy::Shallower { value: 0, depth: 2, to: 1, saves: 16384, ii: 700, fits: true };
    assert_eq!(advice[0], expected);
    let json: Value = serde_json::from_str(&e.to_json()).unwrap();
    assert_eq!(
        json["error"]["advice"][0].to_string(),
        r#"{"value":0,"depth":2,"to":1,"saves":16384,"ii":700,"fits":true}"#
    );
}
