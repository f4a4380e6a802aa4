//! Partitions and times together: the joint search on known kernels, beside the plain splits (S97).

use crate::stations::Stations;
use crate::{Args, oracle, processor_micros};
use serde_json::{Value, json};
use warploom_sched::{
    Answer, LoopGraph, PartitionModel, ScheduleOptions, check, schedule, to_line, validate,
};
use warploom_testing::sched::kernels_to_split;

/// Prints the II, the bound, the time to either, and the IIs of the splits that it began with; with an oracle, what CP-SAT
/// finds.
pub fn split(args: &Args) {
    println!(
        "{:42} {:>4} {:>6} {:>6} {:>6} {:>5} {:>9} {:>9} {:>9} {:>8} {:>8} {:>7}  II of others, by partitions",
        "loop",
        "ops",
        "II",
        "bound",
        "length",
        "parts",
        "best ms",
        "proof ms",
        "call ms",
        "cost",
        "proved",
        "fails",
    );
    let mut solved = Vec::new();
    for graph in kernels_to_split().into_iter().filter(|g| g.name.contains(&args.set)) {
        let graph = LoopGraph { partition_model: Some(PartitionModel::default()), ..graph };
        match line(&graph, args) {
            Ok((text, answer)) => {
                println!("{text}");
                solved.push((graph, answer));
            }
            Err(error) => println!("{:42} {:>4} {error}", graph.name, graph.nodes.len()),
        }
    }
    if let Some(python) = &args.oracle {
        let lines: Vec<String> = solved.iter().map(|(g, a)| question(g, a)).collect();
        match oracle::answers(python, oracle::OF_SPLITS, &lines, args.oracle_limit) {
            Ok(answers) => solved.iter().zip(&answers).for_each(|((g, a), text)| compare(g, a, text)),
            Err(reason) => oracle::missing("these loops", &reason),
        }
    }
}

fn fails(graph: &LoopGraph, answer: &Answer) -> &'static str {
    let model = graph.partition_model.clone().unwrap_or_default();
    let passes = check::all(graph, answer).is_ok() && check::partitions(graph, &model, answer).is_ok();
    if passes { "0" } else { "CHECK" }
}

fn line(graph: &LoopGraph, args: &Args) -> Result<(String, Answer), String> {
    let stations = Stations::default();
    let options = ScheduleOptions::default()
        .algorithm(args.only.unwrap_or_default())
        .time_limit(args.time_limit)
        .observer(Some(stations.observer()));
    let start = processor_micros();
    let answer = validate(graph).map_err(|e| e.to_string());
    let a = answer.and_then(|valid| schedule(&valid, &options).map_err(|e| e.to_string()))?;
    let whole = (processor_micros() - start) / 1e3;
    let millis = |at: Option<f64>| at.map_or("-".to_owned(), |at| format!("{:.1}", (at - start) / 1e3));
    let split = a.split.as_ref();
    let others = split.map_or(&[][..], |s| &s.others);
    let others: Vec<String> = others.iter().map(|o| format!("{}: {}", o.partitions, o.ii)).collect();
    let text = format!(
        "{:42} {:>4} {:>6} {:>6} {:>6} {:>5} {:>9} {:>9} {:>9.1} {:>8} {:>8} {:>7}  {}",
        graph.name,
        graph.nodes.len(),
        a.ii,
        a.lower_bound,
        a.length,
        a.partitions.len(),
        millis(stations.scheduled(a.ii)),
        millis(stations.proved(a.ii).filter(|_| a.optimal)),
        whole,
        split.map_or(0, |s| s.crossings),
        if split.is_some_and(|s| s.crossings_optimal) { "yes" } else { "no" },
        fails(graph, &a),
        others.join(", ")
    );
    Ok((text, a))
}

/// The loop as the oracle is asked about it: it need not look above the II that is known.
fn question(graph: &LoopGraph, answer: &Answer) -> String {
    let mut line: Value = serde_json::from_str(&to_line(graph)).unwrap_or_default();
    line["most_ii"] = json!(answer.ii);
    line.to_string()
}

/// Prints what CP-SAT found, judged by the checker, and whether that is better.
fn compare(graph: &LoopGraph, ours: &Answer, text: &str) {
    let theirs: Value = serde_json::from_str(text).unwrap_or_default();
    let seconds = theirs["micros"].as_f64().unwrap_or(0.0) / 1e6;
    let Some(ii) = theirs["ii"].as_i64() else {
        println!("cp-sat {:42} nothing up to II {} in {seconds:.1} s", graph.name, ours.ii);
        return;
    };
    let crossings = theirs["crossings"].as_i64().unwrap_or(0);
    let split = ours.split.as_ref().map_or(0, |s| s.crossings);
    let proved = |key: &str| if theirs[key] == json!(true) { " proved" } else { "" };
    println!(
        "cp-sat {:42} II {ii}{}, crossings {crossings}{} in {seconds:.1} s{}{}",
        graph.name,
        proved("optimal"),
        proved("crossings_optimal"),
        if (ii, crossings) < (ours.ii, split) { ", BETTER" } else { "" },
        if judged(graph, ours, &theirs).is_some() { "" } else { ", CHECK FAILED" },
    );
}

/// The oracle's schedule with the order, the depths and the registers of none: only partitions, times and streams count.
fn judged(graph: &LoopGraph, ours: &Answer, theirs: &Value) -> Option<()> {
    let partitions = serde_json::from_value(theirs["partitions"].clone()).ok()?;
    let mut answer = Answer { ii: theirs["ii"].as_i64()?, partitions, ..ours.clone() };
    for (node, told) in answer.nodes.iter_mut().zip(theirs["nodes"].as_array()?) {
        node.id = told["id"].as_u64()? as usize;
        node.time = told["time"].as_i64()?;
        node.partition = Some(told["partition"].as_u64()? as usize);
    }
    if let Some(split) = &mut answer.split {
        split.crossings = theirs["crossings"].as_i64()?;
    }
    let model = graph.partition_model.clone().unwrap_or_default();
    check::partitions(graph, &model, &answer).ok()
}
