//! The loop graphs of the reference kernels, and what is proven of them (S41, S92-S94).
//!
//! `fixtures/loops/kernels.CHIP.jsonl` keeps the graphs with their least II and least length, in the format of the
//! scheduler's loop files. The tests make them again from the kernels, where those are at hand, and prove them again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use warploom_pipeline::loops::{GraphOptions, PipelinedLoop, loop_graphs};
use warploom_sched::{Algorithm, Answer, LoopGraph, Options, check, read_graph, schedule, validate};
use warploom_target::Target;

const CHIPS: [&str; 2] = ["sm_90a", "sm_100a"];

/// Products, attention, soft-max, layer norms: the kernels whose loops are kept.
const KERNELS: [&str; 14] = [
    "gemm_bf16",
    "gemm_bf16_64",
    "gemm_fp8",
    "gemm_tf32",
    "gemm_persistent",
    "split_k",
    "if_in_loop",
    "attention",
    "attention_64",
    "attention_causal",
    "attention_ragged",
    "softmax_online",
    "layernorm",
    "layernorm_rows",
];

fn fixture(chip: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/loops/kernels.{chip}.jsonl"))
}

fn exact(graph: &LoopGraph) -> Answer {
    let valid = validate(graph).unwrap_or_else(|e| panic!("{}: {e:?}", graph.name));
    let answer = schedule(&valid, &Options::default().algorithm(Algorithm::Exact)).expect(&graph.name);
    check::all(graph, &answer).unwrap_or_else(|v| panic!("{}: {v:?}", graph.name));
    answer
}

/// The graphs of all kernels of a chip; `None` where the reference folder is absent.
fn made(chip: &str) -> Option<Vec<(String, PipelinedLoop)>> {
    let target = Target::named(chip).unwrap();
    let mut all = Vec::new();
    for name in KERNELS {
        let text = common::reference_kernel(name)?;
        let module = warploom_ir::parse(&text).unwrap();
        let graphs = loop_graphs(&module, None, &target, GraphOptions::default()).unwrap();
        all.extend(graphs.into_iter().map(|g| (name.to_owned(), g)));
    }
    Some(all)
}

fn line(chip: &str, kernel: &str, made: &PipelinedLoop) -> String {
    let Value::Object(graph) = serde_json::to_value(&made.graph).unwrap() else { panic!("an object") };
    let number = made.graph.name.rsplit('/').next().unwrap_or_default();
    let mut object = Map::new();
    object.insert("name".into(), json!(format!("{kernel}/{chip}/{number}")));
    object.insert("suite".into(), json!(format!("kernels.{chip}")));
    object
        .insert("source".into(), json!(format!("loop graph of {kernel}.ttir under the shipped cost model")));
    object.insert("license".into(), json!("the project's own"));
    object.extend(graph.into_iter().filter(|(key, _)| key != "name"));
    let answer = exact(&made.graph);
    assert!(answer.optimal, "{kernel}: II {} is not proven", answer.ii);
    object.insert(
        "reference".into(),
        json!({
            "mii": answer.mii, "res_mii": answer.res_mii, "rec_mii": answer.rec_mii,
            "best_ii": answer.ii, "best_ii_proven_optimal": answer.optimal,
            "min_length_at_best_ii": answer.length, "min_length_proven": answer.length_optimal,
        }),
    );
    Value::Object(object).to_string()
}

/// Writes the fixtures: `cargo test -p warploom-pipeline --test loops -- --ignored write`.
#[test]
#[ignore = "writes the fixtures"]
fn write() {
    for chip in CHIPS {
        let Some(all) = made(chip) else { return };
        let lines: Vec<String> = all.iter().map(|(kernel, graph)| line(chip, kernel, graph)).collect();
        let path = fixture(chip);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, lines.join("\n") + "\n").unwrap();
    }
}

/// What stands in the files is what the kernels give today, under the cost model of today.
#[test]
fn the_fixtures_are_the_kernels_loops() {
    for chip in CHIPS {
        let Some(all) = made(chip) else { return };
        let text = std::fs::read_to_string(fixture(chip)).unwrap();
        assert_eq!(text.lines().count(), all.len());
        for (line, (kernel, made)) in text.lines().zip(&all) {
            let mut kept = read_graph(line).unwrap();
            kept.name.clone_from(&made.graph.name);
            assert_eq!(kept, made.graph, "{kernel} on {chip}: write the fixtures again");
        }
    }
}

/// The recorded II and lengths are proved again by the exact search, whose schedules pass the checker.
#[test]
fn s41_least_ii_and_length_are_proved_again() {
    for chip in CHIPS {
        let text = std::fs::read_to_string(fixture(chip)).unwrap();
        for line in text.lines() {
            let graph = read_graph(line).unwrap();
            let reference: Value = serde_json::from_str::<Value>(line).unwrap()["reference"].clone();
            let answer = exact(&graph);
            assert!(answer.optimal, "{}", graph.name);
            assert_eq!(reference["best_ii"], answer.ii, "{}", graph.name);
            assert_eq!(reference["mii"], answer.mii, "{}", graph.name);
            if answer.length_optimal {
                assert_eq!(reference["min_length_at_best_ii"], answer.length, "{}", graph.name);
            }
            assert_eq!(reference["min_length_proven"], answer.length_optimal, "{}", graph.name);
        }
    }
}
