//! Large loops with long recurrences: every operation as early as the table lets it, in the order of time, once.

use crate::bounds::self_fit::next_self_fit;
use crate::heuristic::reservations::table::Table;
use crate::model::int::div_ceil;
use crate::model::problem::Problem;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Passes upwards until the carried dependences hold, and then between what does and what does not.
const UPWARDS: usize = 12;
const BETWEEN: usize = 6;

/// An II below `most`, and times at it: what a pass needs of the carried dependences is the II of the next. `None` with windows,
/// or where the passes do not come to an end.
pub(crate) fn forward(problem: &Problem, first: i64, most: i64) -> Option<(i64, Vec<i64>)> {
    if problem.dependences.windows {
        return None;
    }
    let (mut ii, mut low, mut best) = (next_self_fit(problem, first), first, None);
    for _ in 0..UPWARDS {
        if ii >= most {
            break;
        }
        let (time, need) = pass(problem, ii)?;
        if need <= ii {
            best = Some((ii, time));
            break;
        }
        (low, ii) = (ii, next_self_fit(problem, need));
    }
    for _ in 0..BETWEEN {
        let high = best.as_ref().map_or(0, |(ii, _)| *ii);
        let ii = next_self_fit(problem, low + (high - low) / 2);
        if ii <= low || ii >= high {
            break;
        }
        match pass(problem, ii) {
            Some((time, need)) if need <= ii => best = Some((ii, time)),
            _ => low = ii,
        }
    }
    best
}

/// The first free start of every operation after those it waits for in its iteration, and the II that the carried dependences
/// then need. `None` where an operation finds no room.
fn pass(problem: &Problem, ii: i64) -> Option<(Vec<i64>, i64)> {
    let g = &problem.dependences;
    let mut waits = vec![0u32; problem.n];
    g.arcs.iter().filter(|a| a.distance <= 0).for_each(|a| waits[a.dst as usize] += 1);
    let mut time = vec![0i64; problem.n];
    let mut table = Table::new(problem, ii);
    let mut ready: BinaryHeap<Reverse<(i64, usize)>> =
        (0..problem.n).filter(|&v| waits[v] == 0).map(|v| Reverse((0, v))).collect();
    while let Some(Reverse((from, v))) = ready.pop() {
        time[v] = table.first_fit(v, from, from.checked_add(ii - 1)?)?;
        table.place(v, time[v]);
        for a in g.out(v).iter().filter(|a| a.distance <= 0) {
            let d = a.dst as usize;
            time[d] = time[d].max(time[v] + a.latency);
            waits[d] -= 1;
            if waits[d] == 0 {
                ready.push(Reverse((time[d], d)));
            }
        }
    }
    let late = |a: &crate::model::digraph::Arc| time[a.src as usize] + a.latency - time[a.dst as usize];
    let carried = g.arcs.iter().filter(|a| a.distance > 0);
    let need = carried.map(|a| div_ceil(late(a), a.distance)).max().unwrap_or(1);
    Some((time, need))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::graph::LoopGraph;

    /// A chain through one unit, carried over so many iterations.
    fn chain(n: usize, distance: i64) -> LoopGraph {
        let mut g = LoopGraph::new("chain");
        g.add_resource("U", 1);
        (0..n).for_each(|_| _ = g.add_node("x", 3, &[("U", 0, 1)]));
        (1..n).for_each(|v| _ = g.add_edge(v - 1, v, 3, 0));
        g.add_edge(n - 1, 0, 3, distance);
        g
    }

    #[test]
    fn iterations_overlap_along_a_chain() {
        let problem = Problem::new(&chain(1000, 2), &[]);
        let (ii, time) = forward(&problem, 1500, 3000).unwrap_or_default();
        // 3,000 cycles over two iterations are 1,500; a few more where the two meet on the unit.
        assert!((1500..1520).contains(&ii), "{ii}");
        let holds = |a: &crate::model::digraph::Arc| {
            time[a.dst as usize] + ii * a.distance >= time[a.src as usize] + a.latency
        };
        assert!(problem.dependences.arcs.iter().all(holds));
        assert_eq!(forward(&problem, 1500, 1500), None);
    }
}
