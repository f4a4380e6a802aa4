//! Where everything of a program lies: pipelines, named barriers, partitions with their warps and registers.

use warploom_bufassign::{Assignment, Record};
use warploom_chips::Target;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, Type, ValueId};

use super::types::{Barrier, Partition, Payload, ProgramLayout, Ring, RingUse, Scratch, Turns};
use crate::buffers::problem::{payload_value, staging_value};
use crate::descriptor_record::record;
use crate::engines::RegisterLayout;
use crate::loops::PartitionRole;
use crate::registers;
use crate::select::Selection;
use crate::tma::{TilePlan, tile_elem};
use crate::transports::made::MAP_BYTES;

/// The named barrier of the computing warps.
const MATH_BARRIER: &str = "math";

/// What the offset of scratch memory is a multiple of.
pub(crate) const SCRATCH_ALIGN: u64 = 128;

impl ProgramLayout {
    /// Lays a kernel out as assigned, with as many replicas of its computing partition as take turns.
    ///
    /// # Errors
    /// [`Code::Registers`] if no register plan holds the accumulator, [`Code::Internal`] if the assignment lacks
    /// what the kernel needs.
    pub fn new(
        module: &Module,
        selection: &Selection,
        assignment: &Assignment,
        replicas: u64,
        target: &Target,
    ) -> Result<ProgramLayout, Box<Diagnostic>> {
        let partitions = partitions(module, selection, target)?;
        let tensor = assignment.tmem.as_ref().filter(|_| !selection.accumulators.is_empty());
        let slot = assignment.smem.used.next_multiple_of(4);
        let (max_registers, partitions, split) = partitions;
        let mut layout = ProgramLayout {
            warps: partitions.iter().map(|a| a.warp + a.warps).max().unwrap_or(0),
            max_registers,
            split,
            shared: if tensor.is_some() { slot + 4 } else { assignment.smem.used },
            tmem: tensor.map(|plan| (plan.allocated, slot)),
            rings: Vec::new(),
            barriers: Vec::new(),
            turns: None,
            partitions,
            records: selection
                .descriptors
                .iter()
                .take(selection.arguments)
                .map(|(_, plan)| record(plan))
                .collect(),
            maps: None,
        };
        let missing = || {
            Box::new(Diagnostic::error(Code::Internal, "the assignment has no place for a value").rule("B10"))
        };
        for ring in 0..selection.rings.len() {
            layout.ring_of(module, selection, assignment, ring).ok_or_else(missing)?;
        }
        layout.staging(module, selection, assignment).ok_or_else(missing)?;
        layout.accumulators(module, selection, assignment).ok_or_else(missing)?;
        layout.operands(module, selection, assignment).ok_or_else(missing)?;
        layout.overlays(module, selection)?;
        layout.exchange(selection.scratch);
        layout.take_turns(replicas, target)?;
        if selection.makes_maps() {
            let at = layout.shared.next_multiple_of(MAP_BYTES);
            (layout.maps, layout.shared) = (Some(at), at + MAP_BYTES);
        }
        Ok(layout)
    }

    /// The pipeline for a use.
    pub fn ring(&self, usage: RingUse) -> Option<&Ring> {
        self.rings.iter().find(|ring| ring.usage == usage)
    }

    /// The named barrier around a staging buffer.
    pub fn staging_barrier(&self, staging: usize) -> Option<&str> {
        self.barriers.iter().find(|b| b.staging == Some(staging)).map(|b| b.name.as_str())
    }

