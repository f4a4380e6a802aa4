//! The built-in chips as machines described as data (B82).

use super::block::{BlockSpec, ColumnsSpec, DescriptorSpec, RingBarrierSpec};
use super::machine::{MachineSpec, RoleSpec, SpaceSpec};
use std::sync::LazyLock;
use warploom_chips::{Feature, Target};

/// Roles of all built-in chips (B5).
static ROLES: LazyLock<Result<Vec<RoleSpec>, String>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../data/chip_roles.json")).map_err(|e| e.to_string())
});

impl MachineSpec {
    /// A built-in chip, such as `sm_90a`, as the description that it is to the assigner.
    ///
    /// # Errors
    /// There is no such chip.
    pub fn chip(name: &str) -> Result<MachineSpec, String> {
        MachineSpec::of_chip(&Target::named(name).map_err(|e| e.to_string())?)
    }

    /// A chip's record as a description.
    pub(crate) fn of_chip(target: &Target) -> Result<MachineSpec, String> {
        let name = |n: &str| n.parse().map_err(|e: super::NameTooLong| e.to_string());
        let space = |n, bytes, columns| {
            Ok::<_, String>(SpaceSpec { name: name(n)?, bytes, align: 1, base: None, columns })
        };
        let mut spaces = vec![space("smem", target.smem.per_cta, None)?];
        let mut without = Vec::new();
        match target.tmem.as_ref().filter(|_| target.has(Feature::Tcgen05)) {
            Some(t) => {
                let (lanes, columns, cell_bits) = (t.lanes.into(), t.columns.into(), t.cell_bits.into());
                let spec = ColumnsSpec { lanes, columns, cell_bits, min_alloc: t.min_alloc.into() };
                spaces.push(space("tmem", spec.bytes().unwrap_or(0), Some(spec))?);
            }
            None => without.push(name("tmem")?),
        }
        let barriers = &target.barriers;
        let block = BlockSpec {
            threads_per_warp: target.threads.per_warp,
            threads: target.threads.per_cta,
            default_bytes: target.smem.per_cta_default,
            shared_bytes: target.smem.per_sm,
            reserved_bytes: target.smem.reserved_per_cta,
            barriers: barriers.named,
            reserved_barriers: barriers.reserved.clone(),
            ring_barriers: RingBarrierSpec {
                bytes: barriers.mbarrier_bytes.into(),
                counts: barriers.mbarrier_tx_bytes.into(),
            },
            descriptors: DescriptorSpec {
                slots: target.descriptors.slots.into(),
                bytes: target.descriptors.bytes.into(),
                align: target.descriptors.align_device_built.into(),
            },
        };
        let machine = MachineSpec::new(target.name(), 0);
        Ok(MachineSpec { spaces, roles: ROLES.clone()?, block: Some(block), without, ..machine })
    }
}
