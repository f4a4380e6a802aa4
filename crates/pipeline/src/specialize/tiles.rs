//! Computing partitions that take the trips of a loop over tiles in turn (Q50). Each runs the whole loop and does every
//! other trip of it; of a trip that is the other's it only skips the slots of the rings that the other reads:
//!
//! ```text
//! for each tile, carrying whose turn it is {
//!   if it is ours { take the turn; the loops that multiply; pass the turn; the rest }
//!   else          { advance each ring by the trips of the loops that read it }
//! }
//! if the turn is ours, take it
//! ```
//!
//! Whoever has the turn is the only one that waits for slots: a wait for a parity passes falsely where it comes more than a
//! phase early, and with the turn come all phases of the tiles before. It is passed on behind the last wait, so that the
//! products of the next tile are issued while the last ones of this tile are still under way.

use warploom_ir::{Attr, OpId, Opcode, Type, ValueId};

use crate::loops::PartitionRole;
use crate::specialize::walker::Walker;

impl Walker<'_, '_> {
    /// Whether a loop is the one whose trips computing partitions take in turn.
    pub(super) fn in_turns(&self, scf_for: OpId) -> bool {
        self.b.source.selection.turns == Some(scf_for) && self.role == PartitionRole::Math
    }

    /// The loop over tiles.
    pub(super) fn tiles(&mut self, scf_for: OpId) -> Option<()> {
        let module = self.module();
        let body = module.entry(scf_for, 0)?;
        let (carried, rings) = (self.carried(scf_for), self.rings_in(scf_for));
        let mut initial = Vec::new();
        for &at in &carried {
            initial.push(self.read(*module.ops[scf_for].operands.get(3 + at)?, 0, scf_for)?);
        }
        let bounds = self.bounds(scf_for)?;
        let args: Vec<ValueId> =
            carried.iter().map(|&at| module.blocks[body].args.get(at + 1).copied()).collect::<Option<_>>()?;
        // The first turn is the first partition's: the last one gives it away.
        if self.replica + 1 == self.b.source.selection.computing() {
            self.turn(Opcode::TurnPass, None, scf_for);
        }
        let (zero, one) = (self.b.zero?, self.b.one?);
        let opened = self.open_loop(scf_for, bounds, &args, &initial, (&rings, &[(zero, "turn")]))?;
        let turn = *self.b.out.blocks[self.at].args.last()?;
        self.either(scf_for, turn, &rings)?;
        let next = self.emit(scf_for).op(Opcode::SubI, &[one, turn], &[Type::I32], &[]);
        let next = self.b.out.result(next)?;
        let yielded = module.terminator(body)?;
        let mut last = Vec::new();
        for &at in &carried {
            last.push(self.read(*module.ops[yielded].operands.get(at)?, 0, yielded)?);
        }
        let (results, rest) = self.close_loop(opened, yielded, &last, (&rings, &[next]))?;
        for (&at, &value) in carried.iter().zip(&results) {
            self.scopes.first_mut()?.bind(*module.ops[scf_for].results.get(at)?, value);
        }
        // What is left of the turns ends with whom the next tile would be.
        let ours = self.ours(*rest.first()?, scf_for)?;
        self.only_if(ours, scf_for, |walker| {
            walker.turn(Opcode::TurnTake, None, scf_for);
            Some(())
        })
    }

