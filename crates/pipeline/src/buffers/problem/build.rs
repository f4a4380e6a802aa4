//! The assignment problem of a scheduled kernel (B1-B5).
//!
//! Regions: what comes before the loops (only if tiles are loaded once), the loops that own a ring, what comes behind.
//! A loop whose rings all belong to an earlier one takes part through it: they never run at once. Values: the payloads
//! of the rings, ring by ring, then the staging buffers of the stores.

use warploom_bufassign::{
    AccessRole as Access, AssignOptions, BufferValue, CallerEdge, Consumer, Exit, Problem, Producer,
    RegionKind, Repeat, ScheduledOp, ScheduledRegion, Sharing, TargetSpec, WarpPartition,
};
use warploom_chips::Target;
use warploom_chips::cost::{CostError, Op as Cost};
use warploom_ir::{Module, OpId, Opcode};

use crate::buffers::depth::ScheduledLoop;
use crate::buffers::problem::spare::spare;
use crate::buffers::problem::{accumulator_value, payload_value, value_fill};
use crate::loops::{Part, PartitionRole};
use crate::nest::innermost_for;
use crate::select::{Accumulator, AccumulatorKind, Dot, OperandSource, Selection};
use crate::storage::Bindings;
use crate::tma::TilePlan;

/// The region before the loops; the loops follow from 1 on, then the rest.
const BEFORE: u64 = 0;

/// Partition ids; [`SECOND`] is another one.
pub(super) fn partition(role: PartitionRole) -> u64 {
    match role {
        PartitionRole::Load => 0,
        PartitionRole::Math => 1,
        PartitionRole::Mma => 2,
    }
}

/// The second computing partition where two take turns by tiles (Q50).
pub(super) const SECOND: u64 = 3;

/// Whether a loop owns a ring, so that its schedule decides about that.
fn leads(selection: &Selection, scf_for: OpId) -> bool {
    selection.rings.iter().any(|r| r.uses.first().is_some_and(|u| u.scf_for == Some(scf_for)))
}

/// What a problem is made from.
pub(crate) struct Source<'a> {
    pub module: &'a Module,
    pub selection: &'a Selection,
    /// Name of the kernel.
    pub name: &'a str,
    pub loops: &'a [ScheduledLoop],
    pub target: &'a Target,
    /// Slots of each ring beyond what its schedule asks for, modelled as reads that end so many iterations later (S54).
    pub slack: &'a [u64],
    /// What the author said of places.
    pub bindings: &'a Bindings,
    /// Less shared memory than the chip has, bytes.
    pub limit: Option<u64>,
}

