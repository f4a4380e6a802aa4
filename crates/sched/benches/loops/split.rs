//! Partitions and times together: the joint search on known kernels, beside the plain splits (S97).

use crate::stations::Stations;
use crate::{Args, processor_micros};
use warploom_sched::{PartitionModel, ScheduleOptions, check, schedule, validate};
use warploom_testing::sched::kernels_to_split;

/// Prints the II, the bound, the time to either, and the IIs of the splits that it began with.
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
    for graph in kernels_to_split().into_iter().filter(|g| g.name.contains(&args.set)) {
        let model = PartitionModel::default();
        let stations = Stations::default();
        let options = ScheduleOptions::default()
            .algorithm(args.only.unwrap_or_default())
            .time_limit(args.time_limit)
            .partition(Some(model.clone()))
            .observer(Some(stations.observer()));
        let start = processor_micros();
        let answer = validate(&graph).map_err(|e| e.to_string());
        let answer = answer.and_then(|valid| schedule(&valid, &options).map_err(|e| e.to_string()));
        let whole = (processor_micros() - start) / 1e3;
        let millis = |at: Option<f64>| at.map_or("-".to_owned(), |at| format!("{:.1}", (at - start) / 1e3));
        match answer {
            Ok(a) => {
                let fails = check::all(&graph, &a).is_err() || check::partitions(&graph, &model, &a).is_err();
                let (cost, proved, others) = a
                    .split
                    .as_ref()
                    .map_or((0, false, Vec::new()), |s| (s.crossings, s.crossings_optimal, s.others.clone()));
                let others: Vec<String> =
                    others.iter().map(|o| format!("{}: {}", o.partitions, o.ii)).collect();
                println!(
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
                    cost,
                    if proved { "yes" } else { "no" },
                    if fails { "CHECK" } else { "0" },
                    others.join(", ")
                );
            }
            Err(error) => println!("{:42} {:>4} {error}", graph.name, graph.nodes.len()),
        }
    }
}
