//! Registers for partitions: what the entry asks for, and who gives to whom (T15, T16, C31).

use serde::{Deserialize, Serialize};

use crate::{Feature, Target};

/// A partition, as far as registers go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartitionWarps {
    /// Warps of the partition.
    pub warps: u32,
    /// Whether it computes on registers. One that only loads or issues gives registers away.
    pub computes: bool,
}

/// Registers of a kernel and its partitions, per thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterPlan {
    /// Value of `.maxnreg`.
    pub maxnreg: u32,
    /// R0 of C31, a multiple of 8 up to 256: the even share that the launch gives each thread.
    pub entry: u32,
    /// Per partition, in the order given, the operand of its `setmaxnreg`; `None` where registers stay as
    /// they are.
    pub partitions: Vec<Option<u32>>,
}

impl RegisterPlan {
    /// Registers per thread that partition `index` runs with; `None` if there is no such partition.
    pub fn of_partition(&self, index: usize) -> Option<u32> {
        self.partitions.get(index).map(|moved| moved.unwrap_or(self.maxnreg))
    }
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RegisterError {
    /// No warps at all, or a partition without.
    #[error("T16: a partition without warps")]
    NoWarps,
    /// More warps than a CTA has.
    #[error("T3: {warps} warps in all; a CTA of {chip} has at most {limit}")]
    TooManyWarps {
        /// Name of the chip.
        chip: String,
        /// Warps of all partitions.
        warps: u64,
        /// Most warps of a CTA.
        limit: u32,
    },
    /// The value to keep is not a legal operand.
    #[error(
        "T15: loading partitions cannot keep {keep} registers; {min} to {max} in steps of {step} are legal"
    )]
    Keep {
        /// The value asked for.
        keep: u32,
        /// Least operand of `setmaxnreg`.
        min: u32,
        /// Greatest operand of `setmaxnreg`.
        max: u32,
        /// Step of the operand.
        step: u32,
    },
}

/// Registers a loading or issuing partition keeps unless told otherwise (C31).
pub const DEFAULT_KEEP: u32 = 40;

impl Target {
    /// Plans the registers of a kernel whose partitions are these (C31, T16).
    ///
    /// The entry gets an even share. If there are both partitions that compute and partitions that do not, all
    /// made of whole warpgroups, the latter go down to `keep` registers first thing, and what they
    /// return is divided evenly among the former. Nobody waits for registers before it gave its own, so
    /// the plan cannot deadlock.
    ///
    /// # Errors
    /// A partition without warps, more warps than a CTA has, an illegal `keep`.
    ///
    /// ```
    /// use warploom_chips::{PartitionWarps, Target};
    /// let loads = PartitionWarps { warps: 4, computes: false };
    /// let computes = PartitionWarps { warps: 4, computes: true };
    /// let plan = Target::named("sm_90a").unwrap().plan_registers(&[loads, computes, computes], 40).unwrap();
    /// assert_eq!((plan.maxnreg, plan.partitions), (168, vec![Some(40), Some(232), Some(232)]));
    /// ```
    pub fn plan_registers(
        &self,
        partitions: &[PartitionWarps],
        keep: u32,
    ) -> Result<RegisterPlan, RegisterError> {
        let warps = self.count_warps(partitions)?;
        let share = self.registers.per_cta / (warps * self.threads.per_warp.max(1)).max(1);
        // Rounded down to the granule in which a warp is given registers, 8 a thread.
        let granule = (self.registers.warp_unit / self.threads.per_warp.max(1)).max(1);
        let entry = round_down(share, granule).min(self.registers.per_thread.next_multiple_of(granule));
        let maxnreg = entry.min(self.registers.per_thread);
        let plan = RegisterPlan { maxnreg, entry, partitions: vec![None; partitions.len()] };
        Ok(self.moved(partitions, keep, warps, &plan)?.unwrap_or(plan))
    }

    fn count_warps(&self, partitions: &[PartitionWarps]) -> Result<u32, RegisterError> {
        let warps: u64 = partitions.iter().map(|partition| u64::from(partition.warps)).sum();
        if warps == 0 || partitions.iter().any(|partition| partition.warps == 0) {
            return Err(RegisterError::NoWarps);
        }
        let limit = self.threads.warps_per_cta();
        match u32::try_from(warps) {
            Ok(warps) if warps <= limit => Ok(warps),
            _ => Err(RegisterError::TooManyWarps { chip: self.chip.name.clone(), warps, limit }),
        }
    }

    /// The plan with registers moved; `None` where that is impossible or gains nothing.
    fn moved(
        &self,
        partitions: &[PartitionWarps],
        keep: u32,
        warps: u32,
        still: &RegisterPlan,
    ) -> Result<Option<RegisterPlan>, RegisterError> {
        let Some(range) = self.registers.setmaxnreg.as_ref().filter(|_| self.has(Feature::SetMaxNReg)) else {
            return Ok(None);
        };
        if !(range.min..=range.max).contains(&keep) || !keep.is_multiple_of(range.step) {
            let (min, max, step) = (range.min, range.max, range.step);
            return Err(RegisterError::Keep { keep, min, max, step });
        }
        let group = self.threads.warps_per_group.max(1);
        let whole_groups = partitions.iter().all(|partition| partition.warps.is_multiple_of(group));
        let computing: u32 =
            partitions.iter().filter(|partition| partition.computes).map(|partition| partition.warps).sum();
        if !whole_groups || computing == 0 || computing == warps || keep > still.entry {
            return Ok(None);
        }
        let pool = still.entry * warps; // Per lane of a warp.
        let left = pool - keep * (warps - computing);
        let raised = round_down(left / computing, range.step).min(range.max);
        if raised <= still.entry {
            return Ok(None);
        }
        let partitions =
            partitions.iter().map(|partition| Some(if partition.computes { raised } else { keep })).collect();
        Ok(Some(RegisterPlan { partitions, ..still.clone() }))
    }
}

fn round_down(number: u32, step: u32) -> u32 {
    number - number.checked_rem(step).unwrap_or(0)
}
