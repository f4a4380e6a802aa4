//! A machine given as data, read afresh (B82).

use crate::input::{AccessRole, MachineSpec, OwnName, RoleSpec};
use warploom_chips::Target;

/// First address, bytes and alignment of each space, with its name.
pub(super) struct Range {
    pub name: OwnName,
    pub base: u64,
    pub bytes: u64,
    pub align: u64,
}

/// The spaces of a machine at their addresses: where none is given, at the next 64 KiB.
pub(super) fn ranges(spec: &MachineSpec) -> Vec<Range> {
    let mut end = 0u64;
    let mut out = Vec::new();
    for s in &spec.spaces {
        let base = s.base.unwrap_or(end.div_ceil(65_536).saturating_mul(65_536));
        end = base.saturating_add(s.bytes);
        out.push(Range { name: s.name, base, bytes: s.bytes, align: s.align });
    }
    out
}

/// What rules that speak of chips find: one block over all addresses, no tensor memory, semaphores for barriers.
pub(super) fn as_chip(spec: &MachineSpec) -> Result<Target, String> {
    let mut t = Target::named("sm_90a").map_err(|e| e.to_string())?;
    let end = ranges(spec).last().map_or(0, |r| r.base + r.bytes);
    t.chip.name.clone_from(&spec.machine);
    t.features.clear();
    t.tmem = None;
    (t.smem.per_cta, t.smem.per_sm, t.smem.per_cta_default, t.smem.reserved_per_cta) =
        (end, end, u64::MAX, 0);
    (t.barriers.named, t.barriers.reserved, t.barriers.mbarrier_tx_bytes) =
        (spec.semaphores, Vec::new(), u32::MAX);
    (t.threads.per_warp, t.threads.per_cta, t.descriptors.slots) = (1, spec.workers, 0);
    Ok(t)
}

/// A role of a machine by its name.
pub(super) fn role(spec: &MachineSpec, role: AccessRole) -> Option<&RoleSpec> {
    spec.roles.iter().find(|r| AccessRole::Own(r.role) == role)
}
