//! A lower bound on the length from the room that many operations need together.
//!
//! The uses of a resource by one iteration share its units like those of any schedule that is not folded: what is held
//! once an II is held once. So of uses none of which can start before `h`, and after each of which the schedule goes on
//! for at least `q`, the cycles held, shared evenly by the units, fit between `h` and `length - q`.

use crate::model::paths::{heads, tails};
use crate::model::problem::Problem;

/// Uses of a resource beyond these are not looked at: the cost is their square.
const MOST_USES: usize = 600;

/// A length that no schedule at this II falls below; `None` where a recurrence is positive.
pub(crate) fn least_length(problem: &Problem, ii: i64) -> Option<i64> {
    let (head, tail) = (heads(problem, ii)?, tails(problem, ii)?);
    let mut uses: Vec<Vec<Window>> = vec![Vec::new(); problem.count.len()];
    let mut many = vec![0; problem.count.len()];
    problem.all_uses().iter().for_each(|u| many[u.resource as usize] += 1);
    for v in 0..problem.n {
        for u in problem.uses(v).iter().filter(|u| many[u.resource as usize] <= MOST_USES) {
            let end = u.start + u.duration;
            uses[u.resource as usize].push(Window {
                head: head[v] + u.start,
                tail: tail[v] - end,
                held: u.duration,
            });
        }
    }
    let path = (0..problem.n).map(|v| head[v] + tail[v]).max().unwrap_or(0);
    let rooms = uses.iter_mut().zip(&problem.count).map(|(uses, &count)| room(uses, count));
    Some(rooms.max().unwrap_or(0).max(path))
}

/// A use: its earliest start, the least time from its end to that of the schedule, and how long it is held.
#[derive(Clone, Copy)]
struct Window {
    head: i64,
    tail: i64,
    held: i64,
}

fn room(uses: &mut [Window], count: i64) -> i64 {
    uses.sort_unstable_by_key(|u| std::cmp::Reverse(u.head));
    let mut ends: Vec<i64> = uses.iter().map(|u| u.tail).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut most = 0;
    for tail in ends {
        let mut held = 0;
        for u in uses.iter().filter(|u| u.tail >= tail) {
            held += u.held;
            most = most.max(u.head + (held + count - 1) / count + tail);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::graph::LoopGraph;
    use crate::model::validate::validate;

    #[test]
    fn many_uses_between_a_path_before_and_one_after() {
        let mut g = LoopGraph::new("room");
        g.add_resource("U", 2).add_resource("V", 1);
        let first = g.add_node("first", 10, &[("V", 0, 1)]);
        let last = g.add_node("last", 5, &[("V", 0, 1)]);
        for i in 0..5 {
            let v = g.add_node(format!("middle {i}"), 7, &[("U", 1, 4)]);
            g.add_edge(first, v, 10, 0);
            g.add_edge(v, last, 7, 0);
        }
        let Ok(valid) = validate(&g) else { return };
        // 20 cycles on two units from 11 on, then 2 more of the last latency and 5 at the end.
        assert_eq!(least_length(&valid.problem, 10), Some(11 + 10 + 2 + 5));
        // With more units, the path from the first to the last.
        g.resources[0].count = 5;
        let Ok(valid) = validate(&g) else { return };
        assert_eq!(least_length(&valid.problem, 10), Some(10 + 7 + 5));
    }
}
