//! The loops of the kernels, and what is proven of them (S41, S92-S94).
//!
//! `fixtures/loops/kernels.CHIP.jsonl` keeps the loop graphs of every kernel of `bench/kernels.toml`, each as it is
//! compiled for that chip, or, where the kernel is refused, as `loop_graphs` gives it. Kernels with equal loops share a
//! line. With each stands its least II and least length under the shipped cost model, in the format of the scheduler's
//! loop files. The tests make the loops again from the kernels, where those are at hand, and prove the figures again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use warploom_chips::Target;
use warploom_ir::Module;
use warploom_pipeline::loops::{GraphOptions, loop_graphs};
use warploom_pipeline::{CompileOptions, Resumed, ScheduledLoop, resume};
use warploom_sched::{Algorithm, Answer, LoopGraph, Objective, check, read_graph, schedule, validate};

/// One chip of each family.
const CHIPS: [&str; 4] = ["sm_80", "sm_90a", "sm_100a", "sm_120a"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn fixture(chip: &str) -> PathBuf {
    root().join(format!("crates/pipeline/tests/fixtures/loops/kernels.{chip}.jsonl"))
}

/// The kernels of the table, in order of their names.
fn kernels() -> Vec<(String, Module)> {
    let table = std::fs::read_to_string(root().join("bench/kernels.toml")).unwrap();
    let table: BTreeMap<String, toml::Value> = toml::from_str(&table).unwrap();
    let read = |(name, kernel): (&String, &toml::Value)| {
        let text = match kernel.get("file") {
            Some(file) => std::fs::read_to_string(root().join(file.as_str().unwrap())).unwrap(),
            None => common::kernel(name),
        };
        (name.clone(), warploom_ir::parse(&text).unwrap())
    };
    table.iter().map(read).collect()
}

/// The loops of a kernel with the answers that its program is made of; no answers where the kernel is refused.
fn compiled(module: &Module, target: &Target) -> Vec<(LoopGraph, Option<Answer>)> {
    match resume(module, target, &CompileOptions::default()) {
        Ok(Resumed::Compiled(compiled)) => {
            // Of replicas, the loop of one partition that has all rows is kept: theirs is never slower.
            let whole = |l: ScheduledLoop| match l.together {
                Some(together) => {
                    assert!(l.answer.ii < together.answer.ii, "{}", l.pipelined.graph.name);
                    check::all(&l.pipelined.graph, &l.answer).unwrap();
                    *together
                }
                None => l,
            };
            compiled.loops.into_iter().map(whole).map(|l| (l.pipelined.graph, Some(l.answer))).collect()
        }
        Ok(_) => Vec::new(),
        Err(_) => {
            let graphs = loop_graphs(module, None, target, GraphOptions::default()).unwrap_or_default();
            graphs.into_iter().map(|l| (l.graph, None)).collect()
        }
    }
}

/// A loop of a chip: its graph under the name of the first kernel that has it, and all kernels that do.
struct Made {
    graph: LoopGraph,
    kernels: Vec<String>,
}

/// Operations of a loop of which the exact search proves the least II within seconds. Sorts have more.
const MOST: usize = 64;

/// Operations of a loop of which programs have the least length, not only one within a hundredth of it.
const EASY: usize = 24;

/// Operations of a loop whose least length it proves within seconds; of larger ones the least II alone is asked for.
const LARGE: usize = 34;

/// The loops of all kernels on a chip that are not too large, equal ones once.
fn made(kernels: &[(String, Module)], chip: &str) -> Vec<Made> {
    let target = Target::named(chip).unwrap();
    let mut all: Vec<Made> = Vec::new();
    for (name, module) in kernels {
        for (number, (mut graph, _)) in compiled(module, &target).into_iter().enumerate() {
            let kernel = format!("{name}/loop{number}");
            graph.name.clear();
            if graph.nodes.len() > MOST {
                continue;
            }
            match all.iter_mut().find(|m| m.graph == graph) {
                Some(known) => known.kernels.push(kernel),
                None => all.push(Made { graph, kernels: vec![kernel] }),
            }
        }
    }
    all
}

/// What the exact search proves of a loop, whose schedule passes the checker.
fn exact(graph: &LoopGraph) -> Answer {
    let valid = validate(graph).unwrap_or_else(|e| panic!("{}: {e:?}", graph.name));
    let options = warploom_sched::ScheduleOptions::default().algorithm(Algorithm::Exact);
    let large = graph.nodes.len() > LARGE;
    let options = if large { options.objective(Objective::Interval) } else { options };
    let answer = schedule(&valid, &options).expect(&graph.name);
    check::all(graph, &answer).unwrap_or_else(|v| panic!("{}: {v:?}", graph.name));
    answer
}

fn line(chip: &str, made: &Made) -> String {
    let Value::Object(graph) = serde_json::to_value(&made.graph).unwrap() else { panic!("an object") };
    let (kernel, number) = made.kernels[0].split_once('/').unwrap();
    let mut object = Map::new();
    object.insert("name".into(), json!(format!("{kernel}/{chip}/{number}")));
    object.insert("suite".into(), json!(format!("kernels.{chip}")));
    object.insert("source".into(), json!("loop graph of these kernels under the shipped cost model"));
    object.insert("kernels".into(), json!(made.kernels));
    object.insert("license".into(), json!("the project's own"));
    object.extend(graph.into_iter().filter(|(key, _)| key != "name"));
    let answer = exact(&made.graph);
    assert!(answer.optimal, "{}: II {} is not proven", made.kernels[0], answer.ii);
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

/// The loops as they are kept: graph, the whole line.
fn kept(chip: &str) -> Vec<(LoopGraph, Value)> {
    let text = std::fs::read_to_string(fixture(chip)).unwrap();
    text.lines().map(|line| (read_graph(line).unwrap(), serde_json::from_str(line).unwrap())).collect()
}

/// Writes the fixtures: `cargo test -p warploom-pipeline --test loops -- --ignored write`.
#[test]
#[ignore = "writes the fixtures"]
fn write() {
    let kernels = kernels();
    for chip in CHIPS {
        let lines: Vec<String> = made(&kernels, chip).iter().map(|made| line(chip, made)).collect();
        std::fs::write(fixture(chip), lines.join("\n") + "\n").unwrap();
    }
}

/// What stands in the files is what the kernels give today, under the cost model of today.
#[test]
fn the_fixtures_are_the_kernels_loops() {
    let kernels = kernels();
    for chip in CHIPS {
        let all = made(&kernels, chip);
        let kept = kept(chip);
        for (made, (graph, line)) in all.iter().zip(&kept) {
            let mut graph = graph.clone();
            graph.name.clear();
            let kernel = &made.kernels[0];
            assert_eq!(graph, made.graph, "{kernel} on {chip}: write the fixtures again");
            assert_eq!(line["kernels"], json!(made.kernels), "{kernel} on {chip}: write the fixtures again");
        }
        assert_eq!(all.len(), kept.len(), "{chip}: write the fixtures again");
        let names = all.iter().flat_map(|made| &made.kernels).filter_map(|name| name.split('/').next());
        assert!(names.collect::<BTreeSet<&str>>().len() >= 30, "{chip}: most kernels have a pipelined loop");
    }
}

/// The recorded II and lengths are proved again by the exact search, whose schedules pass the checker.
#[test]
fn s41_least_ii_and_length_are_proved_again() {
    for chip in CHIPS {
        for (graph, line) in kept(chip) {
            let reference = &line["reference"];
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

/// The schedules that the programs are made of have the least II, large ones within a hundredth of it, and, where that is proven, the least length,
/// or take fewer bytes than the shortest. One large loop is longer by more than a hundredth, none by more than a twentieth (S99).
#[test]
fn programs_run_at_the_least_ii_and_length() {
    let kernels = kernels();
    let mut longer = Vec::new();
    for chip in CHIPS {
        let target = Target::named(chip).unwrap();
        let kept = kept(chip);
        for (name, module) in &kernels {
            for (number, (graph, answer)) in compiled(module, &target).iter().enumerate() {
                let Some(answer) = answer.as_ref().filter(|_| graph.nodes.len() <= MOST) else { continue };
                let kernel = json!(format!("{name}/loop{number}"));
                let found = kept.iter().find(|(_, l)| l["kernels"].as_array().unwrap().contains(&kernel));
                let reference = &found.unwrap_or_else(|| panic!("{kernel} on {chip}")).1["reference"];
                let best = reference["best_ii"].as_i64().unwrap();
                // Large loops are searched for fewer steps.
                let least = if graph.nodes.len() > LARGE { best + best / 100 } else { best };
                assert!((best..=least).contains(&answer.ii), "{kernel} on {chip}: {} for {best}", answer.ii);
                if reference["min_length_proven"] == true {
                    let best = reference["min_length_at_best_ii"].as_i64().unwrap();
                    let least = if graph.nodes.len() > EASY { best + best / 100 } else { best };
                    // Programs are as short as their bytes let them be, which come first.
                    let thrifty = || answer.bytes < exact(graph).bytes;
                    let short = (best..=least).contains(&answer.length) || thrifty();
                    let near = graph.nodes.len() > EASY && answer.length <= best + best / 20;
                    assert!(short || near, "{kernel} on {chip}: {} for {best}", answer.length);
                    longer.extend(
                        (!short).then(|| format!("{kernel} on {chip}: {} for {best}", answer.length)),
                    );
                }
            }
        }
    }
    assert!(longer.len() <= 1, "{longer:?}");
}
