//! The merge map and the drains (B11, B55).

use crate::input::Repeat;
use crate::lifetime::Unit;
use crate::model::Model;
use crate::output::*;
use crate::place::{Plot, beside};
use crate::plan::Plan;
use std::collections::{BTreeMap, BTreeSet};

/// The merge map (B11): orders inside a class, and those of overlays with other classes.
pub(super) fn merge(model: &Model<'_>, plan: &Plan) -> Vec<MergeClass> {
    let id = |unit: usize| {
        let values = &plan.life.units[unit].values;
        values.iter().map(|&v| model.values[v].id).min().unwrap_or(0)
    };
    let edge = |h: &crate::orders::SlotOrder| OrderEdge {
        from: id(h.from),
        to: id(h.to),
        distance: h.distance,
        implied: h.implied,
    };
    let mut overlaid: BTreeMap<usize, Vec<OrderEdge>> = BTreeMap::new();
    for h in plan.smem.overlays.iter().chain(&plan.tmem.overlays).chain(&plan.rewrites) {
        overlaid.entry(h.from).or_default().push(edge(h));
    }
    let mut classes: Vec<MergeClass> = plan
        .plots
        .iter()
        .map(|p| {
            let mut members: Vec<u64> = p
                .ring
                .units
                .iter()
                .flat_map(|&u| plan.life.units[u].values.iter().map(|&v| model.values[v].id))
                .collect();
            members.sort_unstable();
            let mut edges: Vec<OrderEdge> = p.slot_orders.iter().map(edge).collect();
            for u in &p.ring.units {
                edges.extend(overlaid.remove(u).unwrap_or_default());
            }
            MergeClass { class: p.id, members, depth: p.ring.depth.unsigned_abs(), edges }
        })
        .collect();
    classes.sort_unstable_by_key(|m| m.class);
    classes
}

/// Region boundaries that overlays of different regions, and shared barrier slots, rely on (B55).
pub(super) fn drains(model: &Model<'_>, plan: &Plan) -> Vec<Drain> {
    let mut at: BTreeMap<usize, BTreeSet<[u64; 2]>> = BTreeMap::new();
    let repeated = model.problem.repeat == Repeat::Drained;
    let mut note = |first: usize, later: usize, pair: [u64; 2]| {
        at.entry(later).or_default().insert(pair);
        if repeated {
            at.entry(0).or_default().insert([pair[1], pair[0]]);
        }
        debug_assert!(first < later);
    };
    for &(first, later, pair) in &plan.barriers.across {
        note(first, later, pair);
    }
    for class in [Class::Smem, Class::Tmem] {
        let plots = plan.of_class(class);
        let placed = if class == Class::Smem { &plan.smem } else { &plan.tmem };
        let mut order: Vec<usize> = (0..plots.len()).collect();
        order.sort_by_key(|&k| placed.offsets[k]);
        for (n, &a) in order.iter().enumerate() {
            let end = placed.offsets[a].saturating_add(plan.plots[plots[a]].bytes());
            for &b in order[n + 1..].iter().take_while(|&&b| placed.offsets[b] < end) {
                boundary(model, plan, &plan.plots[plots[a]], &plan.plots[plots[b]], &mut note);
            }
        }
    }
    // Chains of one root and layouts may have members in several regions.
    for p in &plan.plots {
        let regions: BTreeSet<usize> = p.ring.units.iter().map(|&u| plan.life.units[u].region).collect();
        for &later in &regions {
            for &first in regions.range(..later) {
                note(first, later, [p.id, p.id]);
            }
        }
    }
    at.into_iter()
        .map(|(r, pairs)| Drain { before_region: model.regions[r].id, pairs: pairs.into_iter().collect() })
        .collect()
}

/// Notes the boundaries between members of two classes that share bytes and no region.
fn boundary(
    model: &Model<'_>,
    plan: &Plan,
    a: &Plot,
    b: &Plot,
    note: &mut dyn FnMut(usize, usize, [u64; 2]),
) {
    // Members with the same regions need the same boundaries.
    let regions = |p: &Plot| -> BTreeSet<BTreeSet<usize>> {
        let units = p.ring.units.iter().map(|&u| &plan.life.units[u]);
        let own = |u: &Unit| std::iter::once(u.region).chain(u.elsewhere.iter().map(|e| e.0)).collect();
        units.map(|u| BTreeSet::union(&own(u), &beside(model, u)).copied().collect()).collect()
    };
    let (of_a, of_b) = (regions(a), regions(b));
    for (x, y) in of_a.iter().flat_map(|x| of_b.iter().map(move |y| (x, y))) {
        // Wherever one's region is followed by the other's, the later must wait.
        for (p, q, first, second) in [(a, b, x, y), (b, a, y, x)] {
            for &r in first {
                if let Some(&next) = second.range(r + 1..).next()
                    && !second.contains(&r)
                    && !first.contains(&next)
                {
                    note(r, next, [p.id, q.id]);
                }
            }
        }
    }
}
