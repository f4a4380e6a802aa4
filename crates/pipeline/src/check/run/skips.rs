//! Rings whose slots several partitions read in turn (Q50): each skips what the others read.

use warploom_ir::OpId;

use super::{Run, Step};
use crate::check::machine::PlaceId;
use crate::check::report::Rule;
use crate::check::warp::Warp;

impl Run<'_, '_> {
    /// The slots that an advance skips, which are as good as waited for; none where it goes to the next one.
    pub(super) fn skips(&mut self, w: usize, op: OpId, ring: usize) -> Result<Option<u64>, Step> {
        if self.model.operand(op, 2).is_none() {
            return Ok(None);
        }
        let Some(by) = self.integer(w, op, 2).filter(|&by| by <= u64::from(u32::MAX)) else {
            return Err(self.broken(w, Rule::Form, "how many slots are skipped cannot be computed"));
        };
        if let Some(warp) = self.warps.get_mut(w) {
            let counts = [&mut warp.waits, &mut warp.skipped].map(|counts| counts.get_mut(ring));
            counts.into_iter().flatten().for_each(|count| *count += by);
        }
        Ok(Some(by))
    }

    /// Notes that a warp has waited for what a slot holds.
    pub(super) fn take(&mut self, w: usize, ring: usize, slot: u64) {
        for place in self.machine.places.iter_mut().filter(|p| p.ring == ring && p.slot == slot) {
            place.taken.insert(w);
        }
    }

    /// Whether the warps of just one partition, all of them, have waited for what a place holds: the text if not.
    pub(super) fn untaken(&self, place: PlaceId) -> Option<String> {
        let place = self.machine.places.get(place)?;
        let held = place.holds?;
        let mut takers = 0;
        for partition in 0..self.model.partitions.len() {
            let waits = |x: &Warp| x.partition == partition && self.waits_on(x, place.ring);
            let warps = self.warps.iter().enumerate().filter(|(_, x)| waits(x));
            let (mut took, mut all) = (0, 0);
            for (w, _) in warps {
                all += 1;
                took += u64::from(place.taken.contains(&w));
            }
            if took > 0 && took < all {
                return Some(format!("copy {held} was waited for by {took} of {all} warps of a partition"));
            }
            takers += u64::from(took > 0);
        }
        (takers != 1).then(|| format!("copy {held} was waited for by {takers} partitions"))
    }
}
