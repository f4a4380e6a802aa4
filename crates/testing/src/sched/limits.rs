//! Loops whose numbers lie at the limits of the format (S2).

use super::source::Source;
use warploom_sched::{LoopGraph, ResourceUse};

const TIMES: [i64; 6] = [0, 1, 7, 1 << 20, (1 << 31) - 2, (1 << 31) - 1];
const DISTANCES: [i64; 4] = [0, 1, 2, 1 << 20];
const COUNTS: [u64; 4] = [1, 2, 5, 1 << 20];
const BYTES: [u64; 3] = [1, 16_384, 1 << 40];

fn one_of<T: Copy>(source: &mut Source<'_>, choices: &[T]) -> T {
    choices[source.below(choices.len() as u64) as usize]
}

/// A random loop of up to six operations with the least and the greatest numbers that the format allows.
pub fn limit_loop(source: &mut Source<'_>) -> LoopGraph {
    let mut g = LoopGraph::new("limits");
    let resources = source.below(3);
    for r in 0..resources {
        g.add_resource(format!("R{r}"), one_of(source, &COUNTS));
    }
    let n = 1 + source.below(6);
    for i in 0..n {
        let id = g.add_node(format!("op{i}"), one_of(source, &TIMES), &[]);
        if resources > 0 && source.below(4) > 0 {
            let resource = format!("R{}", source.below(resources));
            let (start, duration) = (one_of(source, &TIMES) as u64, one_of(source, &TIMES) as u64);
            g.nodes[id].uses.push(ResourceUse { resource, start, duration, ..ResourceUse::default() });
        }
    }
    for _ in 0..source.below(2 * n) {
        let (a, b) = (source.below(n) as usize, source.below(n) as usize);
        let distance = if a < b { one_of(source, &DISTANCES) } else { one_of(source, &DISTANCES[1..]) };
        let sign = if source.below(6) == 0 { -1 } else { 1 };
        g.add_edge(a, b, sign * one_of(source, &TIMES), distance);
    }
    if source.below(2) == 0 {
        let (def, node) = (source.below(n) as usize, source.below(n) as usize);
        let distance = one_of(source, if def < node { &DISTANCES } else { &DISTANCES[1..] });
        g.add_value(def, one_of(source, &BYTES), "smem", &[(node, distance, one_of(source, &TIMES))]);
    }
    g
}
