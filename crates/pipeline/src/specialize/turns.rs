//! Replicas that take turns in issuing their products (Q41): a turn goes from the first product behind another replica's
//! to the last one before the next replica's, which may be a trip later.

use warploom_ir::{Attr, OpId, Opcode};

use crate::buffers::depth::ScheduledLoop;
use crate::emit::number;
use crate::layout::Turns;
use crate::loops::PartitionRole;
use crate::specialize::shape::LoopShape;
use crate::specialize::walker::{LoopTurns, Walker};

impl Walker<'_, '_> {
    /// Begins a loop whose replicas take turns, if they do.
    pub(super) fn open_turns(&mut self, scheduled: &ScheduledLoop, shape: &LoopShape) {
        let pipelined = &scheduled.pipelined;
        if pipelined.replicas.count < 2 {
            return;
        }
        let Some(ends) = pipelined.turns(self.module(), &scheduled.answer) else { return };
        let product = |op: &OpId| self.module().ops[*op].opcode.is_product();
        let last = shape.steps.iter().map(|s| s.op).rfind(product);
        let across = last.is_some_and(|op| !ends.contains(&op));
        self.turns = Some(LoopTurns { ends, across, own: false });
    }

    /// Before the first trip of a loop: the turn is held, or not, as between any two.
    pub(super) fn between_trips(&mut self, at: OpId) {
        if let Some(across) = self.turns.as_ref().map(|t| t.across) {
            self.own_turn(across, at);
        }
    }

    /// Ends a loop: the next one's replicas find the turns as this one's did.
    pub(super) fn close_turns(&mut self, at: OpId) {
        if self.turns.is_some() {
            self.own_turn(false, at);
            self.turns = None;
        }
    }

    /// Before a product.
    pub(super) fn take_turn(&mut self, at: OpId) {
        if self.turns.is_some() {
            self.own_turn(true, at);
        }
    }

    /// Behind a product.
    pub(super) fn pass_turn(&mut self, product: OpId) {
        if self.turns.as_ref().is_some_and(|t| t.ends.contains(&product)) {
            self.own_turn(false, product);
        }
    }

    fn own_turn(&mut self, own: bool, at: OpId) {
        let changes = self.turns.as_mut().is_some_and(|t| std::mem::replace(&mut t.own, own) != own);
        if changes {
            self.turn(if own { Opcode::TurnTake } else { Opcode::TurnPass }, None, at);
        }
    }

    /// The first turn is the first replica's: the last one gives it to that before anything else, and takes back what is
    /// left of it in the end.
    pub(super) fn first_turn(&mut self, at: OpId) {
        if let (Some(turns), PartitionRole::Math, None) = self.by_rows() {
            self.turn(Opcode::TurnPass, Some(turns.replicas - 1), at);
        }
    }

    /// The last turn ends with the first replica, so that no barrier is left half full.
    pub(super) fn last_turn(&mut self, at: OpId) {
        if let (Some(_), PartitionRole::Math, None) = self.by_rows() {
            self.turn(Opcode::TurnTake, Some(0), at);
        }
    }

    /// The turns, whose they are, and the loop over tiles where they go by tiles.
    fn by_rows(&self) -> (Option<Turns>, PartitionRole, Option<OpId>) {
        (self.b.source.layout.turns, self.role, self.b.source.selection.turns)
    }

    pub(super) fn turn(&mut self, opcode: Opcode, only: Option<u64>, at: OpId) {
        let Some(turns) = self.b.source.layout.turns else { return };
        let mut props = vec![("turns", Attr::symbol(turns.name))];
        props.extend(only.map(|replica| ("only", number(replica))));
        self.emit(at).op(opcode, &[], &[], &props);
    }
}
