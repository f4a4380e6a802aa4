//! Natural loops of straight lists of instructions: PTX and machine code alike.

use std::collections::{BTreeMap, BTreeSet};

/// Where control goes from one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    /// The instruction it may jump to.
    pub target: Option<usize>,
    /// Whether the next instruction may follow.
    pub falls: bool,
}

/// First and behind-last instruction of each block, and the blocks that may follow.
struct Graph {
    ranges: Vec<(usize, usize)>,
    next: Vec<Vec<usize>>,
}

fn graph(steps: &[Step]) -> Graph {
    let mut starts = BTreeSet::from([0]);
    for (at, step) in steps.iter().enumerate() {
        starts.extend(step.target);
        if step.target.is_some() || !step.falls {
            starts.insert(at + 1);
        }
    }
    let starts: Vec<usize> = starts.into_iter().filter(|&at| at < steps.len()).collect();
    let ends = starts.iter().skip(1).copied().chain([steps.len()]);
    let ranges: Vec<(usize, usize)> = starts.iter().copied().zip(ends).collect();
    let block_at = |at: usize| starts.binary_search(&at).ok();
    let next = ranges.iter().map(|&(_, end)| {
        let last = steps[end - 1];
        let target = last.target.and_then(block_at);
        target.into_iter().chain(last.falls.then(|| block_at(end)).flatten()).collect()
    });
    let next = next.collect();
    Graph { ranges, next }
}

/// Reachable blocks behind their successors, and immediate dominators by the iteration of Cooper, Harvey and
/// Kennedy; `None` for blocks that are not reached.
fn dominators(next: &[Vec<usize>]) -> (Vec<usize>, Vec<Option<usize>>) {
    let mut order = Vec::new();
    let mut seen = vec![false; next.len()];
    let Some(first) = seen.first_mut() else { return (Vec::new(), Vec::new()) };
    *first = true;
    let mut stack = vec![(0, 0)];
    while let Some((block, child)) = stack.pop() {
        match next[block].get(child) {
            Some(&to) => {
                stack.push((block, child + 1));
                if !seen[to] {
                    seen[to] = true;
                    stack.push((to, 0));
                }
            }
            None => order.push(block),
        }
    }
    let mut number = vec![usize::MAX; next.len()];
    for (i, &block) in order.iter().enumerate() {
        number[block] = i;
    }
    let mut parents = vec![Vec::new(); next.len()];
    for &block in &order {
        next[block].iter().for_each(|&to| parents[to].push(block));
    }
    let mut above: Vec<Option<usize>> = vec![None; next.len()];
    above[0] = Some(0);
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.iter().rev().skip(1) {
            let known = parents[block].iter().copied().filter(|&p: &usize| above[p].is_some());
            let meet = known.reduce(|mut a, mut b| {
                while a != b {
                    while number[a] < number[b] {
                        a = above[a].unwrap_or(0);
                    }
                    while number[b] < number[a] {
                        b = above[b].unwrap_or(0);
                    }
                }
                a
            });
            if meet.is_some() && above[block] != meet {
                above[block] = meet;
                changed = true;
            }
        }
    }
    (order, above)
}

/// The loops of a list of instructions: the head, and every instruction of the body, ascending. Loops with
/// the same head are one. Control enters at the first instruction.
pub(crate) fn natural_loops(steps: &[Step]) -> Vec<(usize, Vec<usize>)> {
    let graph = graph(steps);
    let (order, above) = dominators(&graph.next);
    let dominates = |head: usize, mut block: usize| loop {
        if block == head {
            return true;
        }
        match above[block] {
            Some(up) if up != block => block = up,
            _ => return false,
        }
    };
    let mut parents = vec![Vec::new(); graph.next.len()];
    let mut bodies: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for &block in &order {
        for &to in &graph.next[block] {
            parents[to].push(block);
            if dominates(to, block) {
                bodies.entry(to).or_default().insert(block);
            }
        }
    }
    let mut loops = Vec::new();
    for (head, mut body) in bodies {
        let mut work: Vec<usize> = body.iter().copied().filter(|&b| b != head).collect();
        body.insert(head);
        while let Some(block) = work.pop() {
            work.extend(parents[block].iter().copied().filter(|&p| body.insert(p)));
        }
        let instructions = body.iter().flat_map(|&b| graph.ranges[b].0..graph.ranges[b].1).collect();
        loops.push((graph.ranges[head].0, instructions));
    }
    loops
}

/// The instructions of a loop that a trip can run without those of `aside`: on a way from its head back to it. `None` where
/// every way leads through them. Both lists ascend.
pub(crate) fn around(steps: &[Step], head: usize, body: &[usize], aside: &[usize]) -> Option<Vec<usize>> {
    let kept = |at: usize| body.binary_search(&at).is_ok() && aside.binary_search(&at).is_err();
    let next = |at: usize| {
        let step = steps.get(at);
        let target = step.and_then(|s| s.target);
        target.into_iter().chain(step.filter(|s| s.falls).map(|_| at + 1))
    };
    let reach = |start: usize, next: &dyn Fn(usize) -> Vec<usize>| {
        let (mut seen, mut stack) = (BTreeSet::from([start]), vec![start]);
        while let Some(at) = stack.pop() {
            stack.extend(next(at).into_iter().filter(|&to| kept(to) && seen.insert(to)));
        }
        seen
    };
    let forward = reach(head, &|at| next(at).collect());
    let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &at in &forward {
        next(at).for_each(|to| before.entry(to).or_default().push(at));
    }
    let backward = reach(head, &|at| before.get(&at).cloned().unwrap_or_default());
    (kept(head) && before.contains_key(&head)).then(|| forward.intersection(&backward).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(code: &[(Option<usize>, bool)]) -> Vec<Step> {
        code.iter().map(|&(target, falls)| Step { target, falls }).collect()
    }

    #[test]
    fn nested_loops_and_a_moved_block() {
        // 0: enter; 1: head; 2: to 6 or on; 3: spin head and tail; 4: back to 1 or on; 5: leave; 6: back to 3
        let code = steps(&[
            (None, true),
            (None, true),
            (Some(6), true),
            (Some(3), true),
            (Some(1), true),
            (None, false),
            (Some(3), false),
        ]);
        assert_eq!(natural_loops(&code), [(1, vec![1, 2, 3, 4, 6]), (3, vec![3])]);
    }

    #[test]
    fn a_way_around_a_spin_or_none() {
        // 0: head, to 3 or on; 1: spin; 2: back to 0; 3: spin of its own; 4: back to 2
        let code =
            steps(&[(Some(3), true), (Some(1), true), (Some(0), false), (Some(3), true), (Some(2), false)]);
        let body = [0, 1, 2, 3, 4];
        assert_eq!(around(&code, 0, &body, &[3]), Some(vec![0, 1, 2]));
        assert_eq!(around(&code, 0, &body, &[1]), Some(vec![0, 2, 3, 4]));
        assert_eq!(around(&code, 0, &[0, 1, 2], &[1]), None);
    }

    #[test]
    fn no_loop_where_the_head_does_not_dominate() {
        // 0 jumps into the middle: 1 -> 2 -> 1 is no natural loop.
        let code = steps(&[(Some(2), true), (None, true), (Some(1), true), (None, false)]);
        assert!(natural_loops(&code).is_empty());
        assert!(natural_loops(&[]).is_empty());
        assert_eq!(natural_loops(&steps(&[(Some(0), false)])), [(0, vec![0])]);
    }
}