    /// The payloads of a ring share one pair of barriers: the summed bytes arrive on one, and every computing warp
    /// gives the slot back on the other (C22, C24, C25). A slot that is written once has no empty barrier.
    fn ring_of(
        &mut self,
        module: &Module,
        selection: &Selection,
        assignment: &Assignment,
        index: usize,
    ) -> Option<()> {
        let ring = selection.rings.get(index)?;
        let mut payloads = Vec::new();
        let mut bytes = 0u64;
        for (at, &load) in ring.payloads().iter().enumerate() {
            let load = selection.loads.get(load)?;
            let record = assignment.record(payload_value(selection, index, at))?;
            payloads.push(payload(module, &load.name, load.descriptor, &load.plan, record)?);
            bytes = bytes.saturating_add(load.plan.bytes);
        }
        let first = assignment.record(payload_value(selection, index, 0))?;
        let math = self.partitions.iter().find(|a| a.role == PartitionRole::Math)?.warps;
        let multiplied = ring.payloads().iter().any(|&l| selection.dots.iter().any(|d| d.reads(l)));
        let tensor = multiplied && !selection.accumulators.is_empty();
        self.rings.push(Ring {
            usage: RingUse::Ring(index),
            name: self.next_name(),
            handshake: match (multiplied, tensor) {
                (true, true) => "tma_to_mma",
                (true, false) => "tma_to_wgmma",
                (false, _) => "tma_to_generic",
            },
            depth: first.depth,
            payloads,
            bytes,
            full: Some(first.full?),
            empty: if ring.looped { Some(first.empty?) } else { None },
            arrive_full: 1,
            arrive_empty: match (ring.looped, tensor) {
                (false, _) => 0,
                // A commit of products is one arrival.
                (true, true) => 1,
                (true, false) => math,
            },
            under: None,
            rows: None,
        });
        Some(())
    }

    /// Staging stays inside the computing partition, between named barriers.
    fn staging(&mut self, module: &Module, selection: &Selection, assignment: &Assignment) -> Option<()> {
        let names = self.partitions.iter().filter(|a| a.role == PartitionRole::Math).map(|a| a.name);
        let each = names.flat_map(|name| selection.stores.iter().enumerate().map(move |s| (name, s)));
        for (index, (name, (number, store))) in each.collect::<Vec<_>>().into_iter().enumerate() {
            let record = assignment.record(staging_value(selection, index))?;
            let payload = payload(module, &store.name, store.descriptor, &store.plan, record)?;
            self.rings.push(self.bare_ring(RingUse::Staging(index), 1, payload));
            let barrier = record.barrier?;
            let name = match (number, selection.turns) {
                (0, _) => name.to_owned(),
                (_, None) => format!("{name}{number}"),
                (_, Some(_)) => format!("{name}_{number}"),
            };
            self.barriers.push(Barrier {
                staging: Some(index),
                name,
                id: barrier.id?,
                threads: barrier.threads,
            });
        }
        Some(())
    }

    /// Bytes behind everything else by which the computing warps exchange, and where these meet: as for the first store.
    fn exchange(&mut self, bytes: u64) {
        let math = self.partitions.iter_mut().find(|p| p.role == PartitionRole::Math);
        let (Some(math), true) = (math, bytes > 0) else { return };
        let offset = self.shared.next_multiple_of(SCRATCH_ALIGN);
        math.scratch = Some(Scratch { offset, bytes, barrier: MATH_BARRIER });
        self.shared = offset + bytes;
        if self.barriers.is_empty() {
            let threads = 32 * math.warps;
            self.barriers.push(Barrier { staging: None, name: MATH_BARRIER.to_owned(), id: 1, threads });
        }
    }

    /// A named barrier for each replica, behind those that are given out.
    fn take_turns(&mut self, replicas: u64, target: &Target) -> Result<(), Box<Diagnostic>> {
        if replicas < 2 {
            return Ok(());
        }
        let id = self.barriers.iter().map(|b| b.id + 1).max().unwrap_or(1);
        let last = u32::try_from(replicas).ok().and_then(|n| id.checked_add(n - 1));
        let free = target.barriers.free_ids();
        if !last.is_some_and(|last| free.contains(&last)) {
            let text = format!("{replicas} replicas need named barriers from {id} on");
            return Err(Box::new(Diagnostic::error(Code::Capacity, text).rule("C32")));
        }
        self.turns = Some(Turns { name: "turn", id, replicas });
        Ok(())
    }

