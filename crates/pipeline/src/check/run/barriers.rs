//! Waits, commits, releases, iterators: the handshakes on mbarriers.

use warploom_ir::{OpId, Opcode};

use super::{Run, Step, Val};
use crate::check::report::Rule;

impl Run<'_, '_> {
    pub(super) fn wait_for(&mut self, w: usize, op: OpId, full: bool) -> Step {
        let Some((ring, slot, phase)) = self.iterator(w, op) else { return Step::Broken };
        if !full && self.is_met_for(ring) {
            // The product itself asks whether all have read.
            return Step::Went;
        }
        let barriers = if full { &self.machine.full } else { &self.machine.empty };
        let barrier = barriers.get(ring).and_then(|b| b.get(usize::try_from(slot).ok()?));
        match barrier.map(|b| b.passes(phase)) {
            Some(true) => {
                if let Some(count) =
                    self.warps.get_mut(w).filter(|_| full).and_then(|x| x.waits.get_mut(ring))
                {
                    *count += 1;
                    self.take(w, ring, slot);
                }
                Step::Went
            }
            Some(false) => Step::Waits,
            None => self.broken(w, Rule::Form, "there is no such barrier"),
        }
    }

    /// What the warp waits for, for a deadlock report.
    pub fn missing(&mut self, w: usize) -> String {
        let Some(op) = self.current(w) else { return String::new() };
        let full = self.model.module.ops[op].opcode == Opcode::ConsumerWait;
        let Some((ring, slot, _)) = self.model.ring(op).and_then(|_| self.iterator(w, op)) else {
            return String::new();
        };
        let barriers = if full { &self.machine.full } else { &self.machine.empty };
        let barrier = barriers.get(ring).and_then(|b| b.get(usize::try_from(slot).ok()?));
        barrier.map_or(String::new(), |b| format!("slot {slot}: {}", b.missing()))
    }

    pub(super) fn commit(&mut self, w: usize, op: OpId) -> Step {
        let Some((ring, slot, _)) = self.iterator(w, op) else { return Step::Broken };
        if self.model.rings.get(ring).is_some_and(|r| r.is_accumulators()) {
            return self.commit_products(w, ring, slot, true);
        }
        if self.model.rings.get(ring).is_some_and(|r| r.is_tmem_operands()) {
            if !self.hand_over_rows(w, ring, slot) {
                return self.broken(w, Rule::Read, "hands over rows that it has not written");
            }
            if let Some(commits) = self.warps.get_mut(w).and_then(|x| x.commits.get_mut(ring)) {
                *commits += 1;
            }
        }
        let bytes = self.model.number(op, "bytes").unwrap_or(0);
        let slot = usize::try_from(slot).unwrap_or(usize::MAX);
        match self.machine.full.get_mut(ring).and_then(|b| b.get_mut(slot)).map(|b| b.arrive(bytes)) {
            Some(true) => Step::Went,
            Some(false) => self.broken(w, Rule::Arrivals, "the phase has all its arrivals already"),
            None => self.broken(w, Rule::Form, "there is no full barrier"),
        }
    }

    pub(super) fn release(&mut self, w: usize, op: OpId) -> Step {
        let lag = self.model.number(op, "lag").unwrap_or(0);
        let (Some((ring, slot, _)), Some(warp)) = (self.iterator(w, op), self.warps.get(w)) else {
            return Step::Broken;
        };
        if warp.trip().is_some_and(|trip| trip < lag) {
            return Step::Went;
        }
        let depth = self.model.rings.get(ring).map_or(1, |r| r.depth);
        let slot = (slot + depth - lag % depth) % depth;
        let reads = warp.products.iter().flat_map(|p| &p.reads);
        let mut places = reads.filter_map(|&p| self.machine.places.get(p));
        if places.any(|p| p.ring == ring && p.slot == slot) {
            return self.broken(
                w,
                Rule::Unfinished,
                format!("slot {slot} is given back while a product reads it"),
            );
        }
        // Lanes fill the slots of such a ring: no asynchronous write follows what they read.
        if warp.read_unfenced.contains(&(ring, slot)) && !self.is_grouped(ring) {
            let text = format!("slot {slot} was read from registers and is given back without a proxy fence");
            return self.broken(w, Rule::Fence, text);
        }
        // Who stores a tile from registers sees it from then on.
        let seen = if self.is_stored(w, ring) { &warp.copied } else { &warp.viewed };
        let seen = seen.iter().filter(|((of, _), _)| *of == ring).map(|(_, n)| *n).max();
        let waited = match self.is_grouped(ring) {
            true => seen.unwrap_or(0),
            false => warp.waited(ring),
        };
        let released = self.warps.get_mut(w).and_then(|x| x.releases.get_mut(ring)).map_or(0, |n| {
            *n += 1;
            *n
        });
        if released > waited {
            return self.broken(
                w,
                Rule::Arrivals,
                format!("gives back {released} slots, {waited} were waited for"),
            );
        }
        if self.model.rings.get(ring).is_some_and(|r| r.is_operands() || r.is_tmem_operands()) {
            return self.commit_products(w, ring, slot, false);
        }
        if self.is_scaled(ring) && !self.hand_over_rows(w, ring, slot) {
            return self.broken(w, Rule::Read, "gives back an accumulator that it has not scaled");
        }
        if self.is_met_for(ring) {
            return Step::Went;
        }
        let at = usize::try_from(slot).unwrap_or(usize::MAX);
        match self.machine.empty.get_mut(ring).and_then(|b| b.get_mut(at)).map(|b| b.arrive(0)) {
            Some(true) => Step::Went,
            Some(false) => self.broken(w, Rule::Arrivals, "the phase has all its arrivals already"),
            None => self.broken(w, Rule::Form, "there is no empty barrier"),
        }
    }

    /// Whether a sum has no empty barrier: its readers meet before the next product starts.
    fn is_met_for(&self, ring: usize) -> bool {
        self.model.rings.get(ring).is_some_and(|r| r.is_accumulators() && r.empty.is_none())
    }

    pub(super) fn advance(&mut self, w: usize, op: OpId) -> Step {
        let Some((ring, slot, phase)) = self.iterator(w, op) else { return Step::Broken };
        let depth = self.model.rings.get(ring).map_or(1, |r| r.depth);
        let by = match self.skips(w, op, ring) {
            Ok(by) => by.unwrap_or(1),
            Err(broken) => return broken,
        };
        let (next, rounds) = ((slot + by) % depth, (slot + by) / depth);
        let phase = phase ^ (rounds & 1);
        let results = self.model.module.ops[op].results.to_vec();
        for (result, value) in results.into_iter().zip([next, phase]) {
            self.set(w, result, Val::Int(i64::try_from(value).unwrap_or(0)));
        }
        Step::Went
    }
}
