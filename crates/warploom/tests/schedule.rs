//! `warploom schedule` on bad input: every refusal names its rule's code and the node, edge or place at fault (S10,
//! S12), with status 1 and nothing on standard output.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]

use std::fs;
use std::io::Write;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Runs the command in a folder of its own with these files.
fn schedule(files: &[(&str, String)], args: &[&str]) -> Output {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_warploom"));
    command.arg("schedule").args(args).current_dir(folder.path()).output().unwrap()
}

/// Asserts a refusal whose message has all of these.
fn refused(output: &Output, wanted: &[&str]) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(output.stdout.is_empty(), "prints {}", String::from_utf8_lossy(&output.stdout));
    wanted.iter().for_each(|w| assert!(message.contains(w), "`{w}` is missing in: {message}"));
}

/// Two operations on a unit, one edge; `change` breaks it.
fn graph(change: impl FnOnce(&mut Value)) -> String {
    let mut graph = json!({
        "name": "g",
        "resources": [{"name": "U", "count": 1}],
        "nodes": [
            {"id": 0, "name": "a", "latency": 4, "uses": [{"resource": "U", "duration": 2}]},
            {"id": 1, "name": "b", "latency": 3, "uses": [{"resource": "U", "duration": 1}]},
        ],
        "edges": [{"src": 0, "dst": 1, "latency": 4, "distance": 0}],
    });
    change(&mut graph);
    graph.to_string()
}

fn push(list: &mut Value, item: Value) {
    list.as_array_mut().unwrap().push(item);
}

/// What breaks a loop, and what its refusal says.
type Breakage = (fn(&mut Value), &'static [&'static str]);

const BROKEN: [Breakage; 21] = [
    (|g| g["nodes"] = json!([]), &["EmptyGraph", "no operation", "at nodes"]),
    (|g| g["nodes"][1]["id"] = json!(0), &["NodeId", "node id 0 where 1 was expected", "at nodes[1]"]),
    (|g| g["edges"][0]["dst"] = json!(7), &["UnknownNode", "no node 7; the loop has 2", "at edges[0]"]),
    (
        |g| g["nodes"][1]["uses"][0]["resource"] = json!("X"),
        &["UnknownResource", "`X`", "at nodes[1].uses[0]"],
    ),
    (|g| g["nodes"][1]["uses"][0]["resource"] = json!([]), &["NoAlternative", "S103", "at nodes[1].uses[0]"]),
    (
        |g| g["nodes"][1]["uses"][0]["resource"] = json!(["U", "U"]),
        &["RepeatedAlternative", "`U`", "S103", "at nodes[1].uses[0]"],
    ),
    (
        |g| {
            push(&mut g["resources"], json!({"name": "V", "count": 2}));
            g["nodes"][1]["uses"][0]["resource"] = json!(["U", "V"]);
        },
        &["UnequalAlternatives", "`U` has 1 units and `V` 2", "S103", "at nodes[1].uses[0]"],
    ),
    (
        |g| g["nodes"][1]["uses"][0]["resource"] = json!(["U", "X"]),
        &["UnknownResource", "`X`", "at nodes[1].uses[0]"],
    ),
    (
        |g| push(&mut g["resources"], json!({"name": "U", "count": 2})),
        &["DuplicateResource", "`U`", "at resources[1]"],
    ),
    (|g| g["resources"][0]["count"] = json!(0), &["ZeroCount", "`U`", "at resources[0]"]),
    (|g| g["nodes"][0]["latency"] = json!(-1), &["NegativeLatency", "at nodes[0]"]),
    (|g| g["edges"][0]["distance"] = json!(-2), &["NegativeDistance", "distance -2", "at edges[0]"]),
    (
        |g| push(&mut g["edges"], json!({"src": 1, "dst": 0, "latency": 1, "distance": 0})),
        &["ZeroDistanceRecurrence", "0 -> 1 -> 0", "sum to 5"],
    ),
    (
        |g| g["edges"][0] = json!({"src": 1, "dst": 1, "latency": 3, "distance": 0}),
        &["ZeroDistanceRecurrence", "1 -> 1"],
    ),
    (
        |g| push(&mut g["nodes"][0]["uses"], json!({"resource": "U", "start": 1, "duration": 1})),
        &["SelfConflict", "need 2 units of `U`", "there are 1", "at nodes[0]"],
    ),
    (
        |g| g["nodes"][1]["uses"][0]["duration"] = json!(1_i64 << 31),
        &["TooLarge", "2147483648", "at nodes[1].uses[0]"],
    ),
    (|g| g["edges"][0]["distance"] = json!((1 << 20) + 1), &["TooLarge", "1048577", "at edges[0]"]),
    (
        |g| g["values"] = json!([{"id": 0, "name": "v", "def": 0, "bytes": 16, "space": "smem", "uses": []}]),
        &["ValueWithoutUse", "at values[0]"],
    ),
    (
        |g| {
            g["values"] = json!([{"id": 0, "name": "v", "def": 0, "bytes": 0, "space": "smem",
                "uses": [{"node": 1, "distance": 0, "end": 1}]}]);
        },
        &["ValueBytes", "at values[0]"],
    ),
    (
        |g| {
            g["values"] = json!([{"id": 0, "name": "v", "def": 0, "bytes": 8, "space": "smem",
                "uses": [{"node": 9, "distance": 0, "end": 1}]}]);
        },
        &["UnknownNode", "no node 9", "values[0]"],
    ),
    (
        |g| {
            g["values"] = json!([{"id": 0, "name": "v", "def": 0, "bytes": 8, "space": "smem",
                "min_depth": 3, "max_depth": 2, "uses": [{"node": 1, "distance": 0, "end": 1}]}]);
        },
        &["ValueDepth", "max_depth 2 is below 3", "at values[0]"],
    ),
];

