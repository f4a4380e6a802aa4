//! The target's capacities as this crate uses them (B7). A chip is read as the description that it is (B82).

use super::machine::{Machine, Role, TmemLimits, block, columns, roles, spaces};
use crate::input::{AccessRole, BlockSpec, MachineSpec, TargetSpec};
use crate::output::AssignError;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use warploom_chips::Target;

/// What the phases ask of a target; all bytes unless said otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub name: String,
    pub smem_block: u64,
    pub smem_align: u64,
    pub smem_static: u64,
    pub smem_sm: u64,
    pub block_reserve: u64,
    pub free_ids: Vec<u32>,
    pub mbarrier_bytes: u64,
    pub mbarrier_tx: u64,
    pub max_threads: u32,
    pub threads_per_warp: u32,
    /// Present iff the target has columns (B41).
    pub tmem: Option<TmemLimits>,
    pub desc_slots: u64,
    pub desc_bytes: u64,
    pub desc_align_device: u64,
    /// All but `signal`, which is there on every target.
    pub roles: BTreeMap<AccessRole, Role>,
    /// Its spaces, where it runs no blocks (B82).
    pub machine: Option<Machine>,
}

/// Looks a target up and applies overrides (B2).
pub(crate) fn resolve(spec: &TargetSpec) -> Result<Limits, AssignError> {
    let refuse = |e: &dyn std::fmt::Display| AssignError::invalid("target", e);
    let target = match spec {
        TargetSpec::Named(name) => Target::named(name).map_err(|e| refuse(&e))?,
        TargetSpec::Custom { base, overrides } => {
            let base = Target::named(base).map_err(|e| refuse(&e))?;
            let mut json = serde_json::to_value(&base).map_err(|e| refuse(&e))?;
            merge(&mut json, &Json::Object(overrides.clone()), 0);
            serde_json::from_value(json).map_err(|e| refuse(&e))?
        }
        TargetSpec::Machine(spec) => return Limits::of(spec),
    };
    Limits::of(&MachineSpec::of_chip(&target).map_err(|e| refuse(&e))?)
}

/// Replaces leaves of `into` by those of `from`; unknown keys stay and are refused when the
/// record is read back. Records are nested a few levels only.
fn merge(into: &mut Json, from: &Json, level: usize) {
    match (into, from) {
        (Json::Object(a), Json::Object(b)) if level < 8 => {
            for (key, value) in b {
                match a.get_mut(key) {
                    Some(slot) => merge(slot, value, level + 1),
                    None => {
                        a.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (slot, value) => *slot = value.clone(),
    }
}

impl Limits {
    /// Reads a description.
    fn of(spec: &MachineSpec) -> Result<Limits, AssignError> {
        let (spaces, tmem, roles) = (spaces(spec)?, columns(spec)?, roles(spec)?);
        if spec.workers == 0 {
            return Err(AssignError::invalid("target.workers", "a machine has at least one"));
        }
        let end = spaces.last().map_or(0, |s| s.base + s.bytes);
        let name = spec.machine.clone();
        let Some(b) = &spec.block else {
            // One range of addresses over all of its spaces.
            return Ok(Limits {
                name,
                smem_block: end,
                smem_align: 1,
                smem_static: u64::MAX,
                smem_sm: end,
                block_reserve: 0,
                free_ids: (0..spec.semaphores).collect(),
                mbarrier_bytes: 1,
                mbarrier_tx: u64::MAX,
                max_threads: spec.workers,
                threads_per_warp: 1,
                tmem,
                desc_slots: 0,
                desc_bytes: 1,
                desc_align_device: 1,
                roles,
                machine: Some(Machine { spaces }),
            });
        };
        block(spec, b)?;
        Ok(Limits {
            name,
            smem_block: end,
            smem_align: spaces.last().map_or(1, |s| s.align),
            smem_static: b.default_bytes,
            smem_sm: b.shared_bytes,
            block_reserve: b.reserved_bytes,
            free_ids: free_ids(b),
            mbarrier_bytes: b.ring_barriers.bytes,
            mbarrier_tx: b.ring_barriers.counts,
            max_threads: b.threads,
            threads_per_warp: b.threads_per_warp,
            tmem,
            desc_slots: b.descriptors.slots,
            desc_bytes: b.descriptors.bytes,
            desc_align_device: b.descriptors.align,
            roles,
            machine: None,
        })
    }

    /// Whether a role may write and may read here; `None` if there is no such role.
    pub fn access(&self, role: AccessRole) -> Option<(bool, bool)> {
        match role {
            AccessRole::Signal => Some((true, true)),
            _ => self.roles.get(&role).map(|r| (r.writes, r.reads)),
        }
    }

    /// Whether a role has a property; `signal` has none.
    pub fn is(&self, role: AccessRole, of: impl Fn(&Role) -> bool) -> bool {
        self.roles.get(&role).is_some_and(of)
    }

    /// Whether a role is legal in shared memory and in tensor memory (B5).
    pub fn legal(&self, role: AccessRole) -> (bool, bool) {
        self.roles.get(&role).map_or((false, false), |r| r.legal)
    }

    /// It touches bytes or columns, not only an order or a descriptor.
    pub fn has_payload(&self, role: AccessRole) -> bool {
        !self.roles.get(&role).is_none_or(|r| r.descriptor)
    }

    /// What a problem may call a role of this target.
    pub fn role_names(&self) -> String {
        self.roles.keys().map(|r| format!("{r}, ")).collect::<String>() + "signal"
    }
}

fn free_ids(b: &BlockSpec) -> Vec<u32> {
    (0..b.barriers).filter(|id| !b.reserved_barriers.contains(id)).collect()
}
