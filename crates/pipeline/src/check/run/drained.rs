//! What must hold when every warp has ended.

use warploom_ir::Opcode;

use super::Run;
use crate::check::report::Rule;
use crate::check::warp::Warp;

impl Run<'_, '_> {
    /// What must hold when every warp has ended.
    pub fn drained(&mut self) {
        let mut found = Vec::new();
        for (w, warp) in self.warps.iter().enumerate() {
            if !warp.products.is_empty() {
                found.push(format!("warp {w} has {} products under way", warp.products.len()));
            }
            if warp.uncommitted {
                found.push(format!("warp {w} has products that no commit covers"));
            }
            if !warp.open_group.is_empty() || warp.groups.iter().any(|g| !g.is_empty()) {
                found.push(format!("warp {w} has copies of its own under way"));
            }
            if warp.storing().next().is_some() {
                found.push(format!("warp {w} has a store to global memory under way"));
            }
        }
        for (index, ring) in self.model.rings.iter().enumerate() {
            if let Some(&filled) = self.machine.fillings.get(index).filter(|_| ring.is_accumulators()) {
                let waits = self.warps.iter().filter(|x| self.waits_on(x, index));
                let least = waits.filter_map(|x| x.waits.get(index)).min().copied().unwrap_or(0);
                // Who scales an accumulator waits once more than it is filled: before it is filled first.
                let ahead = u64::from(self.is_scaled(index));
                if (least, filled) != (0, 0) && least != filled + ahead {
                    found.push(format!("@{}: filled {filled} times, {least} waits for it", ring.name));
                }
                continue;
            }
            let Some(&copies) = self.machine.issued.get(index).and_then(|p| p.iter().max()) else { continue };
            let waits = self.warps.iter().filter(|x| self.waits_on(x, index));
            if let Some(least) = waits.filter_map(|x| x.waits.get(index)).min().filter(|&&n| n < copies) {
                found.push(format!("@{}: {copies} copies, {least} waited for", ring.name));
            }
            let places =
                self.machine.places.iter().enumerate().filter(|(_, p)| ring.in_turns && p.ring == index);
            found.extend(places.filter_map(|(at, _)| Some(format!("@{}: {}", ring.name, self.untaken(at)?))));
            if self.machine.full.get(index).is_some_and(|b| b.iter().any(|b| b.unbalanced())) {
                found.push(format!("@{}: announced bytes and copied bytes differ", ring.name));
            }
        }
        if let Some(left) = self.machine.named.iter().find(|named| named.arrived > 0) {
            found.push(format!(
                "{} threads wait at a named barrier for others, or gave a turn away",
                left.arrived
            ));
        }
        found.extend(self.rows_left());
        if !self.machine.copies.is_empty() {
            found.push(format!("{} copies in flight", self.machine.copies.len()));
        }
        for text in found {
            self.report.add(Rule::Drain, "end", text);
        }
    }

    /// Whether a warp waits for slots of a ring: the first of its partition where an elected lane does.
    pub(super) fn waits_on(&self, warp: &Warp, ring: usize) -> bool {
        self.model.partitions.get(warp.partition).is_some_and(|a| {
            a.ops.iter().any(|p| {
                self.model.module.ops[p.op].opcode == Opcode::ConsumerWait
                    && self.model.ring(p.op) == Some(ring)
                    && (warp.first || !p.elected)
            })
        })
    }
}
