//! The order graphs of all regions at the depths in force, and what has been built on them (B24..B26).

use crate::handshake::Shake;
use crate::lifetime::{Lifetimes, Unit};
use crate::model::Model;
use crate::order::{Deadlock, MOST_TURNS, Order};
use crate::output::Handshake;
use std::collections::BTreeSet;

/// Graph nodes that rebuilding may visit in all before depth-changing merges are given up; keeps
/// phase 4 within seconds on ten thousand values.
const WORK: u64 = 40_000_000;

/// Storage passes from one unit to another, `distance` iterations later (B51).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotOrder {
    pub from: usize,
    pub to: usize,
    pub distance: i64,
    pub implied: bool,
}

/// One completion before one issue.
type Wait = (usize, usize, i64);

#[derive(Clone)]
pub(crate) struct Orders {
    pub graphs: Vec<Order>,
    /// Ring slots of each unit.
    pub depth: Vec<i64>,
    /// Waits the pipeline is asked to insert, per region.
    extra: Vec<Vec<Wait>>,
    /// Implied orders that something relies on, per region.
    relied: Vec<Vec<Wait>>,
    /// Values whose next write into a slot waits for the one before, since no use is sure to stand between (B78).
    pub rewrites: Vec<SlotOrder>,
    spent: u64,
    /// Counts changes of the graphs.
    pub revision: u64,
}

/// Least d = diff + n*dc such that `to` of iteration i + d starts after `from` of iteration i ends.
pub(crate) fn least_distance(from: &Unit, to: &Unit, diff: i64, dc: i64, ii: i64) -> i64 {
    let gap = from.end - to.start;
    let d = gap.div_euclid(ii) + i64::from(gap.rem_euclid(ii) != 0);
    let steps = d - diff;
    diff + (steps.div_euclid(dc) + i64::from(steps.rem_euclid(dc) != 0)) * dc
}

/// The distances at which an order must hold, `least` being the first and `step` apart: all that lead back
/// and the first that does not. What holds at a distance of 0 or more holds later too, since an op follows
/// its own earlier turns; but the turn that a distance leads back to may be one that the run does not have.
pub(crate) fn wraps(least: i64, step: i64) -> impl Iterator<Item = i64> {
    let ahead = if least < -MOST_TURNS { least } else { 0 };
    std::iter::successors(Some(least), move |&d| (d < ahead).then(|| d + step.max(1)))
}

/// Whether a lifetime has bytes or columns that are written.
fn stored(model: &Model<'_>, unit: &Unit) -> bool {
    unit.values.iter().any(|&v| model.roles(v).any(|r| model.limits.has_payload(r)))
}

impl Orders {
    /// The graphs at the depths of phase 1.
    ///
    /// # Errors
    /// The region whose graph is unsound.
    pub fn new(model: &Model<'_>, life: &Lifetimes) -> Result<Orders, usize> {
        let depth: Vec<i64> = life.units.iter().map(|u| u.depth).collect();
        let mut graphs = Vec::with_capacity(model.regions.len());
        for region in 0..model.regions.len() {
            graphs.push(Order::build(model, life, region, &|k| depth[k], &[]).map_err(|Deadlock| region)?);
        }
        let none = vec![Vec::new(); model.regions.len()];
        let rewrites = Vec::new();
        let mut orders =
            Orders { graphs, depth, extra: none.clone(), relied: none, rewrites, spent: 0, revision: 0 };
        orders.order_writes(model, life);
        Ok(orders)
    }

    /// The writes that no use is sure to stand between: unit, op, and turns to the next write of the slot.
    fn unread(&self, model: &Model<'_>, life: &Lifetimes) -> Vec<(usize, usize, i64)> {
        let loops = life.units.iter().enumerate().filter(|(_, u)| model.regions[u.region].is_loop);
        // A use that stands between is acquired after the write and released before the next one.
        let open =
            loops.filter(|(k, u)| stored(model, u) && u.uses.iter().all(|x| x.distance > self.depth[*k]));
        open.filter_map(|(k, u)| Some((k, u.producer?, self.depth[k]))).collect()
    }

    /// Orders the writes of every slot, by a wait where nothing else does (B78). A wait for an earlier turn of the op
    /// that waits agrees with every schedule, so it can always be inserted.
    fn order_writes(&mut self, model: &Model<'_>, life: &Lifetimes) {
        for (k, p, distance) in self.unread(model, life) {
            let region = life.units[k].region;
            let graph = &mut self.graphs[region];
            if !graph.implied(p, p, distance) && graph.insertable(p, p, distance) {
                graph.insert(p, p, distance);
                graph.keep();
                self.extra[region].push((p, p, distance));
                self.rewrites.push(SlotOrder { from: k, to: k, distance, implied: false });
            }
        }
    }

    /// Orders the writes of every slot once more, now that chains have their depths: the release of another value may
    /// have ordered them, and in a deeper ring it comes later. From here on no ring gets deep enough for that.
    pub fn keep_writes(&mut self, model: &Model<'_>, life: &Lifetimes) {
        self.order_writes(model, life);
        for (k, p, distance) in self.unread(model, life) {
            self.rely(life.units[k].region, [(p, p, distance)]);
        }
    }

