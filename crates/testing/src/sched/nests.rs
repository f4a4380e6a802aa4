//! Loops inside loops.

use super::generate::{LoopShape, loop_graph};
use super::source::Source;
use warploom_sched::{InnerLoop, LoopExit, LoopGraph};

/// A small loop, and a small one around it; the exit of either may be computed in it. Most, not all, are valid.
pub fn nest_of_two(source: &mut Source<'_>) -> Vec<LoopGraph> {
    let shape = LoopShape { ops: 4, wild: false, ..LoopShape::SMALL };
    let (mut inner, mut outer) = (loop_graph(source, shape), loop_graph(source, shape));
    (inner.name, outer.name) = ("inner".to_owned(), "outer".to_owned());
    for r in &inner.resources {
        match outer.resources.iter_mut().find(|o| o.name == r.name) {
            Some(same) => same.interleaved = r.interleaved,
            None => outer.resources.push(r.clone()),
        }
    }
    let at = source.below(outer.nodes.len() as u64) as usize;
    let (trips, or_more) = (1 + source.below(5), source.below(2) == 0);
    outer.nodes[at].inner = Some(InnerLoop { name: inner.name.clone(), trips, or_more });
    for g in [&mut inner, &mut outer] {
        let n = g.nodes.len() as u64;
        if source.below(4) == 0 {
            let committed = vec![source.below(n) as usize];
            g.exit =
                Some(LoopExit { node: source.below(n) as usize, speculation: source.below(3), committed });
        }
    }
    vec![inner, outer]
}
