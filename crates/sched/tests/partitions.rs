//! Partitions: seeds, crossing costs, limits, and the checker (S61-S69, S81).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use common::gemm;
use warploom_sched::check::{self, ScheduleViolationKind as Kind};
use warploom_sched::{
    Answer, LoopGraph, LoopReplica, PartitionKind, PartitionModel, ScheduleError, ScheduleOptions,
    ValidGraph, schedule, validate,
};

fn assign_partitions(
    graph: &ValidGraph<'_>,
    model: &PartitionModel,
    options: &ScheduleOptions,
) -> Result<Answer, ScheduleError> {
    schedule(graph, &options.clone().partition(Some(model.clone())))
}

/// The product with who may issue what.
fn split_gemm() -> LoopGraph {
    let mut g = gemm();
    let (a, b, m) = (0, 1, 2);
    for id in [a, b] {
        g.nodes[id].kinds = vec![PartitionKind::Producer, PartitionKind::Compute];
        g.nodes[id].issue_latency = Some(30);
    }
    g.nodes[m].kinds = vec![PartitionKind::Mma];
    g.nodes[m].issue_latency = Some(30);
    g
}

#[test]
fn copies_and_matrix_instructions_part() {
    let g = split_gemm();
    let model = PartitionModel::default();
    let a = assign_partitions(&validate(&g).unwrap(), &model, &ScheduleOptions::default()).unwrap();
    check::partitions(&g, &model, &a).unwrap();
    check::all(&g, &a).unwrap();
    assert_eq!(a.ii, 256);
    assert_eq!(a.partitions.len(), 2);
    assert_ne!(a.nodes[0].partition, a.nodes[2].partition);
    assert_eq!(a.nodes[0].partition, a.nodes[1].partition);
    // The crossing makes the length and the rings longer.
    assert_eq!(a.length, 1211 + 92);
}

#[test]
fn a_recurrence_is_not_split() {
    let mut g = LoopGraph::new("handoff");
    let (x, y) = (g.add_node("a", 100, &[]), g.add_node("m", 200, &[]));
    g.add_edge(x, y, 100, 0).add_edge(y, x, 200, 1);
    let model = PartitionModel::default();
    let free = assign_partitions(&validate(&g).unwrap(), &model, &ScheduleOptions::default()).unwrap();
    assert_eq!((free.ii, free.partitions.len()), (300, 1));
    // Forced apart, both crossings cost 92.
    g.partitions = [0, 1]
        .map(|id| warploom_sched::LoopPartition { id, kind: PartitionKind::Compute, warps: 4, regs: 64 })
        .to_vec();
    (g.nodes[0].partition, g.nodes[1].partition) = (Some(0), Some(1));
    let apart = assign_partitions(&validate(&g).unwrap(), &model, &ScheduleOptions::default()).unwrap();
    assert_eq!(apart.ii, 484);
    check::partitions(&g, &model, &apart).unwrap();
    // A checker that knows of no crossing would accept this.
    let mut early = apart.clone();
    early.nodes[1].time -= 1;
    let kinds: Vec<Kind> =
        check::partitions(&g, &model, &early).unwrap_err().iter().map(|v| v.kind).collect();
    assert!(kinds.contains(&Kind::Partition));
}

#[test]
fn limits_are_refused_and_checked() {
    let mut g = split_gemm();
    g.nodes[0].min_warps = Some(4);
    let model = PartitionModel::default().max_warps(2);
    assert!(assign_partitions(&validate(&g).unwrap(), &model, &ScheduleOptions::default()).is_err());
    let model = PartitionModel::default();
    let good = assign_partitions(&validate(&g).unwrap(), &model, &ScheduleOptions::default()).unwrap();
    for break_it in [
        (|a| a.partitions[0].regs = 300) as fn(&mut Answer),
        |a| a.partitions[0].warps = 3,
        |a| a.nodes[2].partition = a.nodes[0].partition,
        |a| a.nodes[2].partition = None,
        |a| a.values[0].depth = 5,
        |a| a.partitions.iter_mut().for_each(|b| (b.warps, b.regs) = (8, 256)),
    ] {
        let mut bad = good.clone();
        break_it(&mut bad);
        assert!(check::partitions(&g, &model, &bad).is_err());
    }
}

