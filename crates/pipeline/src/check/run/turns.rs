//! Taking and passing turns (Q41): the warps of a replica wait at its barrier, those of the replica before arrive there.

use warploom_ir::OpId;

use super::{Run, Step};
use crate::check::report::Rule;

impl Run<'_, '_> {
    /// Waits for the turn of the warp's replica.
    pub(super) fn take_turn(&mut self, w: usize, op: OpId) -> Step {
        match self.turn(w, op, 0) {
            Some(Some((barrier, threads))) => self.meet(w, barrier, threads),
            Some(None) => Step::Went,
            None => self.broken(w, Rule::Form, "names no turns"),
        }
    }

    /// Makes it the turn of the next replica.
    pub(super) fn pass_turn(&mut self, w: usize, op: OpId) -> Step {
        match self.turn(w, op, 1) {
            Some(Some((barrier, threads))) => {
                let Some(named) = self.machine.named.get_mut(barrier) else { return Step::Done };
                named.arrived += 32;
                if named.arrived > threads {
                    return self.broken(w, Rule::NamedBarrier, "passes a turn that was not taken yet");
                }
                if named.arrived == threads {
                    named.arrived = 0;
                    named.generation += 1;
                }
                Step::Went
            }
            Some(None) => Step::Went,
            None => self.broken(w, Rule::Form, "names no turns"),
        }
    }

    /// The barrier of the replica so many behind the warp's, and the threads that come to it; none where the warp's is not
    /// the only one that does it.
    fn turn(&self, w: usize, op: OpId, behind: u64) -> Option<Option<(usize, u64)>> {
        let (turns, first) = self.model.turns_of(op)?;
        let partition = self.warps.get(w)?.partition;
        let before = self.warps.iter().take(w).filter(|other| other.partition == partition).count();
        let own = self.model.partitions.get(partition)?;
        let (each, replica) = match turns.takers.as_slice() {
            [_] => {
                let each = (own.warps / turns.replicas).max(1);
                (each, u64::try_from(before).ok()? / each)
            }
            all => {
                let at = all.iter().position(|&taker| taker == partition)?;
                (own.warps, u64::try_from(at).ok()?)
            }
        };
        if self.model.number(op, "only").is_some_and(|only| only != replica) {
            return Some(None);
        }
        let of = (replica + behind) % turns.replicas;
        Some(Some((first + usize::try_from(of).ok()?, 2 * 32 * each)))
    }
}
