//! Products that one lane issues into tensor memory, and their commits: both are left to the tensor core, which takes
//! them in order (C24, C46).

use warploom_ir::OpId;

use super::{Run, Step, Val};
use crate::check::machine::Issued;
use crate::check::report::Rule;

impl Run<'_, '_> {
    /// A product: its operands must be there, its slot nobody else's.
    pub(super) fn issue(&mut self, w: usize, op: OpId) -> Step {
        let Some((ring, _, accumulator)) = self.payload_place(w, op) else { return Step::Broken };
        let mut reads = Vec::new();
        let scales = [4, 5].into_iter().filter(|&index| self.model.operand(op, index).is_some());
        for index in [1, 2].into_iter().chain(scales) {
            match self.model.operand(op, index).map(|v| self.value(w, v)) {
                Some(Val::View { place, version }) => {
                    let unread = self.readable(w, place, version);
                    if let Some(broken) = unread.or_else(|| self.parts_known(w, place)) {
                        return broken;
                    }
                    reads.push(place);
                }
                _ => return self.broken(w, Rule::Form, "an operand of a product is no view"),
            }
        }
        for &read in &reads {
            self.take_rows(read);
        }
        let version = self.machine.fillings.get(ring).copied().unwrap_or(0);
        let keep = self.model.operand(op, 3).map(|v| self.value(w, v));
        let started = self.machine.accumulators(accumulator, version);
        let scaled = self.is_scaled(ring);
        if scaled {
            if keep == Some(Val::Int(0)) {
                return self.broken(w, Rule::Overwrite, "starts an accumulator anew that was scaled for it");
            }
            if let Some(broken) = self.rows_readable(w, accumulator, None) {
                return broken;
            }
            self.take_rows(accumulator);
            self.machine.spoil(accumulator);
        } else if keep == Some(Val::Int(0)) {
            // What the slot held must have been read by everybody who waits for it.
            let held = self.machine.held(ring, accumulator);
            let waiting = |x: &crate::check::warp::Warp| {
                x.waits.get(ring).is_some_and(|&n| held.is_some_and(|v| n <= v))
            };
            if let Some(late) = self.warps.iter().position(|x| self.waits_on(x, ring) && waiting(x)) {
                return self.broken(
                    w,
                    Rule::Overwrite,
                    format!("starts an accumulator that warp {late} has not read"),
                );
            }
            if started {
                return self.broken(w, Rule::Overwrite, "starts an accumulator a second time");
            }
            if let Some(broken) = self.given_back_with_rows(w, ring, accumulator, version) {
                return broken;
            }
            if let Some(broken) = self.clear_columns(w, accumulator) {
                return broken;
            }
            self.machine.spoil(accumulator);
        } else if !started {
            return self.broken(w, Rule::Read, "adds to an accumulator that nobody started");
        }
        if let Some(warp) = self.warps.get_mut(w) {
            warp.uncommitted = true;
        }
        if let Some(queue) = self.machine.tensor.get_mut(w) {
            // What is scaled counts from the start that is no product.
            queue.push_back(Issued::Product { reads, accumulator, version: version + u64::from(scaled) });
        }
        Step::Went
    }

    /// A commit: an arrival on a barrier of a slot when all products before it are done.
    pub(super) fn commit_products(&mut self, w: usize, ring: usize, slot: u64, full: bool) -> Step {
        let barriers = if full { &self.machine.full } else { &self.machine.empty };
        let slot = usize::try_from(slot).unwrap_or(usize::MAX);
        if barriers.get(ring).is_none_or(|b| slot >= b.len()) {
            return self.broken(w, Rule::Form, "there is no such barrier");
        }
        if let Some(filled) = self.machine.fillings.get_mut(ring).filter(|_| full) {
            *filled += 1;
        }
        if let Some(warp) = self.warps.get_mut(w) {
            warp.uncommitted = false;
        }
        if let Some(queue) = self.machine.tensor.get_mut(w) {
            queue.push_back(Issued::Commit { ring, slot, full });
        }
        Step::Went
    }

    /// Lets something under way finish; false when that broke a rule.
    pub fn land(&mut self, index: usize) -> bool {
        let fine = self.machine.land(index);
        self.wake();
        if !fine {
            self.report.add(Rule::Arrivals, "a commit of products", "the phase has all its arrivals already");
        }
        fine
    }
}
