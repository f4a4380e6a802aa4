//! Replicas that take turns: the equal parts of one partition, or as many partitions of equally many warps (Q41, Q50).

use warploom_ir::diag::Code;
use warploom_ir::{Module, OpId, Opcode};

use super::attributes::count;
use super::types::{Partition, Program, Turns, symbol};
use crate::error::{Result, refuse};

/// The turns of a partition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub turns: Turns,
    /// Warps of a replica.
    pub warps: u64,
    /// Which replica the partition is; none where it is all of them.
    pub replica: Option<u64>,
}

impl Program<'_> {
    pub(super) fn read_turns(module: &Module, op: OpId) -> Result<Turns> {
        let (id, replicas) = (count(module, op, "id")?, count(module, op, "replicas")?);
        if id < 1 || replicas < 2 || id.checked_add(replicas).is_none_or(|end| end > 16) {
            let text = format!("turns of {replicas} replicas from named barrier {id} on");
            let needs = "2 replicas or more, ids 1..15";
            return Err(refuse(Code::Verify, text).rule("C32").note("needs", needs).into());
        }
        Ok(Turns { id, replicas })
    }

    /// What the partition that starts with a warp is to the turns that an operation of it names.
    pub(crate) fn turns(&self, module: &Module, op: OpId, warp: u64) -> Result<Member> {
        let number = symbol(module, op, &self.turns_of, "warploom.turns")?;
        let turns = self.turns[number];
        let members: Vec<&Partition> =
            self.partitions.iter().filter(|p| self.takes_turns(module, p, number)).collect();
        let at = members.iter().position(|p| p.warp == warp);
        let warps = at.map_or(0, |at| members[at].warps);
        let member = match at {
            Some(_) if members.len() == 1 && warps.is_multiple_of(turns.replicas) => {
                Some(Member { turns, warps: warps / turns.replicas, replica: None })
            }
            Some(at)
                if members.len() as u64 == turns.replicas && members.iter().all(|p| p.warps == warps) =>
            {
                Some(Member { turns, warps, replica: Some(at as u64) })
            }
            _ => None,
        };
        member.ok_or_else(|| {
            let text = format!("{} partitions are {} replicas", members.len(), turns.replicas);
            refuse(Code::Verify, text).rule("Q40").note("needs", "replicas of equally many warps").into()
        })
    }

    /// Whether a partition takes or passes turns of this number.
    fn takes_turns(&self, module: &Module, partition: &Partition, number: usize) -> bool {
        let mut stack = module.blocks[partition.body].ops.clone();
        while let Some(op) = stack.pop() {
            let turn = matches!(module.ops[op].opcode, Opcode::TurnTake | Opcode::TurnPass);
            if turn && symbol(module, op, &self.turns_of, "warploom.turns").is_ok_and(|n| n == number) {
                return true;
            }
            let blocks = module.ops[op].regions.iter().flat_map(|&region| &module.regions[region].blocks);
            stack.extend(blocks.flat_map(|&block| &module.blocks[block].ops));
        }
        false
    }
}
