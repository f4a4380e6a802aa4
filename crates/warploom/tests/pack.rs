//! `warploom pack` as a user meets it: CSV in any column order, and files that are refused with a line.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use std::process::Output;

use common::piped;

fn pack(csv: &str, flags: &[&str]) -> Output {
    piped(&[&["pack", "-"], flags].concat(), csv.as_bytes())
}

fn err(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// The example of MiniMalloc's own page: 12 bytes are the optimum.
#[test]
fn columns_may_come_in_any_order() {
    let plain = "id,lower,upper,size\n1,0,3,4\n2,3,9,4\n3,0,9,4\n4,9,21,4\n5,0,21,4\n";
    let turned = "size,end,buffer,begin\n4,2,1,0\n4,8,2,3\n4,8,3,0\n4,20,4,9\n4,20,5,0\n";
    for csv in [plain, turned] {
        let out = pack(csv, &["--capacity", "12"]);
        assert_eq!(out.status.code(), Some(0), "{}", err(&out));
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let header = csv.lines().next().unwrap();
        assert!(text.starts_with(&format!("{header},offset\n")) && text.lines().count() == 6, "{text}");
        assert!(err(&out).contains("peak 12") && err(&out).contains("optimal"), "{}", err(&out));
    }
}

#[test]
fn a_proof_and_giving_up_are_told_apart() {
    let csv = "id,lower,upper,size\na,0,2,10\nb,1,3,10\n";
    let out = pack(csv, &["--capacity", "19"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(err(&out).contains("infeasible, proved") && err(&out).contains("a, b"), "{}", err(&out));
    // Greedy misses 16 here; without nodes the search may not look for it.
    let hard =
        "id,lower,upper,size,alignment\n0,3,5,6,2\n1,2,7,6,2\n2,4,5,4,4\n3,0,3,8,4\n4,5,7,2,2\n5,5,10,1,1\n";
    assert_eq!(pack(hard, &["--capacity", "16"]).status.code(), Some(0));
    let proved = pack(hard, &["--capacity", "15"]);
    assert!(proved.status.code() == Some(1) && err(&proved).contains("proved"), "{}", err(&proved));
}

/// Bad files: status 1, the line, the column where one is at fault, and nothing on standard output.
#[test]
fn bad_files_are_refused_with_their_line() {
    let head = "id,lower,upper,size\n";
    let table: &[(&str, String, &[&str])] = &[
        ("empty", String::new(), &["<stdin>:1:1\n", "header"]),
        ("no size", "id,lower,upper\n1,0,2\n".into(), &["'size'", "missing"]),
        ("no end", "id,lower,size\n1,0,2\n".into(), &["'upper'", "missing"]),
        ("both ends", "id,lower,upper,end,size\n1,0,2,1,4\n".into(), &["upper", "end", "not both"]),
        ("a column twice", "id,id,lower,upper,size\n".into(), &["'id'", "twice"]),
        ("an unknown column", "id,lower,upper,size,colour\n".into(), &["'colour'"]),
        ("too few fields", format!("{head}1,0,2\n"), &["<stdin>:2:", "3 fields"]),
        ("an empty field", format!("{head}1,0,2,\n"), &["<stdin>:2:", "'size'", "empty"]),
        ("no number", format!("{head}1,0,2,4\n2,0,x,4\n"), &["<stdin>:3:", "'upper'"]),
        ("an id twice", format!("{head}1,0,2,4\n1,0,2,4\n"), &["<stdin>:3:", "'1'", "twice"]),
        ("ends before it starts", format!("{head}1,5,2,4\n"), &["<stdin>:2:", "ends at 2"]),
        ("a size out of range", format!("{head}1,0,2,18446744073709551616\n"), &["<stdin>:2:", "'size'"]),
        (
            "sizes that overflow",
            format!("{head}\n1,0,2,{n}\n\n2,0,2,{n}\n", n = 1u64 << 59),
            &["<stdin>:5:", "overflow"],
        ),
        (
            "an alignment of 0",
            "id,lower,upper,size,alignment\n1,0,2,4,0\n".into(),
            &["<stdin>:2:", "'alignment'"],
        ),
        (
            "an unaligned offset",
            "id,lower,upper,size,alignment,offset\n1,0,2,4,8,4\n".into(),
            &["<stdin>:2:", "not aligned"],
        ),
        ("a gap outside", "id,lower,upper,size,gaps\n1,0,5,4,4-9\n".into(), &["<stdin>:2:", "'gaps'"]),
    ];
    for (what, csv, wanted) in table {
        let out = pack(csv, &[]);
        assert_eq!(out.status.code(), Some(1), "{what}: {}", err(&out));
        assert!(out.stdout.is_empty(), "{what}");
        for word in *wanted {
            assert!(err(&out).contains(word), "{what}: '{word}' in {}", err(&out));
        }
    }
    let out = pack("id,lower,upper,size\n1,0,2,4\n", &["--capacity", "0"]);
    assert!(out.status.code() == Some(1) && err(&out).contains("capacity is 0"), "{}", err(&out));
}

/// No time at all still gives a plan, and says that it depends on the machine (B85).
#[test]
fn a_time_limit_of_0_is_answered() {
    let csv = "id,lower,upper,size\n1,0,3,4\n2,1,3,4\n3,3,9,8\n";
    let out = pack(csv, &["--time-limit", "0", "--json"]);
    assert_eq!(out.status.code(), Some(0), "{}", err(&out));
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(answer["deterministic"], false, "{answer}");
    assert!(answer["Fits"]["peak"].as_u64().is_some_and(|peak| peak >= 8), "{answer}");
}

/// Zero bytes take nothing; alignments need be no power of two.
#[test]
fn odd_but_legal_files_fit() {
    let out = pack("id,lower,upper,size,alignment\n1,0,2,0,1\n2,0,2,5,3\n3,0,2,7,6\n", &[]);
    assert_eq!(out.status.code(), Some(0), "{}", err(&out));
    assert!(err(&out).contains("peak 13"), "{}", err(&out));
    assert_eq!(pack("id,lower,upper,size\n", &["--capacity", "1"]).status.code(), Some(0));
}

#[test]
fn a_time_limit_makes_the_answer_depend_on_the_machine() {
    for limit in ["-1", "soon", "inf"] {
        assert_eq!(pack("", &["--time-limit", limit]).status.code(), Some(2), "{limit}");
    }
    let csv = "id,lower,upper,size\n1,0,3,4\n2,0,3,4\n";
    let out = pack(csv, &["--time-limit", "1000", "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(0));
    // It was not reached, so nothing depended on it.
    assert_eq!(answer.get("deterministic"), None, "{answer}");
    // A hard instance of some 400 buffers and a limit that has passed when the search begins.
    let mut hard = String::from("id,lower,upper,size\n");
    let mut x = 1u64;
    for id in 0..400 {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (from, size) = ((x >> 33) % 300, 1 + (x >> 45) % 1000);
        hard += &format!("{id},{from},{},{size}\n", from + 1 + (x >> 50) % 60);
    }
    let out = pack(&hard, &["--time-limit", "0.000001", "--nodes", "100000000000", "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(answer["deterministic"], false, "{}", String::from_utf8_lossy(&out.stdout));
}
