//! A class of depth-1 lifetimes kept in the order of their starts, so that one more is tested
//! against its two neighbours only (B50, B51 at Dc = 1).

use crate::lifetime::Lifetimes;
use crate::orders::{SlotOrder, least_distance};
use crate::place::Plot;
use crate::ring::Ring;
use crate::succession::Succession;
use std::collections::BTreeMap;

pub(crate) struct Circle {
    /// II of a loop; `None` in a line.
    period: Option<i64>,
    /// (start on the circle, length, unit) by start.
    members: Vec<(i64, i64, usize)>,
    /// Order from each member to the next.
    next: BTreeMap<usize, SlotOrder>,
    /// Waits between members that are no longer neighbours; they stay in the graph.
    waits: Vec<SlotOrder>,
    joined: Vec<usize>,
}

impl Circle {
    /// The circle of a class whose ring has one slot.
    pub fn of(life: &Lifetimes, plot: &Plot, period: Option<i64>) -> Circle {
        let mut members: Vec<(i64, i64, usize)> =
            plot.ring.units.iter().map(|&k| Circle::entry(life, k, period)).collect();
        members.sort_unstable();
        let after = |k: usize| members.iter().position(|m| m.2 == k).map(|at| (at + 1) % members.len());
        let (mut next, mut waits) = (BTreeMap::new(), Vec::new());
        for h in &plot.slot_orders {
            let neighbours = after(h.from).is_some_and(|at| members[at].2 == h.to);
            if neighbours && !next.contains_key(&h.from) {
                next.insert(h.from, *h);
            } else if !h.implied {
                waits.push(*h);
            }
        }
        Circle { period, members, next, waits, joined: plot.ring.units.clone() }
    }

    fn entry(life: &Lifetimes, k: usize, period: Option<i64>) -> (i64, i64, usize) {
        let u = &life.units[k];
        (period.map_or(u.start, |p| u.start.rem_euclid(p)), u.length(), k)
    }

    /// Where a unit would go and its orders, if there is room: those to and from its neighbours, and
    /// those that do not follow from them.
    pub fn room(&self, life: &Lifetimes, unit: usize) -> Option<(usize, Vec<SlotOrder>)> {
        let (start, len, _) = Circle::entry(life, unit, self.period);
        let at = self.members.partition_point(|m| m.0 < start);
        let n = self.members.len();
        let (before, after) = match self.period {
            Some(p) => {
                let before = self.members[(at + n - 1) % n];
                let after = self.members[at % n];
                let fits = (start - before.0).rem_euclid(p) >= before.1
                    && (after.0 - start).rem_euclid(p) >= len
                    && len + before.1.max(after.1) <= p;
                if !fits {
                    return None;
                }
                (Some(before), Some(after))
            }
            None => {
                let before = at.checked_sub(1).map(|b| self.members[b]);
                let after = self.members.get(at).copied();
                if before.is_some_and(|b| b.0 + b.1 > start) || after.is_some_and(|a| start + len > a.0) {
                    return None;
                }
                (before, after)
            }
        };
        let Some(p) = self.period else {
            let over = |from, to| SlotOrder { from, to, distance: 0, implied: false };
            let pair = [before.map(|b| over(b.2, unit)), after.map(|a| over(unit, a.2))];
            return Some((at, pair.into_iter().flatten().collect()));
        };
        // Walking away from the new unit on either side.
        let mut orders = Vec::new();
        for backward in [true, false] {
            let member = |k: usize| {
                let k = k % n;
                let m = self.members[if backward { (at + n - 1 - k) % n } else { (at + k) % n }].2;
                let (from, to) = if backward { (m, unit) } else { (unit, m) };
                (m, least_distance(&life.units[from], &life.units[to], 0, 1, p), life.units[m].reach())
            };
            let reach = life.units[unit].reach();
            let succession = Succession { wrap: 1, reach, others: n, at: &member, backward };
            for (m, distance) in succession.pairs() {
                let (from, to) = if backward { (m, unit) } else { (unit, m) };
                orders.push(SlotOrder { from, to, distance, implied: false });
            }
        }
        Some((at, orders))
    }

    /// Adds a unit at the place found by [`Circle::room`], its orders settled.
    pub fn join(&mut self, life: &Lifetimes, unit: usize, at: usize, over: &[SlotOrder]) {
        self.members.insert(at, Circle::entry(life, unit, self.period));
        self.joined.push(unit);
        let n = self.members.len();
        let (before, after) = (self.members[(at + n - 1) % n].2, self.members[(at + 1) % n].2);
        let mut seen = [false; 2];
        for h in over {
            // The first on either side is the neighbour.
            let side = usize::from(h.from == unit);
            let neighbour = if side == 1 { h.to == after } else { h.from == before };
            if neighbour && !std::mem::replace(&mut seen[side], true) {
                if let Some(old) = self.next.insert(h.from, *h).filter(|old| !old.implied) {
                    self.waits.push(old);
                }
            } else if !h.implied {
                self.waits.push(*h);
            }
        }
    }

    /// Writes the class back: members in joining order, orders around from the lowest value.
    pub fn store(self, life: &Lifetimes, plot: &mut Plot) {
        let value = |k: usize| life.units[k].values[0];
        let lowest = (0..self.members.len()).min_by_key(|&at| value(self.members[at].2)).unwrap_or(0);
        let turn = if self.period.is_some() { lowest } else { 0 };
        let around = self.members[turn..].iter().chain(&self.members[..turn]);
        plot.slot_orders = around.filter_map(|m| self.next.get(&m.2).copied()).collect();
        plot.slot_orders.extend(self.waits);
        plot.ring = Ring { shifts: vec![0; self.joined.len()], units: self.joined, depth: 1 };
    }
}
