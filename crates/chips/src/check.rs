//! Independent checks of what this crate computes; nothing here is shared with the producers.

use serde::{Deserialize, Serialize};

use crate::{PartitionWarps, RegisterPlan, Target};

/// One broken rule of T15 or T16.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RegisterViolation {
    /// Plan and partitions differ in number.
    #[error("T16: a plan for {planned} partitions, there are {partitions}")]
    Partitions {
        /// Partitions in the plan.
        planned: usize,
        /// Partitions there are.
        partitions: usize,
    },
    /// `.maxnreg` out of range.
    #[error("T3: .maxnreg {maxnreg}; {min} to {max} are legal")]
    MaxNReg {
        /// The value.
        maxnreg: u32,
        /// Least value.
        min: u32,
        /// Greatest value.
        max: u32,
    },
    /// The launch alone takes too many registers.
    #[error("T16: {threads} threads of {maxnreg} registers need {needed}, there are {limit}")]
    Launch {
        /// Threads of the CTA.
        threads: u64,
        /// Registers per thread.
        maxnreg: u32,
        /// Registers in all.
        needed: u64,
        /// Registers there are.
        limit: u64,
    },
    /// R0 does not belong to `.maxnreg`.
    #[error(
        "C31: R0 is {entry}, .maxnreg {maxnreg}; R0 is a multiple of 8 and .maxnreg the lesser of it and 255"
    )]
    Entry {
        /// The value in the plan.
        entry: u32,
        /// `.maxnreg` of the plan.
        maxnreg: u32,
    },
    /// Not a legal operand of `setmaxnreg` on this chip.
    #[error("T15: partition {partition} asks setmaxnreg for {value}")]
    Operand {
        /// Position of the partition.
        partition: usize,
        /// The operand.
        value: u32,
    },
    /// Part of a warpgroup would execute `setmaxnreg`.
    #[error("T15: partition {partition} moves registers with {warps} warps, which are not whole warpgroups")]
    PartOfGroup {
        /// Position of the partition.
        partition: usize,
        /// Its warps.
        warps: u32,
    },
    /// The pool does not hold what the partitions ask for, so a `.inc` would wait for ever.
    #[error("T16: the partitions ask for {asked} registers, the pool has {pool}")]
    Pool {
        /// Registers asked for in all.
        asked: u64,
        /// Registers the launch took.
        pool: u64,
    },
}

/// All rules of T15 and T16 that a plan breaks.
///
/// The order of T16 needs no check of its own: a plan that satisfies the pool lets every `.inc` through
/// once each partition below the entry value did its `.dec`, and a `.dec` never waits.
pub fn registers(
    target: &Target,
    partitions: &[PartitionWarps],
    plan: &RegisterPlan,
) -> Vec<RegisterViolation> {
    let mut broken = Vec::new();
    if plan.partitions.len() != partitions.len() {
        broken.push(RegisterViolation::Partitions {
            planned: plan.partitions.len(),
            partitions: partitions.len(),
        });
    }
    let (min, max) = (target.registers.min_per_thread, target.registers.per_thread);
    if plan.maxnreg < min || plan.maxnreg > max {
        broken.push(RegisterViolation::MaxNReg { maxnreg: plan.maxnreg, min, max });
    }
    if !plan.entry.is_multiple_of(8) || plan.maxnreg != plan.entry.min(255) {
        broken.push(RegisterViolation::Entry { entry: plan.entry, maxnreg: plan.maxnreg });
    }
    let threads: u64 = partitions.iter().map(|partition| u64::from(partition.warps) * 32).sum();
    let needed = threads * u64::from(plan.maxnreg);
    let limit = u64::from(target.registers.per_cta);
    if needed > limit {
        broken.push(RegisterViolation::Launch { threads, maxnreg: plan.maxnreg, needed, limit });
    }

    let movable = plan.maxnreg / 8 * 8;
    let mut asked = 0_u64;
    for (index, (partition, moved)) in partitions.iter().zip(&plan.partitions).enumerate() {
        let value = moved.unwrap_or(movable);
        asked = asked.saturating_add(u64::from(partition.warps) * 32 * u64::from(value));
        let Some(value) = *moved else { continue };
        let legal = target.registers.setmaxnreg.as_ref();
        if !legal.is_some_and(|rule| value >= rule.min && value <= rule.max && value.is_multiple_of(8)) {
            broken.push(RegisterViolation::Operand { partition: index, value });
        }
        if !partition.warps.is_multiple_of(4) {
            broken.push(RegisterViolation::PartOfGroup { partition: index, warps: partition.warps });
        }
    }
    let pool = threads * u64::from(movable);
    if asked > pool {
        broken.push(RegisterViolation::Pool { asked, pool });
    }
    broken
}
