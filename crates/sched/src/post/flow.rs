//! Minimum of a linear function under difference constraints: the dual of a minimum-cost flow (S48).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// `x[dst] - x[src] >= least`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constraint {
    pub src: u32,
    pub dst: u32,
    pub least: i64,
}

/// Minimises `sum weight[i] * x[i]` from a feasible `x`, by successive shortest paths on the dual.
///
/// The weights must sum to 0, as they do for a sum of differences. Values are integers because costs are: no
/// rounding. `false`, and a feasible but perhaps not least `x`, when the sum has no least value.
pub(crate) fn minimise(constraints: &[Constraint], weight: &[i128], x: &mut [i64]) -> bool {
    let mut flow = Flow::new(constraints, weight);
    for root in 0..x.len() {
        while flow.excess[root] > 0 {
            if !flow.augment(root, x) {
                return false;
            }
        }
    }
    true
}

struct Flow<'a> {
    constraints: &'a [Constraint],
    /// Positive: must still leave this node; negative: must still arrive.
    excess: Vec<i128>,
    flow: Vec<i128>,
    /// Constraints at each node, by index; those that enter it in the second list.
    out: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
}

impl<'a> Flow<'a> {
    fn new(constraints: &'a [Constraint], weight: &[i128]) -> Self {
        let mut out = vec![Vec::new(); weight.len()];
        let mut into = vec![Vec::new(); weight.len()];
        for (i, c) in (0u32..).zip(constraints) {
            out[c.src as usize].push(i);
            into[c.dst as usize].push(i);
        }
        let excess = weight.iter().map(|w| -w).collect();
        Flow { constraints, excess, flow: vec![0; constraints.len()], out, into }
    }

    /// Sends flow from `root` to the nearest node that wants some (Dijkstra on slacks), and moves `x` so that
    /// the path becomes tight. False when nothing that wants flow can be reached.
    fn augment(&mut self, root: usize, x: &mut [i64]) -> bool {
        let n = x.len();
        let mut far = vec![i64::MAX; n];
        let mut via: Vec<Option<(u32, bool)>> = vec![None; n];
        let mut done = vec![false; n];
        let mut heap = BinaryHeap::from([Reverse((0i64, root as u32))]);
        far[root] = 0;
        let mut target = None;
        while let Some(Reverse((d, v))) = heap.pop() {
            let v = v as usize;
            if std::mem::replace(&mut done[v], true) {
                continue;
            }
            if self.excess[v] < 0 {
                target = Some((v, d));
                break;
            }
            let ahead = self.out[v].iter().map(|&i| (i, true));
            let back = self.into[v].iter().filter(|&&i| self.flow[i as usize] > 0).map(|&i| (i, false));
            for (i, forward) in ahead.chain(back) {
                let c = self.constraints[i as usize];
                let slack = x[c.dst as usize] - x[c.src as usize] - c.least;
                let (w, cost) = if forward { (c.dst, slack) } else { (c.src, -slack) };
                let reach = d + cost;
                if reach < far[w as usize] {
                    far[w as usize] = reach;
                    via[w as usize] = Some((i, forward));
                    heap.push(Reverse((reach, w)));
                }
            }
        }
        let Some((target, distance)) = target else { return false };
        for v in 0..n {
            x[v] -= if done[v] { far[v].min(distance) } else { distance };
        }
        self.push(root, target, &via);
        true
    }

    fn push(&mut self, root: usize, target: usize, via: &[Option<(u32, bool)>]) {
        let mut path = Vec::new();
        let mut v = target;
        while v != root {
            let Some((i, forward)) = via[v] else { return };
            path.push((i as usize, forward));
            let c = self.constraints[i as usize];
            v = if forward { c.src } else { c.dst } as usize;
        }
        let back = path.iter().filter(|(_, forward)| !forward).map(|&(i, _)| self.flow[i]).min();
        let amount = self.excess[root].min(-self.excess[target]).min(back.unwrap_or(i128::MAX));
        for (i, forward) in path {
            self.flow[i] += if forward { amount } else { -amount };
        }
        self.excess[root] -= amount;
        self.excess[target] += amount;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_pulled_together() {
        // x1 - x0 >= 1, x2 - x0 >= 5, x2 - x1 >= 1: minimise x2 - x1, from the earliest point.
        let least = |src, dst, least| Constraint { src, dst, least };
        let constraints = [least(0, 1, 1), least(0, 2, 5), least(1, 2, 1)];
        let mut x = vec![0, 1, 5];
        assert!(minimise(&constraints, &[0, -1, 1], &mut x));
        assert_eq!(x[2] - x[1], 1);
        // x1 alone has no least value.
        assert!(!minimise(&constraints, &[1, -1, 0], &mut x));
    }
}
