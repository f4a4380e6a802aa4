//! Agents: seeds, crossing costs, limits, and the checker (S61-S69, S81).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use warploom_sched::check::{self, ViolationKind as Kind};
use warploom_sched::{AgentKind, AgentModel, LoopGraph, Options, assign_agents, validate};

fn gemm() -> LoopGraph {
    let mut g = LoopGraph::new("gemm");
    g.add_resource("TMA", 1).add_resource("TC", 1);
    let a = g.add_node("a", 556, &[("TMA", 0, 96)]);
    let b = g.add_node("b", 556, &[("TMA", 0, 96)]);
    let m = g.add_node("m", 559, &[("TC", 0, 256)]);
    g.add_edge(a, m, 556, 0).add_edge(b, m, 556, 0).add_edge(m, m, 256, 1);
    g.add_value(a, 16_384, "smem", &[(m, 0, 559)]);
    g.add_value(b, 16_384, "smem", &[(m, 0, 559)]);
    for id in [a, b] {
        g.nodes[id].kinds = vec![AgentKind::Producer, AgentKind::Compute];
        g.nodes[id].issue_latency = Some(30);
    }
    g.nodes[m].kinds = vec![AgentKind::Mma];
    g.nodes[m].issue_latency = Some(30);
    g
}

#[test]
fn copies_and_matrix_instructions_part() {
    let g = gemm();
    let model = AgentModel::default();
    let a = assign_agents(&validate(&g).unwrap(), &model, &Options::default()).unwrap();
    check::agents(&g, &model, &a).unwrap();
    check::all(&g, &a).unwrap();
    assert_eq!(a.ii, 256);
    assert_eq!(a.agents.len(), 2);
    assert_ne!(a.nodes[0].agent, a.nodes[2].agent);
    assert_eq!(a.nodes[0].agent, a.nodes[1].agent);
    // The crossing makes the length and the rings longer.
    assert_eq!(a.length, 1211 + 92);
}

#[test]
fn a_recurrence_is_not_split() {
    let mut g = LoopGraph::new("handoff");
    let (x, y) = (g.add_node("a", 100, &[]), g.add_node("m", 200, &[]));
    g.add_edge(x, y, 100, 0).add_edge(y, x, 200, 1);
    let model = AgentModel::default();
    let free = assign_agents(&validate(&g).unwrap(), &model, &Options::default()).unwrap();
    assert_eq!((free.ii, free.agents.len()), (300, 1));
    // Forced apart, both crossings cost 92.
    g.agents =
        [0, 1].map(|id| warploom_sched::Agent { id, kind: AgentKind::Compute, warps: 4, regs: 64 }).to_vec();
    (g.nodes[0].agent, g.nodes[1].agent) = (Some(0), Some(1));
    let apart = assign_agents(&validate(&g).unwrap(), &model, &Options::default()).unwrap();
    assert_eq!(apart.ii, 484);
    check::agents(&g, &model, &apart).unwrap();
    // A checker that knows of no crossing would accept this.
    let mut early = apart.clone();
    early.nodes[1].time -= 1;
    let kinds: Vec<Kind> = check::agents(&g, &model, &early).unwrap_err().iter().map(|v| v.kind).collect();
    assert!(kinds.contains(&Kind::Agent));
}

#[test]
fn limits_are_refused_and_checked() {
    let mut g = gemm();
    g.nodes[0].min_warps = Some(4);
    let model = AgentModel::default().max_warps(2);
    assert!(assign_agents(&validate(&g).unwrap(), &model, &Options::default()).is_err());
    let model = AgentModel::default();
    let good = assign_agents(&validate(&g).unwrap(), &model, &Options::default()).unwrap();
    for break_it in [
        (|a| a.agents[0].regs = 300) as fn(&mut warploom_sched::Answer),
        |a| a.agents[0].warps = 3,
        |a| a.nodes[2].agent = a.nodes[0].agent,
        |a| a.nodes[2].agent = None,
        |a| a.values[0].depth = 5,
        |a| a.agents.iter_mut().for_each(|b| (b.warps, b.regs) = (8, 256)),
    ] {
        let mut bad = good.clone();
        break_it(&mut bad);
        assert!(check::agents(&g, &model, &bad).is_err());
    }
}

/// All ways to split few operations, against the agents found with no moves at all and with single moves (S68).
#[test]
fn every_assignment_is_looked_at() {
    let g = gemm();
    let valid = validate(&g).unwrap();
    let options = Options::default();
    let all = assign_agents(&valid, &AgentModel::default(), &options).unwrap();
    let moves = assign_agents(&valid, &AgentModel::default().exhaustive(0), &options).unwrap();
    check::agents(&g, &AgentModel::default(), &all).unwrap();
    assert!((all.ii, all.length) <= (moves.ii, moves.length));
    // Two chains that compete for one issue stream: only apart do they reach II 100.
    let mut g = LoopGraph::new("ping-pong");
    g.add_resource("A", 2);
    for name in ["ping", "pong"] {
        let v = g.add_node(name, 100, &[("A", 0, 100)]);
        g.add_edge(v, v, 100, 1);
    }
    let apart = assign_agents(&validate(&g).unwrap(), &AgentModel::default(), &options).unwrap();
    assert_eq!((apart.ii, apart.agents.len()), (100, 2));
    let model = AgentModel::default().max_agents(1);
    assert_eq!(assign_agents(&validate(&g).unwrap(), &model, &options).unwrap().ii, 200);
}
