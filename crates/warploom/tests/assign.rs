//! `warploom assign` as a user meets it: the worked example, and problems that are refused with a place.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use serde_json::{Value, json};
use std::process::Output;

use common::piped;

/// The worked example of the specification.
const WORKED: &str = include_str!("../../bufassign/tests/fixtures/worked.json");

fn assign(problem: &str, flags: &[&str]) -> Output {
    piped(&[&["assign", "-"], flags].concat(), problem.as_bytes())
}

/// The worked example with one field changed, by JSON pointer.
fn with(changes: &[(&str, Value)]) -> String {
    let mut problem: Value = serde_json::from_str(WORKED).unwrap();
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let at = problem.pointer_mut(parent).unwrap();
        match at.as_array_mut().zip(name.parse::<usize>().ok()) {
            Some((list, n)) => list[n] = value.clone(),
            None => at[name] = value.clone(),
        }
    }
    problem.to_string()
}

#[test]
fn the_worked_example_is_drawn() {
    let out = assign(WORKED, &[]);
    let text = String::from_utf8_lossy(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(text.contains("49184") && text.contains('k') && text.contains("turn"), "{text}");
    let json: Value = serde_json::from_slice(&assign(WORKED, &["--json"]).stdout).unwrap();
    assert_eq!((&json["ok"], &json["smem"]["used"]), (&json!(true), &json!(49184)));
}

/// Spare memory is used where it is asked for, on the command line or in the problem, and the reason is said (B81).
#[test]
fn spare_memory_is_used_where_it_is_asked_for() {
    let asked = assign(WORKED, &["--fill", "--json"]).stdout;
    let json: Value = serde_json::from_slice(&asked).unwrap();
    assert_eq!((&json["records"][0]["depth"], &json["fill"]["ended"]), (&json!(3), &json!("nothing_helps")));
    assert_eq!(json["fill"]["steps"][0]["values"], json!([0]));
    assert_eq!(assign(&with(&[("/options", json!({"fill": true}))]), &["--json"]).stdout, asked);
    let text = String::from_utf8_lossy(&assign(WORKED, &["--fill"]).stdout).into_owned();
    assert!(text.contains("a slot more for 0") && text.contains("readers wait 0 cycles, not 400"), "{text}");
    assert_eq!(assign(WORKED, &["--fill", "--straight-line"]).status.code(), Some(2));
}

/// Plans come best first, each with another price; none at all is no answer.
#[test]
fn plans_are_listed_by_price() {
    let out = assign(WORKED, &["--alternatives", "3", "--json"]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let json: Value = serde_json::from_slice(&out.stdout).unwrap();
    let found = json["alternatives"].as_array().unwrap();
    let of = |plan: &Value, field: &str| plan["price"][field].as_u64().unwrap();
    let prices: Vec<_> = found.iter().map(|p| ["couples", "waits", "smem"].map(|f| of(p, f))).collect();
    assert!((1..=3).contains(&found.len()) && prices.is_sorted_by(|a, b| a < b), "{prices:?}");
    assert_eq!(prices[0][2], 49184);
    let text = assign(WORKED, &["--alternatives", "3"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.starts_with("plan") && text.lines().count() == found.len() + 1, "{text}");
    assert_eq!(assign(WORKED, &["--alternatives", "0"]).status.code(), Some(2));
    let refused = assign(&with(&[("/target", json!("sm_1"))]), &["--alternatives", "2", "--json"]);
    let refused: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!(refused["ok"], json!(false), "{refused}");
}

/// A nest, and straight-line code: as in the examples.
#[test]
fn nests_and_straight_lines_are_taken() {
    let nest = include_str!("../../../examples/problems/persistent.json");
    let json: Value = serde_json::from_slice(&assign(nest, &["--json"]).stdout).unwrap();
    assert_eq!((&json["records"][2]["depth"], &json["tmem"]["used"]), (&json!(2), &json!(512)));
    let code = include_str!("../../../examples/problems/straight.json");
    let json: Value = serde_json::from_slice(&assign(code, &["--straight-line", "--json"]).stdout).unwrap();
    assert_eq!((&json["ok"], &json["spaces"][1]["used"]), (&json!(true), &json!(33024)));
    let text = assign(code, &["--straight-line"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("op 2 leaves 'sum' in 'a'") && text.contains("33024 of 524288"), "{text}");
    let refused = assign(&code.replace("524288", "20000"), &["--straight-line"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("33024 of 20000") && said.contains("B71"), "{said}");
    let refused =
        assign(&code.replace("\"reads\": [\"x\"]", "\"reads\": [\"z\"]"), &["--straight-line", "--json"]);
    let json: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!((&json["ok"], &json["error"]["path"]), (&json!(false), &json!("ops[0].reads[0]")));
}

/// An option that there is not is refused by its name (B84).
#[test]
fn unknown_options_are_refused_b84() {
    let refused = assign(&with(&[("/options", json!({"sharing": "off", "recolor": true}))]), &[]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("unknown field `recolor`") && said.contains("recolour"), "{said}");
}

/// What the caller got wrong is refused with status 1, the rule, and nothing on standard output; as JSON it
/// is one object.
#[test]
fn bad_problems_are_refused_with_their_rule() {
    let max = json!(u64::MAX);
    let table: Vec<(&str, String, &str)> = vec![
        ("empty file", String::new(), "B4"),
        ("truncated", WORKED[..WORKED.len() / 2].to_owned(), "B4"),
        ("no object", "[1, 2".to_owned(), "B4"),
        ("a missing list", r#"{"name":"x","target":"sm_90a"}"#.to_owned(), "B4"),
        ("an unknown chip", with(&[("/target", json!("sm_1"))]), "B4"),
        ("sizes that overflow", with(&[("/values/0/shape", json!([max, max]))]), "B4"),
        ("a dimension of 0", with(&[("/values/0/shape", json!([64, 0]))]), "B4"),
        ("an alignment of 24", with(&[("/values/0/align", json!(24))]), "B4"),
        ("an alignment of 0", with(&[("/values/0/align", json!(0))]), "B4"),
        ("II 0", with(&[("/regions/0/ii", json!(0))]), "B4"),
        ("a cycle behind II", with(&[("/ops/0/cycle", json!(400))]), "B4"),
        ("a time that overflows", with(&[("/ops/0/latency", max)]), "B4"),
        ("a use before the data", with(&[("/ops/1/stage", json!(0))]), "B4"),
        ("a negative distance", with(&[("/values/0/consumers/0/distance", json!(-1))]), "B4"),
        ("a dangling op", with(&[("/values/0/producer/op", json!(99))]), "B4"),
        ("an id twice", with(&[("/values/1/id", json!(0))]), "B4"),
        ("a capacity of 0", with(&[("/options", json!({"smem_limit": 0}))]), "B47"),
        (
            "a view of itself",
            with(&[("/values/0/root", Value::Null), ("/values/0/view_of", json!(0))]),
            "B15",
        ),
    ];
    for (what, problem, rule) in table {
        let out = assign(&problem, &[]);
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{what}: {said}");
        assert!(out.stdout.is_empty() && said.contains(rule) && said.contains("error"), "{what}: {said}");
        let json = assign(&problem, &["--json"]);
        let answer: Value = serde_json::from_slice(&json.stdout).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!((json.status.code(), &answer["ok"]), (Some(1), &json!(false)), "{what}");
        assert!(answer["error"]["code"].as_str().is_some_and(|c| c.starts_with(rule)), "{what}: {answer}");
    }
}

/// No time at all still gives an answer, which says that it depends on the machine (B60).
#[test]
fn a_time_limit_of_0_is_answered() {
    let out = assign(WORKED, &["--time-limit", "0", "--json"]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
    let notes = answer["notes"].as_array().unwrap();
    assert!(notes.iter().any(|n| n["rule"] == "B60"), "{answer}");
}

/// Machines and nests that make no sense are refused at the field to mend.
#[test]
fn bad_machines_and_nests_are_refused_with_their_place() {
    const NPU: &str = include_str!("../../../examples/problems/npu.json");
    const NEST: &str = include_str!("../../../examples/problems/persistent.json");
    let changed = |text: &str, pointer: &str, value: Value| {
        let mut problem: Value = serde_json::from_str(text).unwrap();
        *problem.pointer_mut(pointer).unwrap() = value;
        problem.to_string()
    };
    let table: Vec<(&str, String, &str, &str)> = vec![
        (
            "a level that is no region",
            changed(NEST, "/regions/1/inside/region", json!(7)),
            "regions[id=1].inside.region",
            "right behind the loop around it",
        ),
        (
            "a level inside itself",
            changed(NEST, "/regions/1/inside/region", json!(1)),
            "regions[id=1].inside.region",
            "right behind the loop around it",
        ),
        (
            "a level outside its loop's II",
            changed(NEST, "/regions/1/inside/cycle", json!(4600)),
            "regions[id=1].inside.cycle",
            "below the II",
        ),
        ("no spaces", changed(NPU, "/target/spaces", json!([])), "target.spaces", "at least one space"),
        (
            "a space of no bytes",
            changed(NPU, "/target/spaces/1/bytes", json!(0)),
            "target.spaces[1].bytes",
            "from 1 to",
        ),
        (
            "roles without a barrier",
            changed(NPU, "/target/semaphores", json!(0)),
            "target.roles[0].signals",
            "no barrier can serve it",
        ),
    ];
    for (what, problem, path, why) in table {
        let out = assign(&problem, &[]);
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{what}: {said}");
        assert!(said.contains(why) && said.contains("instead:") && said.contains("-->"), "{what}: {said}");
        let answer: Value = serde_json::from_slice(&assign(&problem, &["--json"]).stdout).unwrap();
        assert_eq!((&answer["ok"], &answer["error"]["path"]), (&json!(false), &json!(path)), "{what}");
    }
}

/// Section 3 with 40,000 bytes: the advice says which ring could be one shorter, and at what II (B67).
#[test]
fn what_does_not_fit_comes_with_advice() {
    let out = assign(&with(&[("/options", json!({"smem_limit": 40000}))]), &["--json"]);
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
    let best = &answer["error"]["advice"][0];
    assert_eq!((&best["value"], &best["to"], &best["ii"]), (&json!(0), &json!(1), &json!(700)), "{answer}");
    assert_eq!((&best["saves"], &best["fits"]), (&json!(16384), &json!(true)), "{answer}");
}
