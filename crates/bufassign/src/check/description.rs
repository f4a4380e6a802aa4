//! A machine given as data, read afresh (B82).

use crate::input::{AccessRole, BlockSpec, MachineSpec, OwnName, RoleSpec};
use warploom_chips::{Feature, Target};

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
    for s in spec.spaces.iter().filter(|s| s.columns.is_none()) {
        let base = s.base.unwrap_or(end.div_ceil(65_536).saturating_mul(65_536));
        end = base.saturating_add(s.bytes);
        out.push(Range { name: s.name, base, bytes: s.bytes, align: s.align });
    }
    out
}

/// What rules that speak of chips find.
pub(super) fn as_chip(spec: &MachineSpec) -> Result<Target, String> {
    // A chip that has everything, of which nothing is kept that this crate asks for.
    let mut t = Target::named("sm_100a").map_err(|e| e.to_string())?;
    t.chip.name.clone_from(&spec.machine);
    let end = ranges(spec).last().map_or(0, |r| r.base + r.bytes);
    match &spec.block {
        Some(block) => of_block(&mut t, spec, block, end)?,
        None => {
            // One block over all addresses, no tensor memory, semaphores for barriers.
            t.tmem = None;
            (t.smem.per_cta, t.smem.per_sm, t.smem.per_cta_default, t.smem.reserved_per_cta) =
                (end, end, u64::MAX, 0);
            (t.barriers.named, t.barriers.reserved, t.barriers.mbarrier_tx_bytes) =
                (spec.semaphores, Vec::new(), u32::MAX);
            (t.threads.per_warp, t.threads.per_cta, t.descriptors.slots) = (1, spec.workers, 0);
        }
    }
    if t.tmem.is_none() {
        t.features.remove(&Feature::Tcgen05);
    }
    Ok(t)
}

fn of_block(t: &mut Target, spec: &MachineSpec, b: &BlockSpec, end: u64) -> Result<(), String> {
    let small = |x: u64| u32::try_from(x).map_err(|e| e.to_string());
    (t.smem.per_cta, t.smem.per_sm) = (end, b.shared_bytes);
    (t.smem.per_cta_default, t.smem.reserved_per_cta) = (b.default_bytes, b.reserved_bytes);
    (t.barriers.named, t.barriers.reserved) = (b.barriers, b.reserved_barriers.clone());
    t.barriers.mbarrier_bytes = small(b.ring_barriers.bytes)?;
    t.barriers.mbarrier_tx_bytes = small(b.ring_barriers.counts.min(u32::MAX.into()))?;
    (t.threads.per_warp, t.threads.per_cta) = (b.threads_per_warp, b.threads);
    t.descriptors.slots = small(b.descriptors.slots)?;
    t.descriptors.bytes = small(b.descriptors.bytes)?;
    t.descriptors.align_device_built = small(b.descriptors.align)?;
    match (spec.spaces.iter().find_map(|s| s.columns), &mut t.tmem) {
        (Some(c), Some(tmem)) => {
            (tmem.lanes, tmem.columns) = (small(c.lanes)?, small(c.columns)?);
            (tmem.cell_bits, tmem.min_alloc) = (small(c.cell_bits)?, small(c.min_alloc)?);
        }
        _ => t.tmem = None,
    }
    Ok(())
}

/// A role of a machine by its name.
pub(super) fn role(spec: &MachineSpec, role: AccessRole) -> Option<&RoleSpec> {
    let name = role.to_string();
    spec.roles.iter().find(|r| r.role.as_str() == name)
}
