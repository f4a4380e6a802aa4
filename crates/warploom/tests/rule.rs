//! `warploom rule`, and the last line of errors that cite one.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use common::piped;
use serde_json::Value;

fn said(args: &[&str], stdin: &str) -> (i32, String, String) {
    let output = piped(args, stdin.as_bytes());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("a status"), text(output.stdout), text(output.stderr))
}

#[test]
fn a_rule_is_printed_with_its_four_parts() {
    for code in ["C31", "c31"] {
        let (status, out, err) = said(&["rule", code], "");
        assert_eq!((status, err.as_str()), (0, ""));
        for part in [
            "C31 Registers\n",
            "setmaxnreg",
            "\nsource: ",
            "\nchecked by: ",
            "\nerror: ",
            "docs/rules/C.md#C31",
        ] {
            assert!(out.contains(part), "{part} in {out}");
        }
    }
    let (_, finding, _) = said(&["rule", "A01"], "");
    let (_, storage, _) = said(&["rule", "A1"], "");
    assert!(finding.starts_with("A01 Out of bounds") && storage.starts_with("A1 "), "{finding}{storage}");
}

#[test]
fn rules_are_listed_by_page() {
    let (status, all, _) = said(&["rule"], "");
    assert_eq!(status, 0);
    for line in ["  S1    Loop graph\n", "  HB13  Unpin keeps the type\n", "  R01   Race on shared memory\n"]
    {
        assert!(all.contains(line), "{line} in {all}");
    }
    let (_, one, _) = said(&["rule", "l"], "");
    assert_eq!(one.lines().count(), 17, "{one}");
}

#[test]
fn an_unknown_rule_is_refused_with_the_nearest() {
    let (status, out, err) = said(&["rule", "c94"], "");
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(err.starts_with("error[rule]: there is no rule `c94`\nnearest: C93 "), "{err}");
    let (status, out, _) = said(&["rule", "X99", "--json"], "");
    let answer: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((status, &answer["ok"], &answer["nearest"][0]), (1, &Value::Bool(false), &"X01".into()));
    for odd in ["", "31", "rule", "Ж7", "S99999999999999999999999"] {
        assert_eq!(said(&["rule", "--", odd], "").0, 1, "{odd}");
    }
}

#[test]
fn a_rule_is_one_json_value() {
    let (status, out, _) = said(&["rule", "S74", "--json"], "");
    let rule: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((status, rule["code"].as_str(), rule["page"].as_str()), (0, Some("S74"), Some("S")));
    assert!(["title", "statement", "source", "checked_by", "error"].iter().all(|k| rule[k].is_string()));
    let (_, out, _) = said(&["rule", "--json"], "");
    let all: Value = serde_json::from_str(&out).expect("JSON");
    assert!(all.as_array().is_some_and(|list| list.len() > 600));
}

#[test]
fn errors_end_with_how_to_look_up_their_rule() {
    let graph = r#"{"name":"g","resources":[],"nodes":[{"id":3,"latency":1}],"edges":[]}"#;
    let alias = "tlx.storage_alias_spec\n";
    let cases: [(&[&str], &str); 5] = [
        (&["schedule", "-"], graph),
        (&["assign", "-"], "{\"name\":1}"),
        (&["alias", "-"], alias),
        (&["ptx", "-"], "int main() { return 0; }"),
        (&["compile", "-", "--target", "sm_90a"], "tt.func @f(%a: tensor<3xf32>) { tt.return }"),
    ];
    for (args, input) in cases {
        let (status, _, err) = said(args, input);
        let last = err.lines().last().unwrap_or_default().trim_start();
        let code = last.strip_prefix("rule: ").and_then(|l| l.split(' ').next()).unwrap_or_default();
        assert_eq!(
            (status, last.ends_with(&format!("(warploom rule {code})"))),
            (1, true),
            "{args:?}: {err}"
        );
        assert_eq!(said(&["rule", code], "").0, 0, "{code}");
    }
}