/// All ways to split few operations, against the partitions found with no moves at all and with single moves (S68).
#[test]
fn every_assignment_is_looked_at() {
    let g = split_gemm();
    let valid = validate(&g).unwrap();
    let options = ScheduleOptions::default();
    let all = assign_partitions(&valid, &PartitionModel::default(), &options).unwrap();
    check::partitions(&g, &PartitionModel::default(), &all).unwrap();
    assert!(all.optimal);
    // Two chains that compete for one issue stream: only apart do they reach II 100.
    let mut g = LoopGraph::new("ping-pong");
    g.add_resource("A", 2);
    for name in ["ping", "pong"] {
        let v = g.add_node(name, 100, &[("A", 0, 100)]);
        g.add_edge(v, v, 100, 1);
    }
    let apart = assign_partitions(&validate(&g).unwrap(), &PartitionModel::default(), &options).unwrap();
    assert_eq!((apart.ii, apart.partitions.len()), (100, 2));
    let model = PartitionModel::default().max_partitions(1);
    assert_eq!(assign_partitions(&validate(&g).unwrap(), &model, &options).unwrap().ii, 200);
}

/// No first split fits the warps, and a resource of several units at so small an II is none that places and times are
/// searched together for: the assignments are gone through one by one.
#[test]
fn what_no_first_split_fits_is_still_found() {
    let mut g = LoopGraph::new("seventeen warps");
    g.add_resource("U", 3);
    for issue in [1, 1, 0] {
        let v = g.add_node("x", 1, &[("U", 0, 1)]);
        g.nodes[v].issue_latency = Some(issue);
    }
    (g.nodes[0].min_warps, g.nodes[1].min_warps) = (Some(8), Some(8));
    (g.nodes[1].kinds, g.nodes[1].slice) = (vec![PartitionKind::Mma], Some(7));
    g.nodes[2].kinds = vec![PartitionKind::Producer, PartitionKind::Compute];
    let model = PartitionModel::default().max_partitions(3);
    for time_limit in [None, Some(std::time::Duration::ZERO)] {
        let options = ScheduleOptions::default().time_limit(time_limit);
        let answer = assign_partitions(&validate(&g).unwrap(), &model, &options).unwrap();
        check::partitions(&g, &model, &answer).unwrap();
        assert_eq!((answer.ii, answer.optimal, answer.split.unwrap().crossings), (1, true, 0));
    }
}

/// A window that crosses becomes longer; two that close a circle then wait for each other, at any II.
#[test]
fn assignments_that_no_ii_helps_are_refuted_at_once() {
    let mut g = LoopGraph::new("windows");
    for kind in [PartitionKind::Producer, PartitionKind::Mma] {
        let v = g.add_node("x", 0, &[]);
        g.nodes[v].kinds = vec![kind];
        g.nodes[v].issue_latency = Some(1);
    }
    g.add_edge(0, 1, -2, 0).add_edge(1, 0, -2, 0);
    let ask = |barrier| {
        let model = PartitionModel::default().barrier(barrier);
        assign_partitions(&validate(&g).unwrap(), &model, &ScheduleOptions::default())
    };
    assert_eq!(ask(1).unwrap().ii, 1);
    assert_eq!(ask(2), Err(ScheduleError::Infeasible { up_to: None }));
    // Together they suit, where they may.
    g.nodes[1].kinds.push(PartitionKind::Producer);
    let model = PartitionModel::default().barrier(2);
    let answer = assign_partitions(&validate(&g).unwrap(), &model, &ScheduleOptions::default()).unwrap();
    assert_eq!((answer.ii, answer.optimal, answer.partitions.len()), (2, true, 1));
}