    /// A trip: a tile of our own, or one of the other's.
    fn either(&mut self, scf_for: OpId, turn: ValueId, rings: &[usize]) -> Option<()> {
        let body = self.module().entry(scf_for, 0)?;
        let ours = self.ours(turn, scf_for)?;
        let types: Vec<Type> = rings.iter().flat_map(|_| [Type::I32, Type::I32]).collect();
        let op = self.emit(scf_for).op(Opcode::If, &[ours], &types, &[]);
        let (outside, scopes, iterators) = (self.at, self.scopes.clone(), self.iterators.clone());
        for own in [true, false] {
            let region = self.b.out.add_region(op);
            self.at = self.b.out.add_block(region);
            match own {
                true => {
                    self.turn(Opcode::TurnTake, None, scf_for);
                    self.tile_turn = true;
                    self.block(body)?;
                    self.pass_tile(scf_for);
                }
                false => self.skip(scf_for, rings)?,
            }
            let mut last = Vec::new();
            for &ring in rings {
                last.extend(self.iterator(ring)?);
            }
            self.emit(scf_for).op(Opcode::Yield, &last, &[], &[]);
            self.at = outside;
            self.scopes.clone_from(&scopes);
            self.iterators.clone_from(&iterators);
        }
        let results = self.b.out.ops[op].results.to_vec();
        self.bind_iterators(rings, &results);
        Some(())
    }

    /// Makes it the other's turn, where it still is ours.
    pub(super) fn pass_tile(&mut self, at: OpId) {
        if std::mem::take(&mut self.tile_turn) {
            self.turn(Opcode::TurnPass, None, at);
        }
    }

    /// Makes it the other's turn behind the last loop of a tile that waits for slots.
    pub(super) fn pass_behind(&mut self, scf_for: OpId) {
        if self.b.source.selection.loops.last() == Some(&scf_for) {
            self.pass_tile(scf_for);
        }
    }

    /// Whether a turn is this partition's.
    fn ours(&mut self, turn: ValueId, at: OpId) -> Option<ValueId> {
        let replica = if self.replica == 0 { self.b.zero? } else { self.b.one? };
        let equal = [("predicate", Attr::Opaque("eq".to_owned()))];
        let op = self.emit(at).op(Opcode::CmpI, &[turn, replica], &[Type::I1], &equal);
        self.b.out.result(op)
    }

    /// Skips the slots that the other reads for the tile: one for each trip of a loop that fills a ring.
    fn skip(&mut self, outer: OpId, rings: &[usize]) -> Option<()> {
        let selection = self.b.source.selection;
        for &index in rings {
            let mut sum = None;
            for filling in &selection.rings.get(index)?.uses {
                let trips = self.trips(filling.scf_for?)?;
                sum = Some(match sum {
                    None => trips,
                    Some(sum) => {
                        let op = self.emit(outer).op(Opcode::AddI, &[sum, trips], &[Type::I32], &[]);
                        self.b.out.result(op)?
                    }
                });
            }
            let ring = self.b.source.layout.rings.get(index)?;
            let from = self.iterator(index)?;
            let further = self.emit(outer).skip(&ring.name, from, sum?);
            self.bind_iterators(&[index], &further);
        }
        Some(())
    }

    /// The trips of a loop: (upper - lower - 1) / step + 1 without a sign, or none.
    fn trips(&mut self, scf_for: OpId) -> Option<ValueId> {
        let [lower, upper, step] = self.bounds(scf_for)?;
        let (zero, one) = (self.b.zero?, self.b.one?);
        let any = self.less(lower, upper, scf_for)?;
        let mut emit = self.emit(scf_for);
        let mut made = |opcode, operands: &[ValueId]| {
            let op = emit.op(opcode, operands, &[Type::I32], &[]);
            emit.out.result(op)
        };
        let span = made(Opcode::SubI, &[upper, lower])?;
        let less = made(Opcode::SubI, &[span, one])?;
        let whole = made(Opcode::DivUI, &[less, step])?;
        let trips = made(Opcode::AddI, &[whole, one])?;
        made(Opcode::Select, &[any, trips, zero])
    }

    /// A branch that gives nothing.
    fn only_if(
        &mut self,
        condition: ValueId,
        at: OpId,
        then: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<()> {
        let op = self.emit(at).op(Opcode::If, &[condition], &[], &[]);
        let outside = self.at;
        let region = self.b.out.add_region(op);
        self.at = self.b.out.add_block(region);
        then(self)?;
        self.emit(at).op(Opcode::Yield, &[], &[], &[]);
        self.b.out.add_region(op);
        self.at = outside;
        Some(())
    }
}
