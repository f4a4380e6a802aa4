//! A loop for hardware: operators of different latency on shared units, each operation bound to one of them.
//!
//! `y[i] = a*x[i] + b*x[i-1] + c*y[i-1]`: three products on two multipliers (a fast one of 3 cycles, which takes a new pair in
//! each, and a slow one that is busy for 2), sums on one adder.

use warploom_sched::{LoopGraph, ScheduleOptions, check, render, schedule, schedule_unrolled, validate};

/// Prints the schedule.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut g = LoopGraph::new("filter");
    g.add_resource("fast", 1).add_resource("slow", 1).add_resource("adder", 1).add_resource("port", 1);
    let x = g.add_node("load x", 2, &[("port", 0, 1)]);
    // Where units differ in speed, an operation that either may do is as slow as the slower one.
    let product = |g: &mut LoopGraph, name| {
        let v = g.add_node(name, 3, &[("fast", 0, 2)]);
        g.add_alternatives(v, 0, &["slow"]);
        v
    };
    let (ax, bx) = (product(&mut g, "a*x"), product(&mut g, "b*x"));
    let cy = g.add_node("c*y", 3, &[("fast", 0, 1)]);
    let sum = g.add_node("a*x + b*x", 1, &[("adder", 0, 1)]);
    let y = g.add_node("y", 1, &[("adder", 0, 1)]);
    g.add_edge(x, ax, 2, 0).add_edge(x, bx, 2, 1).add_edge(ax, sum, 3, 0).add_edge(bx, sum, 3, 0);
    g.add_edge(sum, y, 1, 0).add_edge(cy, y, 3, 0).add_edge(y, cy, 1, 1);

    let valid = validate(&g)?;
    let answer = schedule(&valid, &ScheduleOptions::default())?;
    // `y` waits for itself through the third product: no iteration sooner than every 4 cycles.
    assert_eq!((answer.ii, answer.optimal), (4, true));
    check::all(&g, &answer)?;
    print!("{}", render::explain(&g, &answer));
    for b in &answer.bindings {
        println!("{} runs on `{}`", g.nodes[b.node].name, b.resource);
    }
    // Nothing is gained by two iterations at once: the recurrence has a whole ratio.
    let unrolled = schedule_unrolled(&valid, 4, &ScheduleOptions::default())?;
    check::unrolled(&g, &unrolled)?;
    assert_eq!((unrolled.factor, unrolled.optimal), (1, true));
    Ok(())
}