#[test]
fn the_unbroken_loop_is_scheduled() {
    let output = schedule(&[("g.json", graph(|_| ()))], &["g.json", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn every_validation_error_names_its_place() {
    for (change, wanted) in BROKEN {
        refused(&schedule(&[("g.json", graph(change))], &["g.json"]), wanted);
    }
}

#[test]
fn a_bad_graph_is_not_checked_against_either() {
    let times = json!({"ii": 3, "nodes": [{"id": 0, "time": 0}, {"id": 1, "time": 5}]}).to_string();
    for (change, wanted) in BROKEN {
        let files = [("g.json", graph(change)), ("s.json", times.clone())];
        refused(&schedule(&files, &["--check", "g.json", "s.json"]), wanted);
    }
}

/// Texts that are no loop graph, and where the reader stops.
const UNREADABLE: [(&str, &[&str]); 8] = [
    ("", &["g.json:1:1\n", "EOF"]),
    ("   \n\n", &["EOF"]),
    (r#"{"name":"g","resources":[],"nodes":[{"id":0,"#, &["g.json:1:45\n", "nodes[0]"]),
    (r#"{"nodes":[{"id":0,"latency":NaN,"uses":[]}],"edges":[]}"#, &["g.json:1:29\n", "nodes[0].latency"]),
    (
        r#"{"nodes":[{"id":0,"latency":1.5,"uses":[]}],"edges":[]}"#,
        &["g.json:1:29\n", "nodes[0].latency", "1.5"],
    ),
    (r#"{"nodes":[{"id":0,"latency":99999999999999999999,"uses":[]}],"edges":[]}"#, &["nodes[0].latency"]),
    (r#"{"nodes":[{"id":0,"latency":"one","uses":[]}],"edges":[]}"#, &["nodes[0].latency", "one"]),
    ("\u{1f}\u{8b} no gzip", &["g.json:1:1\n"]),
];

#[test]
fn what_cannot_be_read_is_refused_with_line_column_and_path() {
    for (text, wanted) in UNREADABLE {
        let output = schedule(&[("g.json", text.to_owned())], &["g.json"]);
        refused(&output, &[&["g.json"], wanted].concat());
    }
}

#[test]
fn a_bad_line_leaves_the_other_loops_alone() {
    let bad = graph(|g| g["edges"][0]["src"] = json!(5));
    let lines = format!("{}\n{{\"name\":\n\n{bad}\n{}\n", graph(|_| ()), graph(|_| ()));
    let output = schedule(&[("all.jsonl", lines)], &["all.jsonl", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let records: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let kinds: Vec<bool> = records.iter().map(|r| r.get("error").is_some()).collect();
    assert_eq!(kinds, [false, true, true, false], "{text}");
    assert_eq!(records[2]["error"]["code"], "UnknownNode");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("all.jsonl:2:9\n") && message.contains("all.jsonl:4:"), "{message}");
}

/// Of an archive the unpacked text is shown, of a damaged one nothing; of what is no UTF-8 the first wrong byte.
#[test]
fn archives_and_garbled_texts_are_shown_as_far_as_they_are_text() {
    let run = |bytes: &[u8]| {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("g"), bytes).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_warploom"));
        command.args(["schedule", "g"]).current_dir(folder.path()).output().unwrap()
    };
    let bad = graph(|g| g["nodes"][1]["latency"] = json!(-1));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(format!("\n\n{bad}\n").as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let shown = format!(" --> g:3:{}\n", 1 + bad.find("-1").unwrap());
    refused(&run(&packed), &["error[NegativeLatency]: latency -1", &shown, "\"latency\":-1", "(at nodes[1]"]);
    refused(
        &run(&packed[..packed.len() / 2]),
        &["error[Read]: damaged gzip archive", " --> g\n", "rule: S10"],
    );
    refused(&run(b"{\n \xff}"), &["error[Read]: not UTF-8 text", " --> g:2:2\n"]);
}

#[test]
fn schedules_that_cannot_be_read_are_refused_by_name() {
    let texts = ["", r#"{"ii":3,"nodes":[{"id":0,"#, r#"{"ii":NaN,"nodes":[]}"#, r#"{"ii":2.5,"nodes":[]}"#];
    for text in texts {
        let files = [("g.json", graph(|_| ())), ("s.json", text.to_owned())];
        refused(&schedule(&files, &["--check", "g.json", "s.json"]), &["s.json:1:"]);
    }
    refused(&schedule(&[("g.json", graph(|_| ()))], &["--check", "g.json", "none.json"]), &["none.json"]);
}

#[test]
fn a_verdict_names_each_broken_edge_and_resource() {
    let cases: [(Value, &[&str]); 6] = [
        (json!({"ii": 3, "nodes": [{"id": 0, "time": 0}, {"id": 1, "time": 2}]}), &["S73", "edge 0"]),
        (json!({"ii": 4, "nodes": [{"id": 0, "time": 0}, {"id": 1, "time": 5}]}), &["S74", "U"]),
        (json!({"ii": 0, "nodes": [{"id": 0, "time": 0}, {"id": 1, "time": 5}]}), &["S72", "II 0"]),
        (json!({"ii": 3, "nodes": [{"id": 0, "time": 0}]}), &["S72", "node 1"]),
        (json!({"ii": 3, "nodes": [{"id": 0, "time": 0}, {"id": 8, "time": 5}]}), &["S72", "node 8"]),
        (json!({"ii": 1, "nodes": [{"id": 0, "time": 0}, {"id": 1, "time": 5}]}), &["S74", "U"]),
    ];
    for (times, wanted) in cases {
        let files = [("g.json", graph(|_| ())), ("s.json", times.to_string())];
        let output = schedule(&files, &["--check", "g.json", "s.json"]);
        let verdict = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{times}: {verdict}");
        wanted.iter().for_each(|w| assert!(verdict.contains(w), "{times}: `{w}` is missing in: {verdict}"));
    }
}

#[test]
fn a_million_edges_between_two_nodes_are_scheduled() {
    let edge = json!({"src": 0, "dst": 1, "latency": 4, "distance": 0});
    let text = graph(|g| g["edges"] = Value::Array(vec![edge; 1_000_000]));
    let output = schedule(&[("g.json", text)], &["g.json", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["ii"], &answer["length"]), (&json!(3), &json!(8)));
}

#[test]
fn a_time_limit_of_zero_still_gives_a_schedule_and_says_why_it_stopped() {
    let output = schedule(&[("g.json", graph(|_| ()))], &["g.json", "--json", "--time-limit", "0"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["stopped_by"], "time");
    assert!(answer["ii"].as_i64() >= Some(3));
    // Not a time at all: a wrong command line.
    for limit in ["-1", "NaN", "soon", "inf"] {
        let output = schedule(&[("g.json", graph(|_| ()))], &["g.json", &format!("--time-limit={limit}")]);
        assert_eq!(output.status.code(), Some(2), "{limit}");
    }
}

/// Several iterations at once, a schedule to begin with, a machine, threads: told, and the same bytes for any number of
/// threads (S97, S101, S105).
#[test]
fn more_than_one_loop_and_one_iteration() {
    let half =
        r#"{"name":"half","resources":[{"name":"U","count":2}],"nodes":[{"id":0,"name":"v","latency":5,
        "uses":[{"resource":"U","duration":3}]}],"edges":[{"src":0,"dst":0,"distance":2}]}"#
            .replace('\n', "");
    let text = |args: &[&str], files: &[(&str, String)]| {
        let output = schedule(files, args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let one = [("g.json", half.clone())];
    assert!(
        text(&["g.json", "--unroll", "auto"], &one).contains("5 cycles for 2 iterations; no factor up to 8")
    );
    let answer: Value = serde_json::from_str(&text(&["g.json", "--unroll", "4", "--json"], &one)).unwrap();
    assert_eq!((&answer["factor"], &answer["lower_bound"]), (&json!(2), &json!([5, 2])));
    refused(&schedule(&one, &["g.json", "--unroll", "0"]), &["BadOption", "unroll", "between 1 and 64"]);
    assert!(text(&["g.json", "--explain"], &one).contains("II 2 is refuted by these, and no fewer of them"));

    let start = |ii: i64| ("s.json", json!({"ii": ii, "nodes": [{"id": 0, "time": 0}]}).to_string());
    let with = [one[0].clone(), start(3)];
    assert!(!text(&["g.json", "--start", "s.json"], &with).contains("not used"));
    let with = [one[0].clone(), start(2)];
    assert!(text(&["g.json", "--start", "s.json"], &with).contains("not used: Dependence (S73): edge 0"));

    let machine = [one[0].clone(), ("m.json", r#"{"max_partitions":2}"#.to_owned())];
    assert!(text(&["g.json", "--partitions", "m.json", "--json"], &machine).contains("\"split\""));
    refused(&schedule(&machine[..1], &["g.json", "--partitions", "g.json", "--start", "none"]), &["none"]);

    let lines = [("all.jsonl", format!("{half}\n").repeat(20))];
    let timeless = |threads: &str| {
        let lines = text(&["all.jsonl", "--json", "--threads", threads], &lines);
        let without = |line: &str| {
            let mut answer: Value = serde_json::from_str(line).unwrap();
            answer["micros"] = json!(0);
            answer.to_string()
        };
        lines.lines().map(without).collect::<Vec<String>>()
    };
    let alone = timeless("1");
    assert_eq!((alone.len(), &alone), (20, &timeless("7")));
}

/// One operation issues for longer than the largest II allowed: no partition's stream holds it (S97).
#[test]
fn streams_that_hold_no_operation_are_told() {
    let files =
        [("g.json", graph(|g| g["nodes"][1]["issue_latency"] = json!(9))), ("m.json", "{}".to_owned())];
    let asked = ["g.json", "--partitions", "m.json"];
    refused(
        &schedule(&files, &[&asked[..], &["--max-ii", "8"]].concat()),
        &["error[Infeasible]", "no schedule exists up to II 8", "S42", "raise max_ii"],
    );
    let output = schedule(&files, &[&asked[..], &["--json"]].concat());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["ii"], &answer["optimal"]), (&json!(9), &json!(true)));
}

/// A product inside a loop over tiles, as a file of two loops.
fn nest(change: impl FnOnce(&mut Value)) -> String {
    let inner = json!({
        "name": "k", "resources": [{"name": "TC", "count": 1}],
        "nodes": [{"id": 0, "latency": 20, "uses": [{"resource": "TC", "duration": 8}]}], "edges": [],
    });
    let mut outer = json!({
        "name": "tiles", "resources": [{"name": "TC", "count": 1}, {"name": "ALU", "count": 1}],
        "nodes": [
            {"id": 0, "latency": 0, "inner": {"loop": "k", "trips": 4, "or_more": true}},
            {"id": 1, "latency": 5, "uses": [{"resource": "ALU", "duration": 5}]},
        ],
        "edges": [{"src": 0, "dst": 1}],
    });
    change(&mut outer);
    format!("{inner}\n{outer}\n")
}

#[test]
fn loops_around_loops_are_scheduled() {
    let file = || [("l.jsonl", nest(|_| ()))];
    let out = schedule(&file(), &["l.jsonl", "--json"]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8_lossy(&out.stdout);
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    // Three times 8 cycles, then 20.
    assert_eq!((&lines[0]["ii"], &lines[1]["ii"]), (&json!(8), &json!(44)));
    assert_eq!(lines[1]["inner"][0]["run"], json!(44));
    assert_eq!(lines[1]["nodes"][1]["time"], json!(44));
    let shown = schedule(&file(), &["l.jsonl", "--explain"]);
    let text = String::from_utf8_lossy(&shown.stdout);
    assert!(
        text.contains("node 0: 4 iterations of k every 8 cycles, 44 in all; each iteration more adds 8"),
        "{text}"
    );
}

#[test]
fn loops_that_do_not_exist_are_refused() {
    let refusal = |change: fn(&mut Value), args: &[&str]| {
        let out = schedule(&[("l.jsonl", nest(change))], &[&["l.jsonl"], args].concat());
        assert_eq!(out.status.code(), Some(1));
        String::from_utf8_lossy(&out.stderr).into_owned()
    };
    let unknown = refusal(|g| g["nodes"][0]["inner"]["loop"] = json!("m"), &[]);
    assert!(unknown.contains("UnknownLoop") && unknown.contains("there is no loop `m`"), "{unknown}");
    assert!(refusal(|g| g["nodes"][0]["inner"]["loop"] = json!("tiles"), &[]).contains("LoopInItself"));
    assert!(refusal(|g| g["nodes"][0]["inner"]["trips"] = json!(0), &[]).contains("NoTrip"));
    assert!(refusal(|g| g["while"] = json!({"node": 9}), &[]).contains("UnknownNode"));
    assert!(refusal(|_| (), &["--unroll", "2"]).contains("schedule the inner loop alone"));
    assert!(refusal(|_| (), &["--budget", "smem=4"]).contains("schedule the inner loop alone"));
}

#[test]
fn the_ii_is_shown_against_bytes() {
    let mut file: Value = serde_json::from_str(&graph(|_| ())).unwrap();
    file["values"] =
        json!([{"id": 0, "def": 0, "bytes": 8, "space": "smem", "uses": [{"node": 1, "end": 3}]}]);
    let out =
        schedule(&[("g.json", file.to_string())], &["g.json", "--pareto", "--json", "--time-limit", "0"]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let told: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(told["pareto"][0]["points"].as_array().unwrap().last().unwrap()["bytes"], json!(8));
    let shown = schedule(&[("g.json", file.to_string())], &["g.json", "--pareto"]);
    let text = String::from_utf8_lossy(&shown.stdout);
    assert!(text.contains("II against bytes of smem") && text.contains("8 bytes: II 7"), "{text}");
}
