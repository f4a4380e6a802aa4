//! Problems of a chip, moved to a machine given as data (B82).

use super::choices::Choices;
use warploom_bufassign::{Access, AccessRole, MachineSpec, NameTooLong, Problem, Space, TargetSpec};

/// Puts a problem on a machine with a near and a far memory and a number of semaphores: what TMA or `cp.async` write is
/// written by a DMA engine that signals, other writes and all reads are the core's; a few roles reach one memory alone.
pub(super) fn on_machine(c: &mut Choices<'_>, p: &mut Problem) {
    let Ok(machine) = machine(c) else { return };
    p.target = TargetSpec::Machine(machine);
    p.options.smem_limit = None;
    let near = |r: AccessRole| if r == AccessRole::Signal { Some(r) } else { None };
    let own = |r: AccessRole, c: &mut Choices<'_>, names: [&str; 2]| {
        near(r).or_else(|| names[usize::from(c.one_in(3))].parse().ok()).unwrap_or(r)
    };
    for v in &mut p.values {
        v.swizzle = 0;
        if let Some(w) = &mut v.producer {
            let copied = matches!(w.role, AccessRole::TmaLoad | AccessRole::CpAsync);
            w.role = own(w.role, c, if copied { ["dma_in", "dma_far"] } else { ["store", "store_far"] });
        }
        for u in &mut v.consumers {
            u.role = own(u.role, c, ["load", "vector_load"]);
        }
        let far = v.producer.is_some_and(|w| w.role.to_string().ends_with("far"));
        if far {
            // What only the far memory can take is read from there.
            let load = |r: AccessRole| near(r).or_else(|| "load".parse().ok()).unwrap_or(r);
            v.consumers.iter_mut().for_each(|u| u.role = load(u.role));
        }
    }
    let owner_far: Vec<u64> = p
        .values
        .iter()
        .filter(|v| v.producer.is_some_and(|w| w.role.to_string().ends_with("far")))
        .map(|v| v.id)
        .collect();
    for v in p.values.iter_mut().filter(|v| v.view_of.is_some_and(|o| owner_far.contains(&o))) {
        v.consumers
            .iter_mut()
            .filter_map(|u| Some((u, "load".parse().ok()?)))
            .for_each(|(u, role)| u.role = role);
    }
    let spaces: Vec<Space> =
        ["near", "far"].iter().filter_map(|s| Some(Space::Own(s.parse().ok()?))).collect();
    for r in &mut p.reserved {
        r.space = c.pick(&spaces, r.space);
    }
}

fn machine(c: &mut Choices<'_>) -> Result<MachineSpec, NameTooLong> {
    let semaphores = 8 + c.below(40) as u32;
    let align = c.pick(&[16u64, 64, 256], 64);
    MachineSpec::new("generated", semaphores)
        .space("near", 1024 * (8 + c.below(120)), align)?
        .space("far", 1024 * (64 + c.below(512)), 64)?
        .role("dma_in", Access::Write, &["near", "far"], true)?
        .role("dma_far", Access::Write, &["far"], true)?
        .role("store", Access::Write, &["near", "far"], false)?
        .role("store_far", Access::Write, &["far"], false)?
        .role("load", Access::Read, &["near", "far"], false)?
        .role("vector_load", Access::Read, &["near"], false)
}
