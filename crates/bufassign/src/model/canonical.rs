//! An order of ops, partitions, values and layouts that follows from what they are, so that no choice depends on their
//! ids or on the order of the input (B80).
//!
//! Ops come in the order of their time, of which a region has one by their ranks. Values are told apart by what they are
//! and by the ops that touch them; then, in rounds, by the values that they share a root, a pipe, a layout or a view
//! with. What is left the same after that is alike but for its name, and goes by id.

use crate::input::{AccessRole, BufferValue, Problem, Space};
use std::collections::BTreeMap;

/// Positions in the lists of a problem, in the order in which the model has them.
pub(super) struct Canonical {
    pub ops: Vec<usize>,
    pub partitions: Vec<usize>,
    pub values: Vec<usize>,
    pub layouts: Vec<usize>,
}

/// A problem need not make sense: what an id leads nowhere for comes last.
const NOWHERE: usize = usize::MAX;

impl Canonical {
    pub fn of(problem: &Problem) -> Canonical {
        let ops = ops(problem);
        let rank: BTreeMap<u64, usize> =
            ops.iter().enumerate().map(|(k, &o)| (problem.ops[o].id, k)).collect();
        let mut first: BTreeMap<u64, usize> = BTreeMap::new();
        for (k, &o) in ops.iter().enumerate() {
            first.entry(problem.ops[o].partition).or_insert(k);
        }
        let mut partitions: Vec<usize> = (0..problem.partitions.len()).collect();
        partitions.sort_by_key(|&k| {
            let a = &problem.partitions[k];
            (first.get(&a.id).copied().unwrap_or(NOWHERE), a.warps, a.id)
        });
        let colours = colours(problem, &rank);
        let mut values: Vec<usize> = (0..problem.values.len()).collect();
        values.sort_by_key(|&v| (colours[v], problem.values[v].id));
        let mut bound: BTreeMap<u64, Vec<(u64, usize)>> = BTreeMap::new();
        for &v in &values {
            if let Some(l) = problem.values[v].layout {
                bound.entry(l.id).or_default().push((l.leaf, colours[v]));
            }
        }
        let mut layouts: Vec<usize> = (0..problem.layouts.len()).collect();
        layouts.sort_by_cached_key(|&k| {
            let l = &problem.layouts[k];
            let leaves: Vec<(u64, &[u64])> = l.leaves.iter().map(|x| (x.bytes, x.slots.as_slice())).collect();
            (l.space, l.bytes, l.align, leaves, bound.get(&l.id).cloned(), l.id)
        });
        Canonical { ops, partitions, values, layouts }
    }
}

/// Ops by region, time and rank; those without a place last.
fn ops(problem: &Problem) -> Vec<usize> {
    let region: BTreeMap<u64, (usize, u64)> =
        problem.regions.iter().enumerate().map(|(k, r)| (r.id, (k, r.ii.unwrap_or(0)))).collect();
    let mut all: Vec<usize> = (0..problem.ops.len()).collect();
    all.sort_by_cached_key(|&k| {
        let o = &problem.ops[k];
        let (at, ii) = o.region.and_then(|r| region.get(&r).copied()).unwrap_or((NOWHERE, 0));
        let time = o.cycle.map_or(u64::MAX, |c| o.stage.saturating_mul(ii).saturating_add(c));
        (at, time, o.order, o.id)
    });
    all
}

/// What a value is by itself: the first part of it is when it is written.
type Own<'a> = (
    (usize, Option<AccessRole>),
    Vec<(usize, AccessRole, i64, bool)>,
    (&'a [u64], Option<&'a str>, Option<u64>, u64, u64, u64),
    (Option<Space>, [bool; 6]),
);

fn own<'a>(v: &'a BufferValue, rank: &BTreeMap<u64, usize>) -> Own<'a> {
    let op = |id: u64| rank.get(&id).copied().unwrap_or(NOWHERE);
    let mut uses: Vec<_> = v.consumers.iter().map(|c| (op(c.op), c.role, c.distance, c.in_place)).collect();
    uses.sort_unstable();
    (
        v.producer.map_or((NOWHERE, None), |p| (op(p.op), Some(p.role))),
        uses,
        (&v.shape, v.element.as_deref(), v.bytes, v.swizzle, v.align, v.byte_offset),
        (v.space, [v.init, v.live_in, v.live_out, v.warp_local, v.alone, v.device_built]),
    )
}

