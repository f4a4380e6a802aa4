//! The layout of one partition that does all the work: the rings that it fills itself, those of the copy engine, and
//! the barrier of its warps (C22, C24, C65).

use std::collections::BTreeSet;

use warploom_bufassign::Assignment;
use warploom_ir::Type;

use super::types::{Barrier, Partition, Payload, ProgramLayout, Ring, RingUse, Scratch};
use crate::buffers::planned::Planned;
use crate::engines::PartitionShape;
use crate::engines::tensor::TensorRing;
use crate::loops::PartitionRole;
use crate::tma::TilePlan;
use crate::transports::{CopiedTile, PipelinedLoads};

/// Name of the partition.
const PARTITION: &str = "main";

/// Name of the barrier at which all warps of the partition meet.
pub(crate) const BARRIER: &str = "all";

/// A number of what no program has more than 2^32 of.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl ProgramLayout {
    /// These rings have no empty barriers: all lanes meet between who reads a slot and who fills it again.
    pub(crate) fn do_without(&mut self, rings: &BTreeSet<&str>) {
        for ring in self.rings.iter_mut().filter(|ring| rings.contains(ring.name.as_str())) {
            (ring.empty, ring.arrive_empty) = (None, 0);
        }
    }

    /// Lays out what was planned for one partition; `meets` where its warps meet for what they write to global memory.
    /// `None` if the assignment lacks what the kernel needs.
    pub fn expanded(shape: &PartitionShape, planned: &Planned, meets: bool) -> Option<ProgramLayout> {
        let beside = &planned.beside;
        let engine = &beside.engine;
        let meets = meets
            || planned.loops.iter().any(|l| !l.by_engine())
            || !beside.blocking.is_empty()
            || !beside.stored.is_empty()
            || !engine.stores.is_empty()
            || engine.once.iter().any(|tile| tile.repeats)
            || shape.scratch > 0;
        let main = Partition {
            name: PARTITION,
            role: PartitionRole::Math,
            warp: 0,
            warps: narrow(shape.warps),
            registers: narrow(shape.registers / 8 * 8),
            layout: Some(shape.layout),
            scratch: (shape.scratch > 0).then_some(Scratch {
                offset: 0,
                bytes: shape.scratch,
                barrier: BARRIER,
            }),
        };
        let tensor = &beside.tensor;
        let mut layout = ProgramLayout {
            warps: main.warps,
            max_registers: narrow(shape.registers),
            split: format!("one partition has all: {} at launch", shape.registers),
            shared: planned.shared,
            tmem: (!tensor.rings.is_empty()).then_some((tensor.columns, tensor.slot)),
            rings: Vec::new(),
            barriers: Vec::new(),
            turns: None,
            partitions: vec![main],
            records: engine.records.clone(),
            maps: engine.maps,
        };
        let mut id = None;
        for (index, loads) in planned.loops.iter().enumerate() {
            let (_, assignment) = planned.buffers.as_ref()?;
            let first = planned.first_value(index);
            let given_back = beside.tensor.given_back.get(&loads.scf_for).copied();
            // A commit of products is one arrival.
            let by_products = beside.tensor.returned.contains(&loads.scf_for);
            let readers = if by_products { 1 } else { shape.warps };
            let mut rings = loop_rings(loads, index, (assignment, first), (readers, given_back))?;
            if by_products {
                rings.iter_mut().for_each(|ring| ring.handshake = "tma_to_mma");
            }
            layout.rings.extend(rings);
            id = id.or(assignment.record(first)?.barrier.as_ref().and_then(|b| b.id));
        }
        for (index, group) in beside.blocking.iter().enumerate() {
            let places = group.tiles.iter().zip(&group.offsets);
            let slots = places.map(|(t, &offset)| payload(t, offset, t.bytes())).collect();
            layout.rings.push(lanes(RingUse::InPlace(index), format!("s{index}"), (1, None), slots));
        }
        for (index, group) in beside.stored.iter().enumerate() {
            let slots = group.tiles.iter().map(|t| Payload {
                name: t.name.clone(),
                tile: t.tile.clone(),
                swizzle: t.swizzle,
                offset: t.offset,
                stride: t.tile.bytes().unwrap_or(0),
            });
            let (name, back) = (format!("f{index}"), (1, group.given_back));
            layout.rings.push(lanes(RingUse::Stored(index), name, back, slots.collect()));
        }
        for (index, ring) in tensor.rings.iter().enumerate() {
            layout.rings.push(accumulator(index, ring, tensor.rows, shape.warps));
        }
        for (index, tile) in engine.once.iter().enumerate() {
            let slots = vec![engine_payload(&tile.plan, &tile.elem, 0, (tile.offset, tile.plan.bytes))];
            let ring = by_engine(RingUse::Once(index), format!("once{index}"), (1, slots), tile.plan.bytes);
            layout.rings.push(Ring { full: Some(tile.full), arrive_full: 1, ..ring });
        }
        for (index, store) in engine.stores.iter().enumerate() {
            let slots = vec![engine_payload(&store.plan, &store.elem, 0, (store.offset, store.plan.bytes))];
            let ring = by_engine(RingUse::Staging(index), format!("out{index}"), (1, slots), 0);
            layout.rings.push(Ring { handshake: "none", ..ring });
        }
        if meets {
            let threads = narrow(32 * shape.warps);
            layout.barriers =
                vec![Barrier { staging: None, name: BARRIER.to_owned(), id: id.unwrap_or(1), threads }];
        }
        Some(layout)
    }
}

