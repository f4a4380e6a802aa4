//! Copies into slots, views of them, products that read them.

use warploom_ir::{OpId, Opcode, ValueId};

use super::{Run, Step, Val};
use crate::check::machine::{CopyInFlight, PlaceId};
use crate::check::report::Rule;
use crate::check::warp::{Product, Warp};

impl Run<'_, '_> {
    pub(super) fn payload_place(&mut self, w: usize, op: OpId) -> Option<(usize, usize, PlaceId)> {
        let (ring, slot, _) = self.iterator(w, op)?;
        let payload = self.model.number(op, "payload").and_then(|p| usize::try_from(p).ok());
        let payload = payload.filter(|&p| self.model.rings.get(ring).is_some_and(|r| p < r.payloads.len()));
        let Some(payload) = payload else {
            self.broken(w, Rule::Form, "there is no such payload");
            return None;
        };
        Some((ring, payload, self.machine.place(ring, payload, slot)?))
    }

    /// Refuses a write to a place whose bytes somebody reads or writes asynchronously.
    pub(super) fn writable(&mut self, w: usize, place: PlaceId) -> Option<Step> {
        let meets = |other: PlaceId| self.machine.meet(place, other);
        let reading =
            self.warps.iter().position(|x| x.products.iter().flat_map(|p| &p.reads).any(|&r| meets(r)));
        let storing = self.warps.iter().position(|x| x.storing().any(meets));
        let copying = self.machine.copies.iter().any(|c| meets(c.place));
        let message = match (reading, storing, copying) {
            (Some(other), ..) => format!("overwrites what a product of warp {other} still reads"),
            _ if self.machine.multiplying(place) => "overwrites what a product still uses".to_owned(),
            (_, Some(other), _) => format!("overwrites what a store of warp {other} still reads"),
            (.., true) => "writes where a copy is still arriving".to_owned(),
            _ => return None,
        };
        Some(self.broken(w, Rule::Overwrite, message))
    }

    pub(super) fn load(&mut self, w: usize, op: OpId) -> Step {
        let Some((ring, payload, place)) = self.payload_place(w, op) else { return Step::Broken };
        if let Some(broken) = self.writable(w, place) {
            return broken;
        }
        // What the slot holds must have reached everybody who waits for it.
        let held = self.machine.places.get(place).and_then(|p| p.holds);
        let waiting = |x: &Warp| x.waits.get(ring).is_some_and(|&n| held.is_some_and(|v| n <= v));
        if self.model.rings.get(ring).is_some_and(|r| r.in_turns) {
            if let Some(text) = self.untaken(place) {
                return self.broken(w, Rule::Overwrite, format!("overwrites a slot: {text}"));
            }
        } else if let Some(late) = self.warps.iter().position(|x| self.waits_on(x, ring) && waiting(x)) {
            let text = format!("overwrites copy {} before warp {late} read it", held.unwrap_or(0));
            return self.broken(w, Rule::Overwrite, text);
        }
        let slot = self.machine.places.get(place).map(|p| (p.ring, p.slot));
        let unfenced = |x: &Warp| slot.is_some_and(|slot| x.read_unfenced.contains(&slot));
        if let Some(reader) = self.warps.iter().position(unfenced) {
            let text = format!("overwrites what warp {reader} read from registers without a proxy fence");
            return self.broken(w, Rule::Fence, text);
        }
        self.machine.spoil(place);
        if let Some(place) = self.machine.places.get_mut(place) {
            place.taken.clear();
        }
        let bytes = self.model.rings.get(ring).and_then(|r| r.payloads.get(payload)).map_or(0, |p| p.bytes);
        if let Some(issued) = self.machine.issued.get_mut(ring).and_then(|r| r.get_mut(payload)) {
            let map = self.model.operand(op, 1);
            self.machine.copies.push(CopyInFlight { place, version: *issued, bytes, map });
            *issued += 1;
        }
        Step::Went
    }

    pub(super) fn slot(&mut self, w: usize, op: OpId) -> Step {
        let Some((ring, payload, place)) = self.payload_place(w, op) else { return Step::Broken };
        if self.is_grouped(ring) {
            let version = self.wanted(w, ring, payload);
            if let Some(result) = self.model.module.result(op) {
                self.set(w, result, Val::View { place, version });
            }
            return Step::Went;
        }
        // The program says itself whether anything was written; zeros are read otherwise.
        match self.model.operand(op, 1).map(|written| self.value(w, written)) {
            None => {}
            Some(Val::Int(0)) => {
                if let Some(result) = self.model.module.result(op) {
                    self.set(w, result, Val::Other);
                }
                return Step::Went;
            }
            Some(Val::Int(_)) => {}
            Some(_) => return self.broken(w, Rule::Form, "whether the slot was written cannot be computed"),
        }
        let passed = self.warps.get(w).and_then(|x| x.waits.get(ring)).copied().unwrap_or(0);
        let Some(version) = passed.checked_sub(1) else {
            return self.broken(w, Rule::Read, "a slot is read before any wait");
        };
        if let Some(result) = self.model.module.result(op) {
            self.set(w, result, Val::View { place, version });
        }
        Step::Went
    }

