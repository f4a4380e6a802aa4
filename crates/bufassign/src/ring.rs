//! Joint rings: several lifetimes rotating through the slots of one ring (B50).

use crate::arcs::{Arc, disjoint};
use crate::lifetime::{Lifetimes, Unit};
use crate::orders::{SlotOrder, least_distance};
use crate::succession::Succession;

/// Members of a ring in joining order with their rotations, and its slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ring {
    pub units: Vec<usize>,
    pub shifts: Vec<i64>,
    pub depth: i64,
}

impl Ring {
    /// The ring of a single unit.
    pub fn single(unit: usize, depth: i64) -> Ring {
        Ring { units: vec![unit], shifts: vec![0], depth }
    }

    /// Rotations for `units` on `dc` slots: the first at 0, each at its least feasible one (B50).
    pub fn at_depth(life: &Lifetimes, units: &[usize], dc: i64, ii: i64) -> Option<Ring> {
        let period = dc.checked_mul(ii)?;
        let mut arcs: Vec<Arc> = Vec::with_capacity(units.len());
        let mut shifts = Vec::with_capacity(units.len());
        for &k in units {
            let u = &life.units[k];
            let at = |r: i64| Arc { start: u.start - r * ii, len: u.length() };
            let tries = if arcs.is_empty() { 1 } else { dc };
            let r = (0..tries).find(|&r| arcs.iter().all(|&a| disjoint(a, at(r), period)))?;
            // What is updated in place follows itself in one slot (B19); alone there, it meets nobody.
            if u.length() > period && !(u.carried && units.len() == 1) {
                return None;
            }
            arcs.push(at(r));
            shifts.push(r);
        }
        Some(Ring { units: units.to_vec(), shifts, depth: dc })
    }

    /// Orders around the slot's circle, each member to the next (B51), then those that do not follow
    /// from them. None for one member; in a line there is no way back.
    pub fn slot_orders(&self, life: &Lifetimes, ii: i64, is_loop: bool) -> Vec<SlotOrder> {
        let n = self.units.len();
        if n < 2 {
            return Vec::new();
        }
        let unit = |k: usize| -> &Unit { &life.units[self.units[k]] };
        let place = |k: usize| {
            let s = unit(k).start - self.shifts[k] * ii;
            if is_loop { s.rem_euclid(self.depth * ii) } else { s }
        };
        let mut around: Vec<usize> = (0..n).collect();
        around.sort_by_key(|&k| (place(k), unit(k).values[0]));
        // Begin with the lowest member, so that the list reads the same wherever the circle starts.
        let lowest = around.iter().position(|&k| (0..n).all(|o| unit(k).values[0] <= unit(o).values[0]));
        if is_loop {
            around.rotate_left(lowest.unwrap_or(0));
        }
        let order = |a: usize, b: usize, distance: i64| SlotOrder {
            from: self.units[a],
            to: self.units[b],
            distance,
            implied: false,
        };
        if !is_loop {
            return around.windows(2).map(|w| order(w[0], w[1], 0)).collect();
        }
        let mut further = Vec::new();
        let mut out: Vec<SlotOrder> = Vec::with_capacity(n);
        for i in 0..n {
            let a = around[i];
            let at = |k: usize| {
                let b = around[(i + k + 1) % n];
                let turn = self.shifts[a] - self.shifts[b];
                (b, least_distance(unit(a), unit(b), turn, self.depth, ii), unit(b).reach())
            };
            let succession = Succession {
                wrap: self.depth,
                reach: unit(a).reach(),
                others: n - 1,
                at: &at,
                backward: false,
            };
            let mut pairs = succession.pairs().into_iter().map(|(b, d)| order(a, b, d));
            out.extend(pairs.next());
            further.extend(pairs);
        }
        out.extend(further);
        out
    }

    /// What of its settled orders is listed: those between neighbours, and waits.
    pub fn listed(&self, mut over: Vec<SlotOrder>) -> Vec<SlotOrder> {
        let mut at = 0;
        over.retain(|h| {
            at += 1;
            at <= self.units.len() || !h.implied
        });
        over
    }
}