/// The problem for the schedules of all loops.
///
/// # Errors
/// The chip has no cost for an operation.
pub(crate) fn problem(source: &Source<'_>) -> Result<Problem, CostError> {
    let (selection, target) = (source.selection, source.target);
    let warps = selection.warpgroups().saturating_mul(target.threads.warps_per_group);
    let single = if selection.accumulators.is_empty() { target.threads.warps_per_group } else { 1 };
    let named = |role: PartitionRole, warps: u32| WarpPartition {
        id: partition(role),
        name: role.name().to_owned(),
        warps,
    };
    let line = |id: u64| ScheduledRegion {
        id,
        kind: RegionKind::Line,
        ii: None,
        stages: None,
        exit: Exit::Counted,
        inside: None,
    };
    let mut builder =
        Builder { source, ops: Vec::new(), values: Vec::new(), edges: Vec::new(), firsts: Vec::new() };
    let mut regions = Vec::new();
    for scheduled in source.loops.iter().filter(|s| leads(selection, s.pipelined.scf_for)) {
        let id = 1 + regions.len() as u64;
        regions.push(ScheduledRegion {
            id,
            kind: RegionKind::Loop,
            ii: Some(unsigned(scheduled.answer.ii)),
            stages: Some(unsigned(scheduled.answer.stages)),
            exit: Exit::Counted,
            inside: None,
        });
        builder.in_loop(scheduled, id)?;
    }
    // Nothing in the program drains one loop before the next, or one turn of a loop around them: their rings, and the
    // staging of one tile beside the copies of the next, must not overlay (B55).
    let around = |l: &OpId| innermost_for(source.module, *l).is_some();
    let overlapped = regions.len() > 1 || selection.loops.iter().any(around);
    let repeat = if overlapped { Repeat::Overlapped } else { Repeat::None };
    let after = 1 + regions.len() as u64;
    if selection.rings.iter().any(|r| !r.looped) {
        regions.insert(0, line(BEFORE));
    }
    regions.push(line(after));
    builder.around(after)?;
    for value in &mut builder.values {
        value.layout = value_fill(source.module, selection, value.id).and_then(|op| source.bindings.of(op));
    }
    let mut partitions = vec![named(PartitionRole::Load, single), named(PartitionRole::Math, warps)];
    if selection.turns.is_some() {
        let (first, second) = (partition(PartitionRole::Math), SECOND);
        partitions.pop();
        partitions.extend([(first, "math0"), (second, "math1")].map(|(id, name)| WarpPartition {
            id,
            name: name.to_owned(),
            warps,
        }));
    }
    if !selection.accumulators.is_empty() {
        partitions.push(named(PartitionRole::Mma, 1));
    }
    let spare = spare(selection);
    let limit = source.limit.unwrap_or(target.smem.per_cta).saturating_sub(spare);
    let smem_limit = if spare > 0 { Some(limit) } else { source.limit };
    Ok(Problem {
        name: source.name.to_owned(),
        target: TargetSpec::Named(target.name().to_owned()),
        repeat,
        // Products and operands of unlike types may have the same columns. Nothing emits a wait that is not there
        // anyway.
        options: AssignOptions::default()
            .smem_limit(smem_limit)
            .relax_footprint(!selection.operands.is_empty())
            .sharing(Sharing::Implied),
        partitions,
        regions,
        ops: builder.ops,
        values: builder.values,
        layouts: source.bindings.layouts().to_vec(),
        edges: builder.edges,
        reserved: Vec::new(),
    })
}

pub(super) struct Builder<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) ops: Vec<ScheduledOp>,
    pub(super) values: Vec<BufferValue>,
    pub(super) edges: Vec<CallerEdge>,
    /// The first operation of each loop that owns rings.
    pub(super) firsts: Vec<u64>,
}

