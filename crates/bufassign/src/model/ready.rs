//! Data is ready when a use issues (B4).

use super::{Model, Role};
use crate::output::AssignError;

/// Refuses a use that issues before its data is ready.
///
/// Two cases are left to others: ops that need their own result in the same iteration, which is
/// phase 1's `CyclicChain` (B15), and an accumulator that the same agent's tensor core updates in
/// place, whose updates the hardware keeps in order.
pub(super) fn check(model: &Model<'_>) -> Result<(), AssignError> {
    let cyclic = zero_distance_cycles(model);
    for v in &model.values {
        let Some((p, role)) = v.producer else { continue };
        let Some(from) = model.ops[p].at else { continue };
        for (i, u) in v.uses.iter().enumerate() {
            let Some(to) = model.ops[u.op].at else { continue };
            if to.region != from.region || (cyclic[p] && cyclic[u.op]) {
                continue;
            }
            if is_accumulation(model, p, role, u) {
                continue;
            }
            let issues = to.t + u.distance * model.regions[to.region].ii;
            let ready = from.t + model.ops[p].latency;
            if issues < ready {
                return Err(AssignError::invalid(
                    format!("values[id={}].consumers[{i}]", v.id),
                    format!(
                        "op {} issues at {issues}, before the data is ready at {ready}",
                        model.ops[u.op].id
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// An in-place update of a tensor-core accumulator by the agent that wrote it.
pub(crate) fn is_accumulation(model: &Model<'_>, p: usize, role: Role, u: &super::MUse) -> bool {
    u.in_place
        && role == Role::Tcgen05D
        && u.role == Role::Tcgen05D
        && model.ops[p].agent == model.ops[u.op].agent
}

/// Ops on a cycle of data at total distance 0 (Tarjan's components, iterative).
pub(crate) fn zero_distance_cycles(model: &Model<'_>) -> Vec<bool> {
    let n = model.ops.len();
    let mut adj: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (k, v) in model.values.iter().enumerate() {
        // A view's producer is its owner's.
        let Some((p, _)) = owner(model, k).and_then(|o| model.values[o].producer) else { continue };
        adj[p].extend(v.uses.iter().filter(|u| u.distance == 0).map(|u| u.op));
    }
    components_with_cycle(&adj)
}

/// The value at the end of the `view_of` links, `None` if they loop.
pub(crate) fn owner(model: &Model<'_>, v: usize) -> Option<usize> {
    let mut at = v;
    for _ in 0..=model.values.len() {
        match model.values[at].view_of {
            Some(next) => at = next,
            None => return Some(at),
        }
    }
    None
}

/// For every node, whether it lies on a cycle.
pub(crate) fn components_with_cycle(adj: &[Vec<usize>]) -> Vec<bool> {
    const UNSEEN: usize = usize::MAX;
    let n = adj.len();
    let (mut index, mut low) = (vec![UNSEEN; n], vec![0usize; n]);
    let (mut on_stack, mut cyclic) = (vec![false; n], vec![false; n]);
    let (mut stack, mut work, mut next) = (Vec::new(), Vec::<(usize, usize)>::new(), 0usize);
    for root in 0..n {
        if index[root] != UNSEEN {
            continue;
        }
        work.push((root, 0));
        while let Some(&mut (x, ref mut at)) = work.last_mut() {
            if *at == 0 && index[x] == UNSEEN {
                (index[x], low[x]) = (next, next);
                next += 1;
                stack.push(x);
                on_stack[x] = true;
            }
            if let Some(&y) = adj[x].get(*at) {
                *at += 1;
                if index[y] == UNSEEN {
                    work.push((y, 0));
                } else if on_stack[y] {
                    low[x] = low[x].min(index[y]);
                }
                continue;
            }
            work.pop();
            if let Some(&(parent, _)) = work.last() {
                low[parent] = low[parent].min(low[x]);
            }
            if low[x] == index[x] {
                let from = stack.iter().rposition(|&y| y == x).unwrap_or(0);
                let many = stack.len() - from > 1;
                for y in stack.drain(from..) {
                    on_stack[y] = false;
                    cyclic[y] = many || adj[y].contains(&y);
                }
            }
        }
    }
    cyclic
}
