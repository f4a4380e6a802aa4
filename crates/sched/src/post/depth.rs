//! Ring depths of buffered values (S51-S53).

use crate::model::answer::Answer;
use crate::model::graph::{LoopGraph, LoopValue};
use crate::model::int::div_ceil;
use crate::model::validate::ValidGraph;
use hashbrown::HashMap;

/// How many slots a value needs, and by which law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingDepth {
    /// The value.
    pub id: usize,
    /// Cycles from the first write to the end of the last read of one instance: `R` of S51.
    pub lifetime: i64,
    /// `max(1, min_depth, ceil(R / II))` (S51).
    pub law: u64,
    /// Slots by positions in the body (S52).
    pub slots: u64,
    /// The larger of the two, and of the value's group (S53, S58).
    pub depth: u64,
}

/// The depths of all values of a schedule, in the order of the graph's values.
///
/// Operations the answer does not place count as placed at 0; [`check::schedule`](crate::check::schedule) finds
/// them.
pub fn depths(graph: &ValidGraph<'_>, answer: &Answer) -> Vec<RingDepth> {
    let n = graph.problem.n;
    let (mut time, mut order) = (vec![0; n], vec![0; n]);
    for v in answer.nodes.iter().filter(|v| v.id < n) {
        time[v.id] = v.time;
        order[v.id] = v.order;
    }
    depths_of(graph.whole(), answer.ii.max(1), &time, &order)
}

pub(crate) fn depths_of(graph: &LoopGraph, ii: i64, time: &[i64], order: &[usize]) -> Vec<RingDepth> {
    let mut depths: Vec<RingDepth> = graph.values.iter().map(|v| depth_of(v, ii, time, order)).collect();
    let mut group: HashMap<usize, u64> = HashMap::new();
    for (v, d) in graph.values.iter().zip(&depths) {
        if let Some(g) = v.group {
            let most = group.entry(g).or_insert(d.depth);
            *most = d.depth.max(*most);
        }
    }
    for (v, d) in graph.values.iter().zip(&mut depths) {
        if let Some(&most) = v.group.and_then(|g| group.get(&g)) {
            d.depth = most;
        }
    }
    depths
}

fn depth_of(v: &LoopValue, ii: i64, time: &[i64], order: &[usize]) -> RingDepth {
    let stage = |node: usize| time[node].div_euclid(ii);
    let (mut lifetime, mut slots) = (i64::MIN, 1i64);
    for u in &v.uses {
        let end = time[u.node].saturating_add(ii.saturating_mul(u.distance)).saturating_add(u.end);
        lifetime = lifetime.max(end.saturating_sub(time[v.def].saturating_add(v.start)));
        let later = i64::from(order[u.node] > order[v.def]);
        slots = slots.max(u.distance.saturating_add(stage(u.node) - stage(v.def) + later));
    }
    let law = div_ceil(lifetime, ii).max(1) as u64;
    let law = law.max(v.min_depth.unwrap_or(1));
    let slots = slots.max(1) as u64;
    RingDepth { id: v.id, lifetime, law, slots, depth: law.max(slots) }
}

/// `sum bytes * depth`.
pub(crate) fn total_bytes(graph: &LoopGraph, depths: &[RingDepth]) -> u64 {
    let each = graph.values.iter().zip(depths).map(|(v, d)| v.bytes.saturating_mul(d.depth));
    each.fold(0, u64::saturating_add)
}