impl Builder<'_> {
    /// The nodes of a schedule with their numbers, and the rings that the loop owns.
    fn in_loop(&mut self, scheduled: &ScheduledLoop, region: u64) -> Result<(), CostError> {
        let (selection, module) = (self.source.selection, self.source.module);
        let (pipelined, answer) = (&scheduled.pipelined, &scheduled.answer);
        let arrive = self.source.target.cost(&Cost::BarrierArrive, 4)?.latency;
        let first = self.ops.len() as u64;
        self.firsts.push(first);
        // Where the computing partition reads products as well, their slots are given back later than their
        // accumulators are there.
        let later = selection.shares_tensor_memory(pipelined.scf_for);
        let spread = if later { 2 } else { 1 };
        let nodes = pipelined.graph.nodes.iter().zip(&answer.nodes).zip(&pipelined.nodes);
        for ((node, place), known) in nodes.filter(|(_, known)| known.replica == 0) {
            let opcode = module.ops[known.op].opcode;
            let copies = known.part == Part::Whole && opcode == Opcode::DescriptorLoad;
            self.ops.push(ScheduledOp {
                id: first + node.id as u64,
                name: node.name.clone(),
                region: Some(region),
                partition: partition(known.role),
                stage: unsigned(place.stage),
                cycle: Some(unsigned(place.cycle)),
                order: Some(place.order as u64 * spread),
                latency: unsigned(node.latency),
                is_async: copies || (known.part == Part::Whole && opcode.is_product()),
            });
        }
        // The last replica gives its slots back behind all others.
        let behind = pipelined.replicas.span();
        let mut given_back: Vec<(usize, u64)> = Vec::new();
        for (ring, data) in selection.rings.iter().enumerate() {
            let Some(filling) = data.uses.first().filter(|u| u.scf_for == Some(pipelined.scf_for)) else {
                continue;
            };
            let slack = self.source.slack.get(ring).copied().unwrap_or(0).saturating_mul(unsigned(answer.ii));
            let slack = slack.saturating_add(behind);
            for (payload, &load) in filling.loads.iter().enumerate() {
                let Some(tile_load) = selection.loads.get(load) else { continue };
                let Some(producer) = pipelined.node(tile_load.op, Part::Whole) else { continue };
                let mut consumers = Vec::new();
                for dot in selection.dots.iter().filter(|d| d.reads(load)) {
                    let Some(node) = pipelined.node(dot.op, Part::Whole) else { continue };
                    let read = |node: usize, distance: i64| Consumer {
                        op: first + node as u64,
                        role: access(selection, dot, load),
                        distance,
                        in_place: false,
                    };
                    consumers.push(read(node, 0));
                    // The slot is free when the other partition has seen the arrival behind the wait.
                    match wait_behind(module, dot.op).and_then(|w| pipelined.node(w, Part::Whole)) {
                        Some(wait) => {
                            consumers.push(read(wait, i64::try_from(pipelined.pending).unwrap_or(0)));
                            given_back.push((wait, pipelined.synchronisation.saturating_add(slack)));
                        }
                        None => {
                            let late = arrive.saturating_add(pipelined.synchronisation).saturating_add(slack);
                            given_back.push((node, late));
                        }
                    }
                }
                if let Some(node) = pipelined.node(tile_load.op, Part::Read) {
                    let op = first + node as u64;
                    consumers.push(Consumer { op, role: Access::RegRead, distance: 0, in_place: false });
                    let late = arrive.saturating_add(pipelined.synchronisation).saturating_add(slack);
                    given_back.push((node, late));
                }
                let id = payload_value(selection, ring, payload);
                let producer = Producer { op: first + producer as u64, role: Access::TmaLoad };
                let mut value = tile(id, &tile_load.name, &tile_load.plan, producer);
                value.consumers = consumers;
                value.init = true;
                value.pipe = Some(ring as u64);
                self.values.push(value);
            }
        }
        self.tensor(scheduled, first);
        given_back.sort_unstable();
        given_back.dedup_by_key(|(node, _)| *node);
        for (node, late) in given_back {
            if later {
                self.give_back(first + node as u64, late);
            } else if let Some(op) = self.ops.iter_mut().find(|op| op.id == first + node as u64) {
                op.latency = op.latency.saturating_add(late);
            }
        }
        Ok(())
    }

    /// The tiles loaded once, copied before or while the loops run and so alive throughout them, and the stores.
    fn around(&mut self, after: u64) -> Result<(), CostError> {
        let (selection, target) = (self.source.selection, self.source.target);
        let (mut cycle, mut order) = (0u64, 0u64);
        let warps = selection.warpgroups().saturating_mul(target.threads.warps_per_group);
        // The computing partition reads every accumulator out of tensor memory before it writes a result.
        let read_behind =
            |(index, s): &(usize, &Accumulator)| s.home == *index && s.kind != AccumulatorKind::Read;
        for (index, accumulator) in selection.accumulators.iter().enumerate().filter(read_behind) {
            let Some(dot) = selection.dots.get(accumulator.dot) else { continue };
            let bytes = dot.extents[0] * dot.extents[1] * 4;
            let latency = target.cost(&Cost::Shared { bytes }, warps)?.latency;
            let place =
                Line { region: after, partition: partition(PartitionRole::Math), cycle, order, latency };
            let op = self.line_op("read accumulator".to_owned(), &place, false);
            (cycle, order) = (cycle.saturating_add(latency), order + 1);
            let id = accumulator_value(selection, index);
            if let Some(value) = self.values.iter_mut().find(|v| v.id == id) {
                value.consumers.push(Consumer { op, role: Access::Tcgen05Ld, distance: 0, in_place: false });
            }
        }
        let (first_put, (cycle, order)) = self.stores(after, (cycle, order))?;
        let math = partition(PartitionRole::Math);
        let mut behind = Line { region: after, partition: math, cycle, order, latency: 0 };
        let (mut cycle, mut order) = (0u64, 0u64);
        for (ring, data) in selection.rings.iter().enumerate().filter(|(_, r)| !r.looped) {
            for (payload, &load) in data.payloads().iter().enumerate() {
                let Some(tile_load) = selection.loads.get(load) else { continue };
                let inner = tile_load.plan.block.last().copied().unwrap_or(1);
                let inner_bytes = inner.saturating_mul(tile_load.plan.element_bytes);
                let latency =
                    target.cost(&Cost::TmaLoad { bytes: tile_load.plan.bytes, inner_bytes }, 1)?.latency;
                let place =
                    Line { region: BEFORE, partition: partition(PartitionRole::Load), cycle, order, latency };
                let op = self.line_op(format!("load {}", tile_load.name), &place, true);
                (cycle, order) = (cycle.saturating_add(latency), order + 1);
                let id = payload_value(selection, ring, payload);
                let mut value =
                    tile(id, &tile_load.name, &tile_load.plan, Producer { op, role: Access::TmaLoad });
                value.consumers = self.readers_of(load);
                // Tiles are read while the first result is written, and where the computing partition need not wait for
                // products (a loop of no trips) nothing says that they have arrived: the two never share bytes.
                let unseen = selection.accumulators.iter().any(|s| s.kind != AccumulatorKind::Plain);
                if value.consumers.is_empty() || unseen {
                    // Results that no copy stores are made somewhere behind the loops.
                    let op = match first_put {
                        Some(put) => put,
                        None => {
                            let bytes = tile_load.plan.bytes;
                            behind.latency = target.cost(&Cost::Shared { bytes }, warps)?.latency;
                            let read = self.line_op(format!("read {}", tile_load.name), &behind, false);
                            behind.cycle = behind.cycle.saturating_add(behind.latency);
                            behind.order += 1;
                            read
                        }
                    };
                    let read = Consumer { op, role: Access::RegRead, distance: 0, in_place: false };
                    value.consumers.push(read);
                }
                self.values.push(value);
            }
        }
        self.values.sort_by_key(|v| v.id);
        Ok(())
    }

    /// The products of the loops that read a tile loaded once. A loop without a region of its own reads through the
    /// loop whose rings it uses.
    fn readers_of(&self, load: usize) -> Vec<Consumer> {
        let selection = self.source.selection;
        let Some(dot) = selection.dots.iter().find(|d| d.reads(load)) else { return Vec::new() };
        let mut found = Vec::new();
        let leading = self.source.loops.iter().filter(|s| leads(selection, s.pipelined.scf_for));
        for (scheduled, &first) in leading.zip(&self.firsts) {
            let nodes = &scheduled.pipelined.nodes;
            let dots = selection.dots.iter().filter(|d| d.reads(load));
            let own = dots.filter_map(|d| scheduled.pipelined.node(d.op, Part::Whole)).next();
            let any = nodes.iter().position(|n| self.source.module.ops[n.op].opcode.is_product());
            if let Some(node) = own.or(any) {
                let op = first + node as u64;
                found.push(Consumer { op, role: access(selection, dot, load), distance: 0, in_place: false });
            }
        }
        found
    }

    pub(super) fn line_op(&mut self, name: String, place: &Line, is_async: bool) -> u64 {
        let id = self.ops.len() as u64;
        self.ops.push(ScheduledOp {
            id,
            name,
            region: Some(place.region),
            partition: place.partition,
            stage: 0,
            cycle: Some(place.cycle),
            order: Some(place.order),
            latency: place.latency,
            is_async,
        });
        id
    }
}

