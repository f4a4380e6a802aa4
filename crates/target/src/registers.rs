//! Registers for agents: what the entry asks for, and who gives to whom (T15, T16, C31).

use serde::{Deserialize, Serialize};

use crate::{Feature, Target};

/// An agent, as far as registers go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentWarps {
    /// Warps of the agent.
    pub warps: u32,
    /// Whether it computes on registers. One that only loads or issues gives registers away.
    pub computes: bool,
}

/// Registers of a kernel and its agents, per thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterPlan {
    /// Value of `.maxnreg`.
    pub maxnreg: u32,
    /// R0 of C31, a multiple of 8 up to 256: the even share that the launch gives each thread.
    pub entry: u32,
    /// Per agent, in the order given, the operand of its `setmaxnreg`; `None` where registers stay as
    /// they are.
    pub agents: Vec<Option<u32>>,
}

impl RegisterPlan {
    /// Registers per thread that agent `index` runs with; `None` if there is no such agent.
    pub fn of_agent(&self, index: usize) -> Option<u32> {
        self.agents.get(index).map(|moved| moved.unwrap_or(self.maxnreg))
    }
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RegisterError {
    /// No warps at all, or an agent without.
    #[error("T16: an agent without warps")]
    NoWarps,
    /// More warps than a CTA has.
    #[error("T3: {warps} warps in all; a CTA of {chip} has at most {limit}")]
    TooManyWarps {
        /// Name of the chip.
        chip: String,
        /// Warps of all agents.
        warps: u64,
        /// Most warps of a CTA.
        limit: u32,
    },
    /// The value to keep is not a legal operand.
    #[error("T15: loading agents cannot keep {keep} registers; {min} to {max} in steps of {step} are legal")]
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

/// Registers a loading or issuing agent keeps unless told otherwise (C31).
pub const DEFAULT_KEEP: u32 = 40;

impl Target {
    /// Plans the registers of a kernel whose agents are these (C31, T16).
    ///
    /// The entry gets an even share. If there are both agents that compute and agents that do not, all
    /// made of whole warpgroups, the latter go down to `keep` registers first thing, and what they
    /// return is divided evenly among the former. Nobody waits for registers before it gave its own, so
    /// the plan cannot deadlock.
    ///
    /// # Errors
    /// An agent without warps, more warps than a CTA has, an illegal `keep`.
    ///
    /// ```
    /// use warploom_target::{AgentWarps, Target};
    /// let loads = AgentWarps { warps: 4, computes: false };
    /// let computes = AgentWarps { warps: 4, computes: true };
    /// let plan = Target::named("sm_90a").unwrap().plan_registers(&[loads, computes, computes], 40).unwrap();
    /// assert_eq!((plan.maxnreg, plan.agents), (168, vec![Some(40), Some(232), Some(232)]));
    /// ```
    pub fn plan_registers(&self, agents: &[AgentWarps], keep: u32) -> Result<RegisterPlan, RegisterError> {
        let warps = self.count_warps(agents)?;
        let share = self.registers.per_cta / (warps * self.threads.per_warp.max(1)).max(1);
        // Rounded down to the granule in which a warp is given registers, 8 a thread.
        let granule = (self.registers.warp_unit / self.threads.per_warp.max(1)).max(1);
        let entry = round_down(share, granule).min(self.registers.per_thread.next_multiple_of(granule));
        let maxnreg = entry.min(self.registers.per_thread);
        let plan = RegisterPlan { maxnreg, entry, agents: vec![None; agents.len()] };
        Ok(self.moved(agents, keep, warps, &plan)?.unwrap_or(plan))
    }

    fn count_warps(&self, agents: &[AgentWarps]) -> Result<u32, RegisterError> {
        let warps: u64 = agents.iter().map(|agent| u64::from(agent.warps)).sum();
        if warps == 0 || agents.iter().any(|agent| agent.warps == 0) {
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
        agents: &[AgentWarps],
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
        let whole_groups = agents.iter().all(|agent| agent.warps.is_multiple_of(group));
        let computing: u32 = agents.iter().filter(|agent| agent.computes).map(|agent| agent.warps).sum();
        if !whole_groups || computing == 0 || computing == warps || keep > still.entry {
            return Ok(None);
        }
        let pool = still.entry * warps; // Per lane of a warp.
        let left = pool - keep * (warps - computing);
        let raised = round_down(left / computing, range.step).min(range.max);
        if raised <= still.entry {
            return Ok(None);
        }
        let agents = agents.iter().map(|agent| Some(if agent.computes { raised } else { keep })).collect();
        Ok(Some(RegisterPlan { agents, ..still.clone() }))
    }
}

fn round_down(number: u32, step: u32) -> u32 {
    number - number.checked_rem(step).unwrap_or(0)
}
