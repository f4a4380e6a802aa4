//! What turns must be like (C32, Q41).

use warploom_chips::Target;
use warploom_ir::{OpId, Opcode};

use crate::check::model::{Model, Partition};
use crate::check::report::{Report, Rule};
use crate::check::turns::Turns;

impl Model<'_> {
    /// The turns that an operation names, and the first of their barriers among all named ones.
    pub fn turns_of(&self, op: OpId) -> Option<(&Turns, usize)> {
        let at = self.turns_at(op)?;
        let before: u64 = self.turns.iter().take(at).map(|t| t.replicas).sum();
        Some((self.turns.get(at)?, self.barriers.len() + usize::try_from(before).ok()?))
    }

    /// Named barriers in all: those that are declared, then those of the turns.
    pub fn named(&self) -> usize {
        let turns: u64 = self.turns.iter().map(|t| t.replicas).sum();
        self.barriers.len() + usize::try_from(turns).unwrap_or(0)
    }
}

/// Turns have barriers of their own, and go round equal replicas of one partition, or equal partitions.
pub(super) fn turns(model: &Model<'_>, target: &Target, report: &mut Report) {
    let free = target.barriers.free_ids();
    let mut taken: Vec<u64> = model.barriers.iter().map(|b| b.id).collect();
    for turns in &model.turns {
        let at = format!("@{}", turns.name);
        for id in turns.id..turns.id.saturating_add(turns.replicas) {
            let known = free.iter().any(|&free| u64::from(free) == id);
            if !known || taken.contains(&id) {
                report.add(Rule::NamedBarrier, &at, format!("id {id} is not free"));
            }
            taken.push(id);
        }
        let takers = turns.takers.iter().filter_map(|&index| model.partitions.get(index));
        let users: Vec<&Partition> = takers.collect();
        let equal = match users.as_slice() {
            [one] => one.warps.is_multiple_of(turns.replicas),
            all => {
                all.len() as u64 == turns.replicas && all.windows(2).all(|two| two[0].warps == two[1].warps)
            }
        };
        if !equal {
            let text = format!("{} partitions take turns; equal replicas must", users.len());
            report.add(Rule::Warps, &at, text);
        }
    }
    for (index, partition) in model.partitions.iter().enumerate() {
        let turn = |op: OpId| matches!(model.module.ops[op].opcode, Opcode::TurnTake | Opcode::TurnPass);
        for placed in partition.ops.iter().filter(|placed| turn(placed.op)) {
            let place = || model.place(index, placed.op);
            if model.turns_of(placed.op).is_none() {
                report.add(Rule::Form, place(), "names no turns");
            }
            if placed.elected {
                report.add(Rule::Election, place(), "inside an elected region: all lanes must take part");
            }
        }
    }
}
