//! Natural loops of machine code, and ways around what a trip may skip.

use std::collections::{BTreeMap, BTreeSet};

use warploom_ptx::{Flow, Leads};

/// Where control goes from one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    /// The instruction it may jump to.
    pub target: Option<usize>,
    /// Whether the next instruction may follow.
    pub falls: bool,
}

/// The loops of a list of instructions: the head, and every instruction of the body, ascending. Loops with
/// the same head are one. Control enters at the first instruction.
pub(crate) fn natural_loops(steps: &[Step]) -> Vec<(usize, Vec<usize>)> {
    let leads = |step: &Step| Leads { targets: step.target.into_iter().collect(), falls: step.falls };
    let flow = Flow::through(&steps.iter().map(leads).collect::<Vec<_>>());
    let found = flow.loops();
    found
        .iter()
        .map(|l| (flow.blocks()[l.head].instructions.start, l.instructions(&flow).collect()))
        .collect()
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