/// Classes of values that nothing but their names tells apart, in their order.
fn colours(problem: &Problem, rank: &BTreeMap<u64, usize>) -> Vec<usize> {
    let values = &problem.values;
    let own: Vec<Own<'_>> = values.iter().map(|v| own(v, rank)).collect();
    let mut colour = ranks(&own);
    let id: BTreeMap<u64, usize> = values.iter().enumerate().map(|(k, v)| (v.id, k)).collect();
    let roots: Vec<Option<Name>> = values.iter().map(|v| v.root.map(|r| (0, r))).collect();
    let pipes: Vec<_> = values.iter().map(|v| v.pipe.map(|p| (1, p))).collect();
    let layouts: Vec<_> = values.iter().map(|v| v.layout.map(|l| (2, l.id))).collect();
    let views: Vec<_> = values.iter().map(|v| v.view_of.map(|o| (3, o))).collect();
    loop {
        let seen = |v: Option<u64>| v.and_then(|o| id.get(&o)).map(|&o| colour[o]);
        let groups = [&roots, &pipes, &layouts, &views].map(|of| groups(of, values, &colour));
        let keys: Vec<_> = (0..values.len())
            .map(|v| {
                let leaf = values[v].layout.map(|l| l.leaf);
                let viewed = groups[3].of_key.get(&(3, values[v].id)).copied();
                (colour[v], leaf, seen(values[v].view_of), [0, 1, 2, 3].map(|g| groups[g].of[v]), viewed)
            })
            .collect();
        let finer = ranks(&keys);
        if finer == colour {
            return colour;
        }
        colour = finer;
    }
}

/// Kind and id of what values name: a root, a pipe, a layout or a value that they view.
type Name = (u8, u64);

/// Values that name one thing, as the classes of their members.
struct Groups {
    of: Vec<usize>,
    of_key: BTreeMap<Name, usize>,
}

fn groups(named: &[Option<Name>], values: &[BufferValue], colour: &[usize]) -> Groups {
    let mut members: BTreeMap<Name, Vec<(usize, u64)>> = BTreeMap::new();
    for (v, key) in named.iter().enumerate().filter_map(|(v, key)| Some((v, (*key)?))) {
        members.entry(key).or_default().push((colour[v], values[v].layout.map_or(0, |l| l.leaf)));
    }
    members.values_mut().for_each(|m| m.sort_unstable());
    let sets: Vec<&Vec<(usize, u64)>> = members.values().collect();
    let ranked = ranks(&sets);
    let of_key: BTreeMap<_, usize> = members.keys().copied().zip(ranked).collect();
    Groups {
        of: named.iter().map(|key| key.and_then(|k| of_key.get(&k)).map_or(0, |&r| r + 1)).collect(),
        of_key,
    }
}

/// The place of each key among the different ones.
fn ranks<K: Ord>(keys: &[K]) -> Vec<usize> {
    let mut sorted: Vec<&K> = keys.iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    keys.iter().map(|k| sorted.partition_point(|s| *s < k)).collect()
}

#[cfg(test)]
mod tests {
    use super::Canonical;
    use crate::generated::problem;

    /// Ops of a placed problem stand in the order of their time.
    #[test]
    fn time_orders_ops() {
        for seed in 0..50 {
            let p = problem(seed);
            let order = Canonical::of(&p);
            let place = |k: &usize| {
                let o = &p.ops[*k];
                let at = p.regions.iter().position(|r| Some(r.id) == o.region);
                let ii = p.regions.iter().find(|r| Some(r.id) == o.region).and_then(|r| r.ii);
                (at, o.stage * ii.unwrap_or(0) + o.cycle.unwrap_or(0))
            };
            assert!(order.ops.is_sorted_by_key(place), "seed {seed}");
        }
    }

    /// Values of equal form at equal ops are told apart by what they share.
    #[test]
    fn roots_tell_values_apart() {
        let mut b = crate::Problem::builder("alike", "sm_90a");
        let a = b.partition("a", 1);
        let region = b.add_loop(100, 1);
        let (w, r) = (b.op("w", region, a).id(), b.op("r", region, a).at(0, 50).id());
        for _ in 0..4 {
            let tile = b.value("x", &[64], "f16");
            tile.written_by(w, crate::AccessRole::RegWrite).read_by(r, crate::AccessRole::RegRead);
        }
        let mut p = b.finish();
        (p.values[1].root, p.values[3].root) = (Some(9), Some(9));
        assert_eq!(Canonical::of(&p).values, [0, 2, 1, 3]);
    }
}
