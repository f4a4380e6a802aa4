//! Phase 4: which classes become one buffer (B49..B53).

use crate::arcs::{Arc, disjoint};
use crate::handshake::Shake;
use crate::lifetime::{Lifetimes, Unit};
use crate::model::Model;
use crate::orders::{HandOver, Orders};
use crate::output::{Class, Note};
use crate::place::Plot;
use crate::ring::Ring;

pub(crate) use crate::orders::least_distance;

/// One sweep over all pairs of classes: `insert` allows merges that need a wait inserted (B53).
pub(crate) fn sweep(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &mut Orders,
    shakes: &[Shake],
    plots: &mut Vec<Plot>,
    insert: bool,
    notes: &mut Vec<Note>,
) {
    // Candidates by what must agree anyway, so that unrelated pairs are never looked at.
    let mut groups: std::collections::BTreeMap<_, Vec<usize>> = std::collections::BTreeMap::new();
    for (k, plot) in plots.iter().enumerate() {
        if may_share(model, life, plot) {
            groups.entry(kind(model, life, plot)).or_default().push(k);
        }
    }
    let mut lists: Vec<Vec<usize>> = groups.into_values().filter(|g| g.len() > 1).collect();
    lists.sort_by_key(|g| g[0]);
    let mut gone = vec![false; plots.len()];
    let mut pairs: Vec<(usize, Vec<usize>)> = Vec::new();
    for list in lists {
        for (at, &i) in list.iter().enumerate() {
            pairs.push((i, list[at + 1..].to_vec()));
        }
    }
    pairs.sort_by_key(|p| p.0);
    for (i, later) in pairs {
        if gone[i] {
            continue;
        }
        for j in later {
            if gone[j] || !cheap_test(model, life, &plots[i], &plots[j]) {
                continue;
            }
            let Some((ring, hand_overs)) = unite(model, life, orders, shakes, &plots[i], &plots[j], insert)
            else {
                continue;
            };
            let other = plots[j].clone();
            notes.push(Note {
                rule: "B53".into(),
                phase: 4,
                text: "share pipeline buffer".into(),
                values: vec![plots[i].id, other.id],
            });
            let plot = &mut plots[i];
            plot.size = plot.size.max(other.size);
            plot.align = plot.align.max(other.align);
            plot.half_lanes &= other.half_lanes;
            plot.ring = ring;
            // Waits of the parts stay in the graph, and so in the list, even where the circle is new.
            let before = std::mem::replace(&mut plot.hand_overs, hand_overs);
            for h in before.into_iter().chain(other.hand_overs).filter(|h| !h.implied) {
                let known = plot
                    .hand_overs
                    .iter()
                    .any(|k| (k.from, k.to, k.distance) == (h.from, h.to, h.distance) && !k.implied);
                if !known {
                    plot.hand_overs.retain(|k| (k.from, k.to, k.distance) != (h.from, h.to, h.distance));
                    plot.hand_overs.push(h);
                }
            }
            gone[j] = true;
        }
    }
    let mut k = 0;
    plots.retain(|_| {
        k += 1;
        !gone[k - 1]
    });
}

/// A class that may share at all (B49).
fn may_share(model: &Model<'_>, life: &Lifetimes, plot: &Plot) -> bool {
    plot.layout.is_none()
        && matches!(plot.class, Class::Smem | Class::Tmem)
        && plot.size > 0
        && plot.ring.units.iter().all(|&k| {
            let u = &life.units[k];
            let piped = u.values.iter().any(|&v| {
                model.pipes[model.values[v].pipe].values.iter().filter(|&&x| life.owner[x] == x).count() > 1
            });
            !u.whole && u.elsewhere.is_empty() && !piped && u.region == life.units[plot.ring.units[0]].region
        })
}

/// What two classes must have in common (B49).
fn kind(model: &Model<'_>, life: &Lifetimes, plot: &Plot) -> (Class, usize, Option<(String, u64)>) {
    let unit = &life.units[plot.ring.units[0]];
    let v = &model.values[unit.values[0]];
    let exact =
        (!model.options.relax_footprint).then(|| (v.src.element.clone().unwrap_or_default(), plot.size));
    (plot.class, unit.region, exact)
}

/// A necessary condition on two depth-1 classes in a loop: no arc of one meets an arc of the other.
fn cheap_test(model: &Model<'_>, life: &Lifetimes, a: &Plot, b: &Plot) -> bool {
    let r = &model.regions[life.units[a.ring.units[0]].region];
    if !r.is_loop || a.ring.depth != 1 || b.ring.depth != 1 || a.size != b.size {
        return true;
    }
    let arc = |k: usize| {
        let u: &Unit = &life.units[k];
        Arc { start: u.start, len: u.length() }
    };
    b.ring.units.iter().all(|&y| a.ring.units.iter().all(|&x| disjoint(arc(x), arc(y), r.ii)))
}

/// The joint ring of two classes and its hand-overs, if there is one that pays and can be ordered
/// (B50..B52).
fn unite(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &mut Orders,
    shakes: &[Shake],
    a: &Plot,
    b: &Plot,
    insert: bool,
) -> Option<(Ring, Vec<HandOver>)> {
    let units: Vec<usize> = a.ring.units.iter().chain(&b.ring.units).copied().collect();
    let region = life.units[units[0]].region;
    let r = &model.regions[region];
    let apart = (a.stride().checked_mul(a.ring.depth.unsigned_abs())?)
        .checked_add(b.stride().checked_mul(b.ring.depth.unsigned_abs())?)?;
    let (size, align) = (a.size.max(b.size), a.align.max(b.align));
    let stride = size.div_ceil(align) * align;
    let low = a.ring.depth.max(b.ring.depth);
    if !r.is_loop {
        let mut spans: Vec<(i64, i64)> =
            units.iter().map(|&k| (life.units[k].start, life.units[k].end)).collect();
        spans.sort_unstable();
        if stride >= apart || spans.windows(2).any(|w| w[0].1 > w[1].0) {
            return None;
        }
        let ring = Ring { shifts: vec![0; units.len()], units, depth: 1 };
        let mut over = ring.hand_overs(life, r.ii, false);
        let done = orders.settle(model, life, shakes, region, (&ring.units, 1), &mut over, insert);
        return done.then_some((ring, over));
    }
    // The cost guard bounds the depth: stride * Dc < what they take apart.
    let mut dc = low;
    while stride.checked_mul(dc.unsigned_abs())? < apart {
        if let Some(ring) = Ring::at_depth(life, &units, dc, r.ii) {
            let mut over = ring.hand_overs(life, r.ii, true);
            if orders.settle(model, life, shakes, region, (&ring.units, dc), &mut over, insert) {
                return Some((ring, over));
            }
        }
        dc += 1;
    }
    None
}
