//! The chip's capacities as this crate uses them (B7).

use super::machine::Machine;
use crate::input::{AccessRole, MachineSpec, TargetSpec};
use crate::output::AssignError;
use serde_json::Value as Json;
use warploom_chips::{Feature, Target};

/// What the phases ask of a chip; all bytes unless said otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub name: String,
    pub smem_block: u64,
    pub smem_static: u64,
    pub smem_sm: u64,
    pub block_reserve: u64,
    pub free_ids: Vec<u32>,
    pub mbarrier_bytes: u64,
    pub mbarrier_tx: u64,
    pub max_threads: u32,
    pub threads_per_warp: u32,
    /// Present iff the chip has the tcgen05 feature (B41).
    pub tmem: Option<TmemLimits>,
    pub desc_slots: u64,
    pub desc_bytes: u64,
    pub desc_align_device: u64,
    /// The machine, where the target is one given as data (B82).
    pub machine: Option<Machine>,
}

/// Tensor-memory geometry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TmemLimits {
    pub lanes: u64,
    pub columns: u64,
    pub cell_bits: u64,
    pub min_alloc: u64,
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
        TargetSpec::Machine(spec) => return Ok(Limits::of_machine(Machine::new(spec)?, spec)),
    };
    let tmem = target.tmem.as_ref().filter(|_| target.has(Feature::Tcgen05));
    Ok(Limits {
        name: target.name().to_string(),
        smem_block: target.smem.per_cta,
        smem_static: target.smem.per_cta_default,
        smem_sm: target.smem.per_sm,
        block_reserve: target.smem.reserved_per_cta,
        free_ids: target.barriers.free_ids(),
        mbarrier_bytes: u64::from(target.barriers.mbarrier_bytes),
        mbarrier_tx: u64::from(target.barriers.mbarrier_tx_bytes),
        max_threads: target.threads.per_cta,
        threads_per_warp: target.threads.per_warp,
        tmem: tmem.map(|t| TmemLimits {
            lanes: u64::from(t.lanes),
            columns: u64::from(t.columns),
            cell_bits: u64::from(t.cell_bits),
            min_alloc: u64::from(t.min_alloc),
        }),
        desc_slots: u64::from(target.descriptors.slots),
        desc_bytes: u64::from(target.descriptors.bytes),
        desc_align_device: u64::from(target.descriptors.align_device_built),
        machine: None,
    })
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
    /// What the phases that know chips ask of a machine: one range of addresses over all of its spaces.
    fn of_machine(machine: Machine, spec: &MachineSpec) -> Limits {
        let end = machine.spaces.last().map_or(0, |s| s.base + s.bytes);
        Limits {
            name: spec.machine.clone(),
            smem_block: end,
            smem_static: u64::MAX,
            smem_sm: end,
            block_reserve: 0,
            free_ids: (0..machine.semaphores).collect(),
            mbarrier_bytes: 1,
            mbarrier_tx: u64::MAX,
            max_threads: spec.workers,
            threads_per_warp: 1,
            tmem: None,
            desc_slots: 0,
            desc_bytes: 1,
            desc_align_device: 1,
            machine: Some(machine),
        }
    }

    /// Whether a role may write and may read here; `None` if there is no such role.
    pub fn access(&self, role: AccessRole) -> Option<(bool, bool)> {
        match (&self.machine, role) {
            (_, AccessRole::Signal) => Some((true, true)),
            (Some(machine), _) => machine.roles.get(&role).map(|r| (r.writes, r.reads)),
            (None, AccessRole::Own(_)) => None,
            (None, _) => Some((role.can_write(), role.can_read())),
        }
    }

    /// The write signals its completion itself (B27).
    pub fn signals(&self, role: AccessRole) -> bool {
        let own = self.machine.as_ref().and_then(|m| m.roles.get(&role));
        own.map_or(role.completes_on_mbarrier(), |r| r.signals)
    }

    /// What a problem may call a role of this target.
    pub fn role_names(&self) -> String {
        let own = self.machine.as_ref().map(|m| m.roles.keys().map(ToString::to_string).collect::<Vec<_>>());
        own.map_or("those of B5".into(), |names| format!("{}, signal", names.join(", ")))
    }
}
