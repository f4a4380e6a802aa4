//! Tiles that lanes write into tensor memory: operands for products, and accumulators that they scale (C24, C25, C66).
//!
//! Every warp has its own rows, and nobody else reaches them. A product takes the rows of all writers: each must have
//! written its part for just this product, and handed it over.

use super::{Run, Step};
use crate::check::machine::{PlaceId, Row};
use crate::check::report::Rule;
use crate::check::warp::Warp;

impl Run<'_, '_> {
    /// Whether lanes write to a ring of accumulators: they scale what products add to.
    pub(super) fn is_scaled(&self, ring: usize) -> bool {
        self.model.rings.get(ring).is_some_and(|r| r.is_accumulators()) && !self.writers(ring).is_empty()
    }

    /// A warp writes its rows of a slot.
    pub(super) fn write_rows(&mut self, w: usize, ring: usize, place: PlaceId) -> Step {
        if self.machine.multiplying(place) {
            return self.broken(w, Rule::Overwrite, "overwrites what a product still uses");
        }
        let before = self.machine.rows.get(&(place, w)).copied();
        if before.is_some_and(|row| row.public && !row.read) {
            return self.broken(w, Rule::Overwrite, "overwrites rows that no product has read");
        }
        let version = self.warps.get(w).and_then(|x| x.commits.get(ring)).copied().unwrap_or(0);
        let started = self.machine.fillings.get(ring).copied();
        let scaled = self.is_scaled(ring);
        for other in self.machine.others(place) {
            self.machine.rows.remove(&(other, w));
            self.machine.lost.insert((other, w));
        }
        self.machine.lost.remove(&(place, w));
        self.machine.rows.insert((place, w), Row { version, public: false, read: false });
        if let Some(place) = self.machine.places.get_mut(place).filter(|p| scaled && p.holds.is_none()) {
            place.holds = started;
        }
        Step::Went
    }

    /// A warp hands its rows of a slot over. False when it wrote none for this turn.
    pub(super) fn hand_over_rows(&mut self, w: usize, ring: usize, slot: u64) -> bool {
        let Some(place) = self.machine.place(ring, 0, slot) else { return false };
        let turn = self.warps.get(w).and_then(|x| x.commits.get(ring)).copied().unwrap_or(0);
        let operand = self.model.rings.get(ring).is_some_and(|r| r.is_tmem_operands());
        match self.machine.rows.get_mut(&(place, w)) {
            Some(row) if !row.read && (!operand || row.version == turn) => {
                row.public = true;
                true
            }
            _ => false,
        }
    }

    /// Whether a product may read the rows of every writer as filling number `version` of their ring.
    pub(super) fn rows_readable(&mut self, w: usize, place: PlaceId, version: Option<u64>) -> Option<Step> {
        let ring = self.machine.places.get(place)?.ring;
        for writer in self.writers(ring) {
            let found = match self.machine.rows.get(&(place, writer)) {
                None => "has not written its rows",
                Some(row) if !row.public => "has not handed over its rows",
                Some(row) if version.is_none() && row.read => {
                    "has not scaled its rows since the last product"
                }
                Some(row) if version.is_some_and(|v| v != row.version) => {
                    "has its rows of another turn there"
                }
                Some(_) => continue,
            };
            return Some(self.broken(w, Rule::Read, format!("warp {writer} {found}")));
        }
        None
    }

    /// A product has taken the rows of a place.
    pub(super) fn take_rows(&mut self, place: PlaceId) {
        for (_, row) in self.machine.rows.iter_mut().filter(|((p, _), _)| *p == place) {
            row.read = true;
        }
    }

    /// An accumulator without an empty barrier starts anew in a slot: whoever read what was there must have said so, or have
    /// written rows over it since.
    pub(super) fn given_back_with_rows(
        &mut self,
        w: usize,
        ring: usize,
        accumulator: PlaceId,
        version: u64,
    ) -> Option<Step> {
        let data = self.model.rings.get(ring).filter(|r| r.empty.is_none() && version >= r.depth)?;
        let released = |x: &Warp| x.releases.get(ring).copied().unwrap_or(0);
        if self.warps.iter().any(|x| released(x) > 0) {
            let late = |x: &Warp| self.waits_on(x, ring) && released(x) < version;
            let late = self.warps.iter().position(late)?;
            let text = format!("starts an accumulator that warp {late} has not given back");
            return Some(self.broken(w, Rule::Overwrite, text));
        }
        let (name, over) = (data.name.clone(), self.machine.others(accumulator));
        let operand = |place: &PlaceId| {
            let ring = self.machine.places.get(*place).map(|p| p.ring);
            ring.filter(|&r| self.model.rings.get(r).is_some_and(|r| r.is_tmem_operands()))
                .map(|r| (*place, r))
        };
        let operands: Vec<(PlaceId, usize)> = over.iter().filter_map(operand).collect();
        if operands.is_empty() {
            let text =
                format!("starts an accumulator of @{name} a second time in a slot that nobody gives back");
            return Some(self.broken(w, Rule::Overwrite, text));
        }
        for (place, ring) in operands {
            let late = |&x: &usize| !self.machine.rows.contains_key(&(place, x));
            if let Some(late) = self.writers(ring).into_iter().find(late) {
                let text =
                    format!("starts an accumulator over which warp {late} has yet to write what it read");
                return Some(self.broken(w, Rule::Overwrite, text));
            }
        }
        None
    }

    /// A product starts an accumulator anew: nobody may want what else has these columns.
    pub(super) fn clear_columns(&mut self, w: usize, accumulator: PlaceId) -> Option<Step> {
        let others = self.machine.others(accumulator);
        let unread = self.machine.rows.iter().any(|((p, _), row)| others.contains(p) && !row.read);
        if unread {
            return Some(self.broken(
                w,
                Rule::Overwrite,
                "starts an accumulator over rows that no product has read",
            ));
        }
        if others.iter().any(|&other| self.machine.multiplying(other)) {
            return Some(self.broken(
                w,
                Rule::Overwrite,
                "starts an accumulator over what a product still uses",
            ));
        }
        self.machine.rows.retain(|(p, _), _| !others.contains(p));
        self.machine.lost.retain(|(p, _)| *p != accumulator);
        None
    }

    /// What a view of an accumulator in tensor memory lacks for a warp: its own rows may lie over it, or never have
    /// been started.
    pub(super) fn rows_missing(&self, w: usize, place: PlaceId) -> Option<&'static str> {
        if self.machine.lost.contains(&(place, w)) {
            return Some("reads an accumulator over which it has written");
        }
        let ring = self.machine.places.get(place)?.ring;
        let started = self.machine.rows.contains_key(&(place, w));
        (self.is_scaled(ring) && !started).then_some("reads an accumulator that it has not started")
    }

    /// Rows of operands that no product has read.
    pub(super) fn rows_left(&self) -> Vec<String> {
        let left = self.machine.rows.iter().filter(|((place, _), row)| {
            let ring = self.machine.places.get(*place).and_then(|p| self.model.rings.get(p.ring));
            !row.read && ring.is_some_and(|r| r.is_tmem_operands())
        });
        left.map(|((_, w), _)| format!("warp {w} has rows in tensor memory that no product has read"))
            .collect()
    }

    /// Warps whose partitions write tiles into a ring.
    pub(super) fn writers(&self, ring: usize) -> Vec<usize> {
        let writes =
            |partition: usize| self.model.rings.get(ring).is_some_and(|r| r.writers.contains(&partition));
        self.warps.iter().enumerate().filter(|(_, x)| writes(x.partition)).map(|(w, _)| w).collect()
    }
}