    /// Whether a view shows what it should.
    pub(super) fn readable(&mut self, w: usize, place: PlaceId, version: u64) -> Option<Step> {
        if self.machine.places.get(place).is_some_and(|p| self.is_grouped(p.ring)) {
            return self.parts_readable(w, place, version);
        }
        let ring = self.machine.places.get(place).and_then(|p| self.model.rings.get(p.ring));
        if ring.is_some_and(|r| r.is_tmem_operands()) {
            return self.rows_readable(w, place, Some(version));
        }
        if let Some(missing) = self.rows_missing(w, place).filter(|_| ring.is_some_and(|r| r.tensor)) {
            return Some(self.broken(w, Rule::Read, missing));
        }
        let holds = self.machine.places.get(place).and_then(|p| p.holds);
        if holds == Some(version) {
            return None;
        }
        let found = holds.map_or("no finished copy".to_owned(), |v| format!("copy {v}"));
        Some(self.broken(w, Rule::Read, format!("reads copy {version} of the ring and finds {found}")))
    }

    pub(super) fn product(&mut self, w: usize, op: OpId) -> Step {
        let mut reads = Vec::new();
        for index in 0..2 {
            let operand = self.model.operand(op, index).map_or(Val::Other, |v| self.value(w, v));
            if let Val::View { place, version } = operand {
                let unread = self.readable(w, place, version);
                if let Some(broken) = unread.or_else(|| self.parts_fenced(w, place)) {
                    return broken;
                }
                reads.push(place);
            }
            if let Val::Product(number) = operand
                && !self.warps.get(w).is_some_and(|x| x.finished(number))
            {
                let text = "multiplies the result of a product that is under way";
                return self.broken(w, Rule::Unfinished, text);
            }
        }
        let result = self.model.module.result(op);
        let Some(warp) = self.warps.get_mut(w) else { return Step::Done };
        let number = warp.issued;
        warp.issued += 1;
        warp.products.push_back(Product { number, reads });
        if let Some(result) = result {
            self.set(w, result, Val::Product(number));
        }
        Step::Went
    }

    pub(super) fn retire(&mut self, w: usize, op: OpId) -> Step {
        let pending = self.model.number(op, "pending").unwrap_or(u64::MAX);
        let data = &self.model.module.ops[op];
        let pairs: Vec<(ValueId, ValueId)> =
            data.operands.iter().copied().zip(data.results.iter().copied()).collect();
        if let Some(warp) = self.warps.get_mut(w) {
            while warp.products.len() as u64 > pending {
                warp.products.pop_front();
            }
        }
        for (from, to) in pairs {
            let value = self.value(w, from);
            self.set(w, to, value);
        }
        Step::Went
    }

    /// Any other operation: views pass through transposes; elsewhere tiles are read, and products must be finished.
    /// Takes a tile from its slot into registers.
    fn read(&mut self, w: usize, place: PlaceId, version: u64) -> Option<Step> {
        if let Some(broken) = self.readable(w, place, version) {
            return Some(broken);
        }
        // The copy engine does not write tensor memory.
        let shared = |ring: usize| self.model.rings.get(ring).is_some_and(|r| !r.tensor);
        let slot = self.machine.places.get(place).map(|p| (p.ring, p.slot));
        let slot = slot.filter(|&(ring, _)| shared(ring));
        if let (Some(warp), Some(slot)) = (self.warps.get_mut(w), slot) {
            warp.read_unfenced.insert(slot);
        }
        None
    }

    /// What a loop or branch takes over or hands on: tiles of slots are read here, since it carries registers.
    pub(super) fn carried(&mut self, w: usize, operands: &[ValueId]) -> Result<Vec<Val>, Step> {
        let mut values = Vec::new();
        for &operand in operands {
            values.push(match self.value(w, operand) {
                Val::View { place, version } => match self.read(w, place, version) {
                    Some(broken) => return Err(broken),
                    None => Val::Other,
                },
                other => other,
            });
        }
        Ok(values)
    }

    pub(super) fn plain(&mut self, w: usize, op: OpId) -> Step {
        let data = &self.model.module.ops[op];
        let view_op = matches!(data.opcode, Opcode::Trans | Opcode::Reshape);
        for &operand in &data.operands {
            match self.value(w, operand) {
                view @ Val::View { .. } if view_op => {
                    if let Some(result) = self.model.module.result(op) {
                        self.set(w, result, view);
                    }
                }
                Val::View { place, version } => {
                    if let Some(broken) = self.read(w, place, version) {
                        return broken;
                    }
                }
                Val::Product(number) if !self.warps.get(w).is_some_and(|x| x.finished(number)) => {
                    return self.broken(
                        w,
                        Rule::Unfinished,
                        "reads the result of a product that is under way",
                    );
                }
                _ => {}
            }
        }
        Step::Went
    }
}
