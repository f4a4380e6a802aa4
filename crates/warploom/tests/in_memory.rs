//! The command as a function: nothing is printed, and a refusal has the fields of its diagnostics.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use warploom::cli::{Answer, answer};

const PACK: &str = "id,lower,upper,size\na,0,2,64\nb,1,3,64\n";

fn run(line: &[&str], input: &str) -> Answer {
    answer(line.iter().map(|&word| word.to_owned()), input.into())
}

#[test]
fn an_answer_is_what_the_command_would_print() {
    let packed = run(&["pack", "-", "--json", "--capacity", "128"], PACK);
    assert_eq!((packed.status, packed.diagnostics.len()), (0, 0));
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&packed.output).unwrap()["Fits"]["peak"], 128);
    let help = run(&["--help"], "");
    assert!(help.status == 0 && String::from_utf8(help.output).unwrap().contains("warploom compile"));
}

#[test]
fn a_refusal_says_where() {
    let refused = run(&["pack", "-", "--json"], &PACK.replace("b,1", "b,one"));
    assert_eq!((refused.status, refused.output.len()), (1, 0));
    let reason = &refused.diagnostics[0];
    assert_eq!((&reason["code"], &reason["rule"]), (&"csv".into(), &"B61".into()));
    assert_eq!((&reason["line"], &reason["column"]), (&3.into(), &3.into()), "{reason}");
}

#[test]
fn wrong_usage_is_status_2() {
    for line in
        [&["pack", "-", "--no-such-flag"][..], &["no-such-command"], &["targets", "--time-limit", "1"]]
    {
        let refused = run(line, PACK);
        assert_eq!((refused.status, refused.diagnostics.len()), (2, 1), "{line:?}");
    }
}
