//! Joint rings: several lifetimes rotating through the slots of one ring (B50).

use crate::arcs::{Arc, disjoint};
use crate::lifetime::{Lifetimes, Unit};
use crate::orders::{HandOver, least_distance};

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
            if u.length() > period {
                return None;
            }
            arcs.push(at(r));
            shifts.push(r);
        }
        Some(Ring { units: units.to_vec(), shifts, depth: dc })
    }

    /// Hand-overs around the slot's circle, each member to the next (B51). None for one member;
    /// in a line there is no way back.
    pub fn hand_overs(&self, life: &Lifetimes, ii: i64, is_loop: bool) -> Vec<HandOver> {
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
        let pairs = if is_loop { n } else { n - 1 };
        (0..pairs)
            .map(|i| {
                let (a, b) = (around[i], around[(i + 1) % n]);
                let distance = if is_loop {
                    least_distance(unit(a), unit(b), self.shifts[a] - self.shifts[b], self.depth, ii)
                } else {
                    0
                };
                HandOver { from: self.units[a], to: self.units[b], distance, implied: false }
            })
            .collect()
    }
}
