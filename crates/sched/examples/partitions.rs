//! A loop of a GPU kernel: who issues what is found together with the times, within a limit of time, and from a schedule
//! that is known.

use std::time::Duration;
use warploom_sched::{
    LoopGraph, PartitionKind, PartitionModel, ScheduleOptions, StartSchedule, check, render, schedule,
    validate,
};

/// A product with scaled weights: loads by a copy engine, scales on lanes, products on the tensor core.
fn scaled_product() -> LoopGraph {
    let mut g = LoopGraph::new("scaled product");
    ["TMA", "TC", "CUDA"].iter().for_each(|r| _ = g.add_resource(*r, 1));
    let issued = |g: &mut LoopGraph, v: usize, cycles, kinds: &[PartitionKind]| {
        (g.nodes[v].issue_latency, g.nodes[v].kinds) = (Some(cycles), kinds.to_vec());
    };
    let a = g.add_node("load a", 556, &[("TMA", 0, 96)]);
    let b = g.add_node("load b", 508, &[("TMA", 0, 48)]);
    for load in [a, b] {
        issued(&mut g, load, 30, &[PartitionKind::Producer, PartitionKind::Compute]);
    }
    let scale = g.add_node("scale", 138, &[("CUDA", 0, 128)]);
    issued(&mut g, scale, 128, &[PartitionKind::Compute]);
    let dot = g.add_node("dot", 559, &[("TC", 0, 256)]);
    issued(&mut g, dot, 30, &[PartitionKind::Mma]);
    g.add_edge(b, scale, 508, 0)
        .add_edge(scale, dot, 138, 0)
        .add_edge(a, dot, 556, 0)
        .add_edge(dot, dot, 256, 1);
    g.add_value(a, 16_384, "smem", &[(dot, 0, 559)]);
    g.add_value(scale, 16_384, "smem", &[(dot, 0, 559)]);
    g
}

/// Prints the partitions.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let g = scaled_product();
    let valid = validate(&g)?;
    let machine = PartitionModel::default().max_warps(12);
    let options = ScheduleOptions::default().partition(Some(machine.clone()));
    // A limit of time costs proofs, never the answer.
    let hurried = schedule(&valid, &options.clone().time_limit(Some(Duration::ZERO)))?;
    check::partitions(&g, &machine, &hurried)?;

    let answer = schedule(&valid, &options)?;
    check::all(&g, &answer)?;
    check::partitions(&g, &machine, &answer)?;
    let split = answer.split.as_ref().ok_or("partitions were searched for")?;
    assert!(answer.ii <= hurried.ii && answer.optimal && split.crossings_optimal);
    assert_eq!((answer.ii, answer.partitions.len()), (256, 3));
    print!("{}", render::explain(&g, &answer));

    // One who knows a schedule of the loop without partitions may begin with it: nothing worse comes out.
    let plain = schedule(&valid, &ScheduleOptions::default())?;
    let again = schedule(&valid, &ScheduleOptions::default().start(Some(StartSchedule::from(&plain))))?;
    assert!((again.ii, again.length) <= (plain.ii, plain.length) && again.start_refused.is_none());
    Ok(())
}