/// The rings of a loop: one, or two where its tiles take turns.
fn loop_rings(
    loads: &PipelinedLoads,
    index: usize,
    (assignment, first): (&Assignment, u64),
    (readers, given_back): (u64, Option<u64>),
) -> Option<Vec<Ring>> {
    let mut rings = Vec::new();
    let late = |tile: &CopiedTile| loads.late.as_ref().is_some_and(|late| late.contains(&tile.op));
    for is_late in [false, true] {
        let tiles: Vec<_> = (first..).zip(&loads.tiles).filter(|(_, t)| late(t) == is_late).collect();
        let Some(&(leader, _)) = tiles.first() else { continue };
        let (usage, name) = match is_late {
            false => (RingUse::Ring(index), format!("p{index}")),
            true => (RingUse::Late(index), format!("p{index}_late")),
        };
        let mut slots = Vec::new();
        for (at, (value, tile)) in tiles.into_iter().enumerate() {
            let record = assignment.record(value)?;
            let place = (record.offset?, record.stride?);
            slots.push(match loads.by_engine() {
                true => engine_payload(tile.plan.as_ref()?, tile.tile.elem(), at, place),
                false => payload(tile, place.0, place.1),
            });
        }
        rings.push(match loads.by_engine() {
            false => lanes(usage, name, (loads.depth, given_back), slots),
            true => {
                let record = assignment.record(leader)?;
                let bytes = loads.tiles.iter().filter(|t| late(t) == is_late);
                let bytes = bytes.filter_map(|t| t.plan.as_ref()).map(|plan| plan.bytes).sum();
                Ring {
                    full: Some(record.full?),
                    arrive_full: 1,
                    empty: Some(record.empty?),
                    arrive_empty: narrow(readers),
                    ..by_engine(usage, name, (loads.depth, slots), bytes)
                }
            }
        });
    }
    Some(rings)
}

/// A ring that lanes fill, by `cp_async` or from registers; products give its slots back on the barriers from `empty`
/// on.
fn lanes(usage: RingUse, name: String, (depth, empty): (u64, Option<u64>), payloads: Vec<Payload>) -> Ring {
    Ring {
        usage,
        name,
        handshake: if empty.is_some() { "cp_async_to_mma" } else { "cp_async" },
        depth,
        payloads,
        bytes: 0,
        full: None,
        empty,
        arrive_full: 0,
        arrive_empty: u32::from(empty.is_some()),
        under: None,
        rows: None,
    }
}

/// Slots that the copy engine fills or empties, no barriers given yet.
fn by_engine(usage: RingUse, name: String, (depth, payloads): (u64, Vec<Payload>), bytes: u64) -> Ring {
    Ring { handshake: "tma_to_generic", bytes, ..lanes(usage, name, (depth, None), payloads) }
}

/// Columns of tensor memory for products that all lanes read.
fn accumulator(index: usize, ring: &TensorRing, rows: u64, warps: u64) -> Ring {
    // One slot: the strides mean nothing.
    let slot = |name: String, tile: &Type, offset: u64| Payload {
        name,
        tile: tile.clone(),
        swizzle: 0,
        offset,
        stride: ring.columns,
    };
    let named = |at: usize| if at == 0 { "d".to_owned() } else { format!("d{at}") };
    let tiles = ring.tiles.iter().enumerate().map(|(at, tile)| slot(named(at), tile, ring.column));
    let tables = ring.tables.iter().zip(["sa", "sb"]);
    let tables = tables.map(|((table, column), name)| slot(name.to_owned(), table, *column));
    let slots = tiles.chain(tables).collect();
    Ring {
        handshake: "mma_to_generic",
        full: Some(ring.full),
        empty: ring.empty,
        arrive_full: 1,
        arrive_empty: if ring.empty.is_some() { narrow(warps) } else { 0 },
        rows: Some(rows),
        ..lanes(RingUse::Accumulator(index), ring.name.clone(), (1, None), slots)
    }
}

fn payload(tile: &CopiedTile, offset: u64, stride: u64) -> Payload {
    let (name, swizzle) = (tile.name.clone(), tile.swizzle);
    Payload { name, tile: tile.tile.clone(), swizzle, offset, stride }
}

/// A tile in the shape that the copy engine gives it; payloads are called by letters.
fn engine_payload(plan: &TilePlan, elem: &Type, at: usize, (offset, stride): (u64, u64)) -> Payload {
    let letter = (b'a'..=b'z').cycle().nth(at).map_or('a', char::from);
    let tile = Type::tensor(&plan.tile(), elem.clone());
    Payload { name: letter.to_string(), tile, swizzle: plan.swizzle, offset, stride }
}