/// Where an operation of straight-line code stands.
pub(super) struct Line {
    pub(super) region: u64,
    pub(super) partition: u64,
    pub(super) cycle: u64,
    pub(super) order: u64,
    pub(super) latency: u64,
}

/// How a product reads a tile.
fn access(selection: &Selection, dot: &Dot, load: usize) -> Access {
    match dot.a {
        _ if !selection.accumulators.is_empty() => Access::Tcgen05B,
        OperandSource::Tile { load: a, .. } if a == load => Access::WgmmaA,
        _ => Access::WgmmaB,
    }
}

/// The wait of its own behind a product, where nothing in the loop reads it.
fn wait_behind(module: &Module, dot: OpId) -> Option<OpId> {
    let (result, block) = (module.result(dot)?, module.ops[dot].block?);
    let mut waits =
        module.blocks[block].ops.iter().copied().filter(|&op| module.ops[op].opcode == Opcode::MmaWait);
    waits.find(|&w| module.ops[w].operands.contains(&result))
}

pub(super) fn tile(id: u64, name: &str, plan: &TilePlan, producer: Producer) -> BufferValue {
    BufferValue {
        id,
        name: name.to_owned(),
        root: Some(id),
        shape: plan.tile(),
        element: Some(plan.element.clone()),
        swizzle: u64::from(plan.swizzle),
        align: plan.align(),
        producer: Some(producer),
        ..BufferValue::default()
    }
}

pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
