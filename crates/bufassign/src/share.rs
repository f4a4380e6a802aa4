//! Phase 4: which classes become one buffer (B49..B53).

use crate::circle::Circle;
use crate::handshake::Shake;
use crate::lifetime::Lifetimes;
use crate::model::Model;
use crate::orders::{Orders, SlotOrder};
use crate::output::{AssignNote, Class};
use crate::place::Plot;
use crate::ring::Ring;
use bitvec::vec::BitVec;

mod quick;

use self::quick::Quick;

/// One sweep over all pairs of classes; so many merges may need a wait inserted (B53).
pub(crate) fn sweep(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &mut Orders,
    shakes: &[Shake],
    plots: &mut Vec<Plot>,
    mut waits: usize,
    notes: &mut Vec<AssignNote>,
) {
    // Candidates by what must agree anyway, so that unrelated pairs are never looked at.
    let mut groups: std::collections::BTreeMap<_, Vec<usize>> = std::collections::BTreeMap::new();
    for (k, plot) in plots.iter().enumerate() {
        if may_share(model, life, plot) {
            groups.entry(kind(model, life, plot)).or_default().push(k);
        }
    }
    let lists: Vec<Vec<usize>> = groups.into_values().filter(|g| g.len() > 1).collect();
    // Pairs ascend over all kinds together: a merge may change the graph that others ask.
    let mut rows: Vec<(usize, usize, usize)> = Vec::new();
    for (l, list) in lists.iter().enumerate() {
        rows.extend(list.iter().enumerate().map(|(at, &i)| (i, l, at)));
    }
    rows.sort_unstable();
    let mut gone: BitVec = BitVec::repeat(false, plots.len());
    let mut quick: Option<Quick> = None;
    for (i, l, at) in rows {
        if model.is_late() {
            break;
        }
        if gone[i] {
            continue;
        }
        // Where waits may be inserted, the graph says nothing for good.
        if waits == 0 && quick.as_ref().is_none_or(|q| !q.holds(orders)) {
            quick = Some(Quick::new(model, life, orders, plots));
        }
        let later = lists[l][at + 1..].iter().copied();
        let quick = quick.as_ref().filter(|_| waits == 0);
        row(model, life, orders, shakes, plots, (i, later), quick, &mut gone, &mut waits, notes);
    }
    let mut k = 0;
    plots.retain(|_| {
        k += 1;
        !gone[k - 1]
    });
}

/// Tries to unite class `i` with each later one.
#[allow(clippy::too_many_arguments)]
fn row(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &mut Orders,
    shakes: &[Shake],
    plots: &mut [Plot],
    (i, later): (usize, impl Iterator<Item = usize>),
    quick: Option<&Quick>,
    gone: &mut BitVec,
    waits: &mut usize,
    notes: &mut Vec<AssignNote>,
) {
    let region = life.units[plots[i].ring.units[0]].region;
    let r = &model.regions[region];
    let period = r.is_loop.then_some(r.ii);
    let mut circle: Option<Circle> = None;
    let mut alone = true;
    for j in later {
        if model.is_late() {
            break;
        }
        if gone[j] || alone && quick.is_some_and(|q| q.refuses(i, j)) {
            continue;
        }
        let insert = *waits > 0;
        let mut waited = false;
        let simple = plots[i].ring.depth == 1 && plots[j].ring.depth == 1 && plots[j].ring.units.len() == 1;
        let united = if simple {
            let unit = plots[j].ring.units[0];
            let c = circle.get_or_insert_with(|| Circle::of(life, &plots[i], period));
            c.room(life, unit).is_some_and(|(at, mut over)| {
                let done = orders.settle(model, life, shakes, region, (&[], 1), &mut over, insert);
                if done {
                    waited = over.iter().any(|h| !h.implied);
                    c.join(life, unit, at, &over);
                }
                done
            })
        } else {
            if let Some(c) = circle.take() {
                c.store(life, &mut plots[i]);
            }
            let found = unite(model, life, orders, shakes, &plots[i], &plots[j], insert);
            found.is_some_and(|(ring, slot_orders)| {
                waited = slot_orders.iter().any(|h| !h.implied);
                let other = plots[j].slot_orders.clone();
                replace(&mut plots[i], ring, slot_orders, other);
                true
            })
        };
        if !united {
            continue;
        }
        alone = false;
        *waits -= usize::from(waited);
        absorb(plots, i, j, notes);
        gone.set(j, true);
    }
    if let Some(c) = circle {
        c.store(life, &mut plots[i]);
    }
}