    /// Notes orders that must go on holding.
    pub fn rely(&mut self, region: usize, waits: impl IntoIterator<Item = Wait>) {
        self.relied[region].extend(waits);
    }

    /// The completions and issues that a order consists of.
    fn waits(life: &Lifetimes, h: &SlotOrder) -> Option<Vec<Wait>> {
        let (u, v) = (&life.units[h.from], &life.units[h.to]);
        let p = v.producer?;
        if u.region != v.region {
            let there = u.far.iter().filter(|f| f.0 == v.region);
            return Some(there.map(|f| (f.1, p, h.distance)).collect());
        }
        Some(u.ends(h.distance).map(|(op, turn)| (op, p, h.distance - turn)).collect())
    }

    /// Whether program order alone may guard the later value's bytes (B26).
    fn acquired(model: &Model<'_>, life: &Lifetimes, shakes: &[Shake], h: &SlotOrder) -> bool {
        let (u, v) = (&life.units[h.from], &life.units[h.to]);
        let Some(p) = v.producer else { return false };
        let shake = &shakes[model.values[v.values[0]].pipe];
        model.partitions[model.ops[p].partition].warps == 1
            || matches!(shake.kind, Handshake::Named | Handshake::Full | Handshake::Pair)
            || (u.warp_local && v.warp_local)
    }

    /// Tries to make orders of one region hold, its members' rings having `dc` slots. On
    /// success the graph, the depths and what is relied on are updated and `implied` is filled in.
    #[allow(clippy::too_many_arguments)]
    pub fn settle(
        &mut self,
        model: &Model<'_>,
        life: &Lifetimes,
        shakes: &[Shake],
        region: usize,
        ring: (&[usize], i64),
        slot_orders: &mut [SlotOrder],
        insert: bool,
    ) -> bool {
        let (members, dc) = ring;
        let deeper = members.iter().any(|&k| self.depth[k] != dc);
        let mut trial: Option<Order> = None;
        if deeper {
            self.spent += 1 + 2 * model.regions[region].ops.len() as u64;
            if self.spent > WORK {
                return false;
            }
            let depth = |k: usize| if members.contains(&k) { dc } else { self.depth[k] };
            let Ok(g) = Order::build(model, life, region, &depth, &self.extra[region]) else { return false };
            if self.relied[region].iter().any(|&(x, y, d)| !g.implied(x, y, d)) {
                return false;
            }
            trial = Some(g);
        }
        let Orders { graphs, depth, extra, relied, spent, revision, .. } = self;
        let graph = trial.as_mut().unwrap_or(&mut graphs[region]);
        let Some((added, held)) = find(model, life, shakes, graph, spent, slot_orders, insert) else {
            graph.take_back();
            return false;
        };
        graph.keep();
        *revision += u64::from(deeper || !added.is_empty());
        if let Some(g) = trial {
            graphs[region] = g;
        }
        for &k in members {
            depth[k] = dc;
        }
        relied[region].extend(held);
        extra[region].extend(added);
        true
    }

    /// Waits inserted since `base`: how many, and how many of them tie a partition to another whose work it did not
    /// wait for before.
    pub fn added(&self, base: &Orders) -> (u64, u64) {
        let (mut waits, mut couples) = (0, 0);
        for (region, extra) in self.extra.iter().enumerate() {
            let had: BTreeSet<&Wait> = base.extra[region].iter().collect();
            let graph = &base.graphs[region];
            for &&(x, y, _) in extra.iter().collect::<BTreeSet<&Wait>>().difference(&had) {
                waits += 1;
                let (from, to) = (graph.seat(x).map(|s| s.0), graph.seat(y).map(|s| s.0));
                let tied = from == to || to.is_none_or(|partition| graph.freed(x, partition).is_some());
                couples += u64::from(!tied);
            }
        }
        (waits, couples)
    }

    /// Whether the budget for rebuilding graphs is spent.
    pub fn is_spent(&self) -> bool {
        self.spent > WORK
    }
}

/// Finds orders implied or inserts the waits they need: the waits inserted, and the orders relied on.
fn find(
    model: &Model<'_>,
    life: &Lifetimes,
    shakes: &[Shake],
    graph: &mut Order,
    spent: &mut u64,
    slot_orders: &mut [SlotOrder],
    insert: bool,
) -> Option<(Vec<Wait>, Vec<Wait>)> {
    let (mut added, mut relied) = (Vec::new(), Vec::new());
    for h in slot_orders.iter_mut() {
        if h.distance < -MOST_TURNS {
            return None;
        }
        let waits = Orders::waits(life, h)?;
        h.implied =
            Orders::acquired(model, life, shakes, h) && waits.iter().all(|&(x, y, d)| graph.implied(x, y, d));
        if h.implied {
            relied.extend(waits);
            continue;
        }
        if !insert {
            return None;
        }
        for (x, y, d) in waits {
            if !graph.implied(x, y, d) {
                *spent += 1;
                if *spent > WORK || !graph.insertable(x, y, d) {
                    return None;
                }
                *spent += graph.insert(x, y, d);
            }
            added.push((x, y, d));
        }
    }
    Some((added, relied))
}