/// Attention in two tiles: soft-max chains of two, one issuing partition, one for copies.
fn two_tiles() -> LoopGraph {
    let mut g = LoopGraph::new("two tiles");
    ["TMA", "TC", "CUDA", "SFU"].iter().for_each(|r| _ = g.add_resource(*r, 1));
    let keys = g.add_node("keys", 652, &[("TMA", 0, 192)]);
    (g.nodes[keys].kinds, g.nodes[keys].issue_latency) = (vec![PartitionKind::Producer], Some(30));
    for tile in 0..2 {
        let qk = g.add_node("qk", 900, &[("TC", 0, 512)]);
        let max = g.add_node("max", 461, &[("CUDA", 0, 304)]);
        let exp = g.add_node("exp", 1140, &[("SFU", 0, 304)]);
        let pv = g.add_node("pv", 900, &[("TC", 0, 512)]);
        for dot in [qk, pv] {
            (g.nodes[dot].kinds, g.nodes[dot].issue_latency) = (vec![PartitionKind::Mma], Some(30));
        }
        g.add_edge(keys, qk, 652, 0).add_edge(qk, max, 900, 0).add_edge(max, exp, 461, 0);
        g.add_edge(exp, pv, 1140, 0).add_edge(pv, pv, 512, 1);
        for (operation, node) in [max, exp].into_iter().enumerate() {
            g.nodes[node].slice = Some(tile);
            g.nodes[node].replica = Some(LoopReplica { operation, number: tile });
        }
    }
    g
}

fn machine(g: &LoopGraph) -> (PartitionModel, Answer) {
    let model = PartitionModel::default();
    let answer = assign_partitions(&validate(g).unwrap(), &model, &ScheduleOptions::default()).unwrap();
    check::partitions(g, &model, &answer).unwrap();
    check::all(g, &answer).unwrap();
    (model, answer)
}

#[test]
fn replicas_take_turns() {
    let g = two_tiles();
    let (model, answer) = machine(&g);
    assert_eq!((answer.ii, answer.optimal, answer.partitions.len()), (2048, true, 4));
    let split = answer.split.clone().unwrap();
    assert!(split.crossings_optimal);
    // Each broken answer is caught, and by what it breaks.
    let of = |a: &Answer, v: usize| a.nodes[v].partition;
    let (first, second) = (of(&answer, 2), of(&answer, 6));
    assert_ne!(first, second);
    let said = |break_it: &dyn Fn(&mut Answer)| {
        let mut bad = answer.clone();
        break_it(&mut bad);
        let broken = check::partitions(&g, &model, &bad).unwrap_err();
        broken.iter().map(|v| format!("{v}; ")).collect::<String>()
    };
    assert!(said(&|a| a.nodes[3].partition = second).contains("of the same slice"));
    assert!(said(&|a| a.nodes[3].partition = second).contains("twins"));
    assert!(said(&|a| (2..=3).for_each(|v| a.nodes[v].partition = second)).contains("another replica"));
    assert!(said(&|a| a.split.as_mut().unwrap().crossings -= 1).contains("crossings"));
    let mut shared = g.clone();
    shared.nodes[0].kinds.clear();
    let mut bad = answer.clone();
    bad.nodes[0].partition = first;
    let broken = check::partitions(&shared, &model, &bad).unwrap_err();
    let words: String = broken.iter().map(|v| format!("{v}; ")).collect();
    assert!(words.contains("its partition is replicated"), "{words}");
}

#[test]
fn a_slice_is_of_one_replica() {
    let mut g = two_tiles();
    g.nodes.iter_mut().for_each(|v| v.slice = v.replica.map(|_| 0));
    let model = PartitionModel::default();
    let error = assign_partitions(&validate(&g).unwrap(), &model, &ScheduleOptions::default()).unwrap_err();
    assert!(error.to_string().contains("several replicas"), "{error}");
}