/// Makes class `i` large enough for class `j` too, and says so.
fn absorb(plots: &mut [Plot], i: usize, j: usize, notes: &mut Vec<AssignNote>) {
    notes.push(AssignNote {
        rule: "B53".into(),
        phase: 4,
        text: "share pipeline buffer".into(),
        values: vec![plots[i].id, plots[j].id],
    });
    let (id, size, align, half) = (plots[j].id, plots[j].size, plots[j].align, plots[j].half_lanes);
    let plot = &mut plots[i];
    plot.size = plot.size.max(size);
    plot.align = plot.align.max(align);
    plot.half_lanes &= half;
    plot.id = plot.id.min(id);
}

/// Unites two classes, with waits where they need them; nothing changes where that cannot be.
pub(crate) fn join(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &mut Orders,
    shakes: &[Shake],
    plots: &mut Vec<Plot>,
    (i, j): (usize, usize),
    notes: &mut Vec<AssignNote>,
) -> bool {
    let Some((ring, slot_orders)) = unite(model, life, orders, shakes, &plots[i], &plots[j], true) else {
        return false;
    };
    let other = plots[j].slot_orders.clone();
    replace(&mut plots[i], ring, slot_orders, other);
    absorb(plots, i, j, notes);
    plots.remove(j);
    true
}

/// Pairs of classes that may become one, if their lifetimes and orders allow it.
pub(crate) fn pairs(model: &Model<'_>, life: &Lifetimes, plots: &[Plot]) -> Vec<(usize, usize)> {
    let able: Vec<usize> = (0..plots.len()).filter(|&k| may_share(model, life, &plots[k])).collect();
    let mut out = Vec::new();
    for (n, &i) in able.iter().enumerate() {
        let alike = |j: &&usize| kind(model, life, &plots[i]) == kind(model, life, &plots[**j]);
        out.extend(able[n + 1..].iter().filter(alike).map(|&j| (i, j)));
    }
    out
}

/// Gives a class its new ring. Waits of the parts stay in the graph, and so in the list, even where
/// the circle is new.
fn replace(plot: &mut Plot, ring: Ring, slot_orders: Vec<SlotOrder>, other: Vec<SlotOrder>) {
    plot.ring = ring;
    let before = std::mem::replace(&mut plot.slot_orders, slot_orders);
    for h in before.into_iter().chain(other).filter(|h| !h.implied) {
        let same = |k: &SlotOrder| (k.from, k.to, k.distance) == (h.from, h.to, h.distance);
        if !plot.slot_orders.iter().any(|k| same(k) && !k.implied) {
            plot.slot_orders.retain(|k| !same(k));
            plot.slot_orders.push(h);
        }
    }
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
            let alone =
                u.values.iter().any(|&v| model.values[v].src.alone || model.spare[model.values[v].pipe] > 0);
            !u.whole
                && !alone
                && u.elsewhere.is_empty()
                && !piped
                && u.region == life.units[plot.ring.units[0]].region
        })
}

/// What two classes must have in common: class, space and region; element, columns or bytes in place, and bytes (B49).
type Kind = ((Class, usize), usize, Option<(String, u64, u64)>);

fn kind(model: &Model<'_>, life: &Lifetimes, plot: &Plot) -> Kind {
    let unit = &life.units[plot.ring.units[0]];
    let v = &model.values[unit.values[0]];
    // Tiles of 64 and of 128 rows may have the same columns and not the same bytes.
    let footprint = || (v.src.element.clone().unwrap_or_default(), plot.size, v.bytes);
    ((plot.class, plot.space), unit.region, (!model.options.relax_footprint).then(footprint))
}

/// The joint ring of two classes and its orders, if there is one that pays and can be ordered
/// (B50..B52).
fn unite(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &mut Orders,
    shakes: &[Shake],
    a: &Plot,
    b: &Plot,
    insert: bool,
) -> Option<(Ring, Vec<SlotOrder>)> {
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
        let mut over = ring.slot_orders(life, r.ii, false);
        let done = orders.settle(model, life, shakes, region, (&ring.units, 1), &mut over, insert);
        return done.then_some((ring, over));
    }
    // The cost guard bounds the depth: stride * Dc < what they take apart.
    let mut dc = low;
    while stride.checked_mul(dc.unsigned_abs())? < apart {
        if let Some(ring) = Ring::at_depth(life, &units, dc, r.ii) {
            let mut over = ring.slot_orders(life, r.ii, true);
            if orders.settle(model, life, shakes, region, (&ring.units, dc), &mut over, insert) {
                let over = ring.listed(over);
                return Some((ring, over));
            }
        }
        dc += 1;
    }
    None
}
