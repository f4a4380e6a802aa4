//! Turns of replicas (Q41, Q50): each replica has a named barrier, to which its own warps come to wait for their turn, and
//! those of the replica before to give it to them.

use inkwell::IntPredicate;
use warploom_ir::diag::Code;
use warploom_ir::{Attr, OpId, Opcode};

use super::Lower;
use crate::error::{Result, refuse};

/// What a replica does with its turn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Take,
    Pass,
}

impl Lower<'_, '_> {
    /// Passes a turn where it stands, if the loop in front has not done so on its way out.
    pub(super) fn pass(&mut self, op: OpId) -> Result<()> {
        let block = self.module.ops[op].block;
        let ops = block.map(|b| self.module.blocks[b].ops.as_slice()).unwrap_or_default();
        let before = ops.iter().position(|&o| o == op).and_then(|at| ops.get(at.checked_sub(1)?));
        match before.copied() {
            Some(scf_for) if self.pass_behind(scf_for)? == Some(op) => Ok(()),
            _ => self.turn(op, Turn::Pass),
        }
    }

    /// The turn that a partition passes to another right behind a loop.
    pub(super) fn pass_behind(&self, scf_for: OpId) -> Result<Option<OpId>> {
        let data = &self.module.ops[scf_for];
        let ops = data.block.map(|b| self.module.blocks[b].ops.as_slice()).unwrap_or_default();
        let next = ops.iter().position(|&o| o == scf_for).and_then(|at| ops.get(at + 1)).copied();
        let passes = |op: &OpId| self.module.ops[*op].opcode == Opcode::TurnPass;
        let Some(op) = next.filter(passes).filter(|_| data.opcode == Opcode::For) else { return Ok(None) };
        let member = self.program.turns(self.module, op, self.place.warp)?;
        let alone = self.module.attr(op, "only").is_none() && !self.place.elected;
        Ok((alone && member.replica.is_some()).then_some(op))
    }

    /// Takes the turn, or makes it the next replica's; `only` names the one replica that does.
    pub(super) fn turn(&mut self, op: OpId, turn: Turn) -> Result<()> {
        if self.place.elected {
            return Err(refuse(Code::Op, "a turn inside warploom.elect").rule("C32").into());
        }
        let member = self.program.turns(self.module, op, self.place.warp)?;
        let (turns, each) = (member.turns, member.warps);
        let replica = match member.replica {
            Some(replica) => self.ir.c32(replica),
            None => {
                let own = self.ir.sub(self.warp, self.ir.c32(self.place.warp))?;
                self.ir.quotient(own, each)?
            }
        };
        let only = self.module.attr(op, "only").and_then(Attr::as_i64).and_then(|n| u64::try_from(n).ok());
        let mine = match only {
            Some(only) => Some(self.ir.icmp(IntPredicate::EQ, replica, self.ir.c32(only))?.into()),
            None => None,
        };
        let done = self.only_where(mine)?;
        let (of, intrinsic) = match turn {
            Turn::Take => (replica, "nvvm.barrier.cta.sync.aligned.count"),
            Turn::Pass => {
                let next = self.ir.add(replica, self.ir.c32(1))?;
                (self.ir.remainder(next, turns.replicas)?, "nvvm.barrier.cta.arrive.aligned.count")
            }
        };
        let id = self.ir.add(of, self.ir.c32(turns.id))?;
        self.ir.effect(intrinsic, &[id.into(), self.ir.c32(2 * 32 * each).into()])?;
        self.rejoin(done)
    }
}