    /// A ring without barriers: nothing is handed over by it, or others are yet to give it theirs.
    pub(super) fn bare_ring(&self, usage: RingUse, depth: u64, payload: Payload) -> Ring {
        Ring {
            usage,
            name: self.next_name(),
            handshake: "none",
            depth,
            payloads: vec![payload],
            bytes: 0,
            full: None,
            empty: None,
            arrive_full: 0,
            arrive_empty: 0,
            under: None,
            rows: None,
        }
    }

    fn next_name(&self) -> String {
        format!("p{}", self.rings.len())
    }
}

impl Partition {
    /// A partition of so many warps from one on, whose tiles lie as its products say.
    fn of(role: PartitionRole, (warp, warps): (u32, u32), registers: u32) -> Partition {
        Partition { name: role.name(), role, warp, warps, registers, layout: None, scratch: None }
    }
}

fn payload(
    module: &Module,
    name: &str,
    descriptor: ValueId,
    plan: &TilePlan,
    record: &Record,
) -> Option<Payload> {
    let tile = Type::tensor(&plan.tile(), tile_elem(module.ty(descriptor)));
    let (offset, stride) = (record.offset?, record.stride?);
    Some(Payload { name: name.to_owned(), tile, swizzle: plan.swizzle, offset, stride })
}

/// The names of computing partitions that take turns by tiles (Q50).
const IN_TURNS: [&str; 2] = ["math0", "math1"];

/// `.maxnreg`, the partitions, and why registers are split so: the loading warpgroup first, then the computing ones
/// (C21, C31).
fn partitions(
    module: &Module,
    selection: &Selection,
    target: &Target,
) -> Result<(u32, Vec<Partition>, String), Box<Diagnostic>> {
    if !selection.accumulators.is_empty() {
        return Ok(tensor_partitions(selection, target));
    }
    let partitions = u32::try_from(selection.computing()).unwrap_or(u32::MAX);
    let rows = u64::from(selection.warpgroups().saturating_mul(partitions)).saturating_mul(64);
    let split = registers::plan(rows, selection.tile_registers(module), target).ok_or_else(|| {
        Box::new(Diagnostic::error(Code::Registers, "the accumulator does not fit").rule("C31"))
    })?;
    let plan = &split.plan;
    let group = target.threads.warps_per_group;
    // Where no register moves, a partition has what the launch gave it, in steps of 8.
    let still = plan.maxnreg / 8 * 8;
    let registers = |index: usize| plan.partitions.get(index).copied().flatten().unwrap_or(still);
    let load = Partition::of(PartitionRole::Load, (0, group), registers(0));
    let warps = selection.warpgroups().saturating_mul(group);
    let math = |first: u32| Partition::of(PartitionRole::Math, (group + first * warps, warps), registers(1));
    if selection.turns.is_none() {
        return Ok((plan.maxnreg, vec![load, math(0)], split.why()));
    }
    let names = IN_TURNS.into_iter().zip(0..);
    let replicas = names.map(|(name, first)| Partition { name, ..math(first) });
    let why = split.why().replace("@math", "each @math");
    Ok((plan.maxnreg, std::iter::once(load).chain(replicas).collect(), why))
}

/// One warp copies, one issues products, and behind a gap to the next warpgroup the computing ones; no register moves
/// (C21, C31).
fn tensor_partitions(selection: &Selection, target: &Target) -> (u32, Vec<Partition>, String) {
    let group = target.threads.warps_per_group;
    let warps = selection.warpgroups().saturating_mul(group);
    let threads = (group + warps).saturating_mul(target.threads.per_warp).max(1);
    let registers = (target.registers.per_cta / threads / 8 * 8).min(256);
    let rows = Some(selection.register_layout()).filter(|layout| *layout == RegisterLayout::TensorRows);
    let partition = |role, warps| Partition::of(role, warps, registers);
    let partitions = vec![
        partition(PartitionRole::Load, (0, 1)),
        partition(PartitionRole::Mma, (1, 1)),
        Partition { layout: rows, ..partition(PartitionRole::Math, (group, warps)) },
    ];
    let why = format!(
        "accumulators stay in tensor memory, tiles pass through: {registers} at launch do, none are moved"
    );
    (registers, partitions, why)
}