#[test]
fn no_time_costs_the_proof_alone() {
    let g = two_tiles();
    let options = ScheduleOptions::default().time_limit(Some(std::time::Duration::ZERO));
    let answer = assign_partitions(&validate(&g).unwrap(), &PartitionModel::default(), &options).unwrap();
    check::partitions(&g, &PartitionModel::default(), &answer).unwrap();
    assert_eq!(answer.stopped_by.as_deref(), Some("time"));
}

#[test]
fn a_machine_comes_with_the_loop() {
    let mut g = split_gemm();
    g.partition_model = Some(PartitionModel::default().barrier(10));
    let back = warploom_sched::read_graph(&warploom_sched::to_line(&g)).unwrap();
    assert_eq!(back, g);
    let answer = schedule(&validate(&back).unwrap(), &ScheduleOptions::default()).unwrap();
    assert_eq!(answer.length, 1211 + 10);
    let text = warploom_sched::render::explain(&g, &answer);
    assert!(
        text.contains("crossings cost 20 cycles an iteration; no assignment at this II pays less"),
        "{text}"
    );
    let read = warploom_sched::read_partition_model("{\"barrier\": 10}").unwrap();
    assert_eq!(Some(read), g.partition_model);
}

#[test]
fn machines_that_are_none_are_refused() {
    let g = split_gemm();
    let bad = [
        PartitionModel::default().barrier(-1),
        PartitionModel::default().payload(1 << 40, 0),
        PartitionModel::default().max_partitions(0),
        PartitionModel::default().max_warps(1000),
    ];
    for model in bad {
        let error =
            assign_partitions(&validate(&g).unwrap(), &model, &ScheduleOptions::default()).unwrap_err();
        assert!(matches!(error, ScheduleError::BadOption { option: "partition", .. }), "{error}");
    }
    let options = ScheduleOptions::default().partition(Some(PartitionModel::default()));
    let budget = warploom_sched::MemoryBudget::default().space("smem", 1 << 20);
    let error = warploom_sched::schedule_within(&validate(&g).unwrap(), &budget, &options).unwrap_err();
    assert!(error.to_string().contains("partition"), "{error}");
}

/// No issue stream holds an operation for longer than an II (S65): the II is as large as the longest, or the refusal says
/// up to where there is none, whatever goes where.
#[test]
fn a_stream_that_cannot_hold_one_operation_is_no_answer() {
    let mut g = split_gemm();
    g.nodes[1].issue_latency = Some(700);
    let (valid, model) = (validate(&g).unwrap(), PartitionModel::default());
    let answer = assign_partitions(&valid, &model, &ScheduleOptions::default()).unwrap();
    assert_eq!((answer.ii, answer.optimal), (700, true));
    let options = ScheduleOptions::default().max_ii(Some(699));
    let error = assign_partitions(&valid, &model, &options).unwrap_err();
    assert_eq!(error, ScheduleError::Infeasible { up_to: Some(699) });
}

/// Known kernels: the II, proved, and the number of partitions; in the bench, all of them.
#[test]
fn known_kernels_are_split() {
    let known = [
        ("attention, 2 tiles hopper", 2048, 1),
        ("attention gradient, 2 tiles hopper", 5120, 1),
        ("state space hopper", 1583, 1),
        ("product blackwell", 256, 2),
        ("gated product, 4-bit weights blackwell", 512, 3),
        ("attention, 1 tiles blackwell", 1881, 4),
        ("attention, 2 tiles blackwell", 3748, 4),
        ("attention gradient, 2 tiles blackwell", 5120, 3),
        ("state space blackwell", 1909, 3),
    ];
    for (name, ii, partitions) in known {
        let loops = warploom_testing::sched::kernels_to_split();
        let g = loops.iter().find(|g| g.name == name).unwrap();
        let (_, answer) = machine(g);
        assert_eq!((answer.ii, answer.optimal, answer.partitions.len()), (ii, true, partitions), "{name}");
        assert!(answer.split.unwrap().crossings_optimal, "{name}");
        assert!(answer.lower_bound > answer.mii || answer.ii == answer.mii, "{name}");
    }
}
